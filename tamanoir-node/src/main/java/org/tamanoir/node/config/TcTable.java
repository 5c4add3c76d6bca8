package org.tamanoir.node.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.tc.TcRule;

/** The settings of a rule for the host's traffic control. */
final class TcTable {
    private static final int MAX_RULES = 64;
    private static final long MAX_RATE = 100_000_000_000L / 8;
    private static final long MIN_RATE = 1_000;
    private static final Duration MS = Duration.ofMillis(1);
    private static final Kind<Long> RATE = Kind.of(
            "rate, 8kbit/s to 100Gbit/s",
            text -> Quantity.byteRate(text, MIN_RATE, MAX_RATE),
            rate -> Quantity.rateText(rate));

    static final Records<TcRule.Trigger> TRIGGER = new Records<>("traffic-control.when");
    private static final Setting<String> QOS_CLASS = TRIGGER.add(
            "qos-class", Kind.text("name of a class of `qos`", text -> text), null, "none", TcRule.Trigger::qosClass);
    private static final Setting<Duration> DELAY = TRIGGER.add(
            "delay-over", Kind.duration(MS, Duration.ofSeconds(10)), null, "no matter", TcRule.Trigger::delayOver);
    private static final Setting<Integer> DROPS = TRIGGER.add(
            "drops-over",
            Kind.number("packets a second, ", 1, 1_000_000),
            null,
            "no matter",
            TcRule.Trigger::dropsOver);
    private static final Setting<Long> BACKLOG =
            TRIGGER.add("backlog-over", Kind.size(1 << 10, 1L << 30), null, "no matter", TcRule.Trigger::backlogOver);

    static final Records<TcRule> RULES = new Records<>("traffic-control");
    private static final Setting<String> DEVICE = RULES.require(
            "interface", Kind.text("name as `ip link` shows it", LevelKinds::networkInterface), "eth1", TcRule::device);
    private static final Setting<String> CLASS = RULES.require(
            "class", Kind.text("`MAJOR:MINOR` in hexadecimal digits", TcTable::classId), "\"1:10\"", TcRule::classId);
    private static final Setting<TcRule.Trigger> WHEN = RULES.require(
            "when",
            Kind.structured("what congestion is", (rule, key) -> trigger(rule.section(key)), TRIGGER::data),
            "{backlog-over: 64KiB}",
            TcRule::when);
    private static final Setting<Long> GIVEN = RULES.require("rate", RATE, "8Mbit/s", TcRule::rateBytesPerSecond);
    private static final Setting<Long> CEIL =
            RULES.add("ceil", RATE, null, "what the class has, `rate` at least", TcRule::ceilBytesPerSecond);
    private static final Setting<Duration> AFTER =
            RULES.add("after", Kind.duration(MS, Duration.ofHours(1)), Duration.ofSeconds(1), TcRule::after);
    private static final Setting<Duration> HOLD = RULES.add(
            "hold", Kind.duration(Duration.ofSeconds(1), Duration.ofHours(1)), Duration.ofSeconds(10), TcRule::hold);

    static final Kind<List<TcRule>> KIND = Kind.structured(
            "list of up to " + MAX_RULES + " rules",
            (root, key) -> rules(root.sections(key, MAX_RULES)),
            rules -> rules.stream().map(RULES::data).toList());

    private TcTable() {}

    private static List<TcRule> rules(List<Section> sections) {
        List<TcRule> rules = new ArrayList<>();
        Set<String> classes = new HashSet<>();
        for (Section section : sections) {
            Values rule = RULES.read(section);
            String device = rule.find(DEVICE);
            String classId = rule.find(CLASS);
            TcRule.Trigger when = rule.find(WHEN);
            Long rate = rule.find(GIVEN);
            if (device == null || classId == null || when == null || rate == null) {
                continue;
            }
            if (!classes.add(device + " " + classId)) {
                section.problems()
                        .add(rule.where(CLASS), "class " + classId + " of " + device + " has a rule; remove one");
            }
            Long ceil = rule.find(CEIL);
            if (ceil != null && ceil < rate) {
                section.problems()
                        .add(
                                rule.where(CEIL),
                                Quantity.rateText(ceil) + " is below the rate of " + Quantity.rateText(rate)
                                        + ": raise it, or leave it out");
            }
            rules.add(new TcRule(device, classId, when, rate, ceil, rule.get(AFTER), rule.get(HOLD)));
        }
        return rules;
    }

    private static TcRule.@Nullable Trigger trigger(Section section) {
        Values when = TRIGGER.read(section);
        TcRule.Trigger trigger =
                new TcRule.Trigger(when.find(QOS_CLASS), when.find(DELAY), when.find(DROPS), when.find(BACKLOG));
        if (trigger.delayOver() == null && trigger.dropsOver() == null && trigger.backlogOver() == null) {
            section.problems()
                    .add(section.where(), "nothing is congestion: add delay-over, drops-over or backlog-over");
            return null;
        }
        if (trigger.delayOver() != null && trigger.qosClass() == null) {
            section.problems().add(when.where(DELAY), "is the delay of a class of qos: add qos-class");
            return null;
        }
        return trigger;
    }

    private static String classId(String text) {
        if (!text.matches("[1-9a-f][0-9a-f]{0,3}:[1-9a-f][0-9a-f]{0,3}")) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no class: MAJOR:MINOR as tc class show prints it is wanted, as \"1:10\"");
        }
        return text;
    }
}
