package org.tamanoir.node.director;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The password that directors show each other. */
final class DirectorPassword {
    /** Of VRRP version 2: RFC 2338, section 5.3.10. */
    private static final int MAX_CHARACTERS = 8;

    private static final int MAX_BYTES = 64;

    private DirectorPassword() {}

    /**
     * Reads a file that holds nothing else.
     *
     * @throws IllegalArgumentException in one line, which does not show it
     */
    static String read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            String password = new String(in.readNBytes(MAX_BYTES), StandardCharsets.US_ASCII).strip();
            if (!password.matches("[A-Za-z0-9_.-]{1," + MAX_CHARACTERS + "}")) {
                throw new IllegalArgumentException("password of file " + file + ": it has " + password.length()
                        + " characters; 1 to " + MAX_CHARACTERS + " letters, digits, '_', '.' and '-' are wanted");
            }
            return password;
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("password file " + file + ": there is no such file; make it", e);
        } catch (IOException e) {
            throw new IllegalArgumentException("password file " + file + ": cannot be read; correct the path", e);
        }
    }
}
