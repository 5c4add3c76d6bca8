package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The flows of one connection for which its far side was asked for selectors, each in the place of its header's hash: as
 * many places as the far side has selectors for a connection. A flow begins with the second packet of its header, and gives
 * way when {@value #PATIENCE} packets of others wanted its place since its own last one.
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
    /** Hashes of the headers that came last, by their place. */
    private final long[] seen = new long[StreamSelectors.MOST];

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
        int place = (int) hash & StreamSelectors.MOST - 1;
        StreamFlow flow = flows[place];
        if (flow != null && flow.header.isOf(packets, at, length)) {
            return flow;
        }
        if (seen[place] != hash) {
            seen[place] = hash;
            return null;
        }
        if (flow != null && (!flow.isAnswered || ++flow.passedOver < PATIENCE)) {
            return null;
        }
        HeaderTemplate header = HeaderTemplate.of(packets, at, length);
        if (header == null) {
            return null;
        }
        StreamFlow begun = new StreamFlow(header, ++requests, flow == null ? Selector.NONE : unbind(flow));
        flows[place] = begun;
        return begun;
    }

    private long unbind(StreamFlow flow) {
        long selector = flow.selector;
        if (selector != Selector.NONE) {
            flow.selector = Selector.NONE;
            bound.decrementAndGet();
        }
        return selector;
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
