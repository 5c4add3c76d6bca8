package org.tamanoir.qdisc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds all that is wrong with a {@link QosConfig}. */
final class QosProblems {
    /** So many classes fit into one long as bits, and are more than anyone keeps apart. */
    private static final int MAX_CLASSES = 64;

    private static final int MAX_RULES = 256;
    private static final int MAX_LINKS = 64;
    private static final int MAX_LIMIT_PACKETS = 1_000_000;
    private static final long MIN_LIMIT_BYTES = 1 << 16;
    private static final long MAX_LIMIT_BYTES = 1 << 30;
    private static final int MAX_PROCESSORS = 1024;
    private static final Duration MIN_QUANTUM = Duration.ofNanos(10_000);
    private static final Duration MAX_QUANTUM = Duration.ofSeconds(1);
    private static final long MAX_RATE = 1_000_000_000_000L;
    private static final long MIN_BURST = 256;
    private static final long MAX_BURST = 1L << 32;
    private static final long MAX_STREAM = 0xFFFF_FFFFL;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

    private final QosConfig config;
    private final List<String> problems = new ArrayList<>();
    private final Set<String> names = new HashSet<>();

    private QosProblems(QosConfig config) {
        this.config = config;
    }

    static List<String> of(QosConfig config) {
        QosProblems search = new QosProblems(config);
        if (!config.equals(QosConfig.OFF)) {
            search.checkClasses();
            search.checkRules();
            search.checkPre();
            search.checkLinks();
            search.require(
                    config.points() == QosPoints.GIVEN
                            || config.pre() != null && !config.links().isEmpty(),
                    "points 'auto': there is nothing to choose between: give both pre and links, or leave points out");
        }
        return List.copyOf(search.problems);
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            problems.add(otherwise);
        }
    }

    private void requireInside(String what, long value, long min, long max) {
        require(value >= min && value <= max, what + " " + value + ": must be " + min + " to " + max);
    }

    private void requireName(String what, String name) {
        require(
                NAME.matcher(name).matches(),
                what + " '" + name + "': a name has 1 to 63 lower-case letters, digits and hyphens");
    }

    private void checkClasses() {
        List<TrafficClass> classes = config.classes();
        require(
                !classes.isEmpty() && classes.size() <= MAX_CLASSES,
                "classes: there are " + classes.size() + ", must be 1 to " + MAX_CLASSES);
        Map<Integer, String> owners = new HashMap<>();
        for (TrafficClass each : classes) {
            String where = "class '" + each.name() + "': ";
            requireName("class", each.name());
            require(names.add(each.name()), where + "there are two of this name: rename one");
            requireInside(where + "weight", each.weight(), 1, FlowConfig.MAX_WEIGHT);
            requireInside(where + "limit-packets", each.limitPackets(), 1, MAX_LIMIT_PACKETS);
            requireInside(where + "limit-bytes", each.limitBytes(), MIN_LIMIT_BYTES, MAX_LIMIT_BYTES);
            requireInside(where + "dscp", each.dscp(), 0, 63);
            for (int value : each.classesOfService()) {
                requireInside(where + "class-of-service", value, 0, 255);
                String owner = owners.putIfAbsent(value, each.name());
                require(owner == null, where + "class-of-service " + value + " is class '" + owner + "' already");
            }
        }
        require(
                classes.isEmpty() || names.contains(config.defaultClass()),
                "default-class '" + config.defaultClass() + "': there is no class of this name" + known());
    }

    private String known() {
        return ", there are "
                + config.classes().stream().map(TrafficClass::name).toList();
    }

    private void checkRules() {
        requireInside("rules: their number", config.rules().size(), 0, MAX_RULES);
        int number = 0;
        for (ClassRule rule : config.rules()) {
            String where = "rule " + ++number + ": ";
            require(
                    names.contains(rule.trafficClass()),
                    where + "class '" + rule.trafficClass() + "': there is no class of this name" + known());
            require(
                    rule.service() != null
                            || rule.source() != null
                            || rule.destination() != null
                            || rule.firstStream() != null
                            || rule.lastStream() != null,
                    where + "it says nothing of packets: give service, source, destination or stream, "
                            + "or use default-class");
            checkStream(where, rule.firstStream(), rule.lastStream());
        }
    }

    private void checkStream(String where, @Nullable Long first, @Nullable Long last) {
        if (first == null && last == null) {
            return;
        }
        if (first == null || last == null) {
            problems.add(where + "stream: give both ends of the range");
            return;
        }
        requireInside(where + "stream", first, 0, MAX_STREAM);
        requireInside(where + "stream", last, 0, MAX_STREAM);
        require(first <= last, where + "stream " + first + "-" + last + ": the first comes before the last");
    }

    private void checkPre() {
        PreProcessing pre = config.pre();
        if (pre == null) {
            return;
        }
        requireInside("pre: processors", pre.processors(), 1, MAX_PROCESSORS);
        require(
                pre.quantum().compareTo(MIN_QUANTUM) >= 0 && pre.quantum().compareTo(MAX_QUANTUM) <= 0,
                "pre: quantum " + pre.quantum() + ": must be PT0.00001S to PT1S");
        long rate = Math.max(1, pre.processors()) * 1_000_000_000L;
        try {
            Disciplines.createForTurns(pre.discipline(), new DisciplineConfig(flows(), rate, pre.options()));
        } catch (IllegalArgumentException e) {
            problems.add("pre: " + e.getMessage());
        }
    }

    private void checkLinks() {
        requireInside("links: their number", config.links().size(), 0, MAX_LINKS);
        Set<String> links = new HashSet<>();
        for (Link link : config.links()) {
            String where = "link '" + link.name() + "': ";
            requireName("link", link.name());
            require(links.add(link.name()), where + "there are two of this name: rename one");
            require(
                    !link.name().equals("pre"),
                    where + "this name stands for the point before processing: choose another");
            require(!link.nextHops().isEmpty(), where + "next-hops: give at least one prefix");
            requireInside(where + "rate", link.rate(), 1, MAX_RATE);
            requireInside(where + "burst", link.burst(), MIN_BURST, MAX_BURST);
            try {
                Disciplines.create(
                        link.discipline(),
                        new DisciplineConfig(flows(), Math.max(1, link.rate()), link.options()),
                        (item, reason) -> {});
            } catch (IllegalArgumentException e) {
                problems.add(where + e.getMessage());
            }
        }
    }

    /** Flows like the classes, as far as those are right, so that disciplines can be looked at too. */
    private List<FlowConfig> flows() {
        List<FlowConfig> flows = new ArrayList<>();
        for (TrafficClass each : config.classes()) {
            long weight = Math.min(FlowConfig.MAX_WEIGHT, Math.max(1, each.weight()));
            flows.add(new FlowConfig(weight, Math.max(1, each.limitPackets()), Math.max(1, each.limitBytes())));
        }
        return flows.isEmpty() ? List.of(new FlowConfig(1, 1, 1)) : flows;
    }
}
