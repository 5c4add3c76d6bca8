package org.tamanoir.cluster.reflect;

import org.jspecify.annotations.Nullable;

/**
 * Datagrams of one batch that go on: those that stand back to back, are of one length (the last may be shorter), of one
 * source and of one precedence make a run, which one message of a sender takes. One thread.
 */
final class Runs {
    /** More than the messages of a batch; where each datagram is another's the batch goes in parts. */
    static final int CAPACITY = 1024;

    final int[] offsets = new int[CAPACITY];
    final int[] bytes = new int[CAPACITY];
    /** Of each datagram but the last. */
    final int[] segments = new int[CAPACITY];

    final int[] packets = new int[CAPACITY];
    /** Null = sent by no member. */
    final @Nullable Member[] sources = new Member[CAPACITY];

    final long[] ssrcs = new long[CAPACITY];
    final int[] precedences = new int[CAPACITY];
    private int count;

    int count() {
        return count;
    }

    boolean isFull() {
        return count == CAPACITY;
    }

    void clear() {
        count = 0;
    }

    /** Adds datagrams that stand back to back, to runs that are not full. */
    void add(int offset, int length, int segment, @Nullable Member source, long ssrc, int precedence) {
        int last = count - 1;
        if (last >= 0
                && offset == offsets[last] + bytes[last]
                && length <= segments[last]
                && bytes[last] == packets[last] * segments[last]
                && sources[last] == source
                && ssrcs[last] == ssrc
                && precedences[last] == precedence) {
            bytes[last] += length;
            packets[last]++;
            return;
        }
        offsets[count] = offset;
        bytes[count] = length;
        segments[count] = segment;
        packets[count] = (length + segment - 1) / segment;
        sources[count] = source;
        ssrcs[count] = ssrc;
        precedences[count] = precedence;
        count++;
    }
}
