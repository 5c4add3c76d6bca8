package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.cluster.Ipvs.Forwarding;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Namespaces;
import org.tamanoir.benchmarks.netns.Shell;

/**
 * What a packet costs the front-end: the way of datagrams from a client through it to the interface of a back-end, less
 * the way to the front-end's interface, where the reference run drops them. The processor that sends also forwards, so
 * the time to send is the time of all that. Each link is a pair of virtual interfaces, without a switch.
 *
 * <p>Thread contract: one thread.
 */
final class FrontEnd implements AutoCloseable {
    /** No virtual service: what others are compared with. */
    static final Way PLAIN = new Way("plain ip_forward", 0, false);

    private static final String VIRTUAL = "10.79.0.100";
    private static final int BACK_ENDS = 3;
    /** Flows of the load: every back-end gets as many of them. */
    private static final int FLOWS = 3;

    private final boolean byProcessorTime;
    private final Namespaces all = new Namespaces("front", List.of("c", "d", "b1", "b2", "b3"));
    private final Namespace client = all.all().get(0);
    private final Namespace director = all.all().get(1);
    private final List<Namespace> backEnds = all.all().subList(2, 2 + BACK_ENDS);
    private final Processes processes = new Processes();
    private final Map<Way, List<Child>> flows = new LinkedHashMap<>();

    /**
     * A way through the front-end.
     *
     * @param backEnds behind the virtual service; 0: there is none, packets are for the back-end itself
     * @param eachScheduled whether each datagram is, not each flow
     */
    record Way(String name, int backEnds, boolean eachScheduled) {}

    /** What a packet costs on a way, in each round. */
    record Cost(Way way, int bytes, List<Double> ns) {}

