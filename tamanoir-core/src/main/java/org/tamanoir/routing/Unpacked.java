package org.tamanoir.routing;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.zip.ZipException;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;

/**
 * Gives what a file holds, unpacked if it is packed by gzip or bzip2, within bounds of bytes and time: reading ends with a
 * problem in one line where one is reached or the thread is interrupted.
 *
 * <p>Thread contract: one thread.
 */
final class Unpacked extends FilterInputStream {
    /**
     * Of each 4,194,304 routes 4 KiB: the largest public dumps, of 100 peers with 1,300,000 routes, have some 2,000 bytes
     * a route.
     */
    static final long MAX_BYTES = 16L << 30;

    /** Less than 'ctl' waits; 2 GB in bzip2 take a quarter of it. */
    static final Duration MAX_TIME = Duration.ofMinutes(8);

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MAGIC_BYTES = 3;

    private final long maxBytes;
    private final long maxTimeNs;
    private final long beginNs = System.nanoTime();
    private long bytes;

    private Unpacked(InputStream in, long maxBytes, Duration maxTime) {
        super(in);
        this.maxBytes = maxBytes;
        this.maxTimeNs = maxTime.toNanos();
    }

    /** Returns a file's content; closing it closes the file. */
    static BufferedInputStream of(InputStream file) throws IOException {
        return of(file, MAX_BYTES, MAX_TIME);
    }

    static BufferedInputStream of(InputStream file, long maxBytes, Duration maxTime) throws IOException {
        // Parts without content never come to the bound of what is unpacked.
        BufferedInputStream in = new BufferedInputStream(new Unpacked(file, Long.MAX_VALUE, maxTime), BUFFER_BYTES);
        InputStream unpacked = isGzip(in) ? new GzipMembers(in) : isBzip2(in) ? new Bzip2(in) : in;
        return new BufferedInputStream(new Unpacked(unpacked, maxBytes, maxTime), BUFFER_BYTES);
    }

    /** Returns whether the content itself is packed. */
    static boolean isPacked(BufferedInputStream in) throws IOException {
        return isGzip(in) || isBzip2(in);
    }

    private static boolean isGzip(BufferedInputStream in) throws IOException {
        byte[] start = start(in, MAGIC_BYTES);
        return start.length >= 2 && start[0] == 0x1F && start[1] == (byte) 0x8B;
    }

    private static boolean isBzip2(BufferedInputStream in) throws IOException {
        byte[] start = start(in, MAGIC_BYTES);
        return start.length == MAGIC_BYTES && start[0] == 'B' && start[1] == 'Z' && start[2] == 'h';
    }

    /** Returns up to so many first bytes; the stream stands before them still. */
    static byte[] start(BufferedInputStream in, int bytes) throws IOException {
        in.mark(bytes);
        byte[] start = in.readNBytes(bytes);
        in.reset();
        return start;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("its reading was broken off; load it again");
        }
        if (System.nanoTime() - beginNs >= maxTimeNs) {
            throw new InterruptedIOException(
                    "it takes longer than " + maxTimeNs / 1_000_000_000 + " s; unpack it, or leave out some");
        }
        int read = super.read(into, from, length);
        bytes += Math.max(0, read);
        if (bytes > maxBytes) {
            throw new IOException("it has more than " + maxBytes + " bytes unpacked; leave out some");
        }
        return read;
    }

    /** One or more streams of bzip2; whatever is wrong with them is a {@link ZipException}. */
    private static final class Bzip2 extends InputStream {
        private final InputStream in;

        Bzip2(InputStream packed) throws IOException {
            try {
                in = new BZip2CompressorInputStream(packed, true);
            } catch (IOException | RuntimeException e) {
                throw damaged(e);
            }
        }

        private static IOException damaged(Exception e) {
            if (e instanceof InterruptedIOException ended) {
                return ended;
            }
            ZipException damaged = new ZipException(e.getMessage());
            damaged.initCause(e);
            return damaged;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            try {
                return in.read(into, from, length);
            } catch (IOException | RuntimeException e) { // Of numbers out of bounds.
                throw damaged(e);
            }
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
