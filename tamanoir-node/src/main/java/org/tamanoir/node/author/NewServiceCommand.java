package org.tamanoir.node.author;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.Version;
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

    @Option(names = "--local-repository", paramLabel = "DIR")
    private Path localRepository = Path.of(System.getProperty("user.home"), ".m2", "repository");

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
        String version = Version.number();
        String api = "org.tamanoir:tamanoir-service-api:" + version;
        boolean isAgainstApi = jar == null && isInstalled(version);
        Path node = (jar == null ? own() : jar).toAbsolutePath().normalize();
        if (!isAgainstApi && !Files.isRegularFile(node)) {
            throw new CommandException(
                    ExitCode.USAGE, node + " is no jar to build against: name the tamanoir-node.jar with --jar", null);
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), false, Output.isTerminal());
        try {
            for (Path file : project.writeTo(target, node, isAgainstApi ? version : null)) {
                output.line("wrote " + target.resolve(file));
            }
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, e);
        }
        output.line("builds against "
                + (isAgainstApi
                        ? api + " of " + localRepository
                        : node + (jar == null ? ", since " + api + " is not in " + localRepository : "")));
        output.line("build and test it: cd " + target + " && mvn package; then see its README.md");
        return ExitCode.OK;
    }

    /** Returns whether the local Maven repository has the API of this node, as {@code mvn install} puts it there. */
    private boolean isInstalled(String version) {
        Path folder = localRepository.resolve(Path.of("org", "tamanoir", "tamanoir-service-api", version));
        return Stream.of("pom", "jar")
                .allMatch(type -> Files.isRegularFile(folder.resolve("tamanoir-service-api-" + version + "." + type)));
    }

    /** The jar, or in a build the folder, that this class comes from. */
    private static Path own() {
        CodeSource source = NewServiceCommand.class.getProtectionDomain().getCodeSource();
        try {
            return Path.of(source.getLocation().toURI()).toRealPath(); // the image names it by a descriptor
        } catch (URISyntaxException | IOException e) {
            throw new IllegalStateException("a place of classes that is no file: " + source, e);
        }
    }
}
