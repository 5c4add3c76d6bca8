package org.tamanoir.node;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.ClassRule;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import tools.jackson.databind.JsonNode;

/** Quality of service as operators write it, in YAML and in JSON; what is written here is read as the same. */
public final class QosText {
    /** What needs no quotes in YAML, in brackets or not. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_./+-]*");

    private QosText() {}

    /** The fields of its JSON: maps, lists, texts, numbers, null for what is not there. */
    public static Map<String, @Nullable Object> fields(QosConfig config) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("classes", config.classes().stream().map(QosText::fields).toList());
        fields.put("default-class", config.defaultClass().isEmpty() ? null : config.defaultClass());
        fields.put("rules", config.rules().stream().map(QosText::fields).toList());
        fields.put("pre", config.pre() == null ? null : fields(config.pre()));
        fields.put("links", config.links().stream().map(QosText::fields).toList());
        return fields;
    }

    private static Map<String, @Nullable Object> fields(TrafficClass trafficClass) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", trafficClass.name());
        fields.put("class-of-service", ranges(new TreeSet<>(trafficClass.classesOfService())));
        fields.put("weight", trafficClass.weight());
        fields.put("limit-packets", trafficClass.limitPackets());
        fields.put("limit-octets", Quantity.octetsText(trafficClass.limitOctets()));
        return fields;
    }

    /** Numbers, and {@code a-b} for three and more in a row. */
    private static List<Object> ranges(TreeSet<Integer> values) {
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

    private static Map<String, @Nullable Object> fields(ClassRule rule) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("service", rule.service());
        fields.put("source", text(rule.source()));
        fields.put("destination", text(rule.destination()));
        fields.put("stream", streams(rule));
        fields.put("class", rule.trafficClass());
        return fields;
    }

    private static @Nullable String streams(ClassRule rule) {
        if (rule.firstStream() == null && rule.lastStream() == null) {
            return null;
        }
        long first = rule.firstStream() == null ? 0 : rule.firstStream();
        long last = rule.lastStream() == null ? 0xFFFF_FFFFL : rule.lastStream();
        return first == last ? Long.toString(first) : first + "-" + last;
    }

    private static @Nullable String text(@Nullable Prefix prefix) {
        return prefix == null ? null : prefix.toString();
    }

    private static Map<String, @Nullable Object> fields(PreProcessing pre) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("discipline", pre.discipline());
        fields.put("processors", pre.processors());
        fields.put("quantum", Quantity.shortText(pre.quantum()));
        fields.put("options", new TreeMap<>(pre.options()));
        return fields;
    }

    private static Map<String, @Nullable Object> fields(Link link) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", link.name());
        fields.put("next-hops", link.nextHops().stream().map(Prefix::toString).toList());
        fields.put("rate", Quantity.rateText(link.rate()));
        fields.put("burst", Quantity.octetsText(link.burst()));
        fields.put("discipline", link.discipline());
        fields.put("excess", link.police() ? "drop" : "wait");
        fields.put("options", new TreeMap<>(link.options()));
        return fields;
    }

    /**
     * Reads JSON of the same shape; what is left out, or null, has its default.
     *
     * @param problems gets a line for everything that is wrong; the result is not to be used then
     */
    public static QosConfig read(JsonNode json, List<String> problems) {
        Problems found = new Problems();
        QosConfig config = QosSection.read(new Section("", "qos", tree(json), found));
        problems.addAll(found.lines());
        return config;
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

    /** The fields as YAML; empty ones are left out. */
    static String yaml(Map<?, ?> fields) {
        StringBuilder out = new StringBuilder();
        block(out, "", "", fields);
        return out.toString();
    }

    private static void block(StringBuilder out, String firstIndent, String indent, Map<?, ?> fields) {
        String before = firstIndent;
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            Object value = field.getValue();
            if (value == null
                    || value instanceof List<?> list && list.isEmpty()
                    || value instanceof Map<?, ?> map && map.isEmpty()) {
                continue;
            }
            out.append(before).append(quoted(field.getKey())).append(':');
            before = indent;
            if (value instanceof Map<?, ?> map) {
                block(out.append('\n'), indent + "  ", indent + "  ", map);
            } else if (value instanceof List<?> items && items.get(0) instanceof Map) {
                out.append('\n');
                items.forEach(item -> block(out, indent + "  - ", indent + "    ", (Map<?, ?>) item));
            } else if (value instanceof List<?> items) {
                List<String> texts = new ArrayList<>();
                items.forEach(item -> texts.add(quoted(item)));
                out.append(" [").append(String.join(", ", texts)).append("]\n");
            } else {
                out.append(' ').append(quoted(value)).append('\n');
            }
        }
    }

    private static String quoted(Object value) {
        String text = value.toString();
        return PLAIN.matcher(text).matches() && !text.equals("null") ? text : Json.of(text);
    }
}
