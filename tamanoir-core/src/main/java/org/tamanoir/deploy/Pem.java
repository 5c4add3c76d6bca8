package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;

/** PEM (RFC 7468): one block of Base64 between two lines of dashes, nothing around it. */
final class Pem {
    /** The largest PEM file that is read. */
    static final int MAX_BYTES = 4096;

    private static final int LINE_CHARS = 64;

    private Pem() {}

    static String encode(String label, byte[] der) {
        String base64 = Base64.getMimeEncoder(LINE_CHARS, new byte[] {'\n'}).encodeToString(der);
        return begin(label) + "\n" + base64 + "\n" + end(label) + "\n";
    }

    /**
     * Returns the bytes of the block.
     *
     * @throws IllegalArgumentException in one line, without any of the text, which may be secret
     */
    static byte[] decode(String label, String pem) {
        String text = pem.strip();
        if (text.length() <= MAX_BYTES && text.startsWith(begin(label)) && text.endsWith(end(label))) {
            int from = begin(label).length();
            int to = text.length() - end(label).length();
            String base64 = from > to ? "-" : text.substring(from, to).replaceAll("\\s", "");
            try {
                return Base64.getDecoder().decode(base64);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("its Base64 is damaged", e);
            }
        }
        throw new IllegalArgumentException(
                "no PEM text of at most " + MAX_BYTES + " characters from " + begin(label) + " to " + end(label));
    }

    /**
     * Returns the text of a file.
     *
     * @throws IOException in one line
     */
    static String read(Path file) throws IOException {
        try {
            return new String(SmallFile.read(file, MAX_BYTES), StandardCharsets.US_ASCII);
        } catch (SmallFile.TooLargeException e) {
            throw new IOException("key file " + file + ": more than " + MAX_BYTES + " bytes; name a PEM file", e);
        } catch (NoSuchFileException e) {
            throw new IOException("key file " + file + ": there is none; make one with keygen, or correct the path", e);
        }
    }

    private static String begin(String label) {
        return "-----BEGIN " + label + "-----";
    }

    private static String end(String label) {
        return "-----END " + label + "-----";
    }
}
