package org.tamanoir.qdisc;

/**
 * A list of flow indices, without one of them twice.
 *
 * <p>Thread contract: one thread at a time.
 */
final class FlowList {
    /** No flow: the first of an empty list, and what comes after the last. */
    static final int NONE = -1;

    private final int[] following;
    private int first = NONE;
    private int last = NONE;
    private int size;

    /**
     * @param following room for a link of each flow; lists that never hold the same flow at once may share it
     */
    FlowList(int[] following) {
        this.following = following;
    }

    boolean isEmpty() {
        return first == NONE;
    }

    int size() {
        return size;
    }

    int first() {
        return first;
    }

    /** What comes after a flow of the list. */
    int after(int flow) {
        return following[flow];
    }

    void addFirst(int flow) {
        following[flow] = first;
        first = flow;
        if (last == NONE) {
            last = flow;
        }
        size++;
    }

    void addLast(int flow) {
        following[flow] = NONE;
        if (last == NONE) {
            first = flow;
        } else {
            following[last] = flow;
        }
        last = flow;
        size++;
    }

    /** Takes the first out; there must be one. */
    void removeFirst() {
        first = following[first];
        if (first == NONE) {
            last = NONE;
        }
        size--;
    }

    /** Takes a flow of the list out, wherever it stands. */
    void remove(int flow) {
        if (flow == first) {
            removeFirst();
            return;
        }
        int before = first;
        while (following[before] != flow) {
            before = following[before];
        }
        following[before] = following[flow];
        if (last == flow) {
            last = before;
        }
        size--;
    }
}
