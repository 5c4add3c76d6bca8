package org.tamanoir.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.ClassRule;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;

/**
 * Reads quality of service: the section {@code qos} of a configuration file, a file with its content alone, or the body
 * of a request. Every error is reported where it stands. One thread.
 */
final class QosSection {
    static final String DEFAULT_DISCIPLINE = "wfq";

    private static final int MAX_CLASS_OF_SERVICE = 255;
    private static final long MAX_STREAM = 0xFFFF_FFFFL;
    private static final int MAX_LIMIT_PACKETS = 1_000_000;
    private static final long MIN_LIMIT_OCTETS = 1 << 16;
    private static final long MAX_LIMIT_OCTETS = 1 << 30;
    private static final int MAX_PROCESSORS = 1024;
    private static final Duration MIN_QUANTUM = Duration.ofNanos(10_000);
    private static final Duration MAX_QUANTUM = Duration.ofSeconds(1);
    private static final long MAX_RATE = 1_000_000_000_000L;
    private static final long MIN_BURST = 256;
    private static final long MAX_BURST = 4L << 30;
    /** The largest ANEP packet that UDP carries fits this. */
    private static final long MIN_DEFAULT_BURST = 65_535;

    private static final List<Prefix> ANYWHERE = List.of(Prefix.parse("0.0.0.0/0"), Prefix.parse("::/0"));
    private static final Pattern RANGE = Pattern.compile("(\\d{1,18})(?:\\s*-\\s*(\\d{1,18}))?");
    private static final Pattern RATE = Pattern.compile("[\\d.]+\\s*[kMG]?(bit|B)/s");
    private static final Pattern SIZE = Pattern.compile("\\d+\\s*[KMG]iB");
    private static final Map<String, Boolean> EXCESS = Map.of("wait", false, "drop", true);

    private final Section section;
    /** Where the parts stand that problems of the whole name, by what they are called there. */
    private final Map<String, String> places = new LinkedHashMap<>();

    private QosSection(Section section) {
        this.section = section;
    }

    /** What the section says; what is wrong with it is among its problems, and has its default here. */
    static QosConfig read(Section section) {
        QosSection reader = new QosSection(section);
        QosConfig config = reader.config();
        config.problems().forEach(reader::problem);
        return config;
    }

    /** The same, without a look at the whole: for one who does not know the disciplines that there are. */
    static QosConfig readParts(Section section) {
        return new QosSection(section).config();
    }

    private void problem(String line) {
        for (Map.Entry<String, String> place : places.entrySet()) {
            if (line.startsWith(place.getKey())) {
                section.problems().add(place.getValue(), line);
                return;
            }
        }
        section.problems().add(section.where(), line);
    }

    private QosConfig config() {
        section.allow("classes", "default-class", "rules", "pre", "links");
        List<TrafficClass> classes = new ArrayList<>();
        for (Section item : section.sections("classes")) {
            classes.add(trafficClass(item, classes.size() + 1));
        }
        String last = classes.isEmpty() ? "" : classes.get(classes.size() - 1).name();
        String defaultClass = section.value("default-class", last, Function.identity());
        for (String key : List.of("classes", "default-class", "rules", "links")) {
            places.put(key, section.where(key));
        }
        List<ClassRule> rules = new ArrayList<>();
        for (Section item : section.sections("rules")) {
            rules.add(rule(item, rules.size() + 1, defaultClass));
        }
        PreProcessing pre = section.has("pre") ? pre(section.section("pre")) : null;
        List<Link> links = new ArrayList<>();
        for (Section item : section.sections("links")) {
            links.add(link(item, links.size() + 1));
        }
        return new QosConfig(classes, defaultClass, rules, pre, links);
    }

    private TrafficClass trafficClass(Section item, int number) {
        item.allow("name", "class-of-service", "weight", "limit-packets", "limit-octets");
        String name = name(item, "class", "video", number);
        Set<Integer> values = new HashSet<>();
        item.valuesOrOne("class-of-service", QosSection::classesOfService).forEach(values::addAll);
        return new TrafficClass(
                name,
                values,
                item.value("weight", 1, text -> Quantity.number(text, 1, (int) FlowConfig.MAX_WEIGHT)),
                item.value(
                        "limit-packets",
                        TrafficClass.DEFAULT_LIMIT_PACKETS,
                        text -> Quantity.number(text, 1, MAX_LIMIT_PACKETS)),
                item.value(
                        "limit-octets",
                        TrafficClass.DEFAULT_LIMIT_OCTETS,
                        text -> Quantity.octets(text, MIN_LIMIT_OCTETS, MAX_LIMIT_OCTETS)));
    }

