package org.tamanoir.ee;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A process of its own that can have few descriptors, and in it, all that are left. */
final class FewDescriptors implements AutoCloseable {
    private final List<FileInputStream> taken = new ArrayList<>();
    private String full = "";

    /**
     * Runs a main class under such a limit until it ends, which takes 60 s at most.
     *
     * @return the lines that it printed; it has ended with 0
     */
    static List<String> run(Class<?> main, int descriptors, Path folder, String... arguments) throws Exception {
        Path said = folder.resolve("said");
        List<String> command = new ArrayList<>(List.of(
                "/bin/sh",
                "-c",
                "ulimit -n " + descriptors + " && exec \"$@\"",
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        Stream.of(arguments).forEach(command::add);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        boolean ended = process.waitFor(60, SECONDS);
        process.destroyForcibly();
        List<String> lines = Files.readAllLines(said);
        assertThat(ended).as("it ends; it said: %s", lines).isTrue();
        assertThat(process.exitValue()).as("its status; it said: %s", lines).isZero();
        return lines;
    }

    /**
     * Opens files until there is no descriptor left, and none comes free any more: what was closed last may hold its own
     * for a moment. Classes are all there by then: the node's lie in one open file, but those of a test in one file each.
     */
    void take() throws InterruptedException, IOException {
        if (taken.isEmpty()) {
            loadClasses();
        }
        for (int quiet = 0; quiet < 10; quiet++) {
            if (takeAll()) {
                quiet = 0;
            }
            Thread.sleep(20);
        }
        System.out.println(full);
    }

    private static void loadClasses() throws IOException {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (Files.isDirectory(Path.of(entry))) {
                load(Path.of(entry));
            }
        }
    }

    private static void load(Path folder) throws IOException {
        ClassLoader loader = FewDescriptors.class.getClassLoader();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = folder.relativize(file).toString();
                if (name.endsWith(".class")) {
                    try {
                        Class.forName(
                                name.substring(0, name.length() - ".class".length())
                                        .replace(File.separatorChar, '.'),
                                false,
                                loader);
                    } catch (ClassNotFoundException | LinkageError e) {
                        // It is not the node's, or cannot be had here: nothing runs it.
                    }
                }
            }
        }
    }

    /** Opens files until there is no descriptor left; returns whether there was one. */
    boolean takeAll() {
        int before = taken.size();
        try {
            while (true) {
                taken.add(new FileInputStream(new File("/dev/null")));
            }
        } catch (FileNotFoundException e) {
            full = String.valueOf(e.getMessage());
            return taken.size() > before;
        }
    }

    /** Closes some of them. */
    void giveBack(int descriptors) throws IOException {
        for (int i = 0; i < descriptors; i++) {
            taken.remove(taken.size() - 1).close();
        }
    }

    /** Closes all that are left. */
    @Override
    public void close() throws IOException {
        for (FileInputStream each : taken) {
            each.close();
        }
        taken.clear();
    }
}
