package org.tamanoir.node.author;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir new-service}. */
@Command(name = "new-service", mixinStandardHelpOptions = true, sortOptions = false)
public final class NewServiceCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "CLASS", description = "The service's class, which is its name: org.example.Foo.")
    private String className = "";

    @Option(names = "--dir", paramLabel = "DIR")
    private @Nullable Path folder;

    @Option(names = "--jar", paramLabel = "FILE")
    private @Nullable Path jar;

    /** Made by picocli. */
    NewServiceCommand() {}

    @Override
    public Integer call() {
        ServiceProject project;
        try {
            project = new ServiceProject(className);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
        Path target = folder == null ? Path.of(project.artifact()) : folder;
        Path node = jar();
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), false, Output.isTerminal());
        try {
            for (Path file : project.writeTo(target, node)) {
                output.line("wrote " + target.resolve(file));
            }
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, e);
        }
        output.line("build and test it: cd " + target + " && mvn package; then see its README.md");
        return ExitCode.OK;
    }

    private Path jar() {
        Path file = jar == null ? own() : jar;
        if (!Files.isRegularFile(file)) {
            throw new CommandException(
                    ExitCode.USAGE, file + " is no jar to build against: name the tamanoir-node.jar with --jar", null);
        }
        return file.toAbsolutePath().normalize();
    }

    /** The jar, or in a build the folder, that this class comes from. */
    private static Path own() {
        CodeSource source = NewServiceCommand.class.getProtectionDomain().getCodeSource();
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("a place of classes that is no address: " + source, e);
        }
    }
}
