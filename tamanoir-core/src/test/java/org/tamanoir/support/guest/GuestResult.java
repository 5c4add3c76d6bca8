package org.tamanoir.support.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What became of one test in the guest.
 *
 * @param test its display name; of a class where the class as a whole failed or was skipped
 * @param reason of a failure or a skip; else empty
 */
record GuestResult(Outcome outcome, String className, String test, String reason) {
    enum Outcome {
        PASSED,
        SKIPPED,
        FAILED
    }

    private static final String FILE = "results";
    private static final String FIELD = "\u001f"; // separators of ASCII: texts may have lines
    private static final String RECORD = "\u001e";

    String name() {
        return className + "." + test;
    }

    static void write(Path folder, List<GuestResult> results) throws IOException {
        Files.writeString(
                folder.resolve(FILE),
                results.stream()
                        .map(r -> String.join(FIELD, r.outcome.name(), r.className, r.test, r.reason, RECORD))
                        .collect(Collectors.joining()));
    }

    static List<GuestResult> read(Path folder) throws IOException {
        String text;
        try {
            text = Files.readString(folder.resolve(FILE), StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            return List.of(); // the guest did not come so far
        }
        return text.lines().count() == 0
                ? List.of()
                : List.of(text.split(RECORD)).stream()
                        .map(line -> line.split(FIELD, -1))
                        .map(f -> new GuestResult(Outcome.valueOf(f[0]), f[1], f[2], f[3]))
                        .toList();
    }
}
