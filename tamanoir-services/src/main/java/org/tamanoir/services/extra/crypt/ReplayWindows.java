package org.tamanoir.services.extra.crypt;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which packets of which sessions have come, so that none counts twice: for each session its newest number and the 1,024
 * up to it, as in RFC 4303, section 3.4.3, and RFC 6479. Older ones are refused.
 *
 * <p>Sessions are remembered as long as their packets are young enough to be taken, whoever brings them; where there are
 * too many, the one that was silent for longest is forgotten, and what was sent before its last packet is refused of all
 * sessions that are not known. So a packet counts once for as long as this object lives.
 *
 * <p>Thread contract: any threads.
 */
final class ReplayWindows {
    static final int MAX_SESSIONS = 4096;

    private static final int WORDS = 16;
    private static final int WINDOW = WORDS * Long.SIZE;

    /** Key id and salt. */
    record Id(int key, long high, int low) {}

    private static final class Window {
        private final long[] seen = new long[WORDS];
        private long newest = -1;
        private long lastSentMs;

        /** Returns false if the number was seen or is too old; else it is seen from now on. */
        boolean take(long sequence) {
            if (sequence < 0) {
                return false; // No sender counts so far.
            }
            if (sequence > newest) {
                long step = sequence - newest;
                if (step >= WINDOW || step < 0) {
                    java.util.Arrays.fill(seen, 0);
                } else {
                    for (long number = newest + 1; number < sequence; number++) {
                        clear(number);
                    }
                    clear(sequence);
                }
                newest = sequence;
            } else if (newest - sequence >= WINDOW || (seen[word(sequence)] & bit(sequence)) != 0) {
                return false;
            }
            seen[word(sequence)] |= bit(sequence);
            return true;
        }

        private void clear(long number) {
            seen[word(number)] &= ~bit(number);
        }

        private static int word(long number) {
            return (int) (number / Long.SIZE % WORDS);
        }

        private static long bit(long number) {
            return 1L << number;
        }
    }

    private final Map<Id, Window> windows = new LinkedHashMap<>(16, 0.75f, true);
    private long forgottenMs = Long.MIN_VALUE;

    /**
     * Takes note of a packet that is authentic.
     *
     * @param sentMs when it was sent
     * @return false if it has come before, or that cannot be told any more
     */
    synchronized boolean take(Id session, long sequence, long sentMs) {
        if (sequence < 0) {
            return false;
        }
        Window window = windows.get(session);
        if (window == null) {
            if (sentMs <= forgottenMs) {
                return false;
            }
            if (windows.size() == MAX_SESSIONS) {
                Iterator<Window> silent = windows.values().iterator();
                forgottenMs = Math.max(forgottenMs, silent.next().lastSentMs);
                silent.remove();
            }
            window = new Window();
            windows.put(session, window);
        }
        window.lastSentMs = Math.max(window.lastSentMs, sentMs);
        return window.take(sequence);
    }

    synchronized int sessions() {
        return windows.size();
    }
}
