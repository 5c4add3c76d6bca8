package org.tamanoir.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.InstanceStatus;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.service.StreamInfo;

/**
 * A node as a process: starts it, reports rates, and stops it in order. {@link #run} belongs to the thread that
 * started the program; {@link #stop} may be called by any, the shutdown hook does.
 */
final class NodeProcess {
    private static final Duration NEVER = Duration.ofDays(365);

    private final NodeConfig config;
    private final NodeReport report;
    private final Duration statsInterval;
    private final Node node;
    private final ExecutionEnvironment environment;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Object stopOnce = new Object();

    /**
     * A node that is not started.
     *
     * @param statsInterval null = no rates
     * @throws CommandException if the host lacks what it needs
     */
    NodeProcess(NodeConfig config, NodeReport report, @Nullable Duration statsInterval) {
        this.config = config;
        this.report = report;
        this.statsInterval = statsInterval == null ? NEVER : statsInterval;
        try {
            node = new Node(config);
            environment = node.environment();
        } catch (RuntimeException e) {
            throw cannotStart(e);
        }
    }

    private static CommandException cannotStart(Exception e) {
        String what = e.getMessage() == null ? e.toString() : e.getMessage();
        return new CommandException(Main.USAGE, "the node cannot start: " + what, e);
    }

    /**
     * Starts the node and returns when it has stopped.
     *
     * @throws CommandException if it cannot start
     */
    int run() {
        try {
            node.start();
        } catch (IOException | RuntimeException e) {
            throw cannotStart(e);
        }
        Thread hook = new Thread(this::stop, "tamanoir-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        report.started(
                texts(environment.tcpAddresses()),
                texts(environment.tlsAddresses()),
                texts(environment.udpAddresses()),
                environment.transport(),
                environment.levels().levels(),
                config.services(),
                config.routes().size(),
                node.servers());
        MembershipStatus cluster = node.cluster();
        if (cluster != null) {
            report.cluster(cluster);
        }
        try {
            reportRates();
        } catch (InterruptedException e) {
            stop();
        }
        return Main.OK;
    }

    /** Returns when all of the node has ended; the first call stops it. */
    void stop() {
        stopping.countDown();
        synchronized (stopOnce) {
            if (stopped.getCount() == 0) {
                return;
            }
            synchronized (report) {
                report.stopping(streams(), config.drainTimeout());
            }
            int cutStreams = node.stop(config.drainTimeout());
            synchronized (report) {
                report.stopped(environment.traffic(), cutStreams);
            }
            stopped.countDown();
        }
    }

    private void reportRates() throws InterruptedException {
        TrafficSnapshot last = environment.traffic();
        long lastNs = System.nanoTime();
        while (!stopping.await(statsInterval.toMillis(), TimeUnit.MILLISECONDS)) {
            TrafficSnapshot now = environment.traffic();
            long nowNs = System.nanoTime();
            synchronized (report) {
                if (stopping.getCount() > 0) {
                    report.rates(new NodeReport.Interval(last, now, (nowNs - lastNs) / 1e9, streams()));
                }
            }
            last = now;
            lastNs = nowNs;
        }
        stopped.await();
    }

    private int streams() {
        return (int) environment.instances().stream()
                .map(InstanceStatus::stream)
                .filter(stream -> stream.transport() == StreamInfo.Transport.TCP)
                .map(StreamInfo::peer)
                .distinct()
                .count();
    }

    private static List<String> texts(List<InetSocketAddress> addresses) {
        return addresses.stream().map(Endpoint::toString).toList();
    }
}
