package org.tamanoir.service;

/**
 * What of the node's resources is momentarily allotted to a service's thread and to the class of traffic that it
 * processes, so that the service may adapt what it does. A view: {@link Service#allotment} looks, and gives the same
 * object each time.
 *
 * <p>All is zero or false while turns on processors are not scheduled. Numbers of a scheduling point are those of the
 * last event there: a turn asked for, granted or ended, a packet enqueued or sent. Each is read when it is asked for, and
 * exact by itself; two of the same look may be from before such an event and from after it: a turn that is granted at once
 * may be seen waiting, or both waiting and running.
 *
 * <p>Thread contract: the service's thread.
 */
public interface Allotment {
    /** Processors given to services; 0 = turns are not scheduled, or the thread has none. */
    int processors();

    /** Turns that threads have now: of the own class. */
    int turnsRunning();

    /** Turns that threads wait for: of the own class. */
    int turnsWaiting();

    /** Turns that threads have now: of all classes. */
    int allTurnsRunning();

    /** Turns that threads wait for: of all classes. */
    int allTurnsWaiting();

    /** Whether other turns wait for this one to end. */
    boolean isContended();

    /** The class's part of the processor time of all turns that ended in the last 100 ms, 0 to 1. */
    double share();

    /** The same as its weight has it: its part of the weights of all classes, 0 to 1. */
    double due();

    /**
     * Nanoseconds until the turn ends if others wait; negative = it is over. Reads the clock, which the other methods do
     * not.
     */
    long quantumRestNs();

    /**
     * Processor time, in ns, that the packet in hand may still use; {@link Long#MAX_VALUE} = no budget. As the node's
     * watchdog saw it last, every 2 ms.
     */
    long packetBudgetRestNs();

    /** Bytes of the class that wait in queues of datagrams before processing. */
    long waitingBytes();

    /** Bytes of the class that wait for the link where most of them do. */
    long linkQueuedBytes();

    /** How many may; 0 = the configuration has no link. */
    long linkQueueLimitBytes();

    /** Rate of that link, in bytes a second. */
    long linkRate();

    /** Bytes that could leave over it at once; negative = it owes them. */
    long linkTokens();

    /** Packets of the class that were dropped at both points in the last second. */
    long recentDrops();
}
