package org.tamanoir.qdisc;

import java.util.Arrays;

/**
 * Flows in the order of a tag, then of their index: a binary heap that knows where each flow stands. Tags may wrap
 * around; all that stand in it at once must lie within 2^63 of each other.
 */
final class TagHeap {
    private static final int OUT = -1;

    private final long[] tags;
    private final int[] flows;
    private final int[] places;
    private int size;

    TagHeap(int flowCount) {
        tags = new long[flowCount];
        flows = new int[flowCount];
        places = new int[flowCount];
        Arrays.fill(places, OUT);
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean contains(int flow) {
        return places[flow] != OUT;
    }

    /** Flow of the smallest tag; there must be one. */
    int first() {
        return flows[0];
    }

    /** The smallest tag; there must be one. */
    long firstTag() {
        return tags[0];
    }

    /** Adds a flow that is not in it. */
    void add(int flow, long tag) {
        up(size++, flow, tag);
    }

    /** Gives the first flow another tag, which is not smaller. */
    void replaceFirst(long tag) {
        down(0, flows[0], tag);
    }

    /** Gives a flow that is in it another tag. */
    void change(int flow, long tag) {
        int place = places[flow];
        if (tag - tags[place] < 0) {
            up(place, flow, tag);
        } else {
            down(place, flow, tag);
        }
    }

    /** Takes the first flow out. */
    int removeFirst() {
        int flow = flows[0];
        remove(flow);
        return flow;
    }

    /** Takes a flow out that is in it. */
    void remove(int flow) {
        int place = places[flow];
        places[flow] = OUT;
        size--;
        if (place == size) {
            return;
        }
        int mover = flows[size];
        long tag = tags[size];
        if (place > 0 && isBefore(tag, mover, (place - 1) >>> 1)) {
            up(place, mover, tag);
        } else {
            down(place, mover, tag);
        }
    }

    /** Makes all tags smaller by the same amount. */
    void lower(long by) {
        for (int i = 0; i < size; i++) {
            tags[i] -= by;
        }
    }

    private void up(int from, int flow, long tag) {
        int place = from;
        while (place > 0) {
            int parent = (place - 1) >>> 1;
            if (!isBefore(tag, flow, parent)) {
                break;
            }
            put(place, flows[parent], tags[parent]);
            place = parent;
        }
        put(place, flow, tag);
    }

    private void down(int from, int flow, long tag) {
        int place = from;
        int child;
        while ((child = 2 * place + 1) < size) {
            if (child + 1 < size) {
                // Added, not branched on: which of the two is smaller cannot be predicted.
                long ahead = tags[child + 1] - tags[child];
                long order = ahead != 0 ? ahead : flows[child + 1] - flows[child];
                child += (int) (order >>> (Long.SIZE - 1));
            }
            if (isBefore(tag, flow, child)) {
                break;
            }
            put(place, flows[child], tags[child]);
            place = child;
        }
        put(place, flow, tag);
    }

    private boolean isBefore(long tag, int flow, int place) {
        long ahead = tag - tags[place];
        return ahead < 0 || (ahead == 0 && flow < flows[place]);
    }

    private void put(int place, int flow, long tag) {
        flows[place] = flow;
        tags[place] = tag;
        places[flow] = place;
    }
}
