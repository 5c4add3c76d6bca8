package org.tamanoir.node.tc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file that says which classes are changed now, a line each, for the node after one that crashed. It is written
 * before a class is changed, as a whole, and is not there while none is. One thread.
 */
final class LeftChanges {
    /** What a class had, and what it was given. */
    record Left(String device, HtbClass found, HtbClass given) {
        String text() {
            return String.join(
                    " ",
                    device,
                    found.id(),
                    String.valueOf(found.rateBytesPerSecond()),
                    String.valueOf(found.ceilBytesPerSecond()),
                    found.kept().getOrDefault("burst", "-"),
                    found.kept().getOrDefault("cburst", "-"),
                    String.valueOf(given.rateBytesPerSecond()),
                    String.valueOf(given.ceilBytesPerSecond()));
        }
    }

    private static final long MAX_BYTES = 1 << 16;
    private static final Pattern LINE = Pattern.compile("([^ /]{1,15}) ([0-9a-f]{1,4}:[0-9a-f]{1,4}) (\\d{1,15}) "
            + "(\\d{1,15}) (\\d{1,9}[KM]?b|-) (\\d{1,9}[KM]?b|-) (\\d{1,15}) (\\d{1,15})");

    private final Path file;

    LeftChanges(Path file) {
        this.file = file;
    }

    /** Returns what the file says; of it the parents, priorities and quanta are not known. */
    List<Left> read() throws IOException {
        List<Left> left = new ArrayList<>();
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new IOException(file + " has more than " + MAX_BYTES + " bytes: remove it");
            }
            for (String line : Files.readAllLines(file)) {
                Matcher fields = LINE.matcher(line);
                if (!fields.matches()) {
                    throw new IOException(file + ": no such line is written, remove the file: " + line);
                }
                Map<String, String> bursts = Map.of("burst", fields.group(5), "cburst", fields.group(6));
                left.add(new Left(
                        fields.group(1),
                        bare(fields.group(2), bursts, fields.group(3), fields.group(4)),
                        bare(fields.group(2), bursts, fields.group(7), fields.group(8))));
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return left;
    }

    private static HtbClass bare(String id, Map<String, String> bursts, String rate, String ceil) {
        return new HtbClass(id, "", bursts, "", Long.parseLong(rate), Long.parseLong(ceil), 0, 0, 0);
    }

    void write(List<Left> left) throws IOException {
        if (left.isEmpty()) {
            Files.deleteIfExists(file);
            return;
        }
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        Path next = file.resolveSibling(file.getFileName() + ".new");
        Files.write(next, left.stream().map(Left::text).toList());
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
