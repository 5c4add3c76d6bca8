package org.tamanoir.ee;

import org.tamanoir.anep.Packet;

/**
 * What stands between a packet and its service while turns on the processors are scheduled.
 *
 * <p>Thread contract: the service's thread, but for {@link #forfeit}.
 */
abstract class TurnGate {
    /**
     * Lets a packet in.
     *
     * @return false when it is not to be processed now: it was put into a queue, or dropped and counted
     */
    abstract boolean take(Packet packet);

    /**
     * Before the thread waits. A turn is kept while packets may be there that were not looked for, so that its class
     * counts as backlogged; else it ends here, for no thread has a turn while it waits.
     *
     * @return false when the thread has to look for packets first
     */
    abstract boolean mayRest();

    /** The thread needs no turn any more. */
    abstract void end();

    /** The thread does not return from the service's code. Another thread. */
    abstract void forfeit();
}
