package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Makes of a data packet what repairs sum up ({@link FecHeader}). Thread contract: one thread. */
final class Symbols {
    private final CRC32C crc = new CRC32C();
    private byte[] symbol = new byte[2048];

    /** Writes it from index 0 of {@link #octets} on. Returns its length. */
    int write(ByteBuffer payload, long sequence, long originNs) {
        int wanted = FecHeader.OWN_BYTES + payload.remaining();
        if (symbol.length < wanted) {
            symbol = new byte[Integer.highestOneBit(wanted - 1) << 1];
        }
        int bytes = FecHeader.writeOwn(symbol, 0, payload, sequence, originNs);
        seal(symbol, 0, bytes);
        return bytes;
    }

    byte[] octets() {
        return symbol;
    }

    /** Writes the CRC in front of what it is of. */
    void seal(byte[] octets, int at, int bytes) {
        FecHeader.setOwnCrc(octets, at, sum(octets, at, bytes));
    }

    /** Returns whether the CRC is right. */
    boolean isSealed(byte[] octets, int at, int bytes) {
        return FecHeader.ownCrc(octets, at) == sum(octets, at, bytes);
    }

    private int sum(byte[] octets, int at, int bytes) {
        crc.reset();
        crc.update(octets, at + FecHeader.CRC_BYTES, bytes - FecHeader.CRC_BYTES);
        return (int) crc.getValue();
    }
}
