package org.tamanoir.node.admin;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.text.ExactJson;
import org.tamanoir.format.text.JsonFaults;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A JSON object of a request, read field by field; problems are collected and told together. A field that is null
 * counts as left out. One thread.
 */
final class JsonFields {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final int MAX_PROBLEMS = 20;

    private final String where;
    private final JsonNode object;
    private final List<String> problems;
    private final Set<String> known = new LinkedHashSet<>();

    private JsonFields(String where, JsonNode object, List<String> problems) {
        this.where = where;
        this.object = object;
        this.problems = problems;
    }

    /**
     * Reads a body; an empty one is an object without fields.
     *
     * @throws ApiException if it is no JSON object
     */
    static JsonFields read(byte[] body) throws ApiException {
        return new JsonFields("", object(body), new ArrayList<>());
    }

    /**
     * Reads a body as it stands; an empty one is an object without fields.
     *
     * @throws ApiException if it is no JSON object
     */
    static JsonNode object(byte[] body) throws ApiException {
        JsonNode object;
        try {
            object = body.length == 0 ? MAPPER.createObjectNode() : MAPPER.readTree(ExactJson.text(body));
        } catch (FormatException e) {
            throw new ApiException(ApiException.BAD_REQUEST, "the body is refused: " + e.getMessage());
        } catch (JacksonException e) {
            String at = e.getLocation() == null
                    ? ""
                    : " at line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr();
            throw new ApiException(ApiException.BAD_REQUEST, "the body is no JSON" + at + ": " + JsonFaults.why(e));
        }
        if (!object.isObject()) {
            throw new ApiException(ApiException.BAD_REQUEST, "the body is no JSON object: {...} is wanted");
        }
        return object;
    }

    /** Returns an object as maps with texts as keys, lists, texts, numbers, booleans and nulls. */
    @SuppressWarnings("unchecked") // Keys of objects are texts.
    static Map<String, Object> tree(JsonNode object) {
        return MAPPER.treeToValue(object, Map.class);
    }

    /** A text; null when left out. */
    @Nullable
    String text(String name) {
        JsonNode value = field(name);
        if (value != null && !value.isString()) {
            wrong(name, value, "a text is wanted");
            return null;
        }
        return value == null ? null : value.asString();
    }

    /** True or false; false when left out. */
    boolean flag(String name, boolean absent) {
        JsonNode value = field(name);
        if (value != null && !value.isBoolean()) {
            wrong(name, value, "true or false is wanted");
        }
        return value == null ? absent : value.asBoolean(absent);
    }

    /** A whole number within bounds. */
    int number(String name, int min, int max, int absent) {
        JsonNode value = field(name);
        if (value == null) {
            return absent;
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.asInt() < min || value.asInt() > max) {
            wrong(name, value, "a whole number from " + min + " to " + max + " is wanted");
            return absent;
        }
        return value.asInt();
    }

    /** A number of seconds within bounds, with at most milliseconds. */
    double seconds(String name, double max, double absent) {
        JsonNode value = field(name);
        if (value == null) {
            return absent;
        }
        if (!value.isNumber() || !(value.asDouble() >= 0 && value.asDouble() <= max)) {
            wrong(name, value, "a number of seconds from 0 to " + (long) max + " is wanted");
            return absent;
        }
        return value.asDouble();
    }

    /** A list of texts, of bounded number and length; empty when left out. */
    List<String> texts(String name, int max, int maxCharacters) {
        JsonNode value = field(name);
        List<String> texts = new ArrayList<>();
        if (value == null) {
            return texts;
        }
        if (!value.isArray() || value.size() > max) {
            wrong(name, value, "a list of at most " + max + " texts is wanted");
            return texts;
        }
        for (JsonNode item : value) {
            if (!item.isString() || item.asString().length() > maxCharacters) {
                wrong(name, item, "a text of at most " + maxCharacters + " characters is wanted");
            } else {
                texts.add(item.asString());
            }
        }
        return texts;
    }

    /** A list of objects; null when left out. Their problems count here. */
    @Nullable
    List<JsonFields> objects(String name, String what) {
        JsonNode value = field(name);
        if (value == null) {
            return null;
        }
        List<JsonFields> items = new ArrayList<>();
        if (!value.isArray()) {
            wrong(name, value, "a list is wanted");
            return items;
        }
        int number = 0;
        for (JsonNode item : value) {
            number++;
            String place = what + " " + number;
            if (item.isObject()) {
                items.add(new JsonFields(place + ": ", item, problems));
            } else {
                problems.add(place + ": an object is wanted");
            }
        }
        return items;
    }

    /** Something is wrong with the values. */
    void problem(String line) {
        problems.add(where + line);
    }

    private void wrong(String name, JsonNode value, String wanted) {
        String text = value.toString();
        problem(name + " " + (text.length() <= 80 ? text : text.substring(0, 80) + "...") + ": " + wanted);
    }

    private @Nullable JsonNode field(String name) {
        known.add(name);
        JsonNode value = object.get(name);
        return value == null || value.isNull() ? null : value;
    }

    /** Every field has been asked for: the others are unknown. */
    void end() {
        object.propertyNames().stream()
                .filter(name -> !known.contains(name))
                .forEach(name -> problem("field '" + (name.length() <= 80 ? name : name.substring(0, 80) + "...")
                        + "' is unknown: " + (known.isEmpty() ? "there are none" : String.join(", ", known))
                        + " can be given"));
    }

    /**
     * Ends, and tells of all problems.
     *
     * @throws ApiException if there are any
     */
    void check() throws ApiException {
        end();
        if (!problems.isEmpty()) {
            int more = problems.size() - MAX_PROBLEMS;
            throw new ApiException(
                    ApiException.INVALID,
                    String.join("; ", problems.subList(0, Math.min(problems.size(), MAX_PROBLEMS)))
                            + (more > 0 ? "; and " + more + " more" : ""));
        }
    }
}
