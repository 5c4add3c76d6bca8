package org.tamanoir.deploy;

import java.util.function.LongSupplier;

/**
 * What reading one jar may take of memory: {@linkplain #SHARE half} of what is free when it begins, for all that it needs
 * together. Garbage is collected once at most, before the jar is refused: where a heap is full of it that is seldom, since
 * what is free stays so for the next jar.
 *
 * <p>Thread contract: one thread.
 */
final class JarMemory {
    private static final int SHARE = 2;

    private final LongSupplier freeBytes;
    private final Runnable collector;
    private long takenBytes;
    private long mostBytes;
    private boolean isCollected;

    /**
     * @param freeBytes returns what is free, garbage not counted
     * @param collector makes garbage free
     */
    JarMemory(LongSupplier freeBytes, Runnable collector) {
        this.freeBytes = freeBytes;
        this.collector = collector;
        mostBytes = share();
    }

    /** Returns what a jar gets. What it has taken is not free any more. */
    private long share() {
        return (takenBytes + freeBytes.getAsLong()) / SHARE;
    }

    /**
     * Takes memory, until the jar is read.
     *
     * @param what for the message: what wants it
     * @throws CodeRefusedException {@link Refusal#TOO_LARGE}
     */
    void take(long bytes, String label, String what) throws CodeRefusedException {
        long wantedBytes = takenBytes + bytes;
        if (wantedBytes > mostBytes && !isCollected) {
            isCollected = true;
            collector.run();
            mostBytes = share();
        }
        if (wantedBytes > mostBytes) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    label + ": " + what + " takes " + bytes + " bytes of memory, "
                            + (takenBytes == 0 ? "" : wantedBytes + " with what was read before, ") + "and a jar gets "
                            + mostBytes + ", half of what is free; make it smaller, or give this program more (-Xmx)");
        }
        takenBytes = wantedBytes;
    }
}
