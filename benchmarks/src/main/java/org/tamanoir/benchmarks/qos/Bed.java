package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;

/**
 * Senders, a node, perhaps a hop that limits the rate, and a sink, all in this process and over loopback.
 *
 * @param flows one sender each
 * @param qos of the node
 * @param network of the hop between node and sink; null = there is none
 */
record Bed(List<Flow> flows, QosConfig qos, @Nullable QosConfig network) {
    private static final double QUIET_MS = 300;
    private static final double DRAIN_TIMEOUT_S = 4;

    /**
     * Lets the flows run for {@code seconds}, then waits until what is under way over UDP has arrived.
     *
     * @param off runs without any quality of service
     * @throws IOException if something failed, or nothing arrived
     */
    Trace run(double seconds, boolean off) throws IOException {
        List<Work> services = flows.stream().map(Flow::work).distinct().toList();
        services.forEach(work -> work.invocations().reset());
        try (Opened opened = new Opened()) {
            FlowSink sink = opened.add(new FlowSink(flows.size(), seconds));
            Node hop = null;
            if (network != null && !off) {
                List<Work> idle = services.stream().map(Work::idle).toList();
                hop = opened.add(new Node(idle, network, sink.address(), NextHop.Kind.HOST));
            }
            boolean udp = flows.get(0).udp();
            InetSocketAddress next = hop == null ? sink.address() : hop.address(udp);
            NextHop.Kind kind = hop == null ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE;
            Node node = opened.add(new Node(services, off ? QosConfig.OFF : qos, next, kind));
            List<FlowSender> senders = new ArrayList<>();
            sink.begin();
            for (Flow flow : flows) {
                InetSocketAddress to = node.address(flow.udp());
                senders.add(opened.add(new FlowSender(flow, senders.size(), to, Math.round(flow.startS() * 1e9))));
            }
            Threads.pause(seconds);
            for (FlowSender sender : senders) {
                if (!sender.fault().isEmpty()) {
                    throw new IOException(sender.fault());
                }
                if (udp) {
                    sender.close();
                }
            }
            if (udp) {
                awaitQuiet(sink);
            }
            return Trace.of(flows, sink, node);
        }
    }

    private static void awaitQuiet(FlowSink sink) throws IOException {
        long[] before = {-1};
        Threads.await(DRAIN_TIMEOUT_S, QUIET_MS, () -> {
            boolean isQuiet = sink.allPackets() == before[0];
            before[0] = sink.allPackets();
            return isQuiet;
        });
    }
}
