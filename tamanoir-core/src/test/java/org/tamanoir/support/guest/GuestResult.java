package org.tamanoir.support.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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

    static final String FILE = "results";

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

    /** Adds the result to those in the folder: JVMs of several modules write one after the other. */
    void append(Path folder) throws IOException {
        Files.writeString(
                folder.resolve(FILE),
                String.join(FIELD, outcome.name(), module, className, test, id, reason, RECORD),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** Returns the results in the folder, in the order in which tests ended. */
    static List<GuestResult> read(Path folder) throws IOException {
        String text;
        try {
            text = Files.readString(folder.resolve(FILE), StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            return List.of(); // the guest did not come so far
        }
        return text.isEmpty()
                ? List.of()
                : Stream.of(text.split(RECORD))
                        .map(line -> line.split(FIELD, -1))
                        .filter(f -> f.length > 6) // the guest may have ended while it wrote the last
                        .map(f -> new GuestResult(Outcome.valueOf(f[0]), f[1], f[2], f[3], f[4], f[5]))
                        .toList();
    }
}
