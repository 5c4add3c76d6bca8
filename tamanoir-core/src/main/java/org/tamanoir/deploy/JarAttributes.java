package org.tamanoir.deploy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.regex.Pattern;

/**
 * Reads the main attributes of a jar's own manifest. The JDK replaces text that is not UTF-8, takes the last of two
 * attributes of one name, and loses a last line that does not end: these are refused before. Any thread may call.
 */
final class JarAttributes {
    private static final Pattern CONTINUATION = Pattern.compile("(\r\n|\n|\r) ");
    private static final Pattern LINE_END = Pattern.compile("\r\n|\n|\r");

    private JarAttributes() {}

    /**
     * Returns the main attributes; none of a jar without a manifest.
     *
     * @param label of the jar, for messages
     * @throws CodeRefusedException {@link Refusal#MALFORMED}
     */
    static Attributes read(byte[] manifest, String label) throws CodeRefusedException {
        if (manifest.length > 0 && manifest[manifest.length - 1] != '\n' && manifest[manifest.length - 1] != '\r') {
            throw malformed(label, "its last line does not end", "end it with a line feed");
        }
        requireNamesOnce(text(manifest, label), label);
        try {
            return new Manifest(new ByteArrayInputStream(manifest)).getMainAttributes();
        } catch (IOException e) {
            throw malformed(label, String.valueOf(e.getMessage()), "correct it");
        }
    }

    /** Returns whole lines; a line may be continued within a character. */
    private static String text(byte[] manifest, String label) throws CodeRefusedException {
        String lines = CONTINUATION
                .matcher(new String(manifest, StandardCharsets.ISO_8859_1))
                .replaceAll("");
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(lines.getBytes(StandardCharsets.ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed(label, "it is no UTF-8 text", "convert it to UTF-8");
        }
    }

    /** Refuses a name twice in one section, which ends at an empty line. */
    private static void requireNamesOnce(String text, String label) throws CodeRefusedException {
        Set<String> names = new HashSet<>();
        for (String line : LINE_END.split(text)) {
            if (line.isEmpty()) {
                names.clear();
            }
            String name = line.substring(0, Math.max(0, line.indexOf(':')));
            if (!name.isEmpty() && !names.add(name.toLowerCase(Locale.ROOT))) {
                throw malformed(label, "attribute " + OneLine.quoted(name) + " is there twice", "leave one out");
            }
        }
    }

    private static CodeRefusedException malformed(String label, String what, String remedy) {
        return new CodeRefusedException(
                Refusal.MALFORMED,
                label + " has a manifest (META-INF/MANIFEST.MF) that cannot be read: " + what + "; " + remedy
                        + " and pack the jar again");
    }
}
