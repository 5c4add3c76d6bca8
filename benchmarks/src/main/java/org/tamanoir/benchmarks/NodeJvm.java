package org.tamanoir.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How nodes are started.
 *
 * @param java the launcher
 * @param flags for the JVM
 * @param jar of the node
 */
public record NodeJvm(String java, List<String> flags, Path jar) {
    /** Where Maven builds it. */
    public static final Path BUILT = Path.of("tamanoir-node", "target", "tamanoir-node.jar");

    /** The same with more flags. */
    public NodeJvm with(List<String> more) {
        List<String> all = new ArrayList<>(flags);
        all.addAll(more);
        return new NodeJvm(java, all, jar);
    }

    /** The command line of a node with these options. */
    public List<String> line(String... options) {
        return command("node", options);
    }

    /** Returns the command line of a command of the node's jar with these options. */
    public List<String> command(String command, String... options) {
        List<String> line = new ArrayList<>(List.of(java));
        line.addAll(flags);
        line.addAll(List.of("-jar", jar.toString(), command));
        line.addAll(List.of(options));
        return line;
    }

    /** Why there is none under this name; empty = there is. */
    public static String missing(String option, Path jar) {
        return Files.isRegularFile(jar)
                ? ""
                : option + " " + jar + ": no such file: build it with mvn package, or name it";
    }
}
