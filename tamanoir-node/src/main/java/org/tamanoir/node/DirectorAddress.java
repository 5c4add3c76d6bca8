package org.tamanoir.node;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that talk to a running director. picocli makes it. */
final class DirectorAddress {
    @Option(
            names = "--director",
            paramLabel = "URL",
            description = "The director's API: http://HOST:PORT, https://HOST:PORT or HOST:PORT. Default: "
                    + "http://127.0.0.1:3325.")
    private String director = "127.0.0.1:" + DirectorFile.DEFAULT_PORT;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "File with the token of the director's admin.token-file, which changes need. Default: the "
                    + "token in the environment variable " + RepositoryOptions.TOKEN + ".")
    private @Nullable Path tokenFile;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description = "Certificates, in PEM, of the authorities that may vouch for the director; with https. "
                    + "Default: those of Java.")
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
