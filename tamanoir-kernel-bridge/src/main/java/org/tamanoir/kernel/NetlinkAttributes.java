package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Finds attributes in what the kernel answered; whatever the bytes are, it looks at none outside of them.
 *
 * <p>Thread contract: any thread.
 */
final class NetlinkAttributes {
    private static final int HEADER_BYTES = 4;
    private static final int TYPE_MASK = 0x3fff; // without NLA_F_NESTED and NLA_F_NET_BYTEORDER

    private NetlinkAttributes() {}

    /**
     * Returns the value of the first attribute of a type.
     *
     * @param from index at which the attributes begin
     * @return in the host's byte order from index 0 to its capacity; null if there is none
     */
    static @Nullable ByteBuffer find(ByteBuffer message, int from, int type) {
        ByteBuffer bytes = message.duplicate().clear().order(ByteOrder.nativeOrder());
        bytes.limit(message.limit());
        int at = from;
        while (at + HEADER_BYTES <= bytes.limit()) {
            int length = Short.toUnsignedInt(bytes.getShort(at));
            if (length < HEADER_BYTES || length > bytes.limit() - at) {
                return null;
            }
            if ((bytes.getShort(at + 2) & TYPE_MASK) == type) {
                return bytes.slice(at + HEADER_BYTES, length - HEADER_BYTES).order(ByteOrder.nativeOrder());
            }
            at += length + 3 & ~3;
        }
        return null;
    }

    /** Returns a value as text, without the zero at its end. */
    static String text(ByteBuffer value) {
        byte[] bytes = new byte[value.capacity()];
        value.get(0, bytes);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