    /** One that is missing gets another for the time being, so that nothing else seems to be wrong. */
    private String name(Section item, String what, String example, int number) {
        String name = item.required("name", example, Function.identity());
        String known = name == null ? what + "-" + number : name;
        places.put(what + " '" + known + "':", item.where()); // Of two of a name the second is at fault.
        return known;
    }

    private static Set<Integer> classesOfService(String text) {
        Range range = Range.parse(text, MAX_CLASS_OF_SERVICE);
        Set<Integer> values = new HashSet<>();
        for (long value = range.first; value <= range.last; value++) {
            values.add((int) value);
        }
        return values;
    }

    private ClassRule rule(Section item, int number, String defaultClass) {
        item.allow("service", "source", "destination", "stream", "class");
        places.put("rule " + number + ":", item.where());
        int problemsBefore = item.problems().lines().size();
        Range streams = item.value("stream", text -> Range.parse(text, MAX_STREAM));
        String service = item.value("service", Settings::serviceName);
        Prefix source = item.value("source", Prefix::parse);
        Prefix destination = item.value("destination", Prefix::parse);
        String trafficClass = item.required("class", "video", Function.identity());
        if (item.problems().lines().size() > problemsBefore) {
            streams = new Range(0, MAX_STREAM); // What is wrong is said: it must not seem to say nothing as well.
        }
        return new ClassRule(
                service,
                source,
                destination,
                streams == null ? null : (Long) streams.first,
                streams == null ? null : (Long) streams.last,
                trafficClass == null ? defaultClass : trafficClass);
    }

    private PreProcessing pre(Section pre) {
        pre.allow("discipline", "processors", "quantum", "options");
        places.put("pre:", pre.where());
        int all = Math.min(Runtime.getRuntime().availableProcessors(), MAX_PROCESSORS);
        return new PreProcessing(
                pre.value("discipline", DEFAULT_DISCIPLINE, Function.identity()),
                options(pre),
                pre.value("processors", all, text -> Quantity.number(text, 1, MAX_PROCESSORS)),
                pre.value(
                        "quantum",
                        PreProcessing.DEFAULT_QUANTUM,
                        text -> Quantity.shortDuration(text, MIN_QUANTUM, MAX_QUANTUM)));
    }

    private Link link(Section item, int number) {
        item.allow("name", "next-hops", "rate", "burst", "discipline", "excess", "options");
        String name = name(item, "link", "uplink", number);
        int problemsBefore = item.problems().lines().size();
        List<Prefix> nextHops = item.values("next-hops", Prefix::parse);
        boolean all = !item.has("next-hops") || item.problems().lines().size() > problemsBefore;
        Long given = item.required("rate", "10Mbit/s", text -> Quantity.octetRate(text, 1, MAX_RATE));
        long rate = given == null ? MAX_RATE : given;
        long burst = Math.min(MAX_BURST, Math.max(MIN_DEFAULT_BURST, rate / 100));
        return new Link(
                name,
                all ? ANYWHERE : nextHops,
                rate,
                item.value("burst", burst, text -> Quantity.octets(text, MIN_BURST, MAX_BURST)),
                item.value("excess", false, text -> Choice.of(text, EXCESS)),
                item.value("discipline", DEFAULT_DISCIPLINE, Function.identity()),
                options(item));
    }

    /** The discipline's own: it reads texts and numbers itself, so rates and sizes with a unit become octets here. */
    private static Map<String, String> options(Section item) {
        Section given = item.section("options");
        Map<String, String> options = new HashMap<>();
        given.texts().forEach((name, text) -> {
            String value = text;
            if (RATE.matcher(text).matches()) {
                value = given.value(name, text, rate -> Long.toString(Quantity.octetRate(rate, 0, MAX_RATE)));
            } else if (SIZE.matcher(text).matches()) {
                value = given.value(name, text, size -> Long.toString(Quantity.octets(size, 0, Long.MAX_VALUE)));
            }
            options.put(name, value);
        });
        return options;
    }

    /** A number, or two with a hyphen between them; both count. */
    private record Range(long first, long last) {
        static Range parse(String text, long max) {
            Matcher matcher = RANGE.matcher(text.strip());
            if (!matcher.matches()) {
                throw new IllegalArgumentException("'" + text + "' is no number and no range: one from 0 to " + max
                        + ", or two as in 4-7, is wanted");
            }
            long first = Long.parseLong(matcher.group(1));
            @Nullable String second = matcher.group(2);
            long last = second == null ? first : Long.parseLong(second);
            if (first > max || last > max) {
                throw new IllegalArgumentException(text + " is out of bounds: 0 to " + max + " are allowed");
            }
            if (first > last) {
                throw new IllegalArgumentException(text + " is an empty range: write " + last + "-" + first);
            }
            return new Range(first, last);
        }
    }
}
