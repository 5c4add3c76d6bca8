package org.tamanoir.deploy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Reads jars, which are a stranger's: one at a time, in {@linkplain JarMemory a part} of the memory that is free, so that
 * packets have the rest meanwhile. What the JVM throws while it reads, links or inspects what a jar brings is the jar's fault.
 *
 * <p>Thread contract: any thread; waits for those that read a jar before, until a deadline.
 */
final class JarReading {
    /** Of the heap of this process. */
    static final JarReading IN_HEAP = new JarReading(JarReading::freeBytes, System::gc);

    /** Characters of what was thrown that a refusal tells; a verifier tells pages. */
    private static final int MAX_TOLD = 300;

    private final Lock lock = new ReentrantLock();
    private final LongSupplier freeBytes;
    private final Runnable collector;

    /** What reads a jar. */
    interface JarReader<T> {
        T read(JarMemory memory) throws CodeRefusedException, LocalException;
    }

    /** What reads one thing of a jar, and may fail by another fault than the jar's. */
    interface Reader<T, E extends Exception> {
        T read() throws CodeRefusedException, E;
    }

    /** @param freeBytes and {@code collector}: see {@link JarMemory} */
    JarReading(LongSupplier freeBytes, Runnable collector) {
        this.freeBytes = freeBytes;
        this.collector = collector;
    }

    private static long freeBytes() {
        Runtime heap = Runtime.getRuntime();
        return heap.maxMemory() - heap.totalMemory() + heap.freeMemory();
    }

    /**
     * Has a jar read when no other one is being read.
     *
     * @param deadlineNs when it must have begun, as of {@link System#nanoTime}
     * @throws TimeoutException in one line, when others were read until then, or this thread was interrupted, which it stays
     */
    <T> T read(String label, long deadlineNs, JarReader<T> reader)
            throws CodeRefusedException, LocalException, TimeoutException {
        boolean isMine = false;
        try {
            isMine = lock.tryLock(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!isMine) {
            throw new TimeoutException(label + " was not read in time: other jars were being read; ask again");
        }
        try {
            return blaming(label, "it", () -> reader.read(new JarMemory(freeBytes, collector)));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs what has the JVM look at something of a jar.
     *
     * @param what for the message: what is looked at
     * @throws CodeRefusedException for all that is thrown unchecked: {@link Refusal#TOO_LARGE} if memory was short, else
     *     {@link Refusal#NOT_A_SERVICE}
     */
    static <T, E extends Exception> T blaming(String label, String what, Reader<T, E> reader)
            throws CodeRefusedException, E {
        try {
            return reader.read();
        } catch (OutOfMemoryError e) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    label + ": there is no memory to read " + what
                            + "; make it smaller, or give this program more (-Xmx)");
        } catch (StackOverflowError e) {
            throw new CodeRefusedException(
                    Refusal.NOT_A_SERVICE,
                    label + ": " + what + " cannot be loaded: it is nested too deeply; publish a new version");
        } catch (RuntimeException | Error e) {
            String told = e.toString();
            throw new CodeRefusedException(
                    Refusal.NOT_A_SERVICE,
                    label + ": " + what + " cannot be loaded: "
                            + (told.length() > MAX_TOLD ? told.substring(0, MAX_TOLD) + "..." : told)
                            + "; publish a new version that has all it needs");
        }
    }
}
