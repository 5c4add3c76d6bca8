package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files under {@code /proc/sys}. */
final class ProcFile {
    private static final int LIMIT_BYTES = 4096;

    private ProcFile() {}

    /**
     * Reads a setting, numbers parted by one space. In one go: the kernel cuts numbers off at the end of the first read,
     * and {@link Files#readString} begins with one byte where a file says that it is empty, as all of these do.
     */
    static String read(Path file) throws IOException {
        byte[] bytes = new byte[LIMIT_BYTES];
        try (InputStream from = Files.newInputStream(file)) {
            int length = Math.max(0, from.read(bytes));
            return normal(new String(bytes, 0, length, StandardCharsets.US_ASCII));
        }
    }

    /** Returns numbers parted by one space: the kernel parts them by tabs. */
    static String normal(String value) {
        return value.strip().replaceAll("\\s+", " ");
    }
}
