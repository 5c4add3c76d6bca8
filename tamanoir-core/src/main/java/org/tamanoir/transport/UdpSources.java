package org.tamanoir.transport;

/**
 * Addresses of this host that datagrams leave from, numbered from 1 on; 0 stands for the one that the system chooses.
 *
 * <p>Thread contract: one thread.
 */
final class UdpSources {
    /** As many as messages wait in a sender at once. */
    private static final int SOURCES = 64;

    private final long[] highs = new long[SOURCES + 1];
    private final long[] lows = new long[SOURCES + 1];
    private final int[] devices = new int[SOURCES + 1];
    private int count;
    private int last;

    /** Returns the number of a source, which gets one where there is room; -1 where there is none. */
    int number(long high, long low, int device) {
        if (is(last, high, low, device)) {
            return last;
        }
        for (int i = 0; i <= count; i++) {
            if (is(i, high, low, device)) {
                last = i;
                return i;
            }
        }
        return count == SOURCES ? -1 : add(high, low, device);
    }

    /** Forgets all others, and returns the number of this one. */
    int only(long high, long low, int device) {
        count = 0;
        return add(high, low, device);
    }

    private int add(long high, long low, int device) {
        last = ++count;
        highs[last] = high;
        lows[last] = low;
        devices[last] = device;
        return last;
    }

    private boolean is(int number, long high, long low, int device) {
        return lows[number] == low && highs[number] == high && devices[number] == device;
    }

    long high(int number) {
        return highs[number];
    }

    long low(int number) {
        return lows[number];
    }

    int device(int number) {
        return devices[number];
    }
}
