package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Buffers and texts for the tests of packets. */
final class Octets {
    private Octets() {}

    /** @param hex digits in pairs; blanks are ignored */
    static byte[] hex(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }

    static ByteBuffer buffer(String hex) {
        return ByteBuffer.wrap(hex(hex));
    }

    static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    static String payload(Packet packet) {
        return new String(
                copy(packet.buffer(), packet.payloadOffset(), packet.payloadLength()), StandardCharsets.UTF_8);
    }

    static byte[] of(Packet packet) {
        return copy(packet.buffer(), packet.offset(), packet.length());
    }

    static byte[] copy(ByteBuffer buffer, int offset, int length) {
        byte[] octets = new byte[length];
        buffer.get(offset, octets);
        return octets;
    }

    /** A buffer that ends where the packet ends, so that reading on throws; direct or on the heap. */
    static ByteBuffer exactly(byte[] octets, int offset, boolean direct) {
        ByteBuffer buffer = direct
                ? ByteBuffer.allocateDirect(offset + octets.length)
                : ByteBuffer.allocate(offset + octets.length);
        return buffer.put(offset, octets);
    }
}
