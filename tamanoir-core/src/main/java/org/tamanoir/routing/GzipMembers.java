package org.tamanoir.routing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Unpacks a file of one or more gzip members (RFC 1952). {@link java.util.zip.GZIPInputStream} takes damage behind the
 * first one for the end of the file; here nothing but another whole member may follow.
 *
 * <p>Thread contract: one thread.
 */
final class GzipMembers extends InputStream {
    private static final int MAGIC = 0x8B1F;
    private static final int DEFLATE = 8;
    private static final int HEADER_CHECKSUM = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int RESERVED = 0xE0;
    /** Time, flags of the compressor, system. */
    private static final int UNUSED_BYTES = 6;

    private final InputStream in;
    private final byte[] packed = new byte[1 << 16];
    private final Inflater inflater = new Inflater(true);
    private final CRC32 checksum = new CRC32();
    private int at;
    private int end;
    private boolean isInMember;

    GzipMembers(InputStream in) {
        this.in = in;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        try {
            while (length > 0) {
                if (!isInMember && !begins()) {
                    return -1;
                }
                int bytes = inflater.inflate(into, from, length);
                checksum.update(into, from, bytes);
                if (inflater.finished()) {
                    at = end - inflater.getRemaining();
                    checkTrailer();
                } else if (inflater.needsInput()) {
                    at = end;
                    fill();
                    inflater.setInput(packed, at, end - at);
                } else if (inflater.needsDictionary()) {
                    throw new ZipException("it wants a dictionary, which gzip has none of");
                }
                if (bytes > 0) {
                    return bytes;
                }
            }
            return 0;
        } catch (DataFormatException e) {
            throw new ZipException(e.getMessage());
        }
    }

    /** Reads a member's header; false at the end of the file. */
    private boolean begins() throws IOException {
        if (at == end) {
            end = in.read(packed, 0, packed.length);
            at = 0;
            if (end <= 0) {
                end = 0;
                return false;
            }
        }
        if (number(2) != MAGIC || nextByte() != DEFLATE) {
            throw new ZipException("something else than a gzip member begins");
        }
        int flags = nextByte();
        if ((flags & RESERVED) != 0) {
            throw new ZipException("unknown flags in the header of a gzip member");
        }
        skip(UNUSED_BYTES);
        skip((flags & EXTRA) == 0 ? 0 : (int) number(2));
        for (int text : new int[] {NAME, COMMENT}) {
            while ((flags & text) != 0 && nextByte() != 0) {}
        }
        skip((flags & HEADER_CHECKSUM) == 0 ? 0 : 2);
        inflater.reset();
        inflater.setInput(packed, at, end - at);
        checksum.reset();
        isInMember = true;
        return true;
    }

    private void checkTrailer() throws IOException {
        if (number(4) != checksum.getValue() || number(4) != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
            throw new ZipException("checksum or length of a gzip member do not fit");
        }
        isInMember = false;
    }

    private void skip(int bytes) throws IOException {
        for (int i = 0; i < bytes; i++) {
            nextByte();
        }
    }

    /** Reads a number of so many bytes, the lowest first. */
    private long number(int bytes) throws IOException {
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            number |= (long) nextByte() << 8 * i;
        }
        return number;
    }

    private int nextByte() throws IOException {
        if (at == end) {
            fill();
        }
        return packed[at++] & 0xFF;
    }

    private void fill() throws IOException {
        at = 0;
        end = Math.max(0, in.read(packed, 0, packed.length));
        if (end == 0) {
            throw new EOFException();
        }
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        in.close();
    }
}
