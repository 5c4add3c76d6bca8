package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Which target is chosen, type texts, and hashes, as the vectors say. */
class FormatMatcherTest {
    static List<JsonNode> targets() {
        return Vectors.ALL.get("targets").valueStream().toList();
    }

    static List<JsonNode> types() {
        return Vectors.ALL.get("types").valueStream().toList();
    }

    private static FormatBuilder builder(String name, String fields) {
        FormatBuilder builder = Format.builder(Layout.X86_64).structure(name);
        addFields(builder, fields);
        return builder;
    }

    private static void addFields(FormatBuilder builder, String fields) {
        for (String field : fields.split(",")) {
            builder.field(field.split(":")[0], field.split(":")[1]);
        }
    }

    private static Format format(JsonNode node, Map<FormatId, Format> known) {
        FormatBuilder builder =
                builder(node.get("name").asString(), node.get("fields").asString());
        for (JsonNode older : node.path("older_formats")) {
            Format before =
                    builder(node.get("name").asString(), older.asString()).build();
            known.put(before.id(), before);
            byte[] program = "x".getBytes(StandardCharsets.US_ASCII);
            ByteBuffer information = ByteBuffer.allocate(12 + program.length + 1);
            information.put(before.id().toBytes()).put(program);
            builder.information(OptionalInformation.EVOLUTION, information.array());
        }
        if (node.has("structs")) {
            for (String name : node.get("structs").propertyNames()) {
                builder.structure(name);
                addFields(builder, node.get("structs").get(name).asString());
            }
        }
        return builder.build();
    }

    @ParameterizedTest
    @MethodSource("targets")
    void theTargetThatFitsBestIsChosen(JsonNode vector) {
        Map<FormatId, Format> known = new HashMap<>();
        Format source = format(vector.get("source"), known);
        List<Format> targets = vector.get("targets")
                .valueStream()
                .map(node -> format(node, known))
                .toList();
        assertEquals(
                vector.get("strict").asInt(),
                FormatMatcher.choose(source, targets, FormatMatcher.Policy.STRICT, known::get));
        assertEquals(
                vector.get("superset").asInt(),
                FormatMatcher.choose(source, targets, FormatMatcher.Policy.SUPERSET, known::get));
    }

    @ParameterizedTest
    @MethodSource("types")
    void aTypeTextIsAChainOfSteps(JsonNode vector) {
        var chain = Vectors.JSON.createArrayNode();
        for (Step step : TypeText.steps(vector.get("type").asString())) {
            if (step instanceof Step.Pointer) {
                chain.add("pointer");
            } else if (step instanceof Step.Fixed fixed) {
                chain.add(fixed.count());
            } else if (step instanceof Step.Counted counted) {
                chain.addObject().put("count", counted.field());
            } else if (step instanceof Step.Leaf leaf) {
                if (leaf.kind() == Kind.STRUCTURE) {
                    chain.addObject().put("struct", leaf.structure());
                } else {
                    chain.add(leaf.kind().toString());
                }
            }
        }
        assertEquals(vector.get("chain").toString(), chain.toString());
    }

    @Test
    void hashesAreThoseOfTheVectors() {
        for (JsonNode one : Vectors.ALL.get("identifiers")) {
            if (one.has("octets")) {
                long hash =
                        Lookup3.hash(HexFormat.of().parseHex(one.get("octets").asString()));
                assertEquals(one.get("hash1").asString() + one.get("hash2").asString(), "%016x".formatted(hash));
            }
        }
        Vectors.ALL
                .get("attribute_names")
                .propertyNames()
                .forEach(name -> assertEquals(
                        Vectors.ALL.get("attribute_names").get(name).asString(),
                        "%08x".formatted(Attribute.name(name))));
    }

    @Test
    void aLongDescriptionUsesTheThirdByteOfTheWordCount() {
        JsonNode last = Vectors.ALL.get("identifiers").get(5);
        FormatBuilder builder = Format.builder(Layout.X86_64).structure("many");
        for (int i = 0; i < 20_000; i++) {
            builder.field("f%05d".formatted(i), "integer", 4);
        }
        Format format = builder.build();
        assertEquals(last.get("length").asInt(), format.description().length);
        assertEquals(last.get("id").asString(), format.id().toString());
    }
}
