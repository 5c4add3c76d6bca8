package org.tamanoir.node.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.ClassRule;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QosPoints;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;

/** The settings of quality of service, in a file and in the JSON of the admin API. */
public final class QosTable {
    static final long MAX_RATE = 1_000_000_000_000L;
    static final long MAX_BURST = 4L << 30;
    static final long MAX_STREAM = 0xFFFF_FFFFL;

    private static final String DISCIPLINES = "one of [qos.md](qos.md#disciplines)";
    private static final String PREFIX = "`10.0.0.0/8`, `2001:db8::/32`, or an address";
    private static final Pattern RATE = Pattern.compile("[\\d.]+\\s*[kMG]?(bit|B)/s");
    private static final Pattern SIZE = Pattern.compile("\\d+\\s*[KMG]iB");

    /** The options of a discipline, which reads texts and numbers itself: rates and sizes with a unit become bytes. */
    private static final Kind<Map<String, String>> OPTIONS_KIND =
            Kind.structured("mapping of texts", QosTable::options, TreeMap::new);

    static final Records<TrafficClass> CLASSES = new Records<>("qos.classes");
    static final Setting<String> CLASS_NAME = CLASSES.require(
            "name", Kind.text("lower-case letters, digits, hyphens", text -> text), "video", TrafficClass::name);
    static final Setting<Set<Integer>> CLASSES_OF_SERVICE = CLASSES.add(
            "class-of-service",
            new Kind<>(
                    "0 to 255, a range as in `4-7`, or a list of them",
                    QosTable::classesOfService,
                    text -> Set.of(),
                    QosTable::ranges,
                    List.of()),
            Set.of(),
            "none",
            TrafficClass::classesOfService);
    static final Setting<Integer> WEIGHT =
            CLASSES.add("weight", Kind.number("", 1, (int) FlowConfig.MAX_WEIGHT), 1, each -> (int) each.weight());
    static final Setting<Integer> LIMIT_PACKETS = CLASSES.add(
            "limit-packets",
            Kind.number("", 1, 1_000_000),
            TrafficClass.DEFAULT_LIMIT_PACKETS,
            TrafficClass::limitPackets);
    static final Setting<Long> LIMIT_BYTES = CLASSES.add(
            "limit-bytes", Kind.size(1 << 16, 1 << 30), TrafficClass.DEFAULT_LIMIT_BYTES, TrafficClass::limitBytes);
    static final Setting<Integer> DSCP = CLASSES.add(
            "dscp",
            Kind.of("0 to 63, or a name: `ef`, `cs0` to `cs7`, `af11` to `af43`", QosTable::dscp, number -> number),
            0,
            TrafficClass::dscp);

    static final Records<ClassRule> RULES = new Records<>("qos.rules");
    static final Setting<String> RULE_SERVICE = RULES.add(
            "service",
            Kind.text("as `services.name`", NodeConfigBuilder::serviceName),
            null,
            "any",
            ClassRule::service);
    static final Setting<Prefix> SOURCE =
            RULES.add("source", Kind.of(PREFIX, Prefix::parse, Prefix::toString), null, "any", ClassRule::source);
    static final Setting<Prefix> DESTINATION = RULES.add(
            "destination", Kind.of(PREFIX, Prefix::parse, Prefix::toString), null, "any", ClassRule::destination);
    static final Setting<Range> STREAM = RULES.add(
            "stream",
            Kind.of(
                    "0 to 4294967295, or a range as in `100-199`",
                    text -> Range.parse(text, MAX_STREAM),
                    Range::toString),
            null,
            "any",
            QosTable::streams);
    static final Setting<String> RULE_CLASS =
            RULES.require("class", Kind.text("name", text -> text), "video", ClassRule::trafficClass);

    static final Records<PreProcessing> PRE = new Records<>("qos.pre");
    static final Setting<String> PRE_DISCIPLINE =
            PRE.add("discipline", Kind.text(DISCIPLINES, text -> text), "wfq", PreProcessing::discipline);
    static final Setting<Integer> PROCESSORS =
            PRE.add("processors", Kind.number("", 1, 1024), null, "all that there are", PreProcessing::processors);
    static final Setting<Duration> QUANTUM = PRE.add(
            "quantum",
            Kind.of(
                    "duration with `us`, `ms` or `s`, 10us to 1s",
                    text -> Quantity.shortDuration(text, Duration.ofNanos(10_000), Duration.ofSeconds(1)),
                    Quantity::shortText),
            PreProcessing.DEFAULT_QUANTUM,
            PreProcessing::quantum);
    static final Setting<Map<String, String>> PRE_OPTIONS =
            PRE.add("options", OPTIONS_KIND, Map.of(), "none", PreProcessing::options);

