package org.tamanoir.client;

/**
 * Counts what became of a stream whose packets are numbered from 0: lost, reordered, repeated. A bitmap remembers
 * which of the last {@link #WINDOW_PACKETS} numbers came, so the counts are exact for packets that are late by less
 * than that; older ones count as {@link #late}, and stay among the lost.
 *
 * <p>Invariant: {@code highest + 1 = received + lost}; received + duplicates + late = packets seen.
 *
 * <p>Thread contract: one thread.
 */
public final class SequenceTracker {
    private static final int WORDS = 1024;

    /** How late a packet may be. The word that is being filled has displaced the one a whole bitmap before it. */
    public static final int WINDOW_PACKETS = (WORDS - 1) * 64;

    /** What a packet was. */
    public enum Outcome {
        /** Higher than all before. */
        NEW,
        /** Lower than one before, and missing until now. */
        REORDERED,
        /** Came before. */
        DUPLICATE,
        /** Too old to tell. */
        LATE
    }

    private final long[] came = new long[WORDS];
    private long highest = -1;
    private long received;
    private long reordered;
    private long duplicates;
    private long late;

    /** Counts a packet. @param sequence as it came; below 0 counts as late */
    public Outcome track(long sequence) {
        long behind = highest - sequence;
        if (behind >= 0 || sequence < 0) {
            return trackOld(sequence, behind);
        }
        if (behind < -1) {
            forgetUpTo(sequence);
        }
        highest = sequence;
        received++;
        int word = (int) (sequence >>> 6) & (WORDS - 1);
        // The first number of a word begins it anew: what stood there is one bitmap old.
        came[word] = (sequence & 63) == 0 ? 1 : came[word] | 1L << sequence;
        return Outcome.NEW;
    }

    /** Clears the words behind the highest number's, up to that of {@code sequence}. */
    private void forgetUpTo(long sequence) {
        long lastWord = sequence >> 6;
        long firstWord = Math.max((highest >> 6) + 1, lastWord - WORDS + 1);
        for (long word = firstWord; word <= lastWord; word++) {
            came[(int) word & (WORDS - 1)] = 0;
        }
    }

    private Outcome trackOld(long sequence, long behind) {
        if (sequence < 0 || behind >= WINDOW_PACKETS) {
            late++;
            return Outcome.LATE;
        }
        int word = (int) (sequence >>> 6) & (WORDS - 1);
        long bit = 1L << sequence;
        if ((came[word] & bit) != 0) {
            duplicates++;
            return Outcome.DUPLICATE;
        }
        came[word] |= bit;
        received++;
        reordered++;
        return Outcome.REORDERED;
    }

    /** Returns the different packets that came, late ones not among them. */
    public long received() {
        return received;
    }

    /** Returns the packets below the highest that did not come. */
    public long lost() {
        return highest + 1 - received;
    }

    /** Returns the packets that came after a higher one. */
    public long reordered() {
        return reordered;
    }

    /** Returns the packets that came once more. */
    public long duplicates() {
        return duplicates;
    }

    /** Returns the packets that were too old for the window. */
    public long late() {
        return late;
    }
}
