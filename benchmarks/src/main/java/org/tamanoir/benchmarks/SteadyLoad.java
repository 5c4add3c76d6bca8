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

    private record Window(double seconds, double bytes, CpuClock.Used cpu, double sentPerSecond) {}

    /** TCP streams as fast as they are taken. */
    Map<Figure, Double> tcpFlood(Forwarder forwarder, int streams, int packetBytes) throws Exception {
        String sender = "tcp-sender streams=%d size=%d".formatted(streams, packetBytes);
        Window seen = run(forwarder, Transport.TCP, "tcp-sink latency=false", sender);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.THROUGHPUT, seen.bytes / seen.seconds / 1e6);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_GB, seen.cpu.seconds() / (seen.bytes / 1e9));
            figures.put(Figure.USER_PER_PACKET, seen.cpu.userNs() / (seen.bytes / packetBytes));
        }
        return figures;
    }

    /** One UDP flow as fast as the kernel takes it, as single datagrams or joined ones. */
    Map<Figure, Double> udpFlood(Forwarder forwarder, int packetBytes, boolean joined) throws Exception {
        return udp(forwarder, packetBytes, "udp-flood size=%d joined=%b".formatted(packetBytes, joined));
    }

    /** One UDP flow at a rate. */
    Map<Figure, Double> udpPaced(Forwarder forwarder, int packetBytes, long packetsPerSecond) throws Exception {
        return udp(forwarder, packetBytes, PacedSender.part(Transport.UDP, packetBytes, packetsPerSecond));
    }

    private Map<Figure, Double> udp(Forwarder forwarder, int packetBytes, String sender) throws Exception {
        Window seen = run(forwarder, Transport.UDP, "udp-sink size=" + packetBytes, sender);
        double packets = seen.bytes / packetBytes;
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.PACKET_RATE, packets / seen.seconds);
        if (!forwarder.isDirect()) {
            figures.put(Figure.CPU_PER_MILLION, seen.cpu.seconds() / (packets / 1e6));
            figures.put(Figure.USER_PER_PACKET, seen.cpu.userNs() / packets);
            figures.put(Figure.PACKETS_PER_CPU, packets / seen.cpu.seconds());
        }
        figures.put(Figure.SENT_RATE, seen.sentPerSecond);
        return figures;
    }

    private Window run(Forwarder forwarder, Transport transport, String sinkPart, String senderPart) throws Exception {
        try (Child sink = processes.load(sinkPart);
                RunningForwarder running =
                        RunningForwarder.start(processes, forwarder, transport, Integer.parseInt(sink.ready()));
                Child sender = processes.load(senderPart + " port=" + running.port())) {
            Thread.sleep(warmUp.toMillis());
            return measure(sink, running, sender);
        }
    }

    private Window measure(Child sink, RunningForwarder forwarder, Child sender) throws Exception {
        long[] sentBefore = sender.ask("sample");
        long[] before = sink.ask("sample");
        CpuClock.Used cpuBefore = forwarder.cpu();
        Thread.sleep(window.toMillis());
        forwarder.requireAlive();
        CpuClock.Used cpu = forwarder.cpu().since(cpuBefore);
        long[] after = sink.ask("sample");
        long[] sentAfter = sender.ask("sample");
        long bytes = after[1] - before[1];
        if (bytes == 0) {
            throw new IOException("nothing arrived at the sink in " + window.toMillis() + " ms");
        }
        return new Window(
                (after[0] - before[0]) / NS_PER_S,
                bytes,
                cpu,
                (sentAfter[1] - sentBefore[1]) * NS_PER_S / (sentAfter[0] - sentBefore[0]));
    }
}
