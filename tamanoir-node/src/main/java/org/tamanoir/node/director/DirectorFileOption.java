package org.tamanoir.node.director;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.Problems;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The option of commands that read a director's configuration file. picocli makes it. */
final class DirectorFileOption {
    @Option(
            names = {"-c", "--config"},
            descriptionKey = "director-file",
            paramLabel = "FILE")
    @Nullable
    Path file;

    /** Made by picocli. */
    DirectorFileOption() {}

    /** What the file says; null when there are problems, which are printed. */
    @Nullable
    DirectorSettings read(CommandSpec spec) {
        Path known = file;
        if (known == null) {
            throw new ParameterException(spec.commandLine(), "--config FILE is missing");
        }
        Problems problems = new Problems();
        DirectorSettings settings = DirectorFile.read(known, problems);
        problems.lines().forEach(spec.commandLine().getErr()::println);
        return settings;
    }
}
