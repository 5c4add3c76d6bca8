package org.tamanoir.routing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * Reads an MRT file (RFC 6396, section 2) record by record, each one whole.
 *
 * <pre>
 *   | time 4 | type 2 | subtype 2 | length 4 | body |
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class MrtRecords {
    static final int HEADER_BYTES = 12;
    /** Some 60 peers with long paths make 10 KiB a record. */
    private static final int MAX_BODY_BYTES = 4 << 20;

    /** Tells of a record behind which nothing can be read. */
    static final class UnusableException extends IOException {
        private static final long serialVersionUID = 1;

        UnusableException(String message) {
            super(message);
        }
    }

    private final InputStream in;
    private final byte[] header = new byte[HEADER_BYTES];
    private final ByteBuffer fields = ByteBuffer.wrap(header);
    private ByteBuffer body = ByteBuffer.allocate(1 << 16);
    private long number;

    MrtRecords(InputStream in) {
        this.in = in;
    }

    /** Reads the next record; false at the end of the file. */
    boolean next() throws IOException {
        int n = in.readNBytes(header, 0, HEADER_BYTES);
        if (n == 0) {
            return false;
        }
        if (n < HEADER_BYTES) {
            throw new EOFException();
        }
        number++;
        int length = fields.getInt(8);
        if (length < 0 || length > MAX_BODY_BYTES) {
            throw new UnusableException("a record of " + (length & 0xFFFF_FFFFL) + " bytes: at most " + MAX_BODY_BYTES
                    + "; this is no MRT file, or a damaged one");
        }
        if (body.capacity() < length) {
            body = ByteBuffer.allocate(Math.max(length, 2 * body.capacity()));
        }
        body.clear().limit(length);
        if (in.readNBytes(body.array(), 0, length) < length) {
            throw new EOFException();
        }
        return true;
    }

    /** Returns where the record is, as problems say it; the first one is 1. */
    String where() {
        return ": record " + number;
    }

    int type() {
        return fields.getShort(4) & 0xFFFF;
    }

    int subtype() {
        return fields.getShort(6) & 0xFFFF;
    }

    /** Returns the body of this record, until the next one is read. */
    ByteBuffer body() {
        return body;
    }

    /** Goes over bytes that do not matter. */
    static void skip(ByteBuffer body, int bytes) {
        body.position(end(body, bytes));
    }

    /**
     * Returns the place behind so many bytes.
     *
     * @throws BufferUnderflowException if they are not there
     */
    static int end(ByteBuffer body, int bytes) {
        if (bytes > body.remaining()) {
            throw new BufferUnderflowException();
        }
        return body.position() + bytes;
    }
}
