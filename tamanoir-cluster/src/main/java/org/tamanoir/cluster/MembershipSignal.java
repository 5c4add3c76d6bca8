package org.tamanoir.cluster;

import java.time.Duration;

/**
 * What the threads of a {@link Membership} wait for: something has happened, or there is news that directors are to hear.
 *
 * <p>Thread contract: any thread.
 */
final class MembershipSignal {
    /** What is waited for. Under the monitor: it must not wait itself. */
    interface Condition {
        boolean holds();
    }

    private static final long NS_PER_MS = 1_000_000;

    private long signals;
    private boolean hasNews;
    private boolean closed;

    /** Tells that something has happened. */
    synchronized void wake() {
        signals++;
        notifyAll();
    }

    /** Tells that something has happened which directors are to hear at once. */
    synchronized void tellNews() {
        hasNews = true;
        wake();
    }

    /** Returns whether there is news; it is none any more then. */
    synchronized boolean takeNews() {
        boolean news = hasNews;
        hasNews = false;
        return news;
    }

    /** Returns how often something has happened. */
    synchronized long signals() {
        return signals;
    }

    /** Ends all waiting. */
    synchronized void close() {
        closed = true;
        wake();
    }

    /** Returns at once when something has happened since {@code seen}. */
    synchronized void pause(long seen, long ns) throws InterruptedException {
        if (!closed && ns > 0 && signals == seen) {
            wait(ns / NS_PER_MS + 1);
        }
    }

    /** Returns whether the condition came to hold in time; it is looked at when something has happened. */
    synchronized boolean awaitUntil(Duration patience, Condition condition) {
        long endNs = System.nanoTime() + patience.toNanos();
        while (!condition.holds() && !closed) {
            long leftNs = endNs - System.nanoTime();
            if (leftNs <= 0) {
                return false;
            }
            try {
                wait(leftNs / NS_PER_MS + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }
}
