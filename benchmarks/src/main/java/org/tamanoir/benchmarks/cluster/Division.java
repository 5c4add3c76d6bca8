package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.cluster.Rig.Load;
import org.tamanoir.benchmarks.cluster.Rig.Sent;
import org.tamanoir.benchmarks.report.Numbers;

/**
 * Figure 16: what a Linux Virtual Server in front of three nodes did, by direct routing.
 *
 * @param schedulings how streams and datagrams were divided
 * @param inflatedBytes of text that came out as it went in, through Gzip
 * @param points throughput through it
 */
record Division(List<Scheduling> schedulings, long inflatedBytes, List<Point> points) {
    /** Of the load whose packets are counted. */
    private static final int BYTES = 1400;

    private static final int STREAMS = 24;
    private static final int PACKETS = 40;
    private static final int DATAGRAMS = 300;
    private static final int INFLATED_STREAMS = 6;
    private static final int INFLATED_PACKETS = 16;
    private static final int GZIP_BYTES = 8192;
    private static final double ESTIMATOR_S = 2;

    /**
     * One scheduler.
     *
     * @param name of it
     * @param weights of the back-ends
     * @param units that were scheduled: streams, or datagrams
     * @param packetsEach of a unit
     * @param divided units at each back-end, by the node's own counters
     * @param packets at each back-end, by the node's own counters
     * @param kernel units at each, by the kernel's counters
     * @param lost packets that did not arrive at the receivers
     */
    record Scheduling(
            String name,
            List<Integer> weights,
            int units,
            int packetsEach,
            List<Long> divided,
            List<Long> packets,
            List<Long> kernel,
            long lost) {
        /** What each back-end's share comes to, if division is exact. */
        List<Long> due() {
            int sum = weights.stream().mapToInt(Integer::intValue).sum();
            return weights.stream().map(weight -> (long) units * weight / sum).toList();
        }

        /** Whether streams, packets and the kernel's counters are what they must be, and nothing was lost. */
        boolean exact() {
            List<Long> due = due();
            return divided.equals(due)
                    && kernel.equals(due)
                    && packets.equals(
                            due.stream().map(each -> each * packetsEach).toList())
                    && lost == 0;
        }

        /** Of packets by weight. */
        double jain() {
            return Numbers.jain(IntStream.range(0, weights.size())
                    .mapToDouble(i -> (double) packets.get(i) / weights.get(i))
                    .toArray());
        }
    }

    /**
     * Runs it all; needs a kernel with IPVS, root and ipvsadm.
     *
     * @param seconds for which throughput is measured at each point
     */
    static Division run(
            NodeJvm jvm, List<Integer> streams, List<Integer> sizes, double seconds, Consumer<String> progress)
            throws IOException {
        try (Rig rig = new Rig(jvm)) {
            progress.accept("three nodes are ready");
            Ipvs ipvs = new Ipvs(rig.director());
            List<Scheduling> schedulings = new ArrayList<>();
            schedulings.add(streams(rig, ipvs, "rr", 1, 1, 1));
            schedulings.add(streams(rig, ipvs, "wrr", 3, 2, 1));
            schedulings.add(datagrams(rig, ipvs));
            progress.accept("divided");
            serve(ipvs, "-t", List.of("-s", "rr"));
            long inflated = rig.inflate(
                    new Load(Work.GZIP, GZIP_BYTES, INFLATED_STREAMS, List.of(Bed.VIRTUAL_ADDRESS)), INFLATED_PACKETS);
            progress.accept("inflated");
            List<Point> points = new ArrayList<>();
            for (int bytes : sizes) {
                for (int each : streams) {
                    points.add(throughput(rig, ipvs, Work.MONITOR, bytes, each, seconds));
                    progress.accept("Monitor, " + bytes + " bytes, " + each + " streams");
                }
            }
            for (int each : streams) {
                points.add(throughput(rig, ipvs, Work.GZIP, GZIP_BYTES, each, seconds));
                progress.accept("Gzip, " + each + " streams");
            }
            return new Division(schedulings, inflated, points);
        }
    }

    private static void serve(Ipvs ipvs, String protocol, List<String> options, int... weights) throws IOException {
        ipvs.clear();
        ipvs.serve(
                protocol,
                Bed.VIRTUAL_ADDRESS + ":" + Bed.PORT,
                options,
                Ipvs.Forwarding.DIRECT,
                IntStream.range(0, Bed.BACK_ENDS).mapToObj(Bed::backEnd).toList(),
                weights);
    }

    private static Scheduling streams(Rig rig, Ipvs ipvs, String scheduler, int... weights) throws IOException {
        serve(ipvs, "-t", List.of("-s", scheduler), weights);
        Sent sent = rig.send(new Load(Work.MONITOR, BYTES, STREAMS, List.of(Bed.VIRTUAL_ADDRESS)), PACKETS);
        return new Scheduling(
                scheduler,
                IntStream.of(weights).boxed().toList(),
                STREAMS,
                PACKETS,
                sent.connections(),
                sent.packets(),
                scheduled(ipvs),
                (long) STREAMS * PACKETS - sent.arrived());
    }

    private static Scheduling datagrams(Rig rig, Ipvs ipvs) throws IOException {
        serve(ipvs, "-u", List.of("-s", "rr", "-o"));
        Sent sent = rig.datagrams(BYTES, DATAGRAMS, Bed.VIRTUAL_ADDRESS);
        return new Scheduling(
                "rr, UDP, one-packet scheduling",
                List.of(1, 1, 1),
                DATAGRAMS,
                1,
                sent.packets(),
                sent.packets(),
                scheduled(ipvs),
                DATAGRAMS - sent.arrived());
    }

    /** By the kernel's counters, which its estimator gathers from the processors every two seconds. */
    private static List<Long> scheduled(Ipvs ipvs) throws IOException {
        Threads.pause(ESTIMATOR_S + 0.5);
        return ipvs.counters().stream().map(Ipvs.Counters::connections).toList();
    }

    private static Point throughput(Rig rig, Ipvs ipvs, Work work, int bytes, int streams, double seconds)
            throws IOException {
        serve(ipvs, "-t", List.of("-s", "rr")); // Round robin begins with the first back-end.
        return rig.flood(
                new Load(work, bytes, streams, List.of(Bed.VIRTUAL_ADDRESS)), Bed.BACK_ENDS, seconds / 2, seconds);
    }
}
