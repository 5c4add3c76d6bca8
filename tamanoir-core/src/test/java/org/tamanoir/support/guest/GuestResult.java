package org.tamanoir.support.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What became of one test in the guest.
 *
 * @param module the folder of the test's module
 * @param test its display name; of a class where the class as a whole failed or was skipped
 * @param id JUnit's unique id of the test, or of the class
 * @param reason of a failure or a skip; else empty
 */
record GuestResult(Outcome outcome, String module, String className, String test, String id, String reason) {
    enum Outcome {
        PASSED,
        SKIPPED,
        FAILED
    }

    private static final String FILE = "results-";

    private static final String FIELD = "\u001f"; // separators of ASCII: texts may have lines
    private static final String RECORD = "\u001e";

    /** Returns what tells the test apart from others of all modules. */
    String name() {
        return module + ": " + className + "." + test;
    }

    /** Returns whether the result is that of a class as a whole. */
    boolean isOfClass() {
        return !id.contains("[method:") && !id.contains("[test-");
    }

    /** Returns whether the test is one of a class. */
    boolean isIn(GuestResult ofClass) {
        return id.startsWith(ofClass.id);
    }

    /** Returns the reason as one line, without the frames of the stack. */
    String message() {
        return reason.replaceAll("\n\tat [^\n]*", "").strip().replaceAll("\\s+", " ");
    }

    /** Returns the file of a module's results: JVMs of several modules write at once. */
    static Path file(Path folder, String module) {
        return folder.resolve(FILE + module);
    }

    /** Adds the result to those of its module in the folder. */
    void append(Path folder) throws IOException {
        Files.writeString(
                file(folder, module),
                String.join(FIELD, outcome.name(), module, className, test, id, reason, RECORD),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** Returns the results in the folder, those of a module in the order in which its tests ended. */
    static List<GuestResult> read(Path folder) throws IOException {
        List<GuestResult> results = new ArrayList<>();
        for (Path file : files(folder)) {
            Stream.of(Files.readString(file).split(RECORD))
                    .map(line -> line.split(FIELD, -1))
                    .filter(f -> f.length > 6) // the guest may have ended while it wrote the last
                    .map(f -> new GuestResult(Outcome.valueOf(f[0]), f[1], f[2], f[3], f[4], f[5]))
                    .forEach(results::add);
        }
        return results;
    }

    /** Deletes what a boot before left. */
    static void clear(Path folder) throws IOException {
        for (Path file : files(folder)) {
            Files.delete(file);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.getFileName().toString().startsWith(FILE))
                    .sorted()
                    .toList();
        }
    }
}
