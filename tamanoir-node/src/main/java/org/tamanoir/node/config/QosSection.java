package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.ClassRule;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QosPoints;
import org.tamanoir.qdisc.TrafficClass;
import tools.jackson.databind.JsonNode;

/**
 * Reads quality of service: the section {@code qos} of a configuration file, a file with its content alone, or the body
 * of a request. Every error is reported where it stands. One thread.
 */
public final class QosSection {
    private static final int MAX_PROCESSORS = 1024;
    /** The largest ANEP packet that UDP carries fits this. */
    private static final long MIN_DEFAULT_BURST = 65_535;

    private final Section section;
    /** Where the parts stand that problems of the whole name, by what they are called there. */
    private final Map<String, String> places = new LinkedHashMap<>();

    private QosSection(Section section) {
        this.section = section;
    }

    /** Reads the section; what is wrong with it is among its problems, and has its default in the result. */
    static QosConfig read(Section section) {
        QosSection reader = new QosSection(section);
        QosConfig config = reader.config();
        config.problems().forEach(reader::problem);
        return config;
    }

    /** Does the same without a look at the whole: for one who does not know the disciplines that there are. */
    public static QosConfig readParts(Section section) {
        return new QosSection(section).config();
    }

    /**
     * Reads JSON of the same shape; what is left out, or null, has its default.
     *
     * @param problems gets a line for everything that is wrong; the result is not to be used then
     */
    public static QosConfig read(JsonNode json, List<String> problems) {
        Problems found = new Problems();
        QosConfig config = read(new Section("", "qos", tree(json), found));
        problems.addAll(found.lines());
        return config;
    }

    /** Returns the services, without their versions, that rules name, and that are neither known nor on the class path. */
    static List<String> missing(QosConfig config, Collection<String> known) {
        return config.rules().stream()
                .map(ClassRule::service)
                .filter(Objects::nonNull)
                .map(label -> label.replaceFirst(":.*", ""))
                .filter(name -> !known.contains(name) && !ServiceClasses.exists(name))
                .distinct()
                .toList();
    }

    /** Returns a line for each service that rules name and that nobody has, where nothing can be fetched. */
    public static List<String> nobodyHas(QosConfig config, Collection<String> known) {
        return missing(config, known).stream()
                .map(name -> "qos.rules: " + ServiceClasses.nobodyHas("a rule", name, known))
                .toList();
    }

    static YamlNode tree(JsonNode json) {
        if (json.isObject()) {
            List<YamlNode.Field> fields = new ArrayList<>();
            json.properties()
                    .forEach(field -> fields.add(new YamlNode.Field(1, field.getKey(), tree(field.getValue()))));
            return new YamlNode.Fields(1, fields);
        }
        if (json.isArray()) {
            List<YamlNode> items = new ArrayList<>();
            json.forEach(item -> items.add(tree(item)));
            return new YamlNode.Items(1, items);
        }
        return new YamlNode.Scalar(1, json.isNull() ? "" : json.asString(), json.isString());
    }

    private void problem(String line) {
        for (Map.Entry<String, String> place : places.entrySet()) {
            if (line.startsWith(place.getKey())) {
                section.problems().add(place.getValue(), behind(place.getKey(), place.getValue(), line));
                return;
            }
        }
        section.problems().add(section.where(), line);
    }

    /** Returns the line without what its place ends with already; names of classes, rules and links stay. */
    private static String behind(String key, String place, String line) {
        String bare = key.replaceFirst(":$", "");
        return place.endsWith(bare) ? line.substring(bare.length()).replaceFirst("^:? ", "") : line;
    }

    private QosConfig config() {
        section.allow(QosTable.QOS.settings());
        List<TrafficClass> classes = new ArrayList<>();
        for (Section item : section.sections("classes")) {
            classes.add(trafficClass(item, classes.size() + 1));
        }
        String last = classes.isEmpty() ? "" : classes.get(classes.size() - 1).name();
        String defaultClass = section.value("default-class", last, Function.identity());
        for (String key : List.of("classes", "default-class", "rules", "links", "points")) {
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
        return new QosConfig(
                classes, defaultClass, rules, pre, links, section.value("points", QosPoints.GIVEN, QosTable::points));
    }

    private TrafficClass trafficClass(Section item, int number) {
        Values given = QosTable.CLASSES.read(item);
        return new TrafficClass(
                name(item, "class", given.find(QosTable.CLASS_NAME), number),
                given.get(QosTable.CLASSES_OF_SERVICE),
                given.get(QosTable.WEIGHT),
                given.get(QosTable.LIMIT_PACKETS),
                given.get(QosTable.LIMIT_BYTES),
                given.get(QosTable.DSCP));
    }

    /** Returns the name; of one without another for the time being, so that nothing else seems to be wrong. */
    private String name(Section item, String what, @Nullable String name, int number) {
        String known = name == null ? what + "-" + number : name;
        places.put(what + " '" + known + "':", item.where()); // Of two of a name the second is at fault.
        return known;
    }

    private ClassRule rule(Section item, int number, String defaultClass) {
        places.put("rule " + number + ":", item.where());
        int problemsBefore = item.problems().lines().size();
        Values given = QosTable.RULES.read(item);
        Range streams = item.problems().lines().size() > problemsBefore
                ? new Range(0, QosTable.MAX_STREAM) // What is wrong is said: it must not seem to say nothing as well.
                : given.find(QosTable.STREAM);
        String trafficClass = given.find(QosTable.RULE_CLASS);
        return new ClassRule(
                given.find(QosTable.RULE_SERVICE),
                given.find(QosTable.SOURCE),
                given.find(QosTable.DESTINATION),
                streams == null ? null : (Long) streams.first(),
                streams == null ? null : (Long) streams.last(),
                trafficClass == null ? defaultClass : trafficClass);
    }

    private PreProcessing pre(Section pre) {
        places.put("pre:", pre.where());
        Values given = QosTable.PRE.read(pre);
        Integer processors = given.find(QosTable.PROCESSORS);
        return new PreProcessing(
                given.get(QosTable.PRE_DISCIPLINE),
                given.get(QosTable.PRE_OPTIONS),
                processors != null ? processors : Math.min(Runtime.getRuntime().availableProcessors(), MAX_PROCESSORS),
                given.get(QosTable.QUANTUM));
    }

    private Link link(Section item, int number) {
        Values given = QosTable.LINKS.read(item);
        Long rate = given.find(QosTable.LINK_RATE);
        Long burst = given.find(QosTable.BURST);
        long known = rate == null ? QosTable.MAX_RATE : rate;
        return new Link(
                name(item, "link", given.find(QosTable.LINK_NAME), number),
                given.get(QosTable.NEXT_HOPS),
                known,
                burst != null ? burst : Math.min(QosTable.MAX_BURST, Math.max(MIN_DEFAULT_BURST, known / 100)),
                given.get(QosTable.EXCESS),
                given.get(QosTable.LINK_DISCIPLINE),
                given.get(QosTable.LINK_OPTIONS));
    }
}
