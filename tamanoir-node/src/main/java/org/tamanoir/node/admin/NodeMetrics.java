package org.tamanoir.node.admin;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.admission.StreamPlaces;
import org.tamanoir.admission.StreamRefusal;
import org.tamanoir.deploy.FormatStatistics;
import org.tamanoir.deploy.FormatStore;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.GatewayStatus;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentStatistics;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.FeedStatus;
import org.tamanoir.rtp.RtpSnapshot;
import org.tamanoir.rtp.RtpStatus;
import org.tamanoir.sapf.SapfStatistics;
import org.tamanoir.traffic.TrafficSnapshot;

/** All metrics of a node. Any thread may call. */
final class NodeMetrics {
    private NodeMetrics() {}

    static void add(Metrics metrics, ActiveNodeManager manager) {
        ExecutionEnvironment environment = manager.environment();
        traffic(metrics, environment.traffic());
        streams(metrics, environment.streams(), environment.places());
        long waiting = environment.waitingForCode();
        metrics.gauge("waiting_for_code", "TCP streams and UDP packets that wait for a service's code now.", waiting);
        deployments(metrics, manager.deploymentStatistics());
        if (environment.formats() instanceof FormatStore formats) {
            formats(metrics, formats.statistics());
        }
        Instant expiry = environment.certificateExpiry();
        if (expiry != null) {
            metrics.gauge(
                    "certificate_expiry_seconds",
                    "When the first of the certificates that the node shows expires, in seconds since 1970.",
                    expiry.getEpochSecond());
        }
        metrics.gauge("routes", "Routes now.", manager.routeCount());
        FeedStatus feed = manager.feedStatus();
        if (feed != null) {
            metrics.gauge("feed_routes", "Routes that the feed has now.", feed.routes());
            metrics.gauge("feed_routes_unmapped", "Of these, those whose gateways have no next hop.", feed.unmapped());
            metrics.gauge("feed_routes_left_out", "Routes of no use since all were read last.", feed.leftOut());
            metrics.counter("feed_changes", "Routes of the feed that came, changed or went.", feed.changes());
            metrics.counter("feed_resyncs", "How often all routes of the feed were read.", feed.resyncs());
        }
        metrics.counter("events", "Events since the start.", manager.events().count());
        metrics.gauge("ready", "Whether the node does its work: 1 or 0.", manager.notReady() == null ? 1 : 0);
        metrics.with("version", Queries.version(), "java", String.valueOf(System.getProperty("java.version")))
                .gauge("build_info", "The running version; always 1.", 1);
        sapf(metrics, environment.sapfStatistics());
        List<ServiceStatus> services = manager.services();
        ServiceMetrics.add(metrics, services);
        LevelMetrics.add(metrics, environment.levels(), services);
        plain(metrics, environment.plain());
        gateways(metrics, environment.gatewayStatus());
        rtp(metrics, environment.rtp());
        QosMetrics.add(metrics, manager.qosStatus());
    }

    private static void gateways(Metrics metrics, List<GatewayStatus> gateways) {
        for (GatewayStatus gateway : gateways) {
            Metrics its = metrics.group(
                    "gateway_",
                    "transport",
                    Views.word(gateway.transport()),
                    "listen",
                    Endpoint.toString(gateway.address()),
                    "to",
                    Endpoint.toString(gateway.to()));
            its.gauge("open", "Connections of a gateway, or senders of its datagrams, now.", gateway.open());
            its.counter("begun", "Connections of a gateway, or senders of its datagrams, so far.", gateway.begun());
            TrafficSnapshot traffic = gateway.traffic();
            its.counter("packets_in", "Packets that came from both sides of a gateway.", traffic.packetsIn());
            its.counter("bytes_in", "Bytes of packets that came from both sides of a gateway.", traffic.bytesIn());
            its.counter("packets_out", "Packets that left to both sides of a gateway.", traffic.packetsOut());
            its.counter("bytes_out", "Bytes of packets that left to both sides of a gateway.", traffic.bytesOut());
            traffic.drops()
                    .forEach((reason, packets) -> its.with("reason", reason.name())
                            .counter("packets_dropped", "Packets of a gateway that ended.", packets));
        }
    }

    private static void rtp(Metrics metrics, RtpSnapshot known) {
        known.companions().forEach((companion, count) -> {
            if (count > 0) {
                metrics.with("protocol", companion.label())
                        .counter(
                                "rtp_companions",
                                "Datagrams of other protocols at gateways for RTP, by their first octet.",
                                count);
            }
        });
        List<RtpStatus> sources = known.status();
        if (!sources.isEmpty()) {
            metrics.gauge("rtp_sources", "Sources of RTP.", sources.size());
            metrics.gauge(
                    "rtp_received",
                    "Packets that came from them.",
                    sources.stream().mapToLong(RtpStatus::received).sum());
            metrics.gauge(
                    "rtp_lost",
                    "Packets that were expected from them and did not come.",
                    sources.stream().mapToLong(RtpStatus::lost).sum());
        }
    }

