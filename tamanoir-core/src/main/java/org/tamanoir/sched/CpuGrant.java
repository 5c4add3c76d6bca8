package org.tamanoir.sched;

import org.tamanoir.qdisc.Item;

/**
 * The right of one thread to process packets of one class for a while. It is asked for, waits in the discipline, is
 * granted, and ends when the thread has nothing to do, or its quantum is over and others wait. What it has cost is
 * measured in processor time of the thread, between grant and end.
 *
 * <p>Thread contract: the owner's thread; what says so is the scheduler's, inside its lock.
 */
public final class CpuGrant extends Item {
    /** Packets between looks at the clock while nobody waits, and whether the class is held back. A power of two. */
    private static final int PACKETS_PER_LOOK = 8;

    private static final long NOT_BEGUN = -1;
    private static final int PATIENCE = 10;

    /** What becomes of it. */
    enum State {
        /** Nobody asks for it. */
        IDLE,
        /** It waits in the discipline. */
        WAITING,
        /** It waits until its class is held back no more. */
        PARKED,
        /** It waits until its owner's other turn ends. */
        DEFERRED,
        /** It has a processor. */
        RUNNING,
        /** It lasted too long while others waited: its processor is another's, and it ends as soon as it is asked. */
        OVERDUE
    }

    final TurnOwner owner;
    private final WaitingGrants waiting;
    private final TurnScheduler scheduler;
    private volatile State state = State.IDLE;

    // The scheduler's.
    private volatile TurnClass ofClass;
    long requestedNs;
    /** Its owner knows of it. */
    boolean known;
    /** Where it stands among those that have a processor. */
    int place;

    private volatile long grantedNs;

    // The thread's.
    private int packetsAsked;
    private boolean used;
    /** What its thread had used of a processor before; {@link #NOT_BEGUN} until the thread looks. */
    private volatile long begunProcessorNs = NOT_BEGUN;

    private long packets;
    private long bytes;
    /** It goes on with a packet in whose midst the turn before was given back. */
    private boolean inMidst;

    /**
     * A grant that nobody asks for.
     *
     * @param waiting those that are asked for under the same configuration
     */
    public CpuGrant(WaitingGrants waiting, TurnOwner owner) {
        this.waiting = waiting;
        this.scheduler = waiting.scheduler();
        this.owner = owner;
        this.ofClass = waiting.classAt(0);
    }

    // ---- the scheduler's -------------------------------------------------------------------------------------------

    State state() {
        return state;
    }

    void become(State next) {
        state = next;
    }

    /** The class that it was asked for last. */
    TurnClass ofClass() {
        return ofClass;
    }

    void belongsTo(TurnClass wanted) {
        ofClass = wanted;
    }

    void grantedAt(long nowNs) {
        grantedNs = nowNs;
    }

    long grantedNs() {
        return grantedNs;
    }

    /**
     * Whether it has lasted longer than this, which a thread that runs has used up of a processor too: one that the
     * operating system lets wait is not at fault. Ten times as long is too long whatever the thread does.
     */
    boolean isOverdue(long nowNs, long limitNs) {
        long lastsNs = nowNs - grantedNs;
        if (lastsNs < limitNs || !owner.use().isRunnable()) {
            return lastsNs >= limitNs;
        }
        long begunNs = begunProcessorNs;
        return lastsNs >= PATIENCE * limitNs
                || (begunNs != NOT_BEGUN && owner.use().usedNs() - begunNs >= limitNs);
    }

    long servedPackets() {
        return packets;
    }

    long servedBytes() {
        return bytes;
    }

    // ---- the thread's ----------------------------------------------------------------------------------------------

    /** Whether the thread has it now. */
    public boolean isGranted() {
        State now = state;
        return now == State.RUNNING || now == State.OVERDUE;
    }

    public boolean isIdle() {
        return state == State.IDLE;
    }

    /** When the thread began to ask for it, by the scheduler's clock. */
    public long askedNs() {
        return requestedNs;
    }

    /**
     * Asks for it, while it is idle: one that waits already is withdrawn by {@link #release} before.
     *
     * @return whether it was granted at once; else the owner is woken when it is
     */
    public boolean request(int classIndex) {
        return scheduler.request(this, waiting.classAt(classIndex));
    }

    /** Counts from here what it costs; after it was granted, before the first packet. */
    public void begin() {
        if (begunProcessorNs == NOT_BEGUN) {
            begunProcessorNs = scheduler.processorNs();
        }
    }

    /** Processes a packet in it. */
    public void serves(int packetBytes) {
        used = true;
        packets++;
        bytes += packetBytes;
    }

    /** Returns whether it was used since this was called last, and forgets it. */
    public boolean takeUsed() {
        boolean since = used;
        used = false;
        return since;
    }

    /**
     * Whether the next packet may be processed without asking the scheduler. The clock is read only while others wait,
     * and now and then, so that what a class has had while it was alone does not count against it later. The first
     * packet of a turn always may, however long the thread took to come.
     */
    public boolean continueQuantum() {
        boolean looks = (++packetsAsked & PACKETS_PER_LOOK - 1) == 0;
        if (state != State.RUNNING || scheduler.isHeldBack(this)) {
            return false;
        }
        return (packets == 0 && !inMidst)
                || (!looks && !scheduler.isContended())
                || scheduler.nowNs() - grantedNs < scheduler.quantumNs();
    }

    /** Ends it and asks for the next; true when that was granted at once. */
    public boolean goOn() {
        return goOn(false);
    }

    private boolean goOn(boolean midst) {
        long now = scheduler.processorNs();
        boolean granted = scheduler.yield(this, cost(now), midst);
        inMidst = midst;
        begunProcessorNs = granted ? now : NOT_BEGUN;
        return granted;
    }

    /** Returns whether its quantum is over while others wait. */
    public boolean isOver() {
        return isGranted() && scheduler.isContended() && quantumRestNs() <= 0;
    }

    /**
     * Ends it in the midst of a packet, and asks for the next, before which the owner gets no turn of another class.
     *
     * @return whether that was granted at once; else the owner waits until it {@link #isAnswered}, for {@link #patienceNs}
     *     at most, then {@link #resume}s
     */
    public boolean giveWay() {
        return goOn(true);
    }

    /** Returns whether nothing is left to wait for: it was granted, or its owner is gone. */
    public boolean isAnswered() {
        return isGranted() || isIdle();
    }

    /** Returns for how long a packet in whose midst it was given back waits, in ns: as others wait for one that does not. */
    public long patienceNs() {
        return scheduler.overdueNs();
    }

    /** Goes on with the packet in whose midst it was given back: in the turn, or beside others where none was granted. */
    public void resume() {
        scheduler.goBeside(this);
        begin();
    }

    /** Ends it, or withdraws it when it was not granted yet; nothing happens when it is idle. */
    public void release() {
        if (!isIdle()) {
            scheduler.release(this, cost(begunProcessorNs == NOT_BEGUN ? NOT_BEGUN : scheduler.processorNs()));
        }
        begunProcessorNs = NOT_BEGUN;
        used = false;
    }

    /** Returns how long it lasts yet if others wait, in ns; negative = it should have ended. */
    long quantumRestNs() {
        return scheduler.quantumNs() - (scheduler.nowNs() - grantedNs);
    }

    private long cost(long processorNs) {
        return begunProcessorNs == NOT_BEGUN ? 0 : Math.max(0, processorNs - begunProcessorNs);
    }

    /** What it served was counted. */
    void counted() {
        packets = 0;
        bytes = 0;
        inMidst = false;
    }
}
