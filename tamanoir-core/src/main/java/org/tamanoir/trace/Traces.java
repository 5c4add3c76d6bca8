package org.tamanoir.trace;

import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * The few packets whose way is taken down now. Beside its packet a trace stands as a number, which is not used again
 * soon, so that a packet that is late means nothing any more.
 *
 * <p>Thread contract: any thread; {@link #of} takes no lock.
 */
public final class Traces {
    /** At once: each keeps a thread of who asks waiting. */
    public static final int MOST = 2;

    private final LongSupplier nanoTime;
    private final int mostNumbers;
    private int last;
    private volatile PacketTrace[] active = {};

    /**
     * @param nanoTime the time in ns since some fixed point
     * @param mostNumbers the largest number; it is used again when all have been
     */
    public Traces(LongSupplier nanoTime, int mostNumbers) {
        this.nanoTime = nanoTime;
        this.mostNumbers = mostNumbers;
    }

    /**
     * Begins one, which is to be {@link #end}ed.
     *
     * @throws IllegalStateException in one line, when there are too many
     */
    public synchronized PacketTrace begin() {
        PacketTrace[] before = active;
        if (before.length >= MOST) {
            throw new IllegalStateException(
                    MOST + " packets are being traced, the most at once; try again when one has ended");
        }
        last = last % mostNumbers + 1;
        PacketTrace trace = new PacketTrace(last, nanoTime);
        PacketTrace[] after = Arrays.copyOf(before, before.length + 1);
        after[before.length] = trace;
        active = after;
        return trace;
    }

    /** Ends one: its packet is like any other from now on. */
    public synchronized void end(PacketTrace trace) {
        active = Arrays.stream(active).filter(each -> each != trace).toArray(PacketTrace[]::new);
    }

    /** Returns the one that this number stands for; null when there is none. */
    public @Nullable PacketTrace of(int number) {
        for (PacketTrace each : active) {
            if (each.number() == number) {
                return each;
            }
        }
        return null;
    }

    /** Tells the one that this number stands for, if any, that its packet has ended. */
    public void ended(int number, DropReason reason, String why) {
        PacketTrace trace = number == 0 ? null : of(number);
        if (trace != null) {
            trace.ended(reason, why);
        }
    }
}
