package org.tamanoir.transport;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs something when a wait has lasted for a time in which nothing moved. It looks {@value #LOOKS} times in that time,
 * so that it is late by a quarter at most, and a thread that was away for long sees one quiet look and not the whole time.
 * It looks no more when nothing waits, and when it has run that: {@link #watch} begins anew.
 *
 * <p>Thread contract: the thread of the loop.
 */
public final class ProgressWatch {
    private static final int LOOKS = 4;

    private final IoLoop loop;
    private final Duration time;
    private final BooleanSupplier waits;
    private final LongSupplier progress;
    private final Runnable late;
    /** The next look; null while nothing is watched. */
    private @Nullable Future<?> look;

    private long before;
    private int quietLooks;

    /**
     * @param time that a wait may last without progress
     * @param waits tells whether there is a wait
     * @param progress gives another number whenever something has moved
     * @param late what follows
     */
    public ProgressWatch(IoLoop loop, Duration time, BooleanSupplier waits, LongSupplier progress, Runnable late) {
        this.loop = loop;
        this.time = time;
        this.waits = waits;
        this.progress = progress;
        this.late = late;
    }

    /** Looks from now on, if something waits and it does not look already. */
    public void watch() {
        if (look == null && waits.getAsBoolean()) {
            before = progress.getAsLong();
            quietLooks = 0;
            lookLater();
        }
    }

    private void look() {
        look = null;
        long now = progress.getAsLong();
        quietLooks = now == before ? quietLooks + 1 : 0;
        before = now;
        if (!waits.getAsBoolean()) {
            return;
        }
        if (quietLooks >= LOOKS) {
            late.run();
        } else {
            lookLater();
        }
    }

    private void lookLater() {
        look = loop.schedule(Duration.ofNanos(time.toNanos() / LOOKS), this::look);
    }

    /** Looks no more. */
    public void end() {
        Future<?> next = look;
        if (next != null) {
            look = null;
            next.cancel(false);
        }
    }
}
