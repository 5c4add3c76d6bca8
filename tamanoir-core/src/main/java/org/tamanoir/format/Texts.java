package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The names in descriptions, which have no declared character set: UTF-8, else a character for each byte. */
final class Texts {
    private static final int SHOWN = 60;

    private Texts() {}

    static String decode(byte[] bytes, int from, int to) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, from, to - from))
                    .toString();
        } catch (CharacterCodingException e) {
            return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
        }
    }

    /** Returns UTF-8; a surrogate without its other half, which UTF-8 does not have, is refused. */
    static byte[] encode(String text) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return Arrays.copyOf(bytes.array(), bytes.limit());
        } catch (CharacterCodingException e) {
            throw new FormatException(
                    FormatFault.VALUE, "text with a surrogate that stands alone, which is no character");
        }
    }

    /** Returns a foreign text for a message of one line. */
    static String shown(String text) {
        return text.length() > SHOWN ? shownAll(text.substring(0, SHOWN)) + "…" : shownAll(text);
    }

    /** Returns a foreign text of bounded length for a message of one line. */
    static String shownAll(String text) {
        StringBuilder shown = new StringBuilder();
        text.chars().forEach(c -> shown.append(Character.isISOControl(c) ? '?' : (char) c));
        return shown.toString();
    }
}
