package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Makes of a data packet what repairs sum up ({@link FecHeader}). Thread contract: one thread. */
final class Symbols {
    private final CRC32C crc = new CRC32C();
    private ByteBuffer symbol = ByteBuffer.allocate(2048);

    /** Writes it from index 0 of {@link #octets} on. Returns its length. */
    int write(ByteBuffer payload, long sequence, long originNs) {
        int bytes = FecHeader.OWN_BYTES + payload.remaining();
        if (symbol.capacity() < bytes) {
            symbol = ByteBuffer.allocate(Integer.highestOneBit(bytes - 1) << 1);
        }
        FecHeader.writeOwn(symbol.clear(), payload.remaining(), sequence, originNs);
        symbol.put(FecHeader.OWN_BYTES, payload, payload.position(), payload.remaining());
        seal(symbol.array(), 0, bytes);
        return bytes;
    }

    byte[] octets() {
        return symbol.array();
    }

    /** Writes the CRC in front of what it is of. */
    void seal(byte[] octets, int at, int bytes) {
        int sum = sum(octets, at, bytes);
        for (int i = 0; i < FecHeader.CRC_BYTES; i++) {
            octets[at + i] = (byte) (sum >>> (FecHeader.CRC_BYTES - 1 - i) * Byte.SIZE);
        }
    }

    /** Returns whether the CRC is right. */
    boolean isSealed(byte[] octets, int at, int bytes) {
        int there = 0;
        for (int i = 0; i < FecHeader.CRC_BYTES; i++) {
            there = there << Byte.SIZE | octets[at + i] & 0xFF;
        }
        return there == sum(octets, at, bytes);
    }

    private int sum(byte[] octets, int at, int bytes) {
        crc.reset();
        crc.update(octets, at + FecHeader.CRC_BYTES, bytes - FecHeader.CRC_BYTES);
        return (int) crc.getValue();
    }
}
