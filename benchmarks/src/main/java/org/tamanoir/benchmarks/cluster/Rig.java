package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.Namespace;

/** Senders, nodes and receivers on the machines of figure 16. Thread contract: one thread. */
final class Rig implements AutoCloseable {
    private static final double POLL_MS = 20;
    private static final double ARRIVAL_TIMEOUT_S = 120;
    /** What receivers tell of themselves: see {@link ClusterSink}. */
    private static final int BYTES = 1;

    private static final int PACKETS = 2;
    private static final int ENDED = 3;

    private final Opened opened = new Opened();
    private final Bed bed;
    private final Child sink;
    private final Child source;
    private final List<BackEnd> nodes = new ArrayList<>();

    /** Makes and starts all of it; nothing is left behind if a part of it fails. */
    Rig(NodeJvm jvm) throws IOException {
        try {
            bed = opened.add(new Bed());
            Processes processes = opened.add(new Processes());
            sink = processes.load("cluster-sink namespaces=%s", names(bed.receivers));
            source = processes.load("cluster-source namespaces=%s", names(bed.clients));
            for (Namespace each : bed.backEnds) {
                nodes.add(BackEnd.start(each, jvm, processes));
                opened.add(nodes.get(nodes.size() - 1).node());
            }
            for (BackEnd each : nodes) {
                each.node().awaitReady();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static String names(List<Namespace> namespaces) {
        return namespaces.stream().map(Namespace::name).collect(Collectors.joining(","));
    }

    Namespace director() {
        return bed.director;
    }

    /**
     * What is sent.
     *
     * @param bytes of a packet
     * @param targets where streams are sent to, in turns: nodes, a virtual address, or none: the receivers themselves
     */
    record Load(Work work, int bytes, int streams, List<String> targets) {
        /** Through this many nodes, in turns. */
        static Load through(int nodes, Work work, int bytes, int streams) {
            return new Load(
                    work,
                    bytes,
                    streams,
                    java.util.stream.IntStream.range(0, nodes)
                            .mapToObj(Bed::backEnd)
                            .toList());
        }

        private String question(String verb, String more) {
            String to = targets.isEmpty() ? Bed.receiver(0) : String.join(",", targets);
            return verb + " " + work.name().toLowerCase(Locale.ROOT) + " " + bytes + " " + streams + more + " " + to;
        }
    }

    /** Sends as fast as it goes, and measures in a window of this length after as long as is told. */
    Point flood(Load load, int backEnds, double warmUpSeconds, double seconds) throws IOException {
        boolean nodesBetween = !load.targets.isEmpty();
        sink.ask(nodesBetween && load.work == Work.GZIP ? "walk" : "count");
        List<BackEnd.Counts> before = counts();
        source.ask(load.question("flood", ""));
        Threads.pause(warmUpSeconds);
        long sourceNs = CpuClock.ns(source.handle());
        List<Long> nodeNs = nodes.stream().map(each -> each.node().cpuNs()).toList();
        long sinkNs = CpuClock.ns(sink.handle());
        long[] from = sink.ask("sample");
        Threads.pause(seconds);
        long[] to = sink.ask("sample");
        sinkNs = CpuClock.ns(sink.handle()) - sinkNs;
        List<Long> spentNs = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            spentNs.add(nodes.get(i).node().cpuNs() - nodeNs.get(i));
        }
        sourceNs = CpuClock.ns(source.handle()) - sourceNs;
        source.ask("stop");
        List<Long> divided = divided(before, counts());
        long packets = nodesBetween && load.work == Work.GZIP
                ? to[PACKETS] - from[PACKETS]
                : (to[BYTES] - from[BYTES]) / load.bytes;
        if (packets == 0) {
            throw new IOException("nothing arrived in " + seconds + " s: " + load);
        }
        return new Point(
                load.work,
                load.bytes,
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
        sink.ask("walk");
        long[] from = sink.ask("sample");
        List<BackEnd.Counts> before = counts();
        source.ask(load.question("send", " " + packets));
        long[] to = awaitEnd(from, load.streams);
        return sent(before, to[PACKETS] - from[PACKETS]);
    }

    /** Sends datagrams to a target and waits until no more arrive. */
    Sent datagrams(int bytes, int packets, String target) throws IOException {
        long[] from = sink.ask("sample");
        List<BackEnd.Counts> before = counts();
        source.ask("udp " + bytes + " " + packets + " " + target);
        Threads.await(ARRIVAL_TIMEOUT_S, POLL_MS, () -> sink.ask("sample")[PACKETS] - from[PACKETS] >= packets);
        long[] to = sink.ask("sample");
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
     * @return bytes of text of all streams
     * @throws IOException if any stream does not inflate to what was sent
     */
    long inflate(Load load, int packets) throws IOException {
        sink.ask("inflate");
        long[] from = sink.ask("sample");
        long[] sums = source.ask(load.question("send", " " + packets));
        awaitEnd(from, load.streams);
        long[] inflated = sink.ask("inflated");
        long failed = inflated[inflated.length - 1];
        if (failed > 0 || inflated.length != 3 * load.streams + 1) {
            throw new IOException(failed + " of " + load.streams + " streams do not inflate: " + sink.lastWords());
        }
        for (int i = 0; i < load.streams; i++) {
            if (sums[(int) inflated[3 * i]] != inflated[3 * i + 1]) {
                throw new IOException("stream " + inflated[3 * i] + " inflates to other bytes than were sent");
            }
        }
        return LongStream.range(0, load.streams)
                .map(i -> inflated[3 * (int) i + 2])
                .sum();
    }

    private long[] awaitEnd(long[] from, int streams) throws IOException {
        boolean isEnd =
                Threads.await(ARRIVAL_TIMEOUT_S, POLL_MS, () -> sink.ask("sample")[ENDED] - from[ENDED] >= streams);
        long[] to = sink.ask("sample");
        if (!isEnd) {
            throw new IOException(
                    (to[ENDED] - from[ENDED]) + " of " + streams + " streams have ended at their receivers");
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

    @Override
    public void close() throws IOException {
        opened.close();
    }
}
