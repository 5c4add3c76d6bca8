package org.tamanoir.transport;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has things made that take direct memory of the JVM when they are used first. Where there was none the JVM is asked again
 * a second later: to ask it in vain costs a collection, and half a second.
 *
 * <p>Thread contract: one thread.
 */
public final class ScarceMemory {
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier clockNs;
    /** Null unless there was none when it was asked for last. */
    private @Nullable NoMemoryException lack;

    private long refusedNs;

    public ScarceMemory(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * Returns what {@code maker} makes.
     *
     * @throws NoMemoryException if there is no memory for it, or was none within the last second
     */
    public <T> T make(Supplier<T> maker) {
        NoMemoryException known = lack;
        if (known != null && clockNs.getAsLong() - refusedNs < REST_NS) {
            throw known;
        }
        try {
            T made = BufferPool.withoutIdle(maker);
            lack = null;
            return made;
        } catch (OutOfMemoryError e) {
            refusedNs = clockNs.getAsLong();
            NoMemoryException found = new NoMemoryException(
                    String.valueOf(UdpPort.withoutMemory(e).getMessage()));
            lack = found;
            throw found;
        }
    }
}
