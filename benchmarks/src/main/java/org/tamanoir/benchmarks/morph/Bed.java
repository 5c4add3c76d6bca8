package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;

/** A node with plans, a process as all that sends and receives. One thread. */
final class Bed implements AutoCloseable {
    private static final double READY_S = 30;
    private static final double POLL_MS = 20;

    private final Processes processes;
    private final Opened opened = new Opened();

    Bed() throws IOException {
        processes = new Processes();
        Flights.write(processes.folder());
    }

    /** What was measured between two looks. */
    record Window(double seconds, long sent, long arrived, long packetBytes, double cpuNs) {}

    /** Writes a plan beside the formats. */
    Path plan(String name, String text) throws IOException {
        return Files.writeString(processes.folder().resolve(name + ".yaml"), text);
    }

    /** Starts a node whose services have these plans, and that sends all on to a port; returns it. */
    Child node(NodeJvm jvm, int port, int sinkPort, List<Path> plans) throws IOException {
        StringBuilder services = new StringBuilder("services:\n");
        for (int i = 0; i < plans.size(); i++) {
            services.append("  - {name: %s, class: %s, config: {plan: %s}}\n"
                    .formatted(MessageSender.service(i), MessageSender.SERVICE, plans.get(i)));
        }
        Path config = Files.writeString(processes.folder().resolve("node" + port + ".yaml"), services);
        String listen = "127.0.0.1:" + port;
        return opened.add(processes.start(
                "node",
                jvm.line(
                        "--config",
                        config.toString(),
                        "--tcp",
                        listen,
                        "--udp",
                        listen,
                        "--route",
                        "127.0.0.0/8=127.0.0.1:" + sinkPort + ",host")));
    }

    /** Starts a part of the load. */
    Child load(String format, Object... values) throws IOException {
        return opened.add(processes.load(format, values));
    }

    /** Starts what is measured in place of a node. */
    Child peer(String format, Object... values) throws IOException {
        return opened.add(processes.measured(format, values));
    }

    /** Waits until a part that listens at a port has begun to. */
    static void awaitListening(int port, Child listener) throws IOException {
        boolean there = Threads.await(READY_S, POLL_MS, () -> {
            listener.requireAlive();
            try {
                Load.connect(Load.loopback(port)).close();
                return true;
            } catch (IOException e) {
                return false;
            }
        });
        if (!there) {
            throw new IOException("nothing listens at port " + port + " after " + READY_S + " s");
        }
    }

    /** Measures a window of traffic that runs already. */
    static Window measure(double seconds, Child sender, Child sink, Child measured) throws IOException {
        long[] sentBefore = sender.ask("sample");
        long[] before = sink.ask("sample");
        long cpu = CpuClock.ns(measured.handle());
        Threads.pause(seconds);
        long[] sentAfter = sender.ask("sample");
        long[] after = sink.ask("sample");
        long cpuAfter = CpuClock.ns(measured.handle());
        measured.requireAlive();
        return new Window(
                (after[0] - before[0]) / 1e9,
                sentAfter[1] - sentBefore[1],
                after[1] - before[1],
                sentAfter[2],
                cpuAfter - cpu);
    }

    @Override
    public void close() throws IOException {
        try {
            opened.close();
        } finally {
            processes.close();
        }
    }
}
