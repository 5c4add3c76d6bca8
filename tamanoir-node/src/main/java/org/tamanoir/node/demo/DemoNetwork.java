package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.node.config.Overrides;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.run.Node;
import org.tamanoir.node.run.NodeReport;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.Gunzip;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * Two nodes one behind the other on free loopback ports, set up by what could be options of {@code node}: the first
 * sends on to the second, the second to the port on this host that a packet names.
 *
 * <p>Thread contract: one thread.
 */
public final class DemoNetwork implements AutoCloseable {
    /** Reserved for documentation (RFC 5737): no packet for it can be meant for a host that exists. */
    public static final String DESTINATION = "192.0.2.7";

    private static final int FREE_PORT_ATTEMPTS = 16;
    private static final Duration REST_PATIENCE = Duration.ofSeconds(5);
    private static final Duration DRAIN = Duration.ofSeconds(2);
    private static final long POLL_NS = 1_000_000;

    private final ExecutionEnvironment second;
    private final ExecutionEnvironment first;

    /** @param transport as {@code node --transport} takes it */
    public DemoNetwork(String transport) throws IOException {
        second = start(transport, DESTINATION + "=127.0.0.1,host");
        try {
            first = start(transport, DESTINATION + "=" + Endpoint.toString(address(second)));
        } catch (IOException | RuntimeException e) {
            second.close();
            throw e;
        }
    }

    private static ExecutionEnvironment start(String transport, String route) throws IOException {
        for (int attempt = 1; ; attempt++) {
            Problems problems = new Problems();
            NodeConfigBuilder settings = new NodeConfigBuilder(problems);
            Overrides options = new Overrides(settings);
            options.listen(List.of(String.valueOf(freePort())));
            options.route(route);
            options.service("Gzip,next=" + Gunzip.class.getName());
            options.setting(NodeSettings.TRANSPORT, List.of(transport));
            if (!problems.isEmpty()) {
                throw new IllegalArgumentException(String.join("; ", problems.lines()));
            }
            ExecutionEnvironment node = new Node(settings.build()).environment();
            try {
                node.start();
                return node;
            } catch (IOException e) {
                // Another process may have taken the port meanwhile.
                if (attempt == FREE_PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** A port that is free for TCP and UDP: packets go on to the next node as they came, by one route. */
    private static int freePort() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try (ServerSocket tcp = new ServerSocket(0, 1, loopback());
                    DatagramSocket udp = new DatagramSocket(new InetSocketAddress(loopback(), tcp.getLocalPort()))) {
                return udp.getLocalPort();
            } catch (IOException e) {
                if (attempt == FREE_PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    static InetAddress loopback() {
        return new Endpoint("127.0.0.1", 0).address();
    }

    private static InetSocketAddress address(ExecutionEnvironment node) {
        return node.tcpAddresses().get(0);
    }

    /** Where senders send to. */
    public InetSocketAddress firstAddress() {
        return address(first);
    }

    InetSocketAddress secondAddress() {
        return address(second);
    }

    String transport() {
        return first.transport();
    }

    TrafficSnapshot firstTraffic() {
        return first.traffic();
    }

    TrafficSnapshot secondTraffic() {
        return second.traffic();
    }

    /** Waits, bounded, until no TCP stream runs and every packet is counted out. */
    void awaitRest() {
        long deadlineNs = System.nanoTime() + REST_PATIENCE.toNanos();
        while (!(atRest(first) && atRest(second)) && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static boolean atRest(ExecutionEnvironment node) {
        TrafficSnapshot traffic = node.traffic();
        return traffic.held() == 0
                && NodeReport.unaccounted(traffic) == 0
                && node.instances().stream()
                        .allMatch(instance -> instance.stream().transport() == StreamInfo.Transport.UDP);
    }

    /** Stops the nodes; what crossed them can still be read. */
    @Override
    public void close() {
        first.stop(DRAIN);
        second.stop(DRAIN);
    }
}
