package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Finds attributes in what the kernel answered; whatever the octets are, it looks at none outside of them.
 *
 * <p>Thread contract: any thread.
 */
final class NetlinkAttributes {
    private static final int HEADER_OCTETS = 4;
    private static final int TYPE_MASK = 0x3fff; // without NLA_F_NESTED and NLA_F_NET_BYTEORDER

    private NetlinkAttributes() {}

    /**
     * The value of the first attribute of a type.
     *
     * @param from index at which the attributes begin
     * @return in the host's byte order from index 0 to its capacity; null if there is none
     */
    static @Nullable ByteBuffer find(ByteBuffer message, int from, int type) {
        ByteBuffer octets = message.duplicate().clear().order(ByteOrder.nativeOrder());
        octets.limit(message.limit());
        int at = from;
        while (at + HEADER_OCTETS <= octets.limit()) {
            int length = Short.toUnsignedInt(octets.getShort(at));
            if (length < HEADER_OCTETS || length > octets.limit() - at) {
                return null;
            }
            if ((octets.getShort(at + 2) & TYPE_MASK) == type) {
                return octets.slice(at + HEADER_OCTETS, length - HEADER_OCTETS).order(ByteOrder.nativeOrder());
            }
            at += length + 3 & ~3;
        }
        return null;
    }

    /** A value as text, without the zero at its end. */
    static String text(ByteBuffer value) {
        byte[] octets = new byte[value.capacity()];
        value.get(0, octets);
        int end = 0;
        while (end < octets.length && octets[end] != 0) {
            end++;
        }
        return new String(octets, 0, end, StandardCharsets.UTF_8);
    }
}
