package org.tamanoir.benchmarks.qos;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;

/** Quality of service as the experiments configure it. */
final class Setup {
    /** A turn of one packet, where the papers schedule packet by packet. */
    static final Duration ONE_PACKET = Duration.ofNanos(10_000);

    private static final List<Prefix> EVERYWHERE = List.of(Prefix.parse("0.0.0.0/0"));
    /** Holds the largest packet. */
    private static final long LARGE_BURST_BYTES = 1 << 17;
    /** So fast that it never delays a packet. */
    private static final long UNLIMITED_RATE = 100_000_000_000L;

    private Setup() {}

    /** A class for packets whose class of service is {@code index}. */
    static TrafficClass trafficClass(String name, int index, long weight, int limitPackets) {
        return new TrafficClass(name, Set.of(index), weight, limitPackets, TrafficClass.DEFAULT_LIMIT_BYTES);
    }

    /** Turns on so many processors. */
    static PreProcessing turns(String discipline, int processors, Duration quantum) {
        return new PreProcessing(discipline, Map.of(), processors, quantum);
    }

    /** One link, to wherever packets go. */
    static Link link(String discipline, long bytesPerSecond, long burstBytes) {
        return new Link("out", EVERYWHERE, bytesPerSecond, burstBytes, false, discipline, Map.of());
    }

    static QosConfig pre(List<TrafficClass> classes, PreProcessing pre) {
        return new QosConfig(classes, last(classes), List.of(), pre, List.of());
    }

    static QosConfig post(List<TrafficClass> classes, Link link) {
        return new QosConfig(classes, last(classes), List.of(), null, List.of(link));
    }

    static QosConfig both(List<TrafficClass> classes, PreProcessing pre, Link link) {
        return new QosConfig(classes, last(classes), List.of(), pre, List.of(link));
    }

    /** A hop that only limits the rate: one queue for everything, tail drop. */
    static QosConfig network(long bytesPerSecond, long burstBytes, int limitPackets) {
        return post(List.of(trafficClass("all", 0, 1, limitPackets)), link("fifo", bytesPerSecond, burstBytes));
    }

    private static String last(List<TrafficClass> classes) {
        return classes.get(classes.size() - 1).name();
    }

    /** Where a node schedules, when nothing holds its traffic back. */
    enum Placement {
        off,
        pre,
        post,
        both;

        /** Two classes, as many processors as there are, and a link that is never the bottleneck. */
        QosConfig uncongested() {
            List<TrafficClass> classes =
                    List.of(new TrafficClass("first", Set.of(0, 1), 70), new TrafficClass("rest", Set.of(), 30));
            PreProcessing turns =
                    turns("wfq", Runtime.getRuntime().availableProcessors(), PreProcessing.DEFAULT_QUANTUM);
            Link link = link("wfq", UNLIMITED_RATE, LARGE_BURST_BYTES);
            return switch (this) {
                case off -> QosConfig.OFF;
                case pre -> Setup.pre(classes, turns);
                case post -> Setup.post(classes, link);
                case both -> Setup.both(classes, turns, link);
            };
        }
    }
}
