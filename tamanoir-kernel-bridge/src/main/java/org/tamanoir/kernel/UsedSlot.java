package org.tamanoir.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import org.tamanoir.nodeos.LevelException;

/**
 * A slot that a policy has, or had until the packets that it sent up are through, and what was seen of its packets on
 * their way: {@code pending = up - settled} and, of these, {@code outside = up - arrived - lost}, which the node has not read.
 *
 * <p>Packets that went up may never arrive, because a socket was full or something else took them. They would keep a
 * policy from handling packets for ever, so they are settled here. Packets that have arrived never are, however long the
 * node has them: a service may take its time, and packets wait in queues.
 *
 * <ul>
 *   <li>The least that was outside for a window of a second, whenever the node's sockets were seen empty;
 *   <li>the least that was outside at all, as far as the node's sockets have lost as many;
 *   <li>when more has settled than went up, because what was taken for lost was not: the difference is taken back.
 * </ul>
 *
 * <p>A slot is held, so that all packets of its policy go up whatever key they name: while older packets without it are
 * on their way, and again when its policy is about to go, which the tables forget key by key. It is then {@value #HOLD}
 * packets that are said to be pending, more than ever settle, by which levels know it.
 *
 * <p>Thread contract: {@link #retire}, {@link #hold}, {@link #stop} and {@link #goOn} under the lock of {@link Policies};
 * {@link #release} any thread; {@link #observe} the {@code levels} thread.
 */
final class UsedSlot {
    /** How long packets may be on their way without a sign of it. */
    static final long WINDOW_NS = 1_000_000_000L;

    final int number;
    final LevelDriver driver;
    /** Looks with empty sockets that show what is lost: one alone may fall between a read and word of it. */
    private static final int EMPTY_LOOKS = 3;

    /** Keeps what has settled below 0. */
    static final long HOLD = 1L << 62;

    /** Why a slot is held; bits of {@link #held}. */
    private static final int BEGINS = 1;

    private static final int ENDS = 2;

    private final boolean goesBySettled;
    private final AtomicInteger held = new AtomicInteger();

    private volatile boolean isRetired;
    private volatile long retiredNs;

    private AbiDecoder.State state = AbiDecoder.State.NONE;
    private long heldPackets;

    /** Looks in the window, which has enough of them however rare they are. */
    private int samples;

    private long windowNs;
    private long greatest;
    private long leastOutside;
    private int emptyLooks;
    /** Packets that were settled for being lost. */
    private long lost;

    /** The node's sockets and what it has read from them. */
    interface Intake {
        /** Returns how many packets of a slot have been read. */
        long arrived(int slot);

        /** Returns whether none waits. */
        boolean isEmpty();
    }

    /**
     * Makes a slot of a policy that begins.
     *
     * @param goesBySettled whether the policy sends packets up while others are pending
     */
    UsedSlot(int number, LevelDriver driver, boolean goesBySettled) {
        this.number = number;
        this.driver = driver;
        this.goesBySettled = goesBySettled;
    }

    /** Holds its policy, which has not begun. */
    void hold() {
        hold(BEGINS);
    }

    /** Lets its policy begin when what it has sent up has settled. Idempotent. */
    void release() {
        letGo(BEGINS);
    }

    /** Has all packets of its policy go up from this moment on, until it is free: tables are about to change. */
    void stop() {
        hold(ENDS);
    }

    /** Takes {@link #stop} back: its policy stays. */
    void goOn() {
        letGo(ENDS);
    }

    /** Returns whether all packets of its policy go up. */
    boolean isHeld() {
        return held.get() != 0;
    }

    private void hold(int why) {
        if (held.getAndUpdate(whys -> whys | why) == 0) {
            driver.settled(number, -HOLD);
        }
    }

    private void letGo(int why) {
        if (held.getAndUpdate(whys -> whys & ~why) == why) {
            driver.settled(number, HOLD);
        }
    }

    /** Notes that no policy has this slot from now on, but packets with its mark may be on their way. */
    void retire(long nowNs) {
        release();
        retiredNs = nowNs;
        isRetired = true;
    }

    /** Returns whether its policy asks for what has settled. */
    boolean goesBySettled() {
        return goesBySettled;
    }

    /** What an observation says about a slot. */
    enum Finding {
        /** Packets are pending. */
        PENDING,
        /** None is pending now; one may be at any time, as one that the level cannot handle, and be lost on its way. */
        QUIET,
        /** It was retired for a while, and none is pending. */
        FREE
    }

    /** Reads what {@link #observe} is about. */
    void read() throws LevelException {
        state = AbiDecoder.state(driver.state(number));
        heldPackets = state.settled() < 0 ? HOLD : 0; // As levels know it: the slot may be let go of meanwhile.
    }

    /** Looks at what was read before the node's sockets were looked at, and settles what is lost of it. */
    Finding observe(long nowNs, Losses losses, Intake intake) {
        long pending = state.pending() - heldPackets;
        if (samples == 0) {
            beginWindow(nowNs);
        }
        samples++;
        sample(pending, intake);
        if (nowNs - windowNs >= WINDOW_NS && samples > EMPTY_LOOKS) {
            settleLost(losses);
            samples = 0;
        }
        if (pending != 0) {
            return Finding.PENDING;
        }
        return isRetired && nowNs - retiredNs >= WINDOW_NS ? Finding.FREE : Finding.QUIET;
    }

    private void beginWindow(long nowNs) {
        windowNs = nowNs;
        greatest = Long.MIN_VALUE;
        leastOutside = Long.MAX_VALUE;
        emptyLooks = 0;
    }

    /** What has arrived is read after what went up and what the sockets hold, so that no packet counts as lost that has. */
    private void sample(long pending, Intake intake) {
        greatest = Math.max(greatest, pending);
        if (pending > 0 && intake.isEmpty()) {
            emptyLooks++;
        }
        leastOutside = Math.min(leastOutside, Math.min(pending, state.up() - intake.arrived(number) - lost));
    }

    private void settleLost(Losses losses) {
        if (greatest < 0) {
            settleAsLost(greatest);
        } else if (leastOutside > 0) {
            long explained = losses.take(leastOutside);
            settleAsLost(emptyLooks >= EMPTY_LOOKS ? leastOutside : explained);
        }
    }

    private void settleAsLost(long packets) {
        if (packets != 0) {
            lost += packets;
            driver.settled(number, packets);
        }
    }
}
