package org.tamanoir.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Time from writing to reading over one TCP stream at a moderate rate: from the first packet that a fresh process gets
 * on, and when this load has warmed it. Sender and sink are warm from the beginning.
 */
final class Latency {
    static final int PACKET_BYTES = 200;
    static final int PACKETS_PER_SECOND = 5000;

    private static final Duration FIRST = Duration.ofSeconds(5);
    private static final Duration LOAD_WARM_UP = Duration.ofSeconds(2);

    private final Processes processes;
    private final Duration warmUp;
    private final Duration window;

    Latency(Processes processes, Duration warmUp, Duration window) {
        this.processes = processes;
        this.warmUp = warmUp;
        this.window = window;
    }

    Map<String, Map<Figure, Double>> measure(Forwarder forwarder) throws Exception {
        String part = PacedSender.part(Transport.TCP, PACKET_BYTES, PACKETS_PER_SECOND);
        try (Child sink = processes.load("tcp-sink latency=true");
                Child sender = processes.load(part + " port=" + sink.ready())) {
            Thread.sleep(LOAD_WARM_UP.toMillis());
            sender.ask("end");
            try (RunningForwarder running =
                    RunningForwarder.start(processes, forwarder, Transport.TCP, Integer.parseInt(sink.ready()))) {
                Map<String, Map<Figure, Double>> phases = new LinkedHashMap<>();
                sink.ask("latency");
                sender.ask("to " + running.port());
                phases.put("first " + FIRST.toSeconds() + " s", over(FIRST, sink, running));
                Thread.sleep(warmUp.toMillis());
                sink.ask("latency");
                phases.put("warm", over(window, sink, running));
                return phases;
            }
        }
    }

    private static Map<Figure, Double> over(Duration time, Child sink, RunningForwarder running) throws Exception {
        long beganNs = System.nanoTime();
        CpuClock.Used before = running.cpu();
        Thread.sleep(time.toMillis());
        running.requireAlive();
        double cpuSeconds = running.cpu().since(before).seconds();
        long[] seen = sink.ask("latency");
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        if (seen[0] == 0) {
            throw new IOException("nothing arrived at the sink in " + time.toMillis() + " ms");
        }
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.P50, seen[1] / 1e3);
        figures.put(Figure.P99, seen[2] / 1e3);
        figures.put(Figure.P999, seen[3] / 1e3);
        figures.put(Figure.MAX, seen[4] / 1e3);
        figures.put(Figure.PACKET_RATE, seen[0] / seconds);
        if (cpuSeconds > 0) {
            figures.put(Figure.CPU_PER_MILLION, cpuSeconds / (seen[0] / 1e6));
        }
        return figures;
    }
}
