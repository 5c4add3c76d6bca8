package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** Thousands of TCP streams that are idle but for a burst a second, all at once; every packet is verified. */
final class ManyStreams {
    static final int PACKET_BYTES = 200;
    static final int BURST_PACKETS = 20;
    static final int PERIOD_MS = 1000;

    private static final double DRAIN_TIMEOUT_S = 30;
    private static final int SOCKETS_PER_STREAM = 2;
    /** Two sockets, and the epoll set of an event loop per stream. */
    static final int MOST_PER_STREAM = 3;

    private static final int OTHER_DESCRIPTORS = 300;

    private final Processes processes;
    private final Duration warmUp;
    private final Duration window;
    private final int streams;

    ManyStreams(Processes processes, Duration warmUp, Duration window, int streams) {
        this.processes = processes;
        this.warmUp = warmUp;
        this.window = window;
        this.streams = streams;
    }

    Map<Figure, Double> measure(Forwarder forwarder) throws Exception {
        requireDescriptors(streams, forwarder.name().equals(Peers.NODE) ? MOST_PER_STREAM : SOCKETS_PER_STREAM);
        try (Child sink = processes.load("stream-sink");
                RunningForwarder running =
                        RunningForwarder.start(processes, forwarder, Transport.TCP, Integer.parseInt(sink.ready()));
                Child sender = processes.load(
                        "stream-sender port=%d streams=%d size=%d burst=%d period-ms=%d",
                        running.port(), streams, PACKET_BYTES, BURST_PACKETS, PERIOD_MS)) {
            Thread.sleep(Math.max(PERIOD_MS, warmUp.toMillis()));
            return measure(sink, running, sender);
        }
    }

    private Map<Figure, Double> measure(Child sink, RunningForwarder running, Child sender) throws Exception {
        long[] before = sink.ask("sample");
        CpuClock.Used cpuBefore = running.cpu();
        Thread.sleep(window.toMillis());
        running.requireAlive();
        double cpuSeconds = running.cpu().since(cpuBefore).seconds();
        long[] after = sink.ask("sample");
        long[] footprint = running.footprint();
        long sent = sender.ask("finish")[0];
        long[] verified = awaitAll(sink, sent);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.LOST, (double) (sent - verified[0]));
        figures.put(Figure.FAULTS, (double) verified[1]);
        double packets = (double) (after[1] - before[1]) / PACKET_BYTES;
        figures.put(Figure.PACKET_RATE, packets / ((after[0] - before[0]) / 1e9));
        if (cpuSeconds > 0) {
            figures.put(Figure.CPU_PER_MILLION, cpuSeconds / (packets / 1e6));
            figures.put(Figure.RSS, footprint[0] / 1024.0);
            figures.put(Figure.THREADS, (double) footprint[1]);
            figures.put(Figure.DESCRIPTORS, (double) footprint[2]);
        }
        return figures;
    }

    /** Returns packets and faults once all that was sent has arrived, or the time is up. */
    static long[] awaitAll(Child sink, long sent) throws IOException {
        Threads.await(DRAIN_TIMEOUT_S, 20, () -> sink.ask("verified")[0] >= sent);
        return sink.ask("verified");
    }

    /** Fails with the limit unless this process and those that it starts may hold so many streams of so many descriptors. */
    static void requireDescriptors(int streams, int perStream) throws IOException {
        long needed = (long) streams * perStream + OTHER_DESCRIPTORS;
        for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
            if (line.startsWith("Max open files")) {
                String hard = line.trim().split("\\s{2,}")[2];
                if (!hard.equals("unlimited") && Long.parseLong(hard) < needed) {
                    throw new IOException(streams + " streams need up to " + needed + " descriptors, the hard limit is "
                            + hard + ": raise it with 'ulimit -n " + needed + "', or lower --many-streams");
                }
            }
        }
    }
}
