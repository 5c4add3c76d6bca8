package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.netns.NodeApi;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.nodeos.Level;

/** What rules for plain datagrams cost those that no rule is for, and those that go through the JVM. */
final class PlainFigures {
    private static final int RULES = 64;
    private static final int FLOOD_BYTES = 64;
    private static final int FLOOD_MILLIS = 1000;
    private static final int ROUNDS = 9;
    private static final int FLOW_BYTES = 200;
    private static final int PACKETS = 200_000;
    private static final int PACKETS_PER_SECOND = 30_000;
    private static final int FLOW_ROUNDS = 3;
    private static final int MTU = 1500;
    /** Long enough that what a start left to the compiler is done. */
    private static final long QUIET_NS = 1_000_000_000;

    private PlainFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "%d rules. Floods: datagrams of %d bytes for which no rule is, as levels' floods, %d rounds by turns. Flows: "
                        + "%d bytes, %,d a second, through Monitor in the JVM, by the last rule, and in transit as ANEP by tc; "
                        + "processor time of the node's process, %d rounds by turns.",
                RULES, FLOOD_BYTES, ROUNDS, FLOW_BYTES, PACKETS_PER_SECOND, FLOW_ROUNDS);
        Rows csv = new Rows("what,round,figure");
        settings.lab().wakeUp();
        floods(settings, section, csv);
        flows(settings, section, csv);
        section.csv("", csv);
    }

    private static void floods(Settings settings, Section section, Rows csv) throws IOException {
        int millis = settings.scaled(FLOOD_MILLIS, 50);
        Lab lab = settings.lab();
        List<Double> without = new ArrayList<>();
        List<Double> with = new ArrayList<>();
        lab.log.listen(false);
        lab.network.mtuBeforeRouter(MTU);
        try {
            for (int round = 0; round < ROUNDS; round++) {
                lab.flood(FLOOD_BYTES, millis / 10);
                without.add(lab.flood(FLOOD_BYTES, millis).packetsPerSecond());
                try (RouterNode node = settings.nodes().start(lab, yaml(rules(RULES)))) {
                    LockSupport.parkNanos(QUIET_NS);
                    lab.flood(FLOOD_BYTES, millis / 10);
                    long beforeNs = node.cpuNs();
                    with.add(lab.flood(FLOOD_BYTES, millis).packetsPerSecond());
                    csv.row("ms of the node's processor time,%d,%.1f", round + 1, (node.cpuNs() - beforeNs) / 1e6);
                }
                csv.row("packets a second without a node,%d,%.0f", round + 1, without.get(round));
                csv.row("packets a second with rules,%d,%.0f", round + 1, with.get(round));
            }
        } finally {
            lab.network.mtuBeforeRouter(Network.MTU);
            lab.log.listen(true);
        }
        section.find(
                "packets a second that no rule is for, of those without a node",
                "≥ 0.97 asked",
                "%.3f (%,.0f of %,.0f, medians)",
                Numbers.median(with) / Numbers.median(without),
                Numbers.median(with),
                Numbers.median(without));
    }

    private static void flows(Settings settings, Section section, Rows csv) throws IOException {
        List<Double> transit = new ArrayList<>();
        List<Double> plain = new ArrayList<>();
        String rules = rules(RULES - 1)
                + "  - {match: {protocol: udp, destination: %s/32, ports: \"%d\"}, service: org.tamanoir.services.Monitor}\n"
                        .formatted(Network.sink().getAddress().getHostAddress(), Network.PORT);
        for (int round = 0; round < FLOW_ROUNDS; round++) {
            try (RouterNode node = settings.nodes().start(settings.lab(), Work.allAt(Level.JVM))) {
                transit.add(flow(settings, section, node, "in transit, round " + (round + 1)));
            }
            try (RouterNode node = settings.nodes().start(settings.lab(), yaml(rules))) {
                plain.add(flow(settings, section, node, "plain, round " + (round + 1)));
            }
            csv.row("µs a packet in transit,%d,%.3f", round + 1, transit.get(round));
            csv.row("µs a packet by a rule,%d,%.3f", round + 1, plain.get(round));
        }
        section.find(
                "processor time of a plain packet, of that of one in transit",
                "≤ 1.2 asked",
                "%.2f (%.2f of %.2f µs, medians)",
                Numbers.median(plain) / Numbers.median(transit),
                Numbers.median(plain),
                Numbers.median(transit));
    }

    /** Returns the µs of the node's processor time for a packet. */
    private static double flow(Settings settings, Section section, RouterNode node, String name) throws IOException {
        SizeFigures.warmUp(settings, false);
        long beforeNs = node.cpuNs();
        Outcome outcome = settings.lab().run(Flow.udp(FLOW_BYTES, settings.scaled(PACKETS, 2000), PACKETS_PER_SECOND));
        double us = (node.cpuNs() - beforeNs) / 1e3 / outcome.sent();
        section.find(name, "–", "%.3f µs a packet; %s", us, outcome.faults());
        return us;
    }

    private static String rules(int count) {
        StringBuilder rules = new StringBuilder();
        for (int i = 0; i < count; i++) {
            rules.append("  - {match: {protocol: udp, destination: 10.99.%d.0/24, ports: 1000-2000, dscp: %d},"
                            .formatted(i, i))
                    .append(" service: org.tamanoir.services.Monitor}\n");
        }
        return rules.toString();
    }

    private static String yaml(String rules) {
        return """
                listen:
                  tcp: ["127.0.0.1:0"]
                services:
                  - {name: Monitor}
                plain:
                %splain-interfaces: [%s]
                admin:
                  listen: 127.0.0.1:%d
                """.formatted(rules, Network.FROM, NodeApi.PORT);
    }
}
