package org.tamanoir.node.director;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.ctl.AdminClient;
import org.tamanoir.node.ctl.AdminKind;
import org.tamanoir.node.ctl.AdminOptions;
import picocli.CommandLine.Option;

/** The options of commands that talk to a running director. picocli makes it. */
final class DirectorAddress {
    @Option(names = "--director", descriptionKey = "director-api", paramLabel = "URL")
    private String director = "127.0.0.1:" + AdminKind.DIRECTOR_PORT;

    @Option(names = "--token-file", descriptionKey = "director-token", paramLabel = "FILE")
    private @Nullable Path tokenFile;

    @Option(names = "--ca", descriptionKey = "director-ca", paramLabel = "FILE")
    private @Nullable Path authorities;

    /** Made by picocli. */
    DirectorAddress() {}

    /**
     * A client of that director.
     *
     * @throws CommandException if an option is wrong, or its file cannot be read
     */
    AdminClient client() {
        return AdminOptions.client(AdminKind.DIRECTOR, director, tokenFile, authorities);
    }
}
