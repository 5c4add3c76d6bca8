package org.tamanoir.node.run;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.HangUp;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.GatewayLine;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * A node as a process: starts it, reports rates, and stops it in order. {@link #run} belongs to the thread that
 * started the program; {@link #stop} may be called by any, the shutdown hook does.
 */
final class NodeProcess {
    private static final Logger LOG = LoggerFactory.getLogger(NodeProcess.class);
    private static final Duration NEVER = Duration.ofDays(365);

    private final NodeConfig config;
    private final NodeReport report;
    private final Duration statsInterval;
    private final Node node;
    private final ExecutionEnvironment environment;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Object stopOnce = new Object();
    private final Systemd systemd = Systemd.ofProcess();
    private boolean interrupted;
    private Reloader.@Nullable Source reloadedFrom;
    private boolean takesOver;
    private volatile @Nullable HandOver handOver;

    /**
     * A node that is not started.
     *
     * @param routes besides those of the configuration
     * @param routesFile from which they are, null = there are none
     * @param statsInterval null = no rates
     * @throws CommandException if the host lacks what it needs
     */
    NodeProcess(
            NodeConfig config,
            RouteSet routes,
            @Nullable Path routesFile,
            NodeReport report,
            @Nullable Duration statsInterval) {
        this.config = config;
        this.report = report;
        this.statsInterval = statsInterval == null ? NEVER : statsInterval;
        try {
            node = new Node(config, routes, routesFile == null ? null : routesFile.toString());
            environment = node.environment();
        } catch (RuntimeException e) {
            throw cannotStart(e);
        }
    }

    private static CommandException cannotStart(Exception e) {
        return new CommandException(ExitCode.USAGE, "the node cannot start: " + CommandException.line(e), e);
    }

    /** Has SIGHUP and the admin API read the configuration again from here, null = it has no file. Before {@link #run}. */
    NodeProcess reloadedFrom(Reloader.@Nullable Source source) {
        reloadedFrom = source;
        return this;
    }

    /** Has it take the place of the node that hands over where this one will. Before {@link #run}. */
    NodeProcess takingOver(boolean wanted) {
        takesOver = wanted;
        return this;
    }

    /**
     * Starts the node and returns when it has stopped.
     *
     * @throws CommandException if it cannot start
     */
    int run() {
        LastWords lastWords = new LastWords();
        environment.onCoreThreadLoss(lastWords);
        try {
            return serve();
        } catch (Error e) {
            lastWords.accept("main", e);
            return ExitCode.LOST;
        }
    }

    private int serve() {
        Duration rehearse = config.get(NodeSettings.REHEARSE);
        try {
            if (!rehearse.isZero()) {
                if (!takesOver) {
                    FreePorts.require(config);
                }
                Rehearsal.run(config.get(NodeSettings.TRANSPORT), config.get(NodeSettings.THREADS), rehearse);
            }
            Reloader reloader = new Reloader(node, reloadedFrom, systemd);
            node.reloading(reloader);
            HangUp.onHangUp(reloader::reloadForSignal);
            Path path = config.find(NodeSettings.HAND_OVER);
            if (path == null) {
                node.start();
            } else {
                handOver = HandOver.start(node, path, takesOver, this::stop);
            }
        } catch (IOException | RuntimeException e) {
            throw cannotStart(e);
        }
        int nice = config.get(NodeSettings.JVM_NICE);
        if (nice > 0) {
            environment.background("jvm threads", new NiceJvm(nice)).start();
        }
        Thread hook = new Thread(this::stop, "tamanoir-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        report.started(
                texts(environment.tcpAddresses()),
                texts(environment.tlsAddresses()),
                texts(environment.udpAddresses()),
                texts(environment.quicAddresses()),
                gateways(),
                environment.transport(),
                environment.levels().levels(),
                config.services(),
                node.routes(),
                node.servers());
        MembershipStatus cluster = node.cluster();
        if (cluster != null) {
            report.cluster(cluster);
        }
        systemd.ready(node.routes() + " routes, " + environment.transport());
        Heartbeat.start(systemd, environment::coreProblems);
        HandOver waiting = handOver;
        if (waiting != null) {
            waiting.begin(); // What comes of it stands behind the start in what is told.
        }
        TrafficSnapshot last = environment.traffic();
        long lastNs = System.nanoTime();
        while (!isStopped()) {
            if (stopping.getCount() > 0) {
                TrafficSnapshot now = environment.traffic();
                long nowNs = System.nanoTime();
                reportRates(new NodeReport.Interval(last, now, (nowNs - lastNs) / 1e9, streams()));
                last = now;
                lastNs = nowNs;
            }
        }
        return ExitCode.OK;
    }

    /** Returns when all of the node has ended; the first call stops it. */
    void stop() {
        HandOver waiting = handOver;
        if (waiting != null) {
            waiting.close();
        }
        stopping.countDown();
        synchronized (stopOnce) {
            if (stopped.getCount() == 0) {
                return;
            }
            try {
                stopInOrder(node.config().get(NodeSettings.DRAIN));
            } catch (RuntimeException e) {
                LOG.error("the node has not ended in order: {}", e.toString());
            } finally {
                stopped.countDown();
            }
        }
    }

    private void stopInOrder(Duration drain) {
        systemd.stopping(drain);
        synchronized (report) {
            report.stopping(streams(), drain);
        }
        int cutStreams = node.stop(drain);
        synchronized (report) {
            report.stopped(environment.traffic(), cutStreams);
        }
    }

    /**
     * Waits, for the interval of rates at most; whether the node has stopped. Only {@link #stop} ends a node: whoever
     * interrupts this thread is not the node but a service in its JVM.
     */
    private boolean isStopped() {
        long endNs = System.nanoTime() + statsInterval.toNanos();
        while (true) {
            try {
                if (stopping.await(endNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    stopped.await();
                    return true;
                }
                return false;
            } catch (InterruptedException e) {
                if (!interrupted) {
                    interrupted = true;
                    LOG.warn("somebody interrupted the node's main thread, a service perhaps: ignored, now and later");
                }
            }
        }
    }

    private void reportRates(NodeReport.Interval interval) {
        synchronized (report) {
            if (stopping.getCount() > 0) {
                report.rates(interval);
            }
        }
    }

    private int streams() {
        return (int) environment.instances().stream()
                .map(InstanceStatus::stream)
                .filter(stream -> stream.transport() == StreamInfo.Transport.TCP)
                .map(StreamInfo::peer)
                .distinct()
                .count();
    }

    private List<String> gateways() {
        List<GatewayLine> lines = config.get(NodeSettings.GATEWAYS).stream()
                .sorted(Comparator.comparing(GatewayLine::isUdp)) // As the addresses are.
                .toList();
        List<InetSocketAddress> bound = environment.gatewayAddresses();
        return IntStream.range(0, bound.size())
                .mapToObj(i -> lines.get(i).at(bound.get(i)).text())
                .toList();
    }

    private static List<String> texts(List<InetSocketAddress> addresses) {
        return addresses.stream().map(Endpoint::toString).toList();
    }
}
