package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
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
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(4);

    /**
     * Lets the flows run for {@code seconds}, then waits until what is under way over UDP has arrived.
     *
     * @param off runs without any quality of service
     * @throws IOException if something failed, or nothing arrived
     */
    Trace run(double seconds, boolean off) throws IOException {
        List<Work> services = flows.stream().map(Flow::work).distinct().toList();
        services.forEach(work -> work.invocations().reset());
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        try {
            FlowSink sink = new FlowSink(flows.size(), seconds);
            opened.push(sink);
            Node hop = null;
            if (network != null && !off) {
                List<Work> idle = services.stream().map(Work::idle).toList();
                hop = new Node(idle, network, sink.address(), NextHop.Kind.HOST);
                opened.push(hop);
            }
            boolean udp = flows.get(0).udp();
            Node node = new Node(
                    services,
                    off ? QosConfig.OFF : qos,
                    hop == null ? sink.address() : hop.address(udp),
                    hop == null ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE);
            opened.push(node);
            List<FlowSender> senders = new ArrayList<>();
            sink.begin();
            for (int i = 0; i < flows.size(); i++) {
                long delayNs = Math.round(flows.get(i).startS() * 1e9);
                FlowSender sender = new FlowSender(
                        flows.get(i), i, node.address(flows.get(i).udp()), delayNs);
                senders.add(sender);
                opened.push(sender);
            }
            pause(Math.round(seconds * 1e9));
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
        } finally {
            closeAll(opened);
        }
    }

    private static void awaitQuiet(FlowSink sink) {
        long endNs = System.nanoTime() + DRAIN_TIMEOUT_NS;
        long before;
        do {
            before = sink.allPackets();
            pause(QUIET_NS);
        } while (sink.allPackets() != before && System.nanoTime() - endNs < 0);
    }

    static void pause(long ns) {
        long endNs = System.nanoTime() + ns;
        long leftNs;
        while ((leftNs = endNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(leftNs);
        }
    }

    /** In the order of the stack; what fails to close does not keep the rest open. */
    static void closeAll(Deque<AutoCloseable> opened) throws IOException {
        IOException failed = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                failed = new IOException(e.getMessage(), e);
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
