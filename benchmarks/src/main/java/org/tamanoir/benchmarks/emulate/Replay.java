package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.util.List;
import org.tamanoir.benchmarks.GeneratedTable;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.routing.RoutingTable;

/**
 * One source through a node, and what came of it as text.
 *
 * @param loadNs of each service, by its place among the names
 * @param packets at most
 */
record Replay(List<String> services, long[] loadNs, long packets) {
    /** Stated for the node in virtual time: about what {@code overhead} measures. */
    static final long BATCH_NS = 300;

    static final long PACKET_NS = 100;

    /** Runs a schedule in virtual time through a node of its own. */
    static Outcome virtual(RoutingTable table, Schedule schedule, VirtualRun.Stated stated) throws IOException {
        VirtualRun run = new VirtualRun(schedule, stated);
        try (EmulatedNode node = new EmulatedNode(table, run, List.of(() -> new StatedWork(run)))) {
            run.begin(node.port(0));
            return run.await(node);
        }
    }

    /** Replays in virtual time; the same text from the same arrivals. */
    String inVirtualTime(GeneratedTable table, Arrivals arrivals, long batchNs, long packetNs) throws IOException {
        Outcome outcome = virtual(
                table.table(), new Schedule(arrivals, packets), new VirtualRun.Stated(batchNs, packetNs, loadNs));
        return text(outcome, arrivals)
                + "virtual time %.6f s, busy %.4f of it; stated for the node: %d ns a batch, %d ns a packet\n"
                        .formatted(outcome.ns() / 1e9, outcome.busy(), batchNs, packetNs)
                + "from coming to leaving, µs: p50 | p99 | max: %s\n".formatted(Outcome.us(outcome.stays()));
    }

    /** Replays in real time. */
    String inRealTime(GeneratedTable table, Arrivals arrivals, long moderationNs) throws IOException {
        RealRun run = new RealRun(loadNs, moderationNs);
        try (EmulatedNode node = new EmulatedNode(table.table(), run, List.of(() -> new StatedWork(run)))) {
            Outcome outcome = run.run(new Schedule(arrivals, packets), node, false);
            return text(outcome, arrivals)
                    + "real time %.3f s, the node's thread used %.4f of a processor\n"
                            .formatted(outcome.ns() / 1e9, outcome.busy())
                    + "injection error, µs: p50 | p99 | max: %s; %,d more than 1 µs late, %,d found the node busy\n"
                            .formatted(Outcome.us(run.errors()), run.late(), run.foundWaiting());
        }
    }

    private String text(Outcome outcome, Arrivals arrivals) {
        Rows waits = new Rows("service | load, µs | packets | wait p50 | p99 | max, µs");
        for (int i = 0; i < loadNs.length; i++) {
            waits.row(
                    "%s | %.3f | %,d | %s",
                    services.get(i),
                    loadNs[i] / 1e3,
                    outcome.waits()[i].getTotalCount(),
                    Outcome.us(outcome.waits()[i]));
        }
        String leftOut = arrivals instanceof CaptureTrace capture && capture.leftOut() > 0
                ? "frames left out, not IP, of another link or longer than a packet: %,d\n".formatted(capture.leftOut())
                : "";
        return leftOut
                + "%,d came = %,d lost at the port + %,d in; %s\n"
                        .formatted(
                                outcome.came(),
                                outcome.lost(),
                                outcome.counts().in(),
                                outcome.counts().text())
                + "%.2f packets a batch; at most %,d waited in the port\n"
                        .formatted(outcome.packetsPerBatch(), outcome.longestQueue())
                + waits.csv();
    }
}
