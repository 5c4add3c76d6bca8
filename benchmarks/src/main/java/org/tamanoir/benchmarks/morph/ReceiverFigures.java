package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Figure 5: what a receiver saves when the node makes all flights, or the late ones, what it wants. */
final class ReceiverFigures {
    private static final int RATE = 20_000;
    private static final int RECORDS = 500;
    private static final double WARM_S = 4;
    private static final String ALL =
            "formats: [flight.ffs, foreign.ffs]\nhandlers:\n  all: {translate: flight, then: out}\npaths: [{enter: all}]\n";
    private static final String SELECT = "formats: [flight.ffs, foreign.ffs]\nhandlers:\n"
            + "  late: {filter: 'delay > 15', then: all}\n  all: {translate: flight, then: out}\npaths: [{enter: late}]\n";
    private static final String PASS = "formats: [flight.ffs, foreign.ffs]\ndefault: pass\n";

    private ReceiverFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "%,d flights a second over TCP, in the byte order that the receiver does not have; it reads three fields of "
                        + "each that it wants. 'All flights': each is translated; 'select flights': the tenth that is late is "
                        + "extracted and translated. The receiver does that by the same handlers, or the node does. Processes for all; "
                        + "processor time of receiver and node for each flight sent, medians of %d rounds of %.1f s.",
                RATE, settings.rounds(), settings.seconds());
        Rows table = new Rows("job | who | receiver's CPU, ns/flight sent | node's CPU, ns/flight sent");
        Rows csv = new Rows("job,who,receiver ns,node ns");
        Series plot = new Series();
        Map<String, String> jobs = new LinkedHashMap<>();
        jobs.put("all flights", ALL);
        jobs.put("select flights", SELECT);
        for (Map.Entry<String, String> job : jobs.entrySet()) {
            double[] alone = measure(settings, PASS, job.getValue());
            double[] helped = measure(settings, job.getValue(), "");
            table.row("%s | receiver | %.0f | %.0f", job.getKey(), alone[0], alone[1]);
            table.row("%s | node | %.0f | %.0f", job.getKey(), helped[0], helped[1]);
            csv.row("%s,receiver,%.1f,%.1f", job.getKey(), alone[0], alone[1]);
            csv.row("%s,node,%.1f,%.1f", job.getKey(), helped[0], helped[1]);
            plot.add("receiver does it", alone[0]).add("node does it", helped[0]);
            section.find(
                    job.getKey() + ": receiver's CPU, alone to helped by the node",
                    "less",
                    "%.0f to %.0f ns, %.1f times",
                    alone[0],
                    helped[0],
                    alone[0] / helped[0]);
        }
        section.table(table)
                .csv("", csv)
                .plot("", Plot.bars("Receiver's processor time", "ns/flight sent", List.copyOf(jobs.keySet()), plot));
    }

    private static double[] measure(Settings settings, String atNode, String atReceiver) throws IOException {
        List<Double> receivers = new ArrayList<>();
        List<Double> nodes = new ArrayList<>();
        try (Bed bed = new Bed()) {
            Path own = bed.plan("receiver", atReceiver);
            Child receiver = bed.load("message-receiver plan=%s", atReceiver.isEmpty() ? "none" : own);
            int port = Load.freePort();
            Child node = bed.node(
                    settings.node(), port, Integer.parseInt(receiver.ready()), List.of(bed.plan("node", atNode)));
            Bed.awaitListening(port, node);
            Child sender = bed.load(
                    "message-sender port=%d udp=false services=1 kind=foreign records=%d rate=%d", port, RECORDS, RATE);
            Threads.pause(WARM_S);
            for (int round = 0; round < settings.rounds(); round++) {
                Bed.Window ofReceiver = Bed.measure(settings.seconds() / 2, sender, receiver, receiver);
                Bed.Window ofNode = Bed.measure(settings.seconds() / 2, sender, receiver, node);
                if (ofReceiver.arrived() == 0) {
                    throw new IOException("no flight has arrived: " + node.lastWords());
                }
                receivers.add(ofReceiver.cpuNs() / ofReceiver.sent());
                nodes.add(ofNode.cpuNs() / ofNode.sent());
            }
        }
        return new double[] {Numbers.median(receivers), Numbers.median(nodes)};
    }
}
