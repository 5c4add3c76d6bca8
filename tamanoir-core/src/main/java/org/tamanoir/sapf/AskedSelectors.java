package org.tamanoir.sapf;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;

/**
 * The neighbours that are sent packets in SAPF, and the flows for which they were asked for selectors. Answers count from
 * the neighbour that was asked, for a request that is drawn.
 *
 * <p>Thread contract: any thread.
 */
final class AskedSelectors {
    /** Flows at once of all threads; a neighbour issues no more than {@value IssuedSelectors#PER_SOURCE}. */
    private static final int MAX_FLOWS = 4_096;

    private final List<Neighbour> neighbours;
    private final LongSupplier random;
    private final Map<Long, Flow> byRequest = new ConcurrentHashMap<>();
    private final Map<Long, Flow> bySelector = new ConcurrentHashMap<>();

    /** @param random gives bits that nobody can foresee */
    AskedSelectors(List<InetSocketAddress> nextHops, LongSupplier random) {
        this.neighbours = nextHops.stream()
                .map(each -> new Neighbour(
                        Addresses.high(each.getAddress()), Addresses.low(each.getAddress()), each.getPort()))
                .toList();
        this.random = random;
    }

    /** Returns the neighbour at an address; null when packets to there stay ANEP. */
    @Nullable
    Neighbour neighbour(long high, long low, int port) {
        for (Neighbour each : neighbours) {
            if (each.isAt(high, low, port)) {
                return each;
            }
        }
        return null;
    }

    boolean hasNeighbours() {
        return !neighbours.isEmpty();
    }

    /** Makes a flow for which the neighbour can be asked; null when there are too many. */
    @Nullable
    Flow begin(Neighbour to, HeaderTemplate header, long nowNs) {
        if (byRequest.size() >= MAX_FLOWS) {
            byRequest.values().stream().filter(each -> each.isIdle(nowNs)).forEach(this::end);
            if (byRequest.size() >= MAX_FLOWS) {
                return null;
            }
        }
        Flow flow = new Flow(to, header, random.getAsLong(), nowNs);
        byRequest.put(flow.request, flow);
        return flow;
    }

    void end(Flow flow) {
        byRequest.remove(flow.request, flow);
        bySelector.remove(flow.issued(), flow);
    }

    /**
     * Takes the answer to a request.
     *
     * @param selector {@link Selector#NONE} = the flow is to stay ANEP
     * @return whether the flow had no selector, so that the neighbour is to be shown that its answer was read
     */
    boolean bound(long request, long selector, long lifetimeNs, long nowNs, long high, long low, int port) {
        Flow flow = flow(request, high, low, port);
        if (flow == null) {
            return false;
        }
        bySelector.remove(flow.issued(), flow);
        if (!Selector.isIssued(selector)) {
            flow.refused(nowNs);
            return false;
        }
        bySelector.put(selector, flow);
        return flow.bound(selector, lifetimeNs, nowNs);
    }

    void refused(long request, long nowNs, long high, long low, int port) {
        Flow flow = flow(request, high, low, port);
        if (flow != null) {
            bySelector.remove(flow.issued(), flow);
            flow.refused(nowNs);
        }
    }

    private @Nullable Flow flow(long request, long high, long low, int port) {
        Flow flow = byRequest.get(request);
        return flow != null && flow.to.isAt(high, low, port) ? flow : null;
    }

    /** Has all flows to the neighbour that issued this selector, and does not know it, go as ANEP. */
    void unknown(long selector, long high, long low, int port) {
        Flow flow = bySelector.get(selector);
        if (flow != null && flow.to.isAt(high, low, port)) {
            flow.to.forget();
            bySelector.remove(selector, flow);
        }
    }

    int bound() {
        return bySelector.size();
    }
}
