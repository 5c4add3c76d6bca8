package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import java.util.Random;
import org.tamanoir.services.extra.multicast.Window.Place;

/**
 * The packets that are missing in a window, and when they are asked for: some milliseconds after they were found missing,
 * since they may only have been overtaken; then again each time that an answer could have come, and from the fifth time on
 * twice as long after that each time, since there may be nobody; {@value #MAX_ASKED} times at most.
 *
 * <p>How long an answer takes is measured as TCP measures it (RFC 6298), by packets that were asked for once alone.
 *
 * <p>Thread contract: one thread.
 */
final class Gaps {
    static final int MAX_ASKED = 14;
    static final int NOT_AWAITED = -1;
    private static final int ASKED_SOON = 4;

    private static final long FIRST_WAIT_NS = 5_000_000;
    private static final long LEAST_WAIT_NS = 20_000_000;
    private static final long MOST_WAIT_NS = 1_000_000_000;

    /** So many packets from the lowest missing one on are looked through, so that looking is bounded. */
    private static final int SPAN = 16_384;
    /** So many of the newest may have been overtaken; those before them are asked for at once. */
    private static final int FRESH = 256;

    private final Window window;
    private final Random random;
    private long next;
    /** Nothing is to be asked for before. */
    private long dueNs = Long.MAX_VALUE;

    private long answerNs = 5 * LEAST_WAIT_NS;
    private long meanNs;
    private long deviationNs;

    Gaps(Window window, Random random) {
        this.window = window;
        this.random = random;
        next = window.lowest();
    }

    /** Returns the lowest sequence number that is not here, and is waited for or has not come to be. */
    long next() {
        return next;
    }

    /** Goes on to the packet behind {@link #next}. */
    void advance() {
        skipTo(next + 1);
    }

    /** Goes on to there. */
    void skipTo(long sequence) {
        if (window.highest() - next > SPAN) {
            dueNs = 0; // More come into sight.
        }
        next = sequence;
    }

    /** Takes note that all from there up to the highest were found missing, but the highest if it is {@code here}. */
    void open(long from, long nowNs) {
        dueNs = Math.min(dueNs, nowNs + FIRST_WAIT_NS);
        long fresh = Math.max(Math.max(from, window.lowest()), window.highest() - FRESH);
        for (long each = fresh; each <= window.highest(); each++) {
            window.place(each).sinceNs = nowNs + random.nextInt((int) FIRST_WAIT_NS);
        }
    }

    /** Takes note that one that was missing has come. */
    void close(Place place, long nowNs) {
        if (place.asked == 1) {
            long sampleNs = nowNs - place.sinceNs;
            long errorNs = Math.abs(meanNs - sampleNs);
            deviationNs = meanNs == 0 ? sampleNs / 2 : deviationNs + (errorNs - deviationNs) / 4;
            meanNs = meanNs == 0 ? sampleNs : meanNs + (sampleNs - meanNs) / 8;
            answerNs = Math.max(LEAST_WAIT_NS, Math.min(MOST_WAIT_NS, meanNs + 4 * deviationNs));
        }
    }

    boolean isAny() {
        return next <= window.highest();
    }

    /** Returns whether the next one is here, or is waited for no more. */
    boolean isNextSettled() {
        return !isAwaited(window.place(next));
    }

    private long dueNs(Place place) {
        return place.sinceNs
                + (place.asked == 0
                        ? FIRST_WAIT_NS
                        : Math.min(MOST_WAIT_NS, answerNs << Math.max(0, place.asked - ASKED_SOON)));
    }

    private static boolean isAwaited(Place place) {
        return !place.isHere() && place.asked >= 0;
    }

    /** Returns when one is to be asked for, at the earliest. */
    long dueNs() {
        return dueNs;
    }

    private long last() {
        return Math.min(window.highest(), next + SPAN);
    }

    /**
     * Writes the ranges of a report, of what is to be asked for now.
     *
     * @return how many ranges
     */
    int ask(ByteBuffer target, long nowNs) {
        if (nowNs < dueNs) {
            return 0;
        }
        dueNs = Long.MAX_VALUE;
        int ranges = 0;
        int asked = 0;
        long each = next;
        while (each <= last()) {
            if (ranges == MulticastHeader.MAX_RANGES || asked == Audience.MAX_ASKED) {
                dueNs = nowNs; // There may be more.
                break;
            }
            long first = each;
            while (each <= last() && asked < Audience.MAX_ASKED && isAskedNow(window.place(each), nowNs)) {
                each++;
                asked++;
            }
            if (each > first) {
                target.putInt((int) (first - next)).putInt((int) (each - first));
                ranges++;
            } else {
                each++;
            }
        }
        return ranges;
    }

    private boolean isAskedNow(Place place, long nowNs) {
        if (!isAwaited(place)) {
            return false;
        }
        if (dueNs(place) > nowNs) {
            dueNs = Math.min(dueNs, dueNs(place));
            return false;
        }
        if (place.asked == MAX_ASKED) {
            place.asked = NOT_AWAITED;
            return false;
        }
        place.asked++;
        place.sinceNs = nowNs;
        dueNs = Math.min(dueNs, dueNs(place));
        return true;
    }
}
