package org.tamanoir.service;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;

/**
 * A count that one thread, the service's, writes and any thread reads. What was written becomes visible with the
 * batch at the latest. What the counts of several instances come to together is said by their {@link Kind}.
 */
public final class Counter {
    /** What the values of all instances of a service version come to together, those of ended instances included. */
    public enum Kind {
        /** Added up: events, packets, bytes. Only rises, since operators look at its rate. */
        SUM {
            @Override
            public long join(long one, long other) {
                return one + other;
            }
        },
        /** The largest value that was set. */
        MAXIMUM {
            @Override
            public long join(long one, long other) {
                return Math.max(one, other);
            }
        },
        /** The smallest value that was set. */
        MINIMUM {
            @Override
            public long join(long one, long other) {
                return Math.min(one, other);
            }
        },
        /** A present state: added up over running instances, and gone with each instance. */
        GAUGE {
            @Override
            public long join(long one, long other) {
                return one + other;
            }
        };

        /** Returns what the values of two instances come to. */
        public abstract long join(long one, long other);

        /** Returns whether it is a largest or smallest value, which there is none of before the first is set. */
        public boolean isExtreme() {
            return this == MAXIMUM || this == MINIMUM;
        }

        /** Returns the value that stands for none: those of extremes count from the first one that is set. */
        private long none() {
            return this == MAXIMUM ? Long.MIN_VALUE : this == MINIMUM ? Long.MAX_VALUE : 0;
        }
    }

    /** Makes counters by name and kind, as {@link Service#counter(String, Kind)} does. */
    @FunctionalInterface
    public interface Source {
        /** Returns the counter of this name; the same one each time. */
        Counter counter(String name, Kind kind);

        /** Returns the sum of this name. */
        default Counter counter(String name) {
            return counter(name, Kind.SUM);
        }
    }

    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final Kind kind;
    /** {@link Kind#none} before the first. */
    private long value;

    /** Makes a sum, which is 0. */
    public Counter(String name) {
        this(name, Kind.SUM);
    }

    /** Makes a counter of a kind; it is 0. */
    public Counter(String name, Kind kind) {
        this.name = name;
        this.kind = kind;
        this.value = kind.none();
    }

    /** As the service named it. */
    public String name() {
        return name;
    }

    /** Returns what the values of several instances come to. */
    public Kind kind() {
        return kind;
    }

    /**
     * Adds {@code amount} to a sum, where it is 0 or more, or to a gauge; only the owning thread may call.
     *
     * @throws IllegalStateException if it is a maximum or minimum, which are set
     */
    public void add(long amount) {
        if (kind.isExtreme()) {
            throw new IllegalStateException("counter " + name + " is a "
                    + kind.name().toLowerCase(Locale.ROOT) + ": set() it; add() is for sums and gauges");
        }
        value += amount;
    }

    /**
     * Sets the value of a gauge; a maximum stays at the largest value that was set, a minimum at the smallest. A sum
     * takes the value too, but what it falls by is taken for a restart where it is read: what goes up and down is a
     * {@link Kind#GAUGE}. Only the owning thread may call.
     */
    public void set(long amount) {
        if (kind == Kind.MAXIMUM ? amount > value : kind != Kind.MINIMUM || amount < value) {
            value = amount;
        }
    }

    /** The value now; 0 before the first. Any thread may call. */
    public long get() {
        long now = (long) VALUE.getOpaque(this);
        return now == kind.none() ? 0 : now;
    }

    /** Returns whether there is a value: a maximum or minimum has none before the first was set. Any thread. */
    public boolean hasValue() {
        return kind.none() == 0 || (long) VALUE.getOpaque(this) != kind.none();
    }
}
