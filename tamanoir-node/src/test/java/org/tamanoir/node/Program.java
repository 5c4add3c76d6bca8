package org.tamanoir.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The program as a process of its own, with this one's classes. */
public final class Program {
    /** Options of its JVM. */
    static final List<String> JVM = List.of(
            // As the manifest of the jar says: without it newer JVMs warn on standard error.
            "--enable-native-access=ALL-UNNAMED",
            // These live for seconds: the optimizing compiler and a collector's threads take half of a start, and never
            // give it back.
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC");

    private Program() {}

    /** Standard error goes where this process's goes. */
    public static Process start(String... arguments) throws IOException {
        return builder(arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Lets the processes with our class path that this one starts use the archive of classes, too. */
    public static ProcessBuilder sharing(ProcessBuilder program) {
        ClassArchive.options().stream()
                .filter(option -> option.startsWith("-XX:SharedArchiveFile"))
                .forEach(option -> program.environment().put("JDK_JAVA_OPTIONS", option));
        return program;
    }

    public static ProcessBuilder builder(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM);
        command.addAll(ClassArchive.options());
        command.add(Main.class.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }
}
