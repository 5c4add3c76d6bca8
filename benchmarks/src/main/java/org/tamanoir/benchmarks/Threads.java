package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Makes threads that end with the program, and waits by the monotonic clock. Any thread. */
public final class Threads {
    private static final double NS_PER_S = 1e9;

    private Threads() {}

    /** What a thread runs. */
    public interface Body {
        /** Runs. */
        void run() throws Exception;
    }

    /** What is waited for. */
    public interface Condition {
        /** Returns whether it is so now. */
        boolean holds() throws IOException;
    }

    /** Starts a thread; what it throws is told on standard error. */
    public static Thread start(String name, Body body) {
        Thread thread = new Thread(
                () -> {
                    try {
                        body.run();
                    } catch (Exception e) {
                        System.err.println(name + ": " + e);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Waits until {@link System#nanoTime} is this; less when the thread is interrupted, which it stays. */
    public static void until(long ns) {
        long leftNs;
        while ((leftNs = ns - System.nanoTime()) > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(leftNs);
        }
    }

    /** Waits so many seconds; less when the thread is interrupted, which it stays. */
    public static void pause(double seconds) {
        until(System.nanoTime() + Math.round(seconds * NS_PER_S));
    }

    /** Waits until the condition holds, asking it again every so many ms; whether it came to hold in time. */
    public static boolean await(double seconds, double everyMs, Condition condition) throws IOException {
        long endNs = System.nanoTime() + Math.round(seconds * NS_PER_S);
        while (!condition.holds()) {
            if (System.nanoTime() - endNs > 0) {
                return false;
            }
            pause(everyMs / 1000);
            requireUninterrupted();
        }
        return true;
    }

    /** Waits for the end of a thread. */
    public static void join(Thread thread, double seconds) throws IOException {
        try {
            thread.join(Math.max(1, Math.round(seconds * 1000)));
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    /** Waits for the end of a process; whether it ended in time. */
    static boolean join(Process process, double seconds) throws IOException {
        try {
            return process.waitFor(Math.round(seconds * 1000), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static void requireUninterrupted() throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted();
        }
    }

    /** Keeps the interrupt of this thread, and returns what says so. */
    public static IOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted");
    }
}
