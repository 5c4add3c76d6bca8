package org.tamanoir.benchmarks;

import java.io.IOException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Streams that begin and end, against a fresh process and then against the same one; every packet is verified. Sender
 * and sink are warm from the beginning.
 */
final class Lives {
    static final int PACKET_BYTES = 200;
    static final int MANY_STREAMS = 1000;
    static final int MANY_PACKETS = 400;

    /** One after another, and a few at once. */
    static final List<Integer> AT_ONCE = List.of(1, 4);

    private static final int FRESH_STREAMS = 1000;
    /** So many that the JVM's second compiler has seen what happens once a stream. */
    private static final int WARMING_STREAMS = 20_000;

    private static final int WARM_STREAMS = 5000;

    private final Processes processes;

    Lives(Processes processes) {
        this.processes = processes;
    }

    /** Runs 1,000 streams of 400 packets at once, and the same again. */
    Map<String, Map<Figure, Double>> streams(Forwarder forwarder) throws Exception {
        ManyStreams.requireDescriptors(MANY_STREAMS, ManyStreams.MOST_PER_STREAM);
        return measure(forwarder, MANY_STREAMS, MANY_PACKETS, MANY_STREAMS, 0, MANY_STREAMS);
    }

    /** Runs streams of one packet, one after another or so many at once. */
    Map<String, Map<Figure, Double>> life(Forwarder forwarder, int atOnce) throws Exception {
        return measure(forwarder, atOnce, 1, FRESH_STREAMS, WARMING_STREAMS, WARM_STREAMS);
    }

    private Map<String, Map<Figure, Double>> measure(
            Forwarder forwarder, int atOnce, int packets, int fresh, int warming, int warm) throws Exception {
        try (Child sink = processes.load("stream-sink");
                Child sender = processes.load("life-sender packets=%d size=%d", packets, PACKET_BYTES)) {
            Passes passes = new Passes(sink, sender, atOnce, packets);
            int sinkPort = Integer.parseInt(sink.ready());
            passes.run(sinkPort, 2 * fresh);
            try (RunningForwarder running = RunningForwarder.start(processes, forwarder, Transport.TCP, sinkPort)) {
                Map<String, Map<Figure, Double>> phases = new LinkedHashMap<>();
                phases.put("fresh", passes.figures(running, fresh));
                if (warming > 0) {
                    passes.run(running.port(), warming);
                }
                phases.put("warm", passes.figures(running, warm));
                return phases;
            }
        }
    }

    /** The streams of one measurement; packets are counted from its beginning on. */
    private static final class Passes {
        private final Child sink;
        private final Child sender;
        private final int atOnce;
        private final int packets;
        private long sent;
        private long[] verified = new long[2];

        Passes(Child sink, Child sender, int atOnce, int packets) {
            this.sink = sink;
            this.sender = sender;
            this.atOnce = atOnce;
            this.packets = packets;
        }

        /** Runs streams; the time that all took and the sum of their lives, in ns. */
        long[] run(int port, int streams) throws IOException {
            long[] took = sender.ask(port + " " + streams + " " + atOnce);
            sent += (long) streams * packets;
            verified = ManyStreams.awaitAll(sink, sent);
            return took;
        }

        Map<Figure, Double> figures(RunningForwarder running, int streams) throws IOException {
            CpuClock.Used before = running.cpu();
            long[] took = run(running.port(), streams);
            running.requireAlive();
            double cpuSeconds = running.cpu().since(before).seconds();
            double bytes = (double) streams * packets * PACKET_BYTES;
            Map<Figure, Double> figures = new EnumMap<>(Figure.class);
            if (packets > 1) {
                figures.put(Figure.THROUGHPUT, bytes / took[0] * 1e3);
            } else {
                figures.put(Figure.LIFE, took[1] / 1e3 / streams);
            }
            if (cpuSeconds > 0) {
                figures.put(Figure.CPU_PER_STREAM, cpuSeconds * 1e6 / streams);
                if (packets > 1) {
                    figures.put(Figure.CPU_PER_GB, cpuSeconds / (bytes / 1e9));
                }
            }
            figures.put(Figure.LOST, (double) (sent - verified[0]));
            figures.put(Figure.FAULTS, (double) verified[1]);
            return figures;
        }
    }
}
