package org.tamanoir.format;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The files that the C library wrote, and what is in them; see {@code ffs/README.md} beside them. */
final class Vectors {
    static final JsonMapper JSON = JsonMapper.builder().build();
    static final JsonNode ALL = JSON.readTree(bytes("vectors.json"));

    private Vectors() {}

    static byte[] bytes(String file) {
        try (InputStream in = Vectors.class.getResourceAsStream("/ffs/" + file)) {
            return Objects.requireNonNull(in, file).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static FfsReader open(String file) {
        InputStream in = new ByteArrayInputStream(bytes(file));
        return file.endsWith(".bin") && !file.startsWith("hostile") ? FfsReader.ofStream(in) : FfsReader.ofFile(in);
    }

    static List<JsonNode> files() {
        return ALL.get("files").valueStream().toList();
    }

    /** Returns what a file's records hold. */
    static JsonNode records(JsonNode file) {
        if (file.get("case").asString().equals("many-fields")) {
            ObjectNode record = JSON.createObjectNode();
            for (int i = 0; i < 2100; i++) {
                record.put("f%05d".formatted(i), 3 * i - 1000);
            }
            return JSON.createArrayNode().add(record);
        }
        return file.has("records")
                ? file.get("records")
                : ALL.get("cases").get(file.get("case").asString()).get("records");
    }

    /** Returns a record in the notation of the vectors. */
    static JsonNode notation(RecordView record) {
        boolean graph = record.format().top().isRecursive();
        return node(RecordTree.read(record), graph ? new IdentityHashMap<>() : null);
    }

    private static JsonNode node(@Nullable Object value, @Nullable Map<Object, Integer> ids) {
        if (value instanceof Map<?, ?> map) {
            ObjectNode node = JSON.createObjectNode();
            if (ids != null) {
                Integer known = ids.putIfAbsent(map, ids.size());
                if (known != null) {
                    return node.put("@ref", known);
                }
                node.put("@id", ids.get(map));
            }
            map.forEach((name, field) -> node.set((String) name, node(field, ids)));
            return node;
        }
        if (value instanceof List<?> list) {
            ArrayNode node = JSON.createArrayNode();
            list.forEach(one -> node.add(node(one, ids)));
            return node;
        }
        if (value instanceof Opaque opaque) {
            return JSON.createObjectNode().put("octets", HexFormat.of().formatHex(opaque.bytes()));
        }
        if (value instanceof byte[] text) {
            try {
                return JSON.getNodeFactory()
                        .stringNode(StandardCharsets.UTF_8
                                .newDecoder()
                                .decode(ByteBuffer.wrap(text))
                                .toString());
            } catch (CharacterCodingException e) {
                return JSON.createObjectNode().put("hex", HexFormat.of().formatHex(text));
            }
        }
        if (value instanceof Double number && (number.isNaN() || number.isInfinite())) {
            return JSON.getNodeFactory().stringNode(number.toString());
        }
        return JSON.valueToTree(value);
    }

    /** Returns whether two values are alike: numbers by what they are worth, -0.0 apart from 0. */
    static boolean alike(JsonNode expected, JsonNode actual) {
        if (expected.isNumber() && actual.isNumber()) {
            return expected.isIntegralNumber() && actual.isIntegralNumber()
                    ? expected.bigIntegerValue().equals(actual.bigIntegerValue())
                    : Double.compare(expected.doubleValue(), actual.doubleValue()) == 0;
        }
        if (expected.isObject() && actual.isObject()) {
            return List.copyOf(expected.propertyNames()).equals(List.copyOf(actual.propertyNames()))
                    && expected.propertyNames().stream().allMatch(n -> alike(expected.get(n), actual.get(n)));
        }
        if (expected.isArray() && actual.isArray()) {
            boolean same = expected.size() == actual.size();
            for (int i = 0; same && i < expected.size(); i++) {
                same = alike(expected.get(i), actual.get(i));
            }
            return same;
        }
        return expected.equals(actual);
    }
}
