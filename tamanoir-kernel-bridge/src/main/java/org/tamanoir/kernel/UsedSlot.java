package org.tamanoir.kernel;

import org.tamanoir.nodeos.LevelException;

/**
 * A slot that a policy has, or had until the packets that it sent up are through, and what was seen of its packets on
 * their way: {@code pending = up - settled}, the least and the greatest of a window of a second.
 *
 * <p>Packets that went up may never settle, because a socket was full or something else took them. They would keep a
 * policy from handling packets for ever, so they are settled here:
 *
 * <ul>
 *   <li>pending packets, when nothing has moved for a whole window;
 *   <li>while packets move, the least that was pending, as far as the node's sockets have lost as many;
 *   <li>when more has settled than went up, because what was taken for lost was not: the difference is taken back.
 * </ul>
 *
 * <p>Thread contract: {@link #retire} under the lock of {@link Policies}; {@link #observe} the {@code levels} thread.
 */
final class UsedSlot {
    /** How long packets may be on their way without a sign of it. */
    static final long WINDOW_NS = 1_000_000_000L;

    final int number;
    final LevelDriver driver;
    private final boolean goesBySettled;
    private final long firstPackets;
    private volatile boolean isRetired;
    private volatile long retiredNs;

    private int samples;
    private long windowNs;
    private long least;
    private long greatest;
    private long windowUp;
    private long windowSettled;

    /**
     * Makes a slot of a policy that begins.
     *
     * @param goesBySettled whether the policy sends packets up while others are pending
     * @param firstPackets that go up anyway, where the share counts them
     */
    UsedSlot(int number, LevelDriver driver, boolean goesBySettled, long firstPackets) {
        this.number = number;
        this.driver = driver;
        this.goesBySettled = goesBySettled;
        this.firstPackets = firstPackets;
    }

    /** Notes that no policy has this slot from now on, but packets with its mark may be on their way. */
    void retire(long nowNs) {
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
        /** None is pending now. */
        QUIET,
        /** None is pending, and none will: its policy handles all packets itself. */
        THROUGH,
        /** It was retired for a while, and none is pending. */
        FREE
    }

    /** Looks at the slot, and settles what is lost of it. */
    Finding observe(long nowNs, Losses losses) throws LevelException {
        AbiDecoder.State state = AbiDecoder.state(driver.state(number));
        long pending = state.pending();
        if (samples == 0) {
            beginWindow(nowNs, state);
        }
        samples++;
        least = Math.min(least, pending);
        greatest = Math.max(greatest, pending);
        if (nowNs - windowNs >= WINDOW_NS && samples > 1) {
            settleLost(state, losses);
            samples = 0;
        }
        if (pending != 0) {
            return Finding.PENDING;
        }
        if (isRetired) {
            return nowNs - retiredNs >= WINDOW_NS ? Finding.FREE : Finding.QUIET;
        }
        return state.up() > 0 && state.seen() >= firstPackets ? Finding.THROUGH : Finding.QUIET;
    }

    private void beginWindow(long nowNs, AbiDecoder.State state) {
        windowNs = nowNs;
        least = state.pending();
        greatest = least;
        windowUp = state.up();
        windowSettled = state.settled();
    }

    private void settleLost(AbiDecoder.State state, Losses losses) {
        if (greatest < 0) {
            driver.settled(number, greatest);
        } else if (least > 0) {
            boolean moves = state.up() != windowUp || state.settled() != windowSettled;
            long explained = losses.take(least);
            long lost = moves ? explained : least;
            if (lost > 0) {
                driver.settled(number, lost);
            }
        }
    }
}
