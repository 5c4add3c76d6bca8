package org.tamanoir.sapf;

import java.util.Arrays;
import org.tamanoir.routing.Addresses;

/**
 * How often anybody is answered. Addresses share a place by their hash, so that strangers cost no memory; who shares one
 * gets fewer answers, never more.
 *
 * <p>Thread contract: any thread.
 */
final class AnswerLimits {
    private static final int PLACES = 1_024;
    /** Of selectors that have missed, so many that what strangers send in a source's name leaves the source's own theirs. */
    private static final int MISSED = 1 << 14;

    private static final long SECOND_NS = 1_000_000_000L;
    /** Answers to requests of one place: at once, and a second. */
    private static final int ANSWERS = IssuedSelectors.PER_SOURCE;

    private final long[] answersNs = new long[PLACES];
    private final long[] unknownNs = new long[MISSED];
    /** Octets of missed packets that were not answered. */
    private final int[] missed = new int[MISSED];

    AnswerLimits(long nowNs) {
        Arrays.fill(answersNs, nowNs - SECOND_NS);
        Arrays.fill(unknownNs, nowNs - SECOND_NS);
    }

    private int place(long high, long low) {
        return (int) (Addresses.hash(high, low, 0) >>> 54);
    }

    private int placeOfMissed(long high, long low, long selector) {
        return (int) (Addresses.hash(high, low, selector) >>> 50);
    }

    /** Returns whether a request from there is answered; counts it. A bucket whose level is a time (GCRA). */
    synchronized boolean answers(long high, long low, long nowNs) {
        int place = place(high, low);
        long from = Math.max(answersNs[place] - nowNs, -SECOND_NS);
        if (from > 0) {
            return false;
        }
        answersNs[place] = nowNs + from + SECOND_NS / ANSWERS;
        return true;
    }

    /**
     * Returns whether a packet of that many octets, whose selector has missed, is answered: once a second for each, and when
     * no fewer octets than those of the answer have come.
     */
    synchronized boolean tellsUnknown(long high, long low, long selector, int octets, long nowNs) {
        int place = placeOfMissed(high, low, selector);
        missed[place] = Math.min(Control.SELECTOR_OCTETS, missed[place] + octets);
        if (missed[place] < Control.SELECTOR_OCTETS || nowNs - unknownNs[place] < SECOND_NS) {
            return false;
        }
        missed[place] = 0;
        unknownNs[place] = nowNs;
        return true;
    }
}
