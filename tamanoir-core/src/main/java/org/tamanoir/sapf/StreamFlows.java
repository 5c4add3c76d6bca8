package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The flows of one connection for which its far side was asked for selectors, as many as that has for a connection. They
 * stand in sets, by the hashes of their headers, as {@link SeenHeaders} says. A flow begins with the second packet of its
 * header, and gives way when {@value #PATIENCE} packets of others wanted its place since its own last one.
 *
 * <p>Thread contract: the connection's thread.
 */
final class StreamFlows {
    static final int PATIENCE = 16;

    /** Packets of one header. */
    static final class StreamFlow {
        final HeaderTemplate header;
        final int request;
        /** {@link Selector#NONE} = it goes as ANEP. */
        long selector;

        /** Nobody has been asked for it. */
        boolean isNew = true;
        /** The selector of the flow that gave way to it. */
        final long released;

        private boolean isAnswered;
        private int passedOver;

        private StreamFlow(HeaderTemplate header, int request, long released) {
            this.header = header;
            this.request = request;
            this.released = released;
        }
    }

    /** Selectors of all connections. */
    private final AtomicInteger bound;

    private final @Nullable StreamFlow[] flows = new @Nullable StreamFlow[StreamSelectors.MOST];
    private final SeenHeaders seen = new SeenHeaders(StreamSelectors.MOST);

    private @Nullable StreamFlow last;
    private int requests;

    StreamFlows(AtomicInteger bound) {
        this.bound = bound;
    }

    /** Returns the flow of a packet; null when it is none's. */
    @Nullable
    StreamFlow flow(ByteBuffer packets, int at, int length) {
        StreamFlow known = last;
        if (known == null || !known.header.isOf(packets, at, length)) {
            known = find(packets, at, length);
            last = known;
        }
        if (known != null) {
            known.passedOver = 0;
        }
        return known;
    }

    private @Nullable StreamFlow find(ByteBuffer packets, int at, int length) {
        int octets = HeaderTemplate.octets(packets, at, length);
        if (octets == 0) {
            return null;
        }
        long hash = HeaderTemplate.hash(packets, at, octets);
        int set = seen.set(hash);
        for (int place = set; place < set + SeenHeaders.WAYS; place++) {
            StreamFlow flow = flows[place];
            if (flow != null && flow.header.isOf(packets, at, length)) {
                return flow;
            }
        }
        return seen.wasSeen(hash, set) ? begin(packets, at, length, set) : null;
    }

    private @Nullable StreamFlow begin(ByteBuffer packets, int at, int length, int set) {
        int place = placeIn(set);
        HeaderTemplate header = place < 0 ? null : HeaderTemplate.of(packets, at, length);
        if (header == null) {
            return null;
        }
        StreamFlow before = flows[place];
        StreamFlow begun = new StreamFlow(header, ++requests, before == null ? Selector.NONE : unbind(before));
        flows[place] = begun;
        return begun;
    }

    /** Returns the place of a set that one more flow of it gets; -1 = none yet. */
    private int placeIn(int set) {
        int longest = -1;
        int most = PATIENCE - 1;
        for (int place = set; place < set + SeenHeaders.WAYS; place++) {
            StreamFlow flow = flows[place];
            if (flow == null) {
                return place;
            }
            if (flow.isAnswered && ++flow.passedOver > most) {
                most = flow.passedOver;
                longest = place;
            }
        }
        return longest;
    }

    private long unbind(StreamFlow flow) {
        long selector = flow.selector;
        if (selector != Selector.NONE) {
            flow.selector = Selector.NONE;
            bound.decrementAndGet();
        }
        return selector;
    }

    /** Returns whether a request has no answer yet. */
    boolean isAsking() {
        for (StreamFlow flow : flows) {
            if (flow != null && !flow.isNew && !flow.isAnswered) {
                return true;
            }
        }
        return false;
    }

    /** Takes the answer to a request; {@link Selector#NONE} = the flow stays ANEP. */
    void answered(long request, long selector) {
        for (StreamFlow flow : flows) {
            if (flow != null && flow.request == request && !flow.isAnswered) {
                flow.isAnswered = true;
                if (Selector.isIssued(selector)) {
                    flow.selector = selector;
                    bound.incrementAndGet();
                }
            }
        }
    }

    /** Has the flow whose selector the far side does not know stay ANEP. */
    void unknown(long selector) {
        for (StreamFlow flow : flows) {
            if (flow != null && flow.selector == selector) {
                unbind(flow);
            }
        }
    }

    void unbindAll() {
        for (StreamFlow flow : flows) {
            if (flow != null) {
                unbind(flow);
            }
        }
    }
}
