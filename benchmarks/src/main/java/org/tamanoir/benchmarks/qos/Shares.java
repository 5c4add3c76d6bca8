package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.sched.QosStatus;

/** How exactly the disciplines share a link and the processors. */
final class Shares {
    private static final int FLOWS = 8;
    private static final long LINK = 5_000_000;
    private static final long BURST_BYTES = 1 << 13;
    /** Tenths of a second of what leaves, so that a class is backlogged even while its thread has to wait for a processor. */
    private static final int LIMIT_PACKETS = 1000;

    private static final List<String> DISCIPLINES = List.of("wfq", "wf2q+", "scfq", "stfq", "drr");
    /** UDP offers the link this many times its share's rate. */
    private static final int OVERLOAD = 2;

    private Shares() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Bytes that leave over a link of %d MB/s when all classes have more to send. Equal flows: %d of "
                        + "equal weight with packets of different sizes, FQ. Two flows at weights 30 and 70 with packets of 1,400 and 600 bytes. Processor time: two flows at weights "
                        + "30 and 70 whose packets take 50 and 200 µs, WFQ before processing, one processor.",
                LINK / 1_000_000, FLOWS);
        equal(settings, section);
        Rows table = new Rows("discipline | bytes at 30 : 70, TCP | bytes at 30 : 70, UDP");
        Series bars = new Series();
        Rows csv = new Rows("discipline,transport,bytes 30,bytes 70");
        for (String discipline : DISCIPLINES) {
            List<String> row = new ArrayList<>(List.of(discipline));
            for (boolean udp : new boolean[] {false, true}) {
                String over = udp ? "UDP" : "TCP";
                double[] bytes = twoFlows(settings, discipline, udp);
                double share = 100 * bytes[0] / (bytes[0] + bytes[1]);
                String text = "%.2f : %.2f".formatted(share, 100 - share);
                row.add(text);
                csv.row("%s,%s,%.0f,%.0f", discipline, over, bytes[0], bytes[1]);
                bars.add(over, share);
                if (discipline.equals(DISCIPLINES.get(0))) {
                    section.find(
                            "bytes at weights 30 and 70, WFQ after processing, " + over,
                            "30.0 ± 0.3 : 70.0 ± 0.7",
                            text);
                }
            }
            table.row(row);
        }
        processors(settings, section);
        section.table(table);
        section.plot("", Plot.bars("Bytes of the flow with weight 30", "% of both", DISCIPLINES, bars));
        section.csv("", csv);
    }

    private static void equal(Settings settings, Section section) throws IOException {
        List<TrafficClass> classes = new ArrayList<>();
        List<Flow> flows = new ArrayList<>();
        for (int i = 0; i < FLOWS; i++) {
            classes.add(Setup.trafficClass("f" + i, i, 1, LIMIT_PACKETS));
            flows.add(new Flow("flow " + i, i, Work.burning("org.example.Flow" + i, 0), 200 + 1000 * i, false, 0, 0));
        }
        double seconds = settings.scaled(5.0);
        Trace trace = new Bed(flows, Setup.post(classes, Setup.link("fq", LINK, BURST_BYTES)), null)
                .run(seconds, settings.off());
        double[] rates = new double[FLOWS];
        for (int i = 0; i < FLOWS; i++) {
            rates[i] = trace.rate(i, seconds / 5, seconds);
        }
        section.find(
                "Jain's index of " + FLOWS + " equal saturating flows, FQ after processing, TCP",
                "≥ 0.99",
                "%.5f",
                Numbers.jain(rates));
        section.csv("-equal", trace.csv());
    }

    /** Bytes per second of each. */
    private static double[] twoFlows(Settings settings, String discipline, boolean udp) throws IOException {
        QosConfig qos = Setup.post(thirtySeventy(), Setup.link(discipline, LINK, BURST_BYTES));
        long offered = udp ? LINK * OVERLOAD * 7 / 10 : 0;
        Flow light = new Flow("30", 0, Work.burning("org.example.Thirty", 0), 1400, udp, offered, 0);
        Flow heavy = new Flow("70", 1, Work.burning("org.example.Seventy", 0), 600, udp, offered, 0);
        double seconds = settings.scaled(3.0);
        Trace trace = new Bed(List.of(light, heavy), qos, null).run(seconds, settings.off());
        return new double[] {trace.rate(0, seconds / 6, seconds), trace.rate(1, seconds / 6, seconds)};
    }

    private static List<TrafficClass> thirtySeventy() {
        return List.of(
                Setup.trafficClass("thirty", 0, 30, LIMIT_PACKETS),
                Setup.trafficClass("seventy", 1, 70, LIMIT_PACKETS));
    }

    private static void processors(Settings settings, Section section) throws IOException {
        QosConfig qos = Setup.pre(thirtySeventy(), Setup.turns("wfq", 1, PreProcessing.DEFAULT_QUANTUM));
        Flow light = new Flow("30", 0, Work.burning("org.example.Thirty", 50), 1400, false, 0, 0);
        Flow heavy = new Flow("70", 1, Work.burning("org.example.Seventy", 200), 1400, false, 0, 0);
        Trace trace = new Bed(List.of(light, heavy), qos, null).run(settings.scaled(5.0), settings.off());
        for (QosStatus.Point point : trace.qos().points()) {
            Duration all = point.classes().stream()
                    .map(QosStatus.ClassStatus::processorTime)
                    .reduce(Duration.ZERO, Duration::plus);
            double first = 100.0 * point.classes().get(0).processorTime().toNanos() / Math.max(1, all.toNanos());
            section.find(
                    "processor time at weights 30 and 70, WFQ before processing, TCP",
                    "30 : 70 within 3 %",
                    "%.2f : %.2f",
                    first,
                    100 - first);
        }
    }
}
