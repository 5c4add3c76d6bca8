package org.tamanoir.ee;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.StreamGateway;

/**
 * Streams by the gateway that they came by, and what crossed those that have ended.
 *
 * <p>Thread contract: one thread at a time.
 */
final class GatewayStreams {
    private final Map<StreamGateway, Tally> ended = new IdentityHashMap<>();

    /** What streams of a gateway come to. */
    static final class Tally {
        final Traffic.Sum traffic = new Traffic.Sum();
        long streams;

        private void add(Instance instance) {
            instance.thread.traffic.addTo(traffic);
            streams += instance.trunk() == instance ? 1 : 0;
        }
    }

    /** Takes note of an instance that has ended. Connections in transit have no gateway that is listed. */
    void ended(Instance instance) {
        StreamGateway gateway = instance.gateway();
        if (gateway != null && !gateway.isInTransit()) {
            ended.computeIfAbsent(gateway, its -> new Tally()).add(instance);
        }
    }

    /** Returns what streams of a gateway come to, those that run included. */
    Tally all(StreamGateway gateway, Collection<Instance> running) {
        Tally all = running(gateway, running);
        Tally before = ended.get(gateway);
        if (before != null) {
            all.traffic.add(before.traffic);
            all.streams += before.streams;
        }
        return all;
    }

    /** Returns what those come to that run. */
    static Tally running(StreamGateway gateway, Collection<Instance> running) {
        Tally now = new Tally();
        for (Instance instance : running) {
            if (instance.gateway() == gateway) {
                now.add(instance);
            }
        }
        return now;
    }
}
