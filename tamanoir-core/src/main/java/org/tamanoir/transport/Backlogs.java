package org.tamanoir.transport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.locks.LockSupport;

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
    }

    /** Returns whether each backlog was seen empty once since {@link #begin}, so that all that was in it is through. */
    public boolean areThrough() {
        String[] lines;
        try {
            lines = Files.readString(statistics, StandardCharsets.US_ASCII).split("\n");
        } catch (IOException | RuntimeException e) {
            return true;
        }
        if (!hasBegun) {
            hasBegun = true;
            pending.set(0, lines.length);
        }
        for (int line = 0; line < lines.length; line++) {
            if (isEmpty(lines[line])) {
                pending.clear(line);
            }
        }
        return pending.isEmpty();
    }

    /** Waits until what is in the backlogs now is through, for so long at most. */
    public void await(long atMostNs) {
        long endNs = System.nanoTime() + atMostNs;
        begin();
        while (!areThrough() && System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private static boolean isEmpty(String line) {
        String[] fields = line.trim().split(" ");
        return fields.length <= WAITING || fields[WAITING].chars().allMatch(digit -> digit == '0');
    }
}
