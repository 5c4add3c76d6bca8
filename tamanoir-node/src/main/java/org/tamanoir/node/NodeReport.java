package org.tamanoir.node;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.nodeos.LevelStatus;

/** What a node says on standard output. Callers see to it that one thread at a time calls. */
interface NodeReport {
    /**
     * The node has begun to accept.
     *
     * @param tcp addresses with the real ports
     * @param udp addresses with the real ports
     * @param transport which sockets are in use
     * @param levels where packets can be handled, and why not elsewhere
     * @param servers addresses of the HTTP servers by what they are
     */
    void started(
            List<String> tcp,
            List<String> tls,
            List<String> udp,
            String transport,
            List<LevelStatus> levels,
            Collection<ServiceDefinition> services,
            int routes,
            Map<String, String> servers);

    /** What it knows as a back-end of a cluster, once it has begun to accept. */
    void cluster(MembershipStatus status);

    /** What crossed it since the last call. */
    void rates(Interval interval);

    /** It was told to stop and lets streams finish. */
    void stopping(int streams, Duration drainTimeout);

    /**
     * It has stopped.
     *
     * @param cutStreams streams that did not finish in time
     */
    void stopped(TrafficSnapshot total, int cutStreams);

    /** Packets that were lost count of: 0, or the node has an error. */
    static long unaccounted(TrafficSnapshot total) {
        return total.packetsIn() + total.packetsMade() - total.packetsOut() - total.dropped() - total.held();
    }

    /**
     * Two readings and the time between them.
     *
     * @param seconds above 0
     * @param streams TCP streams that services process at the end of the interval
     */
    record Interval(TrafficSnapshot from, TrafficSnapshot to, double seconds, int streams) {
        double packetsInPerSecond() {
            return (to.packetsIn() - from.packetsIn()) / seconds;
        }

        double packetsOutPerSecond() {
            return (to.packetsOut() - from.packetsOut()) / seconds;
        }

        double octetsInPerSecond() {
            return (to.octetsIn() - from.octetsIn()) / seconds;
        }

        double octetsOutPerSecond() {
            return (to.octetsOut() - from.octetsOut()) / seconds;
        }
    }
}
