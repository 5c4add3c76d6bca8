package org.tamanoir.benchmarks.soak;

import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** Inflates one gzip stream (RFC 1952) that comes in pieces, and verifies its trailer. One thread at a time. */
final class Inflation {
    /** The most that one packet of a flow inflates to. */
    static final int MAX_BYTES = 1 << 17;

    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;

    private @Nullable Inflater inflater;
    private final CRC32 crc = new CRC32();
    private int header;
    private int trailer;
    private long expected;

    /** Returns the number of bytes that come out. */
    int inflate(byte[] from, int offset, int length, byte[] into) throws DifferenceException {
        if (inflater == null) {
            inflater = new Inflater(true); // Not before: of flows that are cut, many bring nothing.
        }
        return inflate(inflater, from, offset, length, into);
    }

    private int inflate(Inflater inflater, byte[] from, int offset, int length, byte[] into)
            throws DifferenceException {
        int skipped = Math.min(length, HEADER_BYTES - header);
        header += skipped;
        inflater.setInput(from, offset + skipped, length - skipped);
        int out = 0;
        try {
            int more;
            while ((more = inflater.inflate(into, out, into.length - out)) > 0) {
                out += more;
            }
        } catch (DataFormatException e) {
            throw new DifferenceException("expected gzip, got what does not inflate: " + e.getMessage());
        }
        if (out == into.length) {
            throw new DifferenceException("expected at most " + into.length + " bytes of a packet, got more");
        }
        crc.update(into, 0, out);
        if (inflater.finished()) {
            int rest = inflater.getRemaining();
            if (trailer == 0) {
                expected = Integer.toUnsignedLong(Integer.reverseBytes((int) crc.getValue())) << 32
                        | Integer.toUnsignedLong(Integer.reverseBytes((int) inflater.getBytesWritten()));
            }
            verifyTrailer(from, offset + length - rest, rest);
        }
        return out;
    }

    private void verifyTrailer(byte[] from, int offset, int length) throws DifferenceException {
        for (int i = 0; i < length; i++) {
            if (trailer >= TRAILER_BYTES) {
                throw new DifferenceException("expected the end of the gzip stream, got bytes behind it");
            }
            if (from[offset + i] != (byte) (expected >>> 56 - trailer * 8)) {
                throw new DifferenceException("byte " + trailer + " of the gzip trailer is wrong");
            }
            trailer++;
        }
    }

    /** Returns whether the stream has ended with a right trailer. */
    boolean isWhole() {
        return trailer == TRAILER_BYTES;
    }

    /** Gives the native memory back; nothing more comes. */
    void end() {
        if (inflater != null) {
            inflater.end();
        }
    }
}
