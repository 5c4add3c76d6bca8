package org.tamanoir.qdisc;

/** A set of flow indices that finds its smallest member by looking at two words for each 4096 indices at most. */
final class FlowSet {
    private final long[] members;
    /** A bit for each word of members that is not 0. */
    private final long[] words;

    FlowSet(int flows) {
        members = new long[(flows + 63) >>> 6];
        words = new long[(members.length + 63) >>> 6];
    }

    void add(int flow) {
        members[flow >>> 6] |= 1L << flow;
        words[flow >>> 12] |= 1L << (flow >>> 6);
    }

    void remove(int flow) {
        members[flow >>> 6] &= ~(1L << flow);
        if (members[flow >>> 6] == 0) {
            words[flow >>> 12] &= ~(1L << (flow >>> 6));
        }
    }

    /** The smallest member; -1 when there is none. */
    int first() {
        for (int i = 0; i < words.length; i++) {
            if (words[i] != 0) {
                int word = (i << 6) + Long.numberOfTrailingZeros(words[i]);
                return (word << 6) + Long.numberOfTrailingZeros(members[word]);
            }
        }
        return -1;
    }
}
