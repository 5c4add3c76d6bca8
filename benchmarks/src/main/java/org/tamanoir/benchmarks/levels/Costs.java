package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.levels.LibBpf.RunTime;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.nodeos.Level;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a level's program takes for a packet, and how many packets are forwarded through it. */
final class Costs {
    private static final int BYTES = 64;
    private static final int ROUNDS = 3;
    private static final int FLOOD_MILLIS = 1000;
    /** So that XDP can be native, which virtual interfaces refuse with much longer packets. */
    private static final int MTU = 1500;

    private static final String FORWARDED = "no node";

    private Costs() {}

    static void run(Settings settings, Section section) throws IOException {
        int millis = settings.scaled(FLOOD_MILLIS, 50);
        section.say(
                "Datagrams of %d bytes as fast as one sender goes, %d ms at a time, %d rounds in which levels take turns; "
                        + "counted where they leave the router, the programs that write down times ask for no packet "
                        + "meanwhile. The run time of BPF programs is the kernel's own statistics, of a flood of its own, and "
                        + "includes reading the clock twice. Client, router and their interfaces share the sender's "
                        + "processor: the rates are of all that together.",
                BYTES, millis, ROUNDS);
        Lab lab = settings.lab();
        lab.wakeUp();
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        Map<Level, RunTime> runTimes = new LinkedHashMap<>();
        lab.log.listen(false);
        lab.network.mtuBeforeRouter(MTU);
        try {
            for (int round = 0; round < ROUNDS; round++) {
                rate(rates, FORWARDED, lab, millis);
                for (Level level : settings.below()) {
                    try (RouterNode node = settings.nodes().start(lab, Work.allAt(level))) {
                        lab.flood(BYTES, millis / 10);
                        rate(rates, level.label(), lab, millis);
                        if (round == 0 && level != Level.MODULE) {
                            runTimes.put(level, runTime(lab, level, millis));
                        }
                        if (round == 0) {
                            section.say("Level " + node.detail(level) + ".");
                        }
                    }
                }
            }
        } finally {
            lab.network.mtuBeforeRouter(Network.MTU);
            lab.log.listen(true);
        }
        describe(section, rates, runTimes);
    }

    private static void rate(Map<String, List<Double>> rates, String name, Lab lab, int millis) throws IOException {
        rates.computeIfAbsent(name, unused -> new ArrayList<>())
                .add(lab.flood(BYTES, millis).packetsPerSecond());
    }

    private static RunTime runTime(Lab lab, Level level, int millis) throws IOException {
        int id = programId(lab.network.router, level);
        int statistics = LibBpf.enableStatistics();
        try {
            RunTime before = LibBpf.runTime(id);
            lab.flood(BYTES, millis);
            RunTime after = LibBpf.runTime(id);
            return new RunTime(after.ns() - before.ns(), after.count() - before.count());
        } finally {
            LibBpf.C.close(statistics);
        }
    }

    /** The program of a level at the router's interface to the client. */
    private static int programId(Namespace router, Level level) throws IOException {
        String listed = level == Level.XDP
                ? router.run("ip -j -d link show dev " + Network.FROM)
                : router.run("tc -j filter show dev " + Network.FROM + " ingress");
        for (JsonNode each : JsonMapper.shared().readTree(listed)) {
            JsonNode program = level == Level.XDP
                    ? each.path("xdp").path("prog")
                    : each.path("options").path("prog");
            String name = each.path("options").path("bpf_name").asString("");
            if (program.has("id")
                    && !name.startsWith("seg_")
                    && !program.path("name").asString("").startsWith("seg_")) {
                return program.path("id").asInt();
            }
        }
        throw new IOException("no program of level " + level.label() + " at " + Network.FROM + ": " + listed);
    }

    private static void describe(Section section, Map<String, List<Double>> rates, Map<Level, RunTime> runTimes)
            throws IOException {
        double plain = Numbers.median(rates.getOrDefault(FORWARDED, List.of(Double.NaN)));
        Rows table = new Rows("level | packets a second, median | of those without a node | run time, ns a packet");
        Rows csv = new Rows("level,round,packets per second");
        List<Double> bars = new ArrayList<>();
        rates.forEach((name, each) -> {
            double median = Numbers.median(each);
            bars.add(median / 1e3);
            RunTime runTime = runTime(runTimes, name);
            table.row(
                    "%s | %,.0f | %.2f | %s",
                    name,
                    median,
                    median / plain,
                    runTime == null ? "–" : "%.0f".formatted((double) runTime.ns() / runTime.count()));
            for (int i = 0; i < each.size(); i++) {
                csv.row("%s,%d,%.0f", name, i + 1, each.get(i));
            }
            if (!name.equals(FORWARDED)) {
                section.find(
                        "packets a second through " + name + ", of those without a node",
                        name.equals(Level.MODULE.label()) ? "≥ 0.9 asked" : "–",
                        "%.2f (%,.0f of %,.0f)",
                        median / plain,
                        median,
                        plain);
            }
            if (runTime != null) {
                section.find(
                        name + ", run time of the program for a packet",
                        "≤ 100 ns asked",
                        "%.0f ns (%,d packets)",
                        (double) runTime.ns() / runTime.count(),
                        runTime.count());
            }
        });
        section.table(table);
        section.plot(
                "",
                Plot.bars(
                        section.title(),
                        "thousand packets a second",
                        List.copyOf(rates.keySet()),
                        new Series().add("forwarded", bars)));
        section.csv("", csv);
    }

    private static @Nullable RunTime runTime(Map<Level, RunTime> runTimes, String name) {
        return name.equals(FORWARDED) ? null : runTimes.get(Level.of(name));
    }
}