    static final Records<Link> LINKS = new Records<>("qos.links");
    static final Setting<String> LINK_NAME =
            LINKS.require("name", Kind.text("as that of a class, but not `pre`", text -> text), "uplink", Link::name);
    static final Setting<List<Prefix>> NEXT_HOPS = LINKS.add(
            "next-hops",
            Kind.structured(
                    "list of prefixes and addresses",
                    QosTable::nextHops,
                    all -> all.stream().map(Prefix::toString).toList()),
            List.of(Prefix.parse("0.0.0.0/0"), Prefix.parse("::/0")),
            "`[0.0.0.0/0, \"::/0\"]`",
            Link::nextHops);
    static final Setting<Long> LINK_RATE = LINKS.require(
            "rate",
            Kind.of("rate, up to 8000Gbit/s", text -> Quantity.byteRate(text, 1, MAX_RATE), Quantity::rateText),
            "10Mbit/s",
            Link::rate);
    static final Setting<Long> BURST =
            LINKS.add("burst", Kind.size(256, MAX_BURST), null, "10 ms of the rate, 65535 bytes at least", Link::burst);
    static final Setting<String> LINK_DISCIPLINE =
            LINKS.add("discipline", Kind.text(DISCIPLINES, text -> text), "wfq", Link::discipline);
    static final Setting<Boolean> EXCESS =
            LINKS.add("excess", Kind.choice(Map.of("wait", false, "drop", true)), false, Link::police);
    static final Setting<Map<String, String>> LINK_OPTIONS =
            LINKS.add("options", OPTIONS_KIND, Map.of(), "none", Link::options);

    private static final Map<String, QosPoints> POINTS = Map.of("given", QosPoints.GIVEN, "auto", QosPoints.AUTO);

    static final Records<QosConfig> QOS = new Records<>("qos");

    static {
        QOS.add(
                "classes",
                Kind.written("list of up to 64"),
                null,
                "none",
                qos -> qos.classes().stream().map(CLASSES::data).toList());
        QOS.add(
                "default-class",
                Kind.written("name"),
                null,
                "the last class",
                qos -> qos.defaultClass().isEmpty() ? null : qos.defaultClass());
        QOS.add(
                "rules",
                Kind.written("list of up to 256"),
                null,
                "none",
                qos -> qos.rules().stream().map(RULES::data).toList());
        QOS.add("pre", Kind.written("mapping"), null, "none", qos -> qos.pre() == null ? null : PRE.data(qos.pre()));
        QOS.add(
                "links",
                Kind.written("list of up to 64"),
                null,
                "none",
                qos -> qos.links().stream().map(LINKS::data).toList());
        QOS.add(
                "points",
                Kind.choice(POINTS),
                null,
                "`given`",
                qos -> qos.points() == QosPoints.GIVEN ? null : qos.points());
    }

    private QosTable() {}

    static QosPoints points(String text) {
        return Choice.of(text, POINTS);
    }

    /** Makes the data of a configuration, as files and the admin API's JSON have it: null for what is not there. */
    public static Map<String, @Nullable Object> data(QosConfig config) {
        return QOS.data(config);
    }

    /** Reads a code point: RFC 2474, 2597 and 3246 name them. */
    private static int dscp(String text) {
        if (text.equals("ef")) {
            return 46;
        }
        if (text.matches("cs[0-7]")) {
            return (text.charAt(2) - '0') * 8;
        }
        if (text.matches("af[1-4][1-3]")) {
            return (text.charAt(2) - '0') * 8 + (text.charAt(3) - '0') * 2;
        }
        if (text.matches("\\d+")) {
            return Quantity.number(text, 0, 63);
        }
        throw new IllegalArgumentException(
                "'" + text + "' is no code point: 0 to 63, ef, cs0 to cs7, or af11 to af43 is wanted");
    }

    private static @Nullable Set<Integer> classesOfService(Section section, String key) {
        return section.valuesOrOne(key, text -> Range.parse(text, 255)).stream()
                .flatMapToLong(range -> LongStream.rangeClosed(range.first(), range.last()))
                .mapToObj(value -> (int) value)
                .collect(Collectors.toSet());
    }

    /** Numbers, and {@code a-b} for three and more in a row. */
    private static List<Object> ranges(Collection<Integer> all) {
        TreeSet<Integer> values = new TreeSet<>(all);
        List<Object> ranges = new ArrayList<>();
        for (Integer first = values.isEmpty() ? null : values.first(); first != null; ) {
            int last = first;
            while (values.contains(last + 1)) {
                last++;
            }
            if (last - first >= 2) {
                ranges.add(first + "-" + last);
            } else {
                ranges.addAll(values.subSet(first, last + 1));
            }
            first = values.higher(last);
        }
        return ranges;
    }

    private static @Nullable Range streams(ClassRule rule) {
        Long first = rule.firstStream();
        Long last = rule.lastStream();
        return first == null && last == null
                ? null
                : new Range(first == null ? 0 : first, last == null ? MAX_STREAM : last);
    }

    /** Reads them all; null when one is wrong, so that none of the others seems to be missed by the link. */
    private static @Nullable List<Prefix> nextHops(Section link, String key) {
        int problemsBefore = link.problems().lines().size();
        List<Prefix> all = link.values(key, Prefix::parse);
        return link.problems().lines().size() > problemsBefore ? null : all;
    }

    private static Map<String, String> options(Section item, String key) {
        Section given = item.section(key);
        Map<String, String> options = new HashMap<>();
        given.texts().forEach((name, text) -> {
            String value = text;
            if (RATE.matcher(text).matches()) {
                value = given.value(name, text, rate -> Long.toString(Quantity.byteRate(rate, 0, MAX_RATE)));
            } else if (SIZE.matcher(text).matches()) {
                value = given.value(name, text, size -> Long.toString(Quantity.bytes(size, 0, Long.MAX_VALUE)));
            }
            options.put(name, value);
        });
        return options;
    }
}
