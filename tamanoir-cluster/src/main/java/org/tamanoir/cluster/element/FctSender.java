package org.tamanoir.cluster.element;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * The Fast Circulating Token in a unit's sender: packets of rounds up to that of the last token may leave, and the token
 * goes on between two sends. The first unit, the master, raises the round; the others, slaves, pass the token with the
 * lowest round that waits anywhere, so that a master without packets knows how to go on.
 *
 * <p>Source: figure 4 of <i>Distributed Active Element for High-Performance Data Distribution</i>, with these
 * resolutions: a master whose queue is empty waits for holdMax, then goes by the lowest waiting round; an idle ring
 * leaves the token with its master until a packet or a WAKE comes, for idleMax at most; with a barrier a slave waits for
 * a packet that is slow in processing; up to {@code atOnce} sends are in progress together.
 *
 * <p>It has no clock, thread or queue: callers say what happened, and it acts on its {@link Heads} and its
 * {@link RingPort}. It allocates a token when it passes one, and nothing for a packet.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class FctSender {
    private static final int EPOCH_SHIFT = 48;

    private final FctSettings settings;
    private final Heads heads;
    private final RingPort ring;

    private boolean master;
    /** There is no ring to wait for: what comes is sent (mode NONE). */
    private boolean open;
    /** The master's: a token is under way, or held. */
    private boolean injected;
    /** Up to which packets may be sent, unsigned; 0 = none. */
    private long round;
    /** The largest that has come. */
    private long newest;
    /** Of the token passed last; before it, of the epoch. */
    private long serial;

    private @Nullable Token held;
    /** The held token waits for a packet, and a timer is set. */
    private boolean waiting;
    /** That time has passed. */
    private boolean waited;
    /** Packets that may still be sent before the held token goes on; -1 = it has just come. */
    private int left = -1;
    /** Nothing waited anywhere when the token went on, so that it may rest. */
    private boolean idle = true;
    /** A timer is set after which the master is woken. */
    private boolean wakes;
    /** The lowest round of which the master was told while it had no token; 0 = none. */
    private long wokenFor;

    private int inProgress;
    private boolean ended;
    private boolean lastCame;
    private boolean drained;

    private long sent;
    private long late;
    private long finished;
    private long turns;
    private long stale;

    /** A sender that has no ring yet: everything waits until {@link #view}, or {@link #alone}. */
    public FctSender(FctSettings settings, Heads heads, RingPort ring) {
        this.settings = settings;
        this.heads = heads;
        this.ring = ring;
    }

    // ---- what happens ----------------------------------------------------------------------------------------------

    /**
     * Takes note of a packet that stands in the queue from now on.
     *
     * @param packetRound 1 and up, unsigned
     * @param last whether it is the last one on this path, since the unit leaves
     */
    public void packet(long packetRound, boolean last) {
        newest = max(newest, packetRound);
        lastCame = last;
        drained &= ended;
        run();
    }

    /** Takes note that packets have gone, or have come to another end on their way. */
    public void sent(int packets) {
        inProgress -= packets;
        sent += packets;
        run();
    }

    /** Takes a token; one whose serial number is not above those before it is dropped. */
    public void token(Token token) {
        if (ended || open) {
            return;
        }
        Token known = held;
        long least = known != null ? known.serial() + 1 : master ? serial : serial + 1;
        if (less(token.serial(), least)) {
            stale++;
            return;
        }
        held = token;
        wakes = false;
        left = -1;
        run();
    }

    /** Takes note that the time has passed that was asked of the ring last. */
    public void timer() {
        if (held != null) {
            waited = waiting;
            run();
        } else if (wakes && waitsForRound()) {
            ring.wake(heads.headRound());
            ring.timer(settings.idleMaxNs()); // The message may get lost.
        } else {
            wakes = false;
        }
    }

    /** Takes note that a packet of this round waits in another unit, while the ring is idle (WAKE); for the master. */
    public void wake(long headRound) {
        if (!master || open || ended || headRound == 0) {
            return;
        }
        wokenFor = least(wokenFor, headRound);
        if (!injected) {
            round = max(round, headRound);
            inject();
        } else if (held != null && waiting) {
            waited = true;
        }
        run();
    }

    /** As {@link RingMember#view}. */
    public void view(int epoch, boolean isMaster, int units, long from) {
        master = isMaster;
        open = units <= 1;
        injected = false;
        idle = true;
        wokenFor = 0;
        forgetToken();
        serial = (long) epoch << EPOCH_SHIFT;
        if (isMaster && !open) {
            round = max(round, from);
            if (round != 0) {
                inject();
            }
        }
        run();
    }

    /** As {@link RingMember#alone}. */
    public void alone() {
        open = true;
        forgetToken();
        run();
    }

    /**
     * Drops what still waits and what comes, as {@code RING_FINISH}, ignores every token from now on, and leaves the
     * ring.
     */
    public void end() {
        ended = true;
        drained = false; // Said again: before the unit announced to leave it did not count.
        forgetToken();
        run();
    }

    // ---- the algorithm ---------------------------------------------------------------------------------------------

    private void run() {
        if (ended) {
            while (heads.headRound() != 0) {
                heads.drop(DropReason.RING_FINISH);
                finished++;
            }
            if (inProgress == 0 && !drained) {
                drained = true;
                ring.drained(); // Its tokens would be lost.
            }
            return;
        }
        if (master && !open && !injected && heads.headRound() != 0) {
            round = max(round, heads.headRound());
            inject();
        }
        Token token = held;
        if (token != null && inProgress == 0) {
            if (master) {
                masterTurn(token);
            } else {
                slaveTurn(token);
            }
        }
        if (held == null) {
            while (inProgress < settings.atOnce() && sendable()) {
                send();
            }
            rest();
        }
    }

    private void masterTurn(Token token) {
        while (inProgress < settings.atOnce() && heads.headRound() != 0 && !less(round, heads.headRound())) {
            send();
        }
        if (inProgress > 0) {
            return;
        }
        long minHead = least(token.minHead(), wokenFor);
        if (heads.headRound() != 0) {
            round = heads.headRound();
        } else if (waited) {
            round = max(round, minHead);
        } else {
            waitFor(minHead == 0 ? settings.idleMaxNs() : settings.holdMaxNs());
            return;
        }
        wokenFor = 0;
        pass(token.serial() + 1, 0, settings.holdBudget(), token);
    }

    private void slaveTurn(Token token) {
        if (holdsForBarrier()) {
            return;
        }
        boolean mayHold = token.holdBudget() > 0;
        if (mayHold) {
            holdForBudget(token.holdBudget());
            if (inProgress > 0) {
                return;
            }
        }
        int budget = mayHold && left >= 0 ? left : token.holdBudget();
        long minHead = least(token.minHead(), heads.headRound());
        long next = max(round, token.round());
        pass(token.serial(), minHead, budget, token);
        if (settings.discard()) {
            if (!mayHold && sendable()) {
                send();
            }
            while (heads.headRound() != 0 && !less(round, heads.headRound())) {
                dropLate();
            }
        }
        round = next;
    }

    /** Waits for a packet of the last round, or a later one; returns whether the token has to wait. */
    private boolean holdsForBarrier() {
        if (settings.barrierNs() == 0 || round == 0 || waited || (!waiting && !less(newest, round))) {
            return false;
        }
        waitFor(settings.barrierNs());
        while (inProgress < settings.atOnce() && sendable()) {
            send();
        }
        return inProgress > 0 || less(newest, round);
    }

    /** Sends one packet, and then as many as the token allows. */
    private void holdForBudget(int budget) {
        while (inProgress < settings.atOnce() && left != 0 && sendable()) {
            left = left < 0 ? budget : left - 1;
            send();
        }
    }

    private boolean sendable() {
        if (open) {
            return heads.headRound() != 0;
        }
        while (settings.discard() && heads.headRound() != 0 && less(heads.headRound(), round)) {
            dropLate();
        }
        return heads.headRound() != 0 && !less(round, heads.headRound());
    }

    private void dropLate() {
        heads.drop(DropReason.LATE);
        late++;
    }

    private void send() {
        inProgress++;
        heads.send();
    }

    private void waitFor(long ns) {
        if (!waiting) {
            waiting = true;
            ring.timer(ns);
        }
    }

    /** Nothing can be sent now: wakes the master if it may rest, and says when a unit that leaves has sent all. */
    private void rest() {
        if (waitsForRound()) {
            if (idle && !master && !wakes && settings.idleMaxNs() > settings.holdMaxNs()) {
                wakes = true;
                ring.timer(settings.holdMaxNs());
            }
        } else if (lastCame && !drained && inProgress == 0) {
            drained = true;
            ring.drained();
        }
    }

    private boolean waitsForRound() {
        return inProgress == 0 && heads.headRound() != 0;
    }

    private void inject() {
        injected = true;
        pass(serial + 1, 0, settings.holdBudget(), null);
    }

    /** @param from the token that it was; null = it is new */
    private void pass(long itsSerial, long minHead, int budget, @Nullable Token from) {
        serial = itsSerial;
        idle = minHead == 0;
        turns++;
        forgetToken();
        long itsRound = master || from == null ? round : from.round();
        int origin = master || from == null ? settings.unit() : from.origin();
        int roundTripUs = from == null ? 0 : from.roundTripUs();
        ring.pass(new Token(itsSerial, itsRound, minHead, roundTripUs, budget, origin));
    }

    private void forgetToken() {
        held = null;
        waiting = false;
        waited = false;
        wakes = false;
        left = -1;
    }

    private static boolean less(long a, long b) {
        return Long.compareUnsigned(a, b) < 0;
    }

    private static long max(long a, long b) {
        return less(a, b) ? b : a;
    }

    /** Returns the lower of two rounds, of which 0 is none. */
    private static long least(long a, long b) {
        return a == 0 || (b != 0 && less(b, a)) ? b : a;
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    /** Returns the round up to which packets may be sent, unsigned. */
    public long round() {
        return round;
    }

    /** Returns the largest round, unsigned, of a packet that has come, whether it may be sent or not. */
    public long newest() {
        return newest;
    }

    /** Returns the serial number of the token passed last. */
    public long lastSerial() {
        return serial;
    }

    /** Returns whether it waits for no ring: what comes is sent. */
    public boolean isOpen() {
        return open;
    }

    public boolean isMaster() {
        return master;
    }

    /** Returns whether the last packet of this path has come and all have been sent. */
    public boolean isDrained() {
        return drained;
    }

    /** Returns whether it has a token that waits until packets have gone. */
    boolean awaitsSent() {
        return held != null && inProgress > 0;
    }

    /** Returns how many packets it has sent. */
    public long sentPackets() {
        return sent;
    }

    /** Returns how many packets it has dropped as {@code LATE}. */
    public long latePackets() {
        return late;
    }

    /** Returns how many packets it has dropped as {@code RING_FINISH}. */
    public long finishedPackets() {
        return finished;
    }

    /** Returns how many tokens it has passed. */
    public long turns() {
        return turns;
    }

    /** Returns how many tokens it has dropped as passed before. */
    public long staleTokens() {
        return stale;
    }
}
