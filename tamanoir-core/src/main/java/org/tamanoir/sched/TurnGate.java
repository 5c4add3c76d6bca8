package org.tamanoir.sched;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * What stands between a packet and its service while turns on the processors are scheduled.
 *
 * <p>Thread contract: the service's thread, but for {@link #forfeit}.
 */
public abstract class TurnGate {
    /**
     * Lets a packet in.
     *
     * @return false when it is not to be processed now: it was put into a queue, or dropped and counted
     */
    public abstract boolean take(Packet packet);

    /**
     * Prepares for the thread's rest. A turn is kept while packets may be there that were not looked for, so that its class
     * counts as backlogged; else it ends here, for no thread has a turn while it waits.
     *
     * @return false when the thread has to look for packets first
     */
    public abstract boolean mayRest();

    /**
     * Gives the turn back in the midst of a packet if its quantum is over and others wait, and waits for the next one;
     * what was processed before leaves first. Where none comes in time the packet goes on beside others. The thread is in
     * the service's code.
     */
    public abstract void giveWay();

    /** Returns the turn that the thread has; null when it has none. */
    public abstract @Nullable CpuGrant turn();

    /** Gives turns back that the thread does not need any more. */
    public abstract void end();

    /** Takes turns back from a thread that does not return from the service's code. Another thread. */
    public abstract void forfeit();
}
