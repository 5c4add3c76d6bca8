package org.tamanoir.service;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A count that one thread, the service's, writes and any thread reads. What was written becomes visible with the
 * batch at the latest.
 */
public final class Counter {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private long value;

    /** A counter at 0. */
    public Counter(String name) {
        this.name = name;
    }

    /** As the service named it. */
    public String name() {
        return name;
    }

    /** Adds {@code amount}; only the owning thread may call. */
    public void add(long amount) {
        value += amount;
    }

    /** Sets the value, for gauges; only the owning thread may call. */
    public void set(long amount) {
        value = amount;
    }

    /** The value now; any thread may call. */
    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
