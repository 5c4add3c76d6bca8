package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.levels.SegmentLog.Event;
import org.tamanoir.benchmarks.levels.SegmentLog.Place;

/**
 * The network with a sender in the client, a sink in the server, and programs that write down when packets cross the
 * router. What runs in the router is each experiment's own.
 *
 * <p>Thread contract: one thread.
 */
final class Lab implements AutoCloseable {
    private static final double QUIET_MS = 100;
    private static final int QUIET_ROUNDS = 6;
    private static final double DRAIN_TIMEOUT_S = 5;
    private static final int WAKE_UP_PACKETS = 20;

    private final Opened opened = new Opened();
    final Network network;
    final Processes processes;
    final SegmentLog log;
    private final Child source;
    private final Child sink;

    /** Makes all of it; nothing is left behind if a part of it fails. */
    Lab() throws IOException {
        try {
            network = opened.add(new Network());
            log = opened.add(new SegmentLog(network));
            processes = opened.add(new Processes());
            sink = processes.load(
                    network.server, "level-sink on=%s late-on=%s", text(Network.sink()), text(Network.lateSink()));
            source = processes.load(
                    network.client, "level-source to=%s flood-to=%s", text(Network.sink()), text(Network.nobody()));
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /**
     * How packets are sent.
     *
     * @param bytes of each
     * @param packetsPerSecond at most
     */
    record Flow(boolean tcp, int bytes, int packets, int packetsPerSecond) {
        static Flow udp(int bytes, int packets, int packetsPerSecond) {
            return new Flow(false, bytes, packets, packetsPerSecond);
        }

        static Flow tcp(int bytes, int packets, int packetsPerSecond) {
            return new Flow(true, bytes, packets, packetsPerSecond);
        }

        private String question() {
            return (tcp ? "tcp " : "udp ") + bytes + " " + packets + " " + packetsPerSecond;
        }
    }

    /**
     * What came of a flow.
     *
     * @param sent packets
     * @param ns it took to send them
     * @param arrived packets at the sink
     * @param different of those
     * @param late of those that came after one that was sent later
     * @param marked of those
     * @param malformed packets at the sink beside them
     */
    record Outcome(
            Flow flow, long sent, long ns, long arrived, long different, long late, long marked, long malformed) {
        long lost() {
            return sent - different;
        }

        long duplicates() {
            return arrived - different;
        }

        /** In one line: nothing, or what went wrong. */
        String faults() {
            return lost() + " lost, " + late + " out of order, " + duplicates() + " duplicates"
                    + (malformed == 0 ? "" : ", " + malformed + " malformed");
        }
    }

    /** Sends a flow and waits until all of it has arrived, or nothing more does. The log has this flow alone. */
    Outcome run(Flow flow) throws IOException {
        return run(flow, "");
    }

    /** The same over TCP to another address than the sink's; what arrives there is not counted. */
    Outcome run(Flow flow, String to) throws IOException {
        log.clear();
        sink.ask("clear");
        long[] sent = source.ask((flow.question() + " " + to).trim());
        // Over TCP the sender has waited until the other side has ended, and elsewhere than here nothing is counted.
        long[] counts = to.isEmpty() ? awaitQuiet(sent[0]) : sink.ask("counts");
        return new Outcome(flow, sent[0], sent[1], counts[0], counts[1], counts[2], counts[3], counts[4]);
    }

    /** Until all have arrived, or none has for a while since the first one. */
    private long[] awaitQuiet(long sent) throws IOException {
        long[] before = {0, 0};
        Threads.await(DRAIN_TIMEOUT_S, QUIET_MS, () -> {
            long[] counts = sink.ask("counts");
            before[1] = counts[0] == before[0] && counts[0] > 0 ? before[1] + 1 : 0;
            before[0] = counts[0];
            return counts[1] >= sent || before[1] >= QUIET_ROUNDS;
        });
        return sink.ask("counts");
    }

    /**
     * Datagrams in both directions' neighbour tables, code of sender and sink loaded: what a first packet waits for and
     * others do not.
     */
    void wakeUp() throws IOException {
        Outcome outcome = run(Flow.udp(200, WAKE_UP_PACKETS, 200));
        if (outcome.arrived() == 0) {
            throw new IOException("no packet crosses the router: " + outcome.sent() + " were sent, none arrived");
        }
    }

    /**
     * What was sent as fast as it went, to nobody.
     *
     * @param sent datagrams
     * @param left the router towards the server
     * @param ns it took
     */
    record Flood(long sent, long left, long ns) {
        double packetsPerSecond() {
            return left * 1e9 / ns;
        }
    }

    /** Sends as fast as it goes. */
    Flood flood(int bytes, int millis) throws IOException {
        long before = network.packetsOut();
        long[] sent = source.ask("flood " + bytes + " " + millis);
        return new Flood(sent[0], network.packetsOut() - before, sent[1]);
    }

    /** From the router's interface to the client to that to the server. */
    Crossings crossings(Flow flow) throws IOException {
        return crossings(flow, Place.IN);
    }

    /** From one place to the router's interface to the server. */
    Crossings crossings(Flow flow, Place from) throws IOException {
        List<Event> begin = log.read(from);
        List<Event> end = log.read(Place.OUT);
        return flow.tcp()
                ? Crossings.ofStream(flow.packets(), flow.bytes(), begin, end)
                : Crossings.ofDatagrams(flow.packets(), begin, end);
    }

    /** Where configurations and logs go until the end. */
    Path folder() {
        return processes.folder();
    }

    @Override
    public void close() throws IOException {
        opened.close();
    }
}
