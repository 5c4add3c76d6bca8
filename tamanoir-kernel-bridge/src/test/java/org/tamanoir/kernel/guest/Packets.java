package org.tamanoir.kernel.guest;

/** ANEP packets in hexadecimal digits: header, service key, class of service, stream and number, payload. */
final class Packets {
    /** A service key. */
    static final String KEY = "a1b2c3d4e5f60718";

    /** Where the class-of-service byte stands. */
    static final int CLASS_AT = 24;

    /** Where the sequence number stands. */
    static final int NUMBER_AT = 36;

    private static final int HEADER = 44;

    private Packets() {}

    /** A packet of Tamanoir's Type ID with number 0. */
    static String packet(int stream, int payload) {
        return "0100544d%04x%04x".formatted(HEADER / 4, HEADER + payload)
                + "80010003" + KEY
                + "8002000200000000"
                + "80040004%08x0000000000000000".formatted(stream)
                + "5a".repeat(payload);
    }

    /** With another byte. */
    static String with(String packet, int offset, int value) {
        return packet.substring(0, 2 * offset) + "%02x".formatted(value) + packet.substring(2 * offset + 2);
    }
}
