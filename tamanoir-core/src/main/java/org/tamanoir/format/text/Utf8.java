package org.tamanoir.format.text;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Strings as text where they are UTF-8, else in hexadecimal digits. Thread contract: one thread. */
final class Utf8 {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();

    /** Returns the text; null where it is not UTF-8. */
    @Nullable
    String decode(ByteBuffer memory, int at, int bytes) {
        try {
            return decoder.decode(memory.duplicate().limit(at + bytes).position(at))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** Returns two digits a byte. */
    static String hex(ByteBuffer memory, int at, int bytes) {
        byte[] copy = new byte[bytes];
        memory.get(at, copy);
        return HexFormat.of().formatHex(copy);
    }
}
