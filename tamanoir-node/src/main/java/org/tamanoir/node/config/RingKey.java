package org.tamanoir.node.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.platform.Causes;

/** The key that all of a ring share, in a file. Stateless; any thread. */
public final class RingKey {
    private static final int BYTES = 16;
    /** More than its digits and the end of a line. */
    private static final int MAX_FILE_BYTES = 64;

    private RingKey() {}

    /**
     * Reads a key.
     *
     * @throws IllegalArgumentException in one line, if the file does not hold 32 hexadecimal digits
     */
    public static byte[] read(Path file) {
        String problem = "";
        try {
            String digits = new String(SmallFile.read(file, MAX_FILE_BYTES), StandardCharsets.US_ASCII).strip();
            byte[] key = HexFormat.of().parseHex(digits);
            if (key.length == BYTES) {
                return key;
            }
        } catch (IllegalArgumentException e) {
            // The line below says it.
        } catch (NoSuchFileException e) {
            problem = "there is no such file; ";
        } catch (IOException e) {
            problem = "cannot be read: " + Causes.text(e) + "; ";
        }
        throw new IllegalArgumentException("key file " + file + ": " + problem
                + "32 hexadecimal digits are wanted, as openssl rand -hex 16 makes");
    }
}
