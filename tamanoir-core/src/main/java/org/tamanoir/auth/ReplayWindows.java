package org.tamanoir.auth;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The sequence numbers that came under one key, by the source and the stream that packets name: of each stream the
 * highest, and which of those just below it. Only packets whose MAC holds come here, so who does not have the key
 * neither moves a window nor takes a place. Where places are short, the stream goes that was silent for the longest.
 *
 * <p>Layout: a bit a number, in words of 64; the word that is being filled has displaced the one a whole ring before it,
 * so there is one word more than the window needs (RFC 6479).
 *
 * <p>Thread contract: any thread; the lock is held for some ten ns.
 */
final class ReplayWindows {
    private final StreamName probe = new StreamName();
    private final Map<StreamName, Window> windows = new HashMap<>();
    /** The same, that first whose last new number is the longest ago: a replay is none. */
    private final LinkedHashMap<StreamName, Window> silent = new LinkedHashMap<>(16, 0.75f, true);

    private long forgotten;

    /** What tells streams apart. */
    private static final class StreamName {
        long sourceHigh;
        long sourceLow;
        int stream;

        StreamName copy() {
            StreamName copy = new StreamName();
            copy.set(sourceHigh, sourceLow, stream);
            return copy;
        }

        void set(long high, long low, int id) {
            sourceHigh = high;
            sourceLow = low;
            stream = id;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof StreamName name
                    && sourceHigh == name.sourceHigh
                    && sourceLow == name.sourceLow
                    && stream == name.stream;
        }

        @Override
        public int hashCode() {
            long mixed = (sourceHigh * 31 + sourceLow) * 31 + stream;
            return Long.hashCode(mixed * 0x9E37_79B9_7F4A_7C15L);
        }
    }

    private static final class Window {
        final int size;
        final long[] came;
        long highest;

        Window(int size, long first) {
            this.size = size;
            this.came = new long[size / 64 + 1];
            this.highest = first;
        }

        private int word(long sequence) {
            return (int) ((sequence >>> 6) % came.length);
        }

        boolean isFresh(long sequence) {
            if (sequence > highest) {
                return true;
            }
            return highest - sequence < size && (came[word(sequence)] & 1L << sequence) == 0;
        }

        void take(long sequence) {
            if (sequence > highest) {
                long last = sequence >>> 6;
                long first = Math.max((highest >>> 6) + 1, last - came.length + 1);
                for (long word = first; word <= last; word++) {
                    came[(int) (word % came.length)] = 0;
                }
                highest = sequence;
            }
            came[word(sequence)] |= 1L << sequence;
        }
    }

    /**
     * Returns whether a packet's number has not come, as far as the window tells.
     *
     * @param sequence 0 and up
     * @param takes whether it has come from now on
     * @param packets of a window, a multiple of 64; windows of another size begin anew
     * @param places for streams
     */
    synchronized boolean admits(
            long sourceHigh, long sourceLow, int stream, long sequence, boolean takes, int packets, int places) {
        probe.set(sourceHigh, sourceLow, stream);
        Window window = windows.get(probe);
        if (window == null || window.size != packets) {
            if (takes) {
                Window made = new Window(packets, sequence);
                made.take(sequence);
                StreamName name = probe.copy();
                windows.put(name, made);
                silent.put(name, made);
                forget(places);
            }
            return true;
        }
        boolean isFresh = window.isFresh(sequence);
        if (isFresh && takes) {
            window.take(sequence);
            silent.get(probe);
        }
        return isFresh;
    }

    private void forget(int places) {
        while (windows.size() > places) {
            StreamName first = silent.keySet().iterator().next();
            silent.remove(first);
            windows.remove(first);
            forgotten++;
        }
    }

    synchronized int streams() {
        return windows.size();
    }

    synchronized long forgotten() {
        return forgotten;
    }
}
