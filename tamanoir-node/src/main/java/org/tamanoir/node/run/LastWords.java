package org.tamanoir.node.run;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.tamanoir.node.cli.ExitCode;

/**
 * Ends the process of a node that has lost a thread it cannot do without: says so in one line on standard error, and
 * halts with {@link ExitCode#LOST}. Shutdown hooks do not run, for they need memory, locks and other threads: to others it
 * is as if the process had been killed.
 *
 * <p>Everything it needs is made beforehand, since there may be no memory left: the line is put together in an array of
 * its own, and a thread waits that halts the process even when nobody reads its standard error.
 *
 * <p>Thread contract: any thread; the first one that calls ends the process.
 */
final class LastWords implements BiConsumer<String, Throwable> {
    private static final int MAX_BYTES = 500;
    /** For the line to be written. */
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(1);

    private static final String BEGIN = "tamanoir node: the thread ";
    private static final String CANNOT = " cannot go on: ";
    private static final String END = "; the process ends with status " + ExitCode.LOST + ", start it again\n";

    /** Kept: a class is looked up where it is used first, and that takes memory. */
    private final Runtime runtime = Runtime.getRuntime();

    private final FileOutputStream err = new FileOutputStream(FileDescriptor.err);
    private final byte[] line = new byte[MAX_BYTES];
    private final Thread halts = new Thread(this::haltLate, "last words");
    private int length;
    private volatile boolean told;

    /** Waits for the worst. */
    LastWords() {
        halts.setDaemon(true);
        halts.start();
    }

    @Override
    public void accept(String thread, Throwable cause) {
        told = true;
        LockSupport.unpark(halts);
        try {
            say(thread, cause);
        } finally {
            runtime.halt(ExitCode.LOST);
        }
    }

    private synchronized void say(String thread, Throwable cause) {
        add(BEGIN, MAX_BYTES);
        add(thread, MAX_BYTES);
        add(CANNOT, MAX_BYTES);
        add(cause.getClass().getName(), MAX_BYTES - END.length());
        if (cause.getClass().getClassLoader() == null && cause.getMessage() != null) { // The JDK's: no foreign code.
            add(": ", MAX_BYTES - END.length());
            add(cause.getMessage(), MAX_BYTES - END.length());
        }
        add(END, MAX_BYTES);
        try {
            err.write(line, 0, length);
        } catch (IOException e) {
            // Then nobody reads it; the status says it too.
        }
    }

    private void add(String text, int limit) {
        for (int i = 0; i < text.length() && length < limit; i++) {
            char each = text.charAt(i);
            line[length++] = (byte) (each < ' ' && each != '\n' || each > '~' ? '?' : each);
        }
    }

    private void haltLate() {
        while (!told) {
            LockSupport.park(this);
            boolean ignored = Thread.interrupted();
        }
        long endNs = System.nanoTime() + GRACE_NS;
        long leftNs;
        while ((leftNs = endNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(this, leftNs);
            boolean ignored = Thread.interrupted();
        }
        runtime.halt(ExitCode.LOST);
    }
}
