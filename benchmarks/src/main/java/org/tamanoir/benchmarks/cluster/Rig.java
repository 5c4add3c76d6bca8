package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.netns.Namespace;

/** Senders, nodes and receivers on the machines of figure 16. Thread contract: one thread. */
final class Rig implements AutoCloseable {
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long ARRIVAL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);
    /** What receivers tell of themselves: see {@link ClusterSink}. */
    private static final int OCTETS = 1;

    private static final int PACKETS = 2;
    private static final int ENDED = 3;

    private final Bed bed;
    private final Processes processes;
    private final Child sink;
    private final Child source;
    private final List<BackEnd> nodes = new ArrayList<>();

    /** Makes and starts all of it; nothing is left behind if a part of it fails. */
    Rig(NodeJvm jvm) throws IOException {
        bed = new Bed();
        Processes started = null;
        try {
            started = new Processes();
            sink = started.load(List.of(), "cluster-sink", "--namespaces", names(bed.receivers()));
            source = started.load(List.of(), "cluster-source", "--namespaces", names(bed.clients()));
            uninterrupted(sink::awaitReady);
            uninterrupted(source::awaitReady);
            for (Namespace each : bed.backEnds()) {
                nodes.add(BackEnd.start(each, jvm, started));
            }
            for (BackEnd each : nodes) {
                each.awaitReady();
            }
        } catch (IOException e) {
            if (started != null) {
                started.close();
            }
            bed.close();
            throw e;
        }
        processes = started;
    }

    private static String names(List<Namespace> namespaces) {
        return namespaces.stream().map(Namespace::name).collect(Collectors.joining(","));
    }

    private interface Asking<T> {
        T get() throws IOException, InterruptedException;
    }

    private static <T> T uninterrupted(Asking<T> asking) throws IOException {
        try {
            return asking.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static long[] ask(Child child, String question) throws IOException {
        return uninterrupted(() -> child.ask(question));
    }

    Namespace director() {
        return bed.director();
    }

    /**
     * What is sent.
     *
     * @param octets of a packet
     * @param targets where streams are sent to, in turns: nodes, a virtual address, or none: the receivers themselves
     */
    record Load(Work work, int octets, int streams, List<String> targets) {
        /** Through this many nodes, in turns. */
        static Load through(int nodes, Work work, int octets, int streams) {
            return new Load(
                    work,
                    octets,
                    streams,
                    java.util.stream.IntStream.range(0, nodes)
                            .mapToObj(Bed::backEnd)
                            .toList());
        }

        private String question(String verb, String more) {
            String to = targets.isEmpty() ? Bed.receiver(0) : String.join(",", targets);
            return verb + " " + work.name().toLowerCase(Locale.ROOT) + " " + octets + " " + streams + more + " " + to;
        }
    }

    /** Sends as fast as it goes, and measures in a window of this length after as long as is told. */
    Point flood(Load load, int backEnds, double warmUpSeconds, double seconds) throws IOException {
        boolean nodesBetween = !load.targets.isEmpty();
        ask(sink, nodesBetween && load.work == Work.GZIP ? "walk" : "count");
        List<BackEnd.Counts> before = counts();
        ask(source, load.question("flood", ""));
        pause(warmUpSeconds);
        long sourceNs = CpuClock.ns(source.handle());
        List<Long> nodeNs = nodes.stream().map(BackEnd::cpuNs).toList();
        long sinkNs = CpuClock.ns(sink.handle());
        long[] from = ask(sink, "sample");
        pause(seconds);
        long[] to = ask(sink, "sample");
        sinkNs = CpuClock.ns(sink.handle()) - sinkNs;
        List<Long> spentNs = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            spentNs.add(nodes.get(i).cpuNs() - nodeNs.get(i));
        }
        sourceNs = CpuClock.ns(source.handle()) - sourceNs;
        ask(source, "stop");
        List<Long> divided = divided(before, counts());
        long packets = nodesBetween && load.work == Work.GZIP
                ? to[PACKETS] - from[PACKETS]
                : (to[OCTETS] - from[OCTETS]) / load.octets;
        if (packets == 0) {
            throw new IOException("nothing arrived in " + seconds + " s: " + load);
        }
        return new Point(
                load.work,
                load.octets,
                load.streams,
                backEnds,
                (to[0] - from[0]) / 1e9,
                packets,
                sourceNs,
                spentNs.subList(0, backEnds),
                sinkNs,
                divided.subList(0, backEnds));
    }

    /**
     * What streams of known length came to.
     *
     * @param packets of each back-end
     * @param connections of each
     * @param dropped at all of them
     * @param arrived packets at the receivers
     */
    record Sent(List<Long> packets, List<Long> connections, long dropped, long arrived) {}

    /** Sends so many packets in each stream and waits until all have ended at their receivers. */
    Sent send(Load load, int packets) throws IOException {
        ask(sink, "walk");
        long[] from = ask(sink, "sample");
        List<BackEnd.Counts> before = counts();
        ask(source, load.question("send", " " + packets));
        long[] to = awaitEnd(from, load.streams);
        return sent(before, to[PACKETS] - from[PACKETS]);
    }

    /** Sends datagrams to a target and waits until no more arrive. */
    Sent datagrams(int octets, int packets, String target) throws IOException {
        long[] from = ask(sink, "sample");
        List<BackEnd.Counts> before = counts();
        ask(source, "udp " + octets + " " + packets + " " + target);
        long endNs = System.nanoTime() + ARRIVAL_TIMEOUT_NS;
        long[] to = ask(sink, "sample");
        while (to[PACKETS] - from[PACKETS] < packets && endNs - System.nanoTime() > 0) {
            LockSupport.parkNanos(POLL_NS);
            to = ask(sink, "sample");
        }
        return sent(before, to[PACKETS] - from[PACKETS]);
    }

    private Sent sent(List<BackEnd.Counts> before, long arrived) throws IOException {
        List<BackEnd.Counts> after = counts();
        List<Long> connections = new ArrayList<>();
        long dropped = 0;
        for (int i = 0; i < nodes.size(); i++) {
            connections.add(after.get(i).connections() - before.get(i).connections());
            dropped += after.get(i).dropped() - before.get(i).dropped();
        }
        return new Sent(divided(before, after), connections, dropped, arrived);
    }

    /**
     * Sends text through Gzip and inflates what comes out.
     *
     * @return octets of text of all streams
     * @throws IOException if any stream does not inflate to what was sent
     */
    long inflate(Load load, int packets) throws IOException {
        ask(sink, "inflate");
        long[] from = ask(sink, "sample");
        long[] sums = ask(source, load.question("send", " " + packets));
        awaitEnd(from, load.streams);
        long[] inflated = ask(sink, "inflated");
        long failed = inflated[inflated.length - 1];
        if (failed > 0 || inflated.length != 3 * load.streams + 1) {
            throw new IOException(failed + " of " + load.streams + " streams do not inflate: " + sink.lastWords());
        }
        for (int i = 0; i < load.streams; i++) {
            if (sums[(int) inflated[3 * i]] != inflated[3 * i + 1]) {
                throw new IOException("stream " + inflated[3 * i] + " inflates to other octets than were sent");
            }
        }
        return LongStream.range(0, load.streams)
                .map(i -> inflated[3 * (int) i + 2])
                .sum();
    }

    private long[] awaitEnd(long[] from, int streams) throws IOException {
        long endNs = System.nanoTime() + ARRIVAL_TIMEOUT_NS;
        long[] to = ask(sink, "sample");
        while (to[ENDED] - from[ENDED] < streams) {
            if (endNs - System.nanoTime() < 0) {
                throw new IOException(
                        (to[ENDED] - from[ENDED]) + " of " + streams + " streams have ended at their receivers");
            }
            LockSupport.parkNanos(POLL_NS);
            to = ask(sink, "sample");
        }
        return to;
    }

    private List<BackEnd.Counts> counts() throws IOException {
        List<BackEnd.Counts> all = new ArrayList<>();
        for (BackEnd each : nodes) {
            all.add(each.counts());
        }
        return all;
    }

    private static List<Long> divided(List<BackEnd.Counts> before, List<BackEnd.Counts> after) {
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            all.add(after.get(i).packets() - before.get(i).packets());
        }
        return all;
    }

    static void pause(double seconds) {
        long endNs = System.nanoTime() + Math.round(seconds * 1e9);
        long left;
        while ((left = endNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public void close() {
        nodes.forEach(BackEnd::close);
        processes.close();
        bed.close();
    }
}
