package org.tamanoir.ee;

/**
 * Whether an instance's thread comes back from its service's code. The watchdog suspects it, interrupts it, and gives
 * the instance up at last; a thread that comes back meanwhile ends the suspicion.
 *
 * <p>While the suspicion lasts every instance of the service asks {@link #back} when it leaves the service's code. So
 * an interrupt cannot hit the node's own system calls, which would close the JDK's channels; and whoever gives the
 * instance up may touch what is the thread's, which waits in {@link #back} until that is done.
 *
 * <p>Thread contract: {@link #back} the instance's thread, all else any other.
 */
final class Supervision {
    private final ServiceLife life;
    private final Thread thread;
    private boolean suspected;
    private volatile boolean givenUp;

    Supervision(ServiceLife life, Thread thread) {
        this.life = life;
        this.thread = thread;
    }

    /** The thread has come back. True when the instance was given up. */
    synchronized boolean back() {
        if (suspected) {
            suspected = false;
            life.cleared();
            boolean ignored = Thread.interrupted();
        }
        return givenUp;
    }

    /** From now on the thread reports when it comes back. */
    synchronized void suspect() {
        if (!suspected) {
            suspected = true;
            life.suspected();
        }
    }

    /** The suspicion was wrong. */
    synchronized void clear() {
        if (suspected && !givenUp) {
            suspected = false;
            life.cleared();
        }
    }

    /** Interrupts the thread, unless it has come back. */
    synchronized void interrupt() {
        if (suspected) {
            thread.interrupt();
        }
    }

    /** Gives the instance up, unless its thread has come back; {@code leave} takes from it what is to be taken. */
    synchronized boolean giveUp(Runnable leave) {
        if (!suspected || givenUp) {
            return false;
        }
        givenUp = true;
        leave.run();
        return true;
    }

    boolean isGivenUp() {
        return givenUp;
    }
}
