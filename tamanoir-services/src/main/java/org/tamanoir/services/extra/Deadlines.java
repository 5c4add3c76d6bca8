package org.tamanoir.services.extra;

import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Things that are due a fixed time after they began, so that they are due in the order in which they began: the first
 * one is found without a search, and adding and removing one take a constant time and allocate nothing.
 *
 * <p>Thread contract: the service's thread.
 */
public final class Deadlines<T extends Deadlines.Item<T>> {
    /** A thing that begins and is due; in one {@link Deadlines} at most. */
    public abstract static class Item<T extends Item<T>> {
        private @Nullable T before;
        private @Nullable T behind;
        private boolean isAwaited;
        private long beganNs;

        /** For what is to be due. */
        protected Item() {}
    }

    private final long delayNs;
    private final LongSupplier clockNs;
    private final BiConsumer<Duration, Runnable> timer;
    private final Consumer<T> due;
    private final Runnable look = this::look;
    private boolean isLooking;
    private @Nullable T first;
    private @Nullable T last;

    /**
     * Makes one with nothing in it.
     *
     * @param timer runs a task after a time
     * @param due takes what is due, which is not awaited any more then
     */
    public Deadlines(Duration delay, LongSupplier clockNs, BiConsumer<Duration, Runnable> timer, Consumer<T> due) {
        this.delayNs = delay.toNanos();
        this.clockNs = clockNs;
        this.timer = timer;
        this.due = due;
    }

    /** Begins to await an item, which is not awaited yet. */
    public void add(T item) {
        Item<T> added = item;
        added.beganNs = clockNs.getAsLong();
        added.isAwaited = true;
        added.before = last;
        link(last, item);
        last = item;
        if (!isLooking) {
            lookAfter(delayNs);
        }
    }

    /** Awaits an item no more; nothing happens if it was not awaited. */
    public void remove(T item) {
        Item<T> removed = item;
        if (!removed.isAwaited) {
            return;
        }
        T before = removed.before;
        T behind = removed.behind;
        link(before, behind);
        if (behind == null) {
            last = before;
        } else {
            ((Item<T>) behind).before = before;
        }
        removed.isAwaited = false;
        removed.before = null;
        removed.behind = null;
    }

    /** Has {@code behind} follow {@code before}; null: the beginning, and the end. */
    private void link(@Nullable T before, @Nullable T behind) {
        if (before == null) {
            first = behind;
        } else {
            ((Item<T>) before).behind = behind;
        }
    }

    private void look() {
        isLooking = false;
        long nowNs = clockNs.getAsLong();
        for (T item = first; item != null; item = first) {
            long leftNs = delayNs - (nowNs - ((Item<T>) item).beganNs);
            if (leftNs > 0) {
                lookAfter(leftNs);
                return;
            }
            remove(item);
            due.accept(item);
        }
    }

    private void lookAfter(long ns) {
        if (!isLooking) {
            isLooking = true;
            timer.accept(Duration.ofNanos(ns), look);
        }
    }
}
