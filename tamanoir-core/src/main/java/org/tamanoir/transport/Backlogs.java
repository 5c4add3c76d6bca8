package org.tamanoir.transport;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The backlogs of the processors: packets that the kernel has sent through a virtual interface, and that wait on one
 * processor until its other end takes them in. Linux counts them in {@code /proc/net/softnet_stat}, a line for each
 * processor:
 *
 * <pre>
 *   fields of 8 hexadecimal digits; the 12th, since Linux 5.10, is how many packets wait
 * </pre>
 *
 * Where that cannot be read, nothing is known to wait.
 *
 * <p>Thread contract: one thread.
 */
public final class Backlogs {
    private static final Path STATISTICS = Path.of("/proc/net/softnet_stat");
    private static final int WAITING = 11;
    /** Between looks. */
    private static final long LOOK_NS = 50_000;

    private final Path statistics;
    /** Processors, by line, whose backlog was not seen empty since {@link #begin}. */
    private final BitSet pending = new BitSet();

    private boolean hasBegun;
    /** Open while something waits: the kernel writes it anew for each look. */
    private @Nullable RandomAccessFile file;

    private byte[] text = new byte[2048];

    public Backlogs() {
        this(STATISTICS);
    }

    /** Reads them from this file, which looks like {@code softnet_stat}. */
    public Backlogs(Path statistics) {
        this.statistics = statistics;
    }

    /** Waits from now on for what is in the backlogs now. */
    public void begin() {
        hasBegun = false;
        pending.clear();
    }

    /** Returns whether each backlog was seen empty once since {@link #begin}, so that all that was in it is through. */
    public boolean areThrough() {
        int length;
        try {
            length = read();
        } catch (IOException unreadable) {
            close();
            return true;
        }
        look(length);
        if (pending.isEmpty()) {
            close();
            return true;
        }
        return false;
    }

    /** Reads the whole file, which stays open while something waits. */
    private int read() throws IOException {
        RandomAccessFile from = file;
        if (from == null) {
            from = new RandomAccessFile(statistics.toFile(), "r");
            file = from;
        } else {
            from.seek(0);
        }
        int length = 0;
        int bytes;
        while ((bytes = from.read(text, length, text.length - length)) > 0) {
            length += bytes;
            if (length == text.length) {
                text = Arrays.copyOf(text, 2 * length);
            }
        }
        return length;
    }

    private void look(int length) {
        int line = 0;
        int field = 0;
        boolean isEmpty = true;
        for (int at = 0; at < length; at++) {
            byte sign = text[at];
            if (sign == ' ') {
                field++;
            } else if (sign == '\n') {
                note(line++, isEmpty);
                field = 0;
                isEmpty = true;
            } else if (field == WAITING && sign != '0') {
                isEmpty = false;
            }
        }
        hasBegun = true;
    }

    private void note(int processor, boolean isEmpty) {
        if (isEmpty) {
            pending.clear(processor);
        } else if (!hasBegun) {
            pending.set(processor);
        }
    }

    private void close() {
        RandomAccessFile open = file;
        file = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // It was read only.
            }
        }
    }

    /** Waits until what is in the backlogs now is through, for so long at most. */
    public void await(long atMostNs) {
        long endNs = System.nanoTime() + atMostNs;
        begin();
        while (!areThrough() && System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(LOOK_NS);
        }
    }
}
