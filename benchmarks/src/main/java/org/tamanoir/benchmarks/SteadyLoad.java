package org.tamanoir.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * Loads that run at a steady state: warm-up, then a window over which bytes are counted at the sink and
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

    private record Window(double seconds, double bytes, double cpuSeconds, double sentPerSecond, long[] latency) {}

    /** TCP streams as fast as they are taken. */
    Map<Figure, Double> tcpFlood(Forwarder forwarder, int streams, int packetBytes) throws Exception {
        String sender = "tcp-sender streams=%d size=%d".formatted(streams, packetBytes);
        Window seen = run(forwarder, Transport.TCP, "tcp-sink latency=false", sender, false);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.THROUGHPUT, seen.bytes / seen.seconds / 1e6);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_GB, seen.cpuSeconds / (seen.bytes / 1e9));
        }
        return figures;
    }

    /** One UDP flow as fast as the kernel takes it, as single datagrams or joined ones. */
    Map<Figure, Double> udpFlood(Forwarder forwarder, int packetBytes, boolean joined) throws Exception {
        return udp(forwarder, packetBytes, "udp-flood size=%d joined=%b".formatted(packetBytes, joined));
    }

    /** One UDP flow at a rate. */
    Map<Figure, Double> udpPaced(Forwarder forwarder, int packetBytes, long packetsPerSecond) throws Exception {
        return udp(forwarder, packetBytes, pacedSender(Transport.UDP, packetBytes, packetsPerSecond));
    }

    private Map<Figure, Double> udp(Forwarder forwarder, int packetBytes, String sender) throws Exception {
        Window seen = run(forwarder, Transport.UDP, "udp-sink size=" + packetBytes, sender, true);
        double packets = seen.bytes / packetBytes;
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
    Map<Figure, Double> tcpLatency(Forwarder forwarder, int packetBytes, long packetsPerSecond) throws Exception {
        String sender = pacedSender(Transport.TCP, packetBytes, packetsPerSecond);
        Window seen = run(forwarder, Transport.TCP, "tcp-sink latency=true", sender, true);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.P50, seen.latency[1] / 1e3);
        figures.put(Figure.P99, seen.latency[2] / 1e3);
        figures.put(Figure.MAX, seen.latency[3] / 1e3);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_MILLION, seen.cpuSeconds / (seen.bytes / packetBytes / 1e6));
        }
        figures.put(Figure.PACKET_RATE, seen.bytes / packetBytes / seen.seconds);
        return figures;
    }

    private static String pacedSender(Transport transport, int packetBytes, long packetsPerSecond) {
        return "paced-sender transport=%s size=%d rate=%d".formatted(transport, packetBytes, packetsPerSecond);
    }

    private Window run(Forwarder forwarder, Transport transport, String sinkPart, String senderPart, boolean counts)
            throws Exception {
        try (Child sink = processes.load(sinkPart);
                RunningForwarder running =
                        RunningForwarder.start(processes, forwarder, transport, Integer.parseInt(sink.ready()));
                Child sender = processes.load(senderPart + " port=" + running.port())) {
            Thread.sleep(warmUp.toMillis());
            return measure(sink, running, sender, counts, sinkPart.contains("latency=true"));
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
        long bytes = after[1] - before[1];
        if (bytes == 0) {
            throw new IOException("nothing arrived at the sink in " + window.toMillis() + " ms");
        }
        return new Window(
                (after[0] - before[0]) / NS_PER_S,
                bytes,
                (cpuAfter - cpuBefore) / NS_PER_S,
                counts ? (sentAfter[1] - sentBefore[1]) * NS_PER_S / (sentAfter[0] - sentBefore[0]) : 0,
                percentiles);
    }
}
