package org.tamanoir.services.extra.multicast;

import java.util.concurrent.TimeUnit;
import org.tamanoir.services.extra.multicast.Window.Place;

/**
 * The branches that get a flow, how far each has come by its own word, and what they asked for.
 *
 * <p>What one may be sent again is bounded: by a window of packets at first, and one more for each packet that it is
 * sent, a window at most. So asking draws no more than twice what comes anyway; and a sixteenth of a window each second, so
 * that who asks for what was lost again gets it when the flow is quiet, too.
 *
 * <p>Thread contract: one thread.
 */
final class Audience {
    /** Packets that one report can ask for. */
    static final int MAX_ASKED = 1024;

    private static final long REFILL_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int REFILLS_A_WINDOW = 16;
    private static final long NEVER = Long.MIN_VALUE;

    private final Window window;
    private final long[] next = new long[Branches.MAX];
    private final int[] credits = new int[Branches.MAX];
    private long refilledNs = NEVER;
    private long members;
    /** Of whom something is to be told that they could not know. */
    private long uninformed;
    /** Those who get it no more, and have not been told. */
    private long letGo;
    /** No member has come less far. */
    private long slowest;

    private long lowestWanted = Long.MAX_VALUE;

    Audience(Window window) {
        this.window = window;
        slowest = window.highest() + 1;
    }

    /** Returns the set of those who get the flow. */
    long members() {
        return members;
    }

    boolean has(Branch branch) {
        return (members & branch.bit()) != 0;
    }

    /** Adds one, which lags from here on. */
    void add(Branch branch) {
        members |= branch.bit();
        letGo &= ~branch.bit();
        next[branch.index()] = window.highest() + 1;
        credits[branch.index()] = window.packets();
    }

    void remove(Branch branch) {
        members &= ~branch.bit();
        uninformed &= ~branch.bit();
        letGo &= ~branch.bit();
    }

    /** Takes note that a packet was sent to it. */
    void sent(Branch branch) {
        if (credits[branch.index()] < window.packets()) {
            credits[branch.index()]++;
        }
    }

    /** Gives all what they get for the time that has passed. */
    void refill(long nowNs) {
        if (refilledNs == NEVER) {
            refilledNs = nowNs;
        }
        if (nowNs - refilledNs >= REFILL_NS) {
            refilledNs = nowNs;
            for (int i = 0; i < credits.length; i++) {
                credits[i] = Math.min(window.packets(), credits[i] + window.packets() / REFILLS_A_WINDOW);
            }
        }
    }

    /** Returns whether it may be sent one again, and counts it. */
    boolean mayHaveAgain(Branch branch) {
        if (credits[branch.index()] == 0) {
            return false;
        }
        credits[branch.index()]--;
        return true;
    }

    /** Has it be told how far the flow is. */
    void inform(Branch branch) {
        uninformed |= branch.bit();
    }

    /** Returns who is to be told how far the flow is, and takes it as done. */
    long takeUninformed() {
        long taken = uninformed;
        uninformed = 0;
        return taken;
    }

    boolean isInformed() {
        return uninformed == 0;
    }

    /** Takes the word of a branch that it has all below {@code sequence}. */
    void confirm(Branch branch, long sequence) {
        long confirmed = Math.min(sequence, window.highest() + 1);
        next[branch.index()] = Math.max(next[branch.index()], confirmed);
    }

    /** Returns the set of those who have not said that they have all there is. */
    long unconfirmed() {
        return behind(window.highest() + 1);
    }

    /** Lets those go who lag by more than the window. */
    void letLaggardsGo() {
        if (slowest >= window.lowest()) {
            return;
        }
        long behind = behind(window.lowest());
        members &= ~behind;
        uninformed &= ~behind;
        letGo |= behind;
        slowest = window.highest() + 1;
        for (long left = members; left != 0; left &= left - 1) {
            slowest = Math.min(slowest, next[Long.numberOfTrailingZeros(left)]);
        }
    }

    boolean isAnyLetGo() {
        return letGo != 0;
    }

    /** Returns who was let go and has not been told, and takes it as done. */
    long takeLetGo() {
        long taken = letGo;
        letGo = 0;
        return taken;
    }

    private long behind(long sequence) {
        long behind = 0;
        for (long left = members; left != 0; left &= left - 1) {
            int index = Long.numberOfTrailingZeros(left);
            behind |= next[index] < sequence ? 1L << index : 0;
        }
        return behind;
    }

    /**
     * Takes a branch's wish for those packets of a range that are here. What is missing here too goes to all when it
     * comes.
     *
     * @return how many that is
     */
    int want(Branch branch, long first, long last, int most) {
        int wanted = 0;
        for (long each = Math.max(first, window.lowest()); each <= last && wanted < most; each++) {
            Place place = window.place(each);
            if (place.isHere()) {
                place.wanted |= branch.bit();
                lowestWanted = Math.min(lowestWanted, each);
                wanted++;
            }
        }
        return wanted;
    }

    /** Returns the lowest sequence number from this one on that was asked for; above the highest if there is none. */
    long nextWanted(long from) {
        long each = Math.max(window.lowest(), Math.max(from, lowestWanted));
        while (each <= window.highest() && (window.place(each).wanted & members) == 0) {
            each++;
        }
        lowestWanted = each > window.highest() ? Long.MAX_VALUE : each;
        return each;
    }

    boolean isAnyWanted() {
        return lowestWanted != Long.MAX_VALUE;
    }
}