    private static void plain(Metrics metrics, PlainTraffic plain) {
        if (plain == PlainTraffic.NONE) {
            return;
        }
        PlainTraffic.Status status = plain.status();
        metrics.gauge("plain_there", "Whether plain datagrams come up: 1 or 0.", status.isThere() ? 1 : 0);
        status.met()
                .forEach((met, datagrams) -> metrics.with("met", met)
                        .counter("plain_met", "What became of plain datagrams, as docs/plain-ip.md says.", datagrams));
        metrics.counter(
                "plain_lost", "Plain datagrams that came up while the socket's buffer was full.", status.lost());
        for (int rule = 0; rule < status.rules().size(); rule++) {
            Metrics ofRule = metrics.with("rule", Integer.toString(rule + 1));
            ofRule.counter(
                    "plain_fits",
                    "Plain datagrams that a rule is for.",
                    status.rules().get(rule).fits());
            ofRule.counter(
                    "plain_up",
                    "Of these, those that came up.",
                    status.rules().get(rule).up());
        }
    }

    private static void formats(Metrics metrics, FormatStatistics formats) {
        metrics.gauge("formats", "Formats of records that are known now.", formats.known());
        metrics.gauge("formats_bytes", "Bytes of their descriptions.", formats.bytes());
        metrics.counter("formats_evicted", "Formats that went for others.", formats.evicted());
        metrics.gauge("format_searches_running", "Formats that others are asked for now.", formats.running());
        for (String outcome : FormatStatistics.OUTCOMES) {
            long count = formats.outcomes().getOrDefault(outcome, 0L);
            metrics.with("outcome", outcome)
                    .counter("format_requests", "Requests for formats that were not known, by outcome.", count);
        }
    }

    /** @param sapf null = it is off */
    private static void sapf(Metrics metrics, @Nullable SapfStatistics sapf) {
        if (sapf != null) {
            metrics.gauge("sapf_selectors_issued", "Selectors of this node that are bound now.", sapf.issued());
            metrics.gauge("sapf_selectors_asked", "Selectors of next hops that its flows have now.", sapf.asked());
            metrics.counter("sapf_packets_in", "Packets that came with a selector.", sapf.packetsIn());
            metrics.counter("sapf_packets_out", "Packets that left with a selector.", sapf.packetsOut());
            metrics.counter(
                    "sapf_packets_swapped",
                    "Packets of those that had come with another selector, which was swapped where they lie.",
                    sapf.packetsSwapped());
            metrics.counter("sapf_refused", "Requests for selectors that were refused.", sapf.refused());
            metrics.counter("sapf_unknown", "Messages about selectors that are not known.", sapf.unknown());
            metrics.counter("sapf_malformed", "Messages about selectors that were none.", sapf.malformed());
        }
    }

    private static void streams(Metrics metrics, StreamCounts streams, StreamPlaces places) {
        metrics.gauge("streams_open", "TCP streams now.", streams.open());
        metrics.counter("streams_accepted", "TCP streams since the start.", streams.accepted());
        metrics.counter("streams_refused", "TCP streams refused for want of room.", streams.refused());
        metrics.gauge("stream_places", "Places for TCP streams and their branches.", places.limit());
        metrics.gauge("stream_places_taken", "Places taken now.", places.taken());
        metrics.gauge("branches_open", "Further services of TCP streams now.", places.branches());
        for (StreamRefusal reason : StreamRefusal.values()) {
            long refused = places.refused().getOrDefault(reason, 0L);
            metrics.with("reason", reason.name())
                    .counter("stream_places_refused", "TCP streams and branches that got no place.", refused);
        }
        for (DropReason reason : DropReason.values()) {
            long aborted = places.aborted().getOrDefault(reason, 0L);
            if (aborted > 0 || reason == DropReason.IDLE || reason == DropReason.NO_MEMORY) {
                metrics.with("reason", reason.name())
                        .counter("streams_aborted", "TCP streams that the node ended before their time.", aborted);
            }
        }
    }

    private static void traffic(Metrics metrics, TrafficSnapshot traffic) {
        metrics.counter("packets_in", "Packets that came in.", traffic.packetsIn());
        metrics.counter("bytes_in", "Bytes of packets that came in.", traffic.bytesIn());
        metrics.counter("packets_made", "Packets that services made themselves.", traffic.packetsMade());
        metrics.counter("packets_out", "Packets that left.", traffic.packetsOut());
        metrics.counter("bytes_out", "Bytes of packets that left.", traffic.bytesOut());
        metrics.gauge("packets_held", "Packets in queues, and waiting for a next hop, now.", traffic.held());
        for (DropReason reason : DropReason.values()) {
            // All of them, those with none too: a rate over a counter that appears misses its first steps.
            long dropped = traffic.drops().getOrDefault(reason, 0L);
            metrics.with("reason", reason.name())
                    .counter("packets_dropped", "Packets that ended in the node.", dropped);
        }
        String anomalies = "Packets that went on in spite of a trailer or a repeated option.";
        metrics.counter("packet_anomalies", anomalies, traffic.anomalies());
    }

    private static void deployments(Metrics metrics, DeploymentStatistics statistics) {
        statistics.outcomes().forEach((outcome, count) -> {
            double seconds = statistics.seconds().getOrDefault(outcome, 0.0);
            String help = "Deployments and the time they took, by outcome.";
            metrics.with("outcome", outcome).summary("deployment_duration_seconds", help, count, seconds);
        });
        metrics.gauge("deployments_running", "Deployments that run now.", statistics.running());
    }
}