    /**
     * Makes the network.
     *
     * @param traffic the program that sends
     * @param ways that are compared; plain forwarding is among them
     * @param byProcessorTime whether what counts is the processor time of the program, which the kernel's work for its
     *     packets is part of, and not the time that it takes: for hosts that do other things too
     */
    FrontEnd(Path traffic, List<Way> ways, boolean byProcessorTime) throws IOException {
        this.byProcessorTime = byProcessorTime;
        try {
            make();
            for (Way way : ways) {
                flows.put(way, flows(traffic, way, Bed.PORT + flows.size()));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** A virtual service of its own for each way, so that nothing is changed while they take turns. */
    private List<Child> flows(Path traffic, Way way, int port) throws IOException {
        for (Forwarding each : Forwarding.values()) {
            if (way.backEnds > 0 && each.label().equals(way.name)) {
                new Ipvs(director)
                        .serve(
                                "-u",
                                VIRTUAL + ":" + port,
                                way.eachScheduled ? List.of("-s", "rr", "-o") : List.of("-s", "rr"),
                                each,
                                IntStream.rangeClosed(1, way.backEnds)
                                        .mapToObj(i -> "10.79." + i + ".2:" + port)
                                        .toList());
            }
        }
        String to = way.backEnds == 0 ? "10.79.1.2" : VIRTUAL;
        List<Child> made = new ArrayList<>();
        for (int i = 0; i < FLOWS; i++) {
            made.add(processes.startAnswering(
                    "traffic", client.inside(List.of(traffic.toString(), "flood", to, Integer.toString(port)))));
        }
        return made;
    }

    private void make() throws IOException {
        director.set("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0", "conf.all.send_redirects=0");
        director.ip("link add name in type veth peer name out netns " + client.name());
        end(director, "in", "10.79.0.1/24");
        end(client, "out", "10.79.0.2/24");
        director.ip("address add " + VIRTUAL + "/32 dev in");
        client.ip("route add 10.79.0.0/16 via 10.79.0.1");
        for (int i = 1; i <= BACK_ENDS; i++) {
            Namespace backEnd = backEnds.get(i - 1);
            director.ip("link add name out" + i + " type veth peer name down netns " + backEnd.name());
            end(director, "out" + i, "10.79." + i + ".1/24");
            end(backEnd, "down", "10.79." + i + ".2/24");
            drop(backEnd, "down");
        }
    }

    private static void end(Namespace namespace, String name, String address) throws IOException {
        namespace.ip("link set lo up", "address add " + address + " dev " + name, "link set dev " + name + " up");
    }

    /** IPv4 alone, where it comes in: addresses are still asked for and told. */
    private static void drop(Namespace namespace, String name) throws IOException {
        Shell.run(namespace.inside(List.of(
                "nft",
                "add table netdev front_end; "
                        + "add chain netdev front_end arrived { type filter hook ingress device \"" + name
                        + "\" priority -500; }; "
                        + "add rule netdev front_end arrived meta protocol ip drop")));
    }

    /** All ways that are compared. */
    static List<Way> ways() {
        List<Way> ways = new ArrayList<>(List.of(PLAIN));
        for (Forwarding forwarding : Forwarding.values()) {
            for (int n = 1; n <= BACK_ENDS; n++) {
                ways.add(new Way(forwarding.label(), n, false));
            }
        }
        for (int n = 1; n <= BACK_ENDS; n++) {
            ways.add(new Way(Forwarding.DIRECT.label(), n, true));
        }
        return ways;
    }

    /** Measures all ways in rounds in which they take turns; the first round warms up. */
    List<Cost> measure(List<Integer> sizes, int rounds, int packets, Runnable progress) throws IOException {
        Map<Way, Map<Integer, List<Double>>> costs = new LinkedHashMap<>();
        List<Child> plain = flows.getOrDefault(PLAIN, List.of());
        for (int round = -1; round < rounds; round++) {
            progress.run();
            drop(director, "in");
            List<Double> reference = sizes.stream().map(bytes -> 0.0).collect(java.util.stream.Collectors.toList());
            for (int i = 0; i < sizes.size(); i++) {
                reference.set(i, nsPerPacket(plain, sizes.get(i), packets));
            }
            director.run("nft delete table netdev front_end");
            for (Map.Entry<Way, List<Child>> way : flows.entrySet()) {
                for (int i = 0; i < sizes.size(); i++) {
                    double ns = nsPerPacket(way.getValue(), sizes.get(i), packets) - reference.get(i);
                    if (round >= 0) {
                        costs.computeIfAbsent(way.getKey(), unused -> new LinkedHashMap<>())
                                .computeIfAbsent(sizes.get(i), unused -> new ArrayList<>())
                                .add(ns);
                    }
                }
            }
        }
        List<Cost> all = new ArrayList<>();
        costs.forEach((way, bySize) -> bySize.forEach((bytes, ns) -> all.add(new Cost(way, bytes, ns))));
        return all;
    }

    private double nsPerPacket(List<Child> flows, int bytes, int packets) throws IOException {
        String hex = hex(bytes);
        int each = Math.max(1, packets / flows.size());
        long ns = 0;
        for (Child flow : flows) {
            long beforeNs = CpuClock.ns(flow.handle());
            long tookNs = number(flow, each + " " + hex);
            ns += byProcessorTime ? CpuClock.ns(flow.handle()) - beforeNs : tookNs;
        }
        return (double) ns / (each * flows.size());
    }

    /** The program answers {@code ok ns=NUMBER}. */
    private static long number(Child flow, String command) throws IOException {
        String answer = flow.askLine(command);
        if (!answer.startsWith("ok ns=")) {
            throw new IOException("the program that sends said '" + answer + "'");
        }
        return Long.parseLong(answer.substring("ok ns=".length()));
    }

    private static String hex(int bytes) throws IOException {
        ByteBuffer packet = Work.MONITOR.batch(InetAddress.getByName(Bed.receiver(0)), 1, bytes, 1);
        byte[] copy = new byte[bytes];
        packet.get(copy);
        return HexFormat.of().formatHex(copy);
    }

    @Override
    public void close() {
        processes.close();
        all.close();
    }
}
