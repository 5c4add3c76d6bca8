package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

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

    static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns a foreign text for a message of one line. */
    static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        text.chars().limit(SHOWN).forEach(c -> shown.append(Character.isISOControl(c) ? '?' : (char) c));
        return text.length() > SHOWN ? shown + "…" : shown.toString();
    }
}
