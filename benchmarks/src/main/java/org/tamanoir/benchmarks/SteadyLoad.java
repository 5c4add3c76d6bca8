package org.tamanoir.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Loads that run at a steady state: warm-up, then a window over which octets are counted at the sink and
 * processor time at the forwarder.
 */
final class SteadyLoad {
    private static final double NS_PER_S = 1e9;

    private final Processes processes;
    private final Duration warmUp;
    private final Duration window;

    SteadyLoad(Processes processes, Duration warmUp, Duration window) {
        this.processes = processes;
        this.warmUp = warmUp;
        this.window = window;
    }

    private record Window(double seconds, double octets, double cpuSeconds, double sentPerSecond, long[] latency) {}

    /** TCP streams as fast as they are taken. */
    Map<Figure, Double> tcpFlood(Forwarder forwarder, int streams, int packetOctets) throws Exception {
        Window seen = run(
                forwarder,
                Transport.TCP,
                List.of("tcp-sink"),
                List.of("tcp-sender", "--streams", "" + streams, "--size", "" + packetOctets),
                false);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.THROUGHPUT, seen.octets / seen.seconds / 1e6);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_GB, seen.cpuSeconds / (seen.octets / 1e9));
        }
        return figures;
    }

    /** One UDP flow as fast as the kernel takes it, as single datagrams or joined ones. */
    Map<Figure, Double> udpFlood(Forwarder forwarder, int packetOctets, boolean joined) throws Exception {
        List<String> sender = new ArrayList<>(List.of("udp-flood", "--size", "" + packetOctets));
        if (joined) {
            sender.add("--joined");
        }
        return udp(forwarder, packetOctets, sender);
    }

    /** One UDP flow at a rate. */
    Map<Figure, Double> udpPaced(Forwarder forwarder, int packetOctets, long packetsPerSecond) throws Exception {
        return udp(forwarder, packetOctets, pacedSender(Transport.UDP, packetOctets, packetsPerSecond));
    }

    private Map<Figure, Double> udp(Forwarder forwarder, int packetOctets, List<String> sender) throws Exception {
        Window seen = run(forwarder, Transport.UDP, List.of("udp-sink", "--size", "" + packetOctets), sender, true);
        double packets = seen.octets / packetOctets;
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.PACKET_RATE, packets / seen.seconds);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_MILLION, seen.cpuSeconds / (packets / 1e6));
            figures.put(Figure.PACKETS_PER_CPU, packets / seen.cpuSeconds);
        }
        figures.put(Figure.SENT_RATE, seen.sentPerSecond);
        return figures;
    }

    /** Time from writing to reading at a moderate rate over one TCP stream. */
    Map<Figure, Double> tcpLatency(Forwarder forwarder, int packetOctets, long packetsPerSecond) throws Exception {
        Window seen = run(
                forwarder,
                Transport.TCP,
                List.of("tcp-sink", "--latency"),
                pacedSender(Transport.TCP, packetOctets, packetsPerSecond),
                true);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.P50, seen.latency[1] / 1e3);
        figures.put(Figure.P99, seen.latency[2] / 1e3);
        figures.put(Figure.MAX, seen.latency[3] / 1e3);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_MILLION, seen.cpuSeconds / (seen.octets / packetOctets / 1e6));
        }
        figures.put(Figure.PACKET_RATE, seen.octets / packetOctets / seen.seconds);
        return figures;
    }

    private static List<String> pacedSender(Transport transport, int packetOctets, long packetsPerSecond) {
        return List.of(
                "paced-sender",
                "--transport",
                transport.name(),
                "--size",
                "" + packetOctets,
                "--rate",
                "" + packetsPerSecond);
    }

    private Window run(
            Forwarder forwarder,
            Transport transport,
            List<String> sinkCommand,
            List<String> senderCommand,
            boolean counts)
            throws Exception {
        try (Child sink = processes.load(sinkCommand.toArray(String[]::new))) {
            int sinkPort = Integer.parseInt(sink.awaitReady());
            try (RunningForwarder running = RunningForwarder.start(processes, forwarder, transport, sinkPort);
                    Child sender = processes.load(with(senderCommand, "--port", "" + running.port()))) {
                sender.awaitReady();
                Thread.sleep(warmUp.toMillis());
                return measure(sink, running, sender, counts, sinkCommand.contains("--latency"));
            }
        }
    }

    private Window measure(Child sink, RunningForwarder forwarder, Child sender, boolean counts, boolean latency)
            throws Exception {
        long[] sentBefore = counts ? sender.ask("sample") : new long[2];
        if (latency) {
            sink.ask("latency");
        }
        long[] before = sink.ask("sample");
        long cpuBefore = forwarder.cpuNs();
        Thread.sleep(window.toMillis());
        forwarder.requireAlive();
        long cpuAfter = forwarder.cpuNs();
        long[] after = sink.ask("sample");
        long[] percentiles = latency ? sink.ask("latency") : new long[4];
        long[] sentAfter = counts ? sender.ask("sample") : new long[2];
        long octets = after[1] - before[1];
        if (octets == 0) {
            throw new IOException("nothing arrived at the sink in " + window.toMillis() + " ms");
        }
        return new Window(
                (after[0] - before[0]) / NS_PER_S,
                octets,
                (cpuAfter - cpuBefore) / NS_PER_S,
                counts ? (sentAfter[1] - sentBefore[1]) * NS_PER_S / (sentAfter[0] - sentBefore[0]) : 0,
                percentiles);
    }

    private static String[] with(List<String> command, String... more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
