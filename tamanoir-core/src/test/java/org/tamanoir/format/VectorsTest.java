package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Every file of the C library, on machines of every kind. */
class VectorsTest {
    static List<JsonNode> files() {
        return Vectors.files();
    }

    static List<String> hostile() {
        return Vectors.ALL
                .get("hostile")
                .valueStream()
                .map(one -> one.get("file").asString())
                .toList();
    }

    static List<JsonNode> formats() {
        return Vectors.ALL.get("formats").propertyNames().stream()
                .map(id -> (JsonNode) Vectors.JSON
                        .createObjectNode()
                        .put("id", id)
                        .set("format", Vectors.ALL.get("formats").get(id)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyRecordHasTheValuesThatWereWritten(JsonNode file) throws IOException {
        List<JsonNode> found = new ArrayList<>();
        try (FfsReader reader = Vectors.open(file.get("file").asString())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.DATA) {
                    found.add(Vectors.notation(reader.record()));
                }
            }
        }
        JsonNode expected = Vectors.records(file);
        assertEquals(file.get("record_formats").size(), found.size());
        for (int i = 0; i < found.size(); i++) {
            assertTrue(Vectors.alike(expected.get(i), found.get(i)), expected.get(i) + "\n" + found.get(i));
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyRecordIsWrittenAgainByteForByte(JsonNode file) throws IOException {
        try (FfsReader reader = Vectors.open(file.get("file").asString())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.DATA) {
                    RecordView record = reader.record();
                    byte[] came = new byte[record.length()];
                    record.memory().get(record.start(), came);
                    byte[] written = new RecordEncoder(record.format()).encode(RecordTree.read(record));
                    assertEquals(HexFormat.of().formatHex(came), HexFormat.of().formatHex(written));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyDescriptionIsWrittenAgainByteForByte(JsonNode file) throws IOException {
        try (FfsReader reader = Vectors.open(file.get("file").asString())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.FORMAT) {
                    Format format = reader.format();
                    assertArrayEquals(format.description(), again(format).description());
                }
            }
        }
    }

    private static Format again(Format format) {
        FormatBuilder builder = Format.builder(format.layout());
        for (Structure structure : format.structures()) {
            builder.structure(structure.name(), structure.recordLength(), structure.alignment());
            structure.fields().forEach(f -> builder.field(f.name(), f.typeText(), f.size(), f.offset()));
            structure.information().forEach(i -> builder.information(i.type(), i.bytes()));
        }
        return builder.build();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void everyFormatIsTakenApartAndHasItsIdentifier(JsonNode vector) throws IOException {
        JsonNode parts = vector.get("format");
        boolean big = parts.get("byte_order").asString().equals("big");
        FormatBuilder builder = Format.builder(new Layout(
                big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN,
                parts.get("pointer_size").asInt(),
                FloatFormat.of(parts.get("float_format").asInt()),
                parts.get("description_version").asInt(),
                parts.get("column_major").asBoolean()));
        for (JsonNode structure : parts.get("structs")) {
            builder.structure(
                    structure.get("name").asString(),
                    structure.get("record_length").asInt(),
                    structure.get("alignment").asInt());
            for (JsonNode field : structure.get("fields")) {
                builder.field(
                        field.get(0).asString(),
                        field.get(1).asString(),
                        field.get(2).asInt(),
                        field.get(3).asInt());
            }
            for (JsonNode information : structure.path("optional_information")) {
                builder.information(
                        Integer.parseUnsignedInt(information.get(0).asString(), 16),
                        HexFormat.of().parseHex(information.get(1).asString()));
            }
        }
        Format format = builder.build();
        assertEquals(vector.get("id").asString(), format.id().toString());
        for (JsonNode structure : parts.get("structs")) {
            Structure found = Objects.requireNonNull(
                    format.structure(structure.get("name").asString()));
            assertEquals(structure.get("variable").asBoolean(), found.isVariable(), found.name());
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void aFileFedByteByByteGivesTheSameItems(JsonNode file) {
        String name = file.get("file").asString();
        byte[] bytes = Vectors.bytes(name);
        assertEquals(items(name, bytes, bytes.length), items(name, bytes, 1));
    }

    private static List<String> items(String name, byte[] bytes, int pieceBytes) {
        List<String> items = new ArrayList<>();
        ItemDecoder decoder = new ItemDecoder(name.endsWith(".ffs"));
        for (int at = 0; at < bytes.length; at += pieceBytes) {
            decoder.feed(ByteBuffer.wrap(bytes, at, Math.min(pieceBytes, bytes.length - at)));
            for (ItemKind kind = decoder.next(); kind != null; kind = decoder.next()) {
                byte[] item = new byte[decoder.itemBytes()];
                decoder.memory().get(decoder.itemAt(), item);
                items.add(kind + HexFormat.of().formatHex(item));
            }
        }
        decoder.end();
        return items;
    }

    @ParameterizedTest
    @MethodSource("files")
    void commentsAndIndexAreFound(JsonNode file) throws IOException {
        int records = 0;
        var comments = Vectors.JSON.createArrayNode();
        var blocks = Vectors.JSON.createArrayNode();
        try (FfsReader reader = Vectors.open(file.get("file").asString())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                switch (kind) {
                    case DATA -> records++;
                    case COMMENT ->
                        comments.addObject().put("after_records", records).put("text", reader.comment());
                    case INDEX -> blocks.add(block(reader.index()));
                    default -> {}
                }
            }
        }
        assertTrue(Vectors.alike(or(file.get("comments")), comments), () -> comments.toString());
        assertTrue(Vectors.alike(or(file.get("index")), blocks), () -> or(file.get("index")) + "\n" + blocks);
    }

    private static JsonNode or(@Nullable JsonNode node) {
        return node == null ? Vectors.JSON.createArrayNode() : node;
    }

    private static JsonNode block(IndexBlock block) {
        var node = Vectors.JSON.createObjectNode();
        node.put("next", block.next()).put("first", block.first()).put("last", block.last());
        var entries = node.putArray("entries");
        for (IndexBlock.Entry entry : block.entries()) {
            var one = entries.addObject();
            one.put("entry", entry.kind() == ItemKind.FORMAT ? "format" : "data");
            one.put("position", entry.position()).put("id", entry.id().toString());
            if (!entry.attributes().isEmpty()) {
                var attributes = one.putArray("attributes");
                for (Attribute attribute : entry.attributes()) {
                    var list = attributes.addArray();
                    list.add(Integer.toUnsignedLong(attribute.name())).add(attribute.kind());
                    if (attribute.value() instanceof byte[] bytes) {
                        list.addObject().put("octets", HexFormat.of().formatHex(bytes));
                    } else {
                        list.addPOJO(attribute.value());
                        list.set(2, Vectors.JSON.valueToTree(attribute.value()));
                    }
                }
            }
        }
        return node;
    }

    @ParameterizedTest
    @MethodSource("files")
    void aFileIsWrittenAgainWithItsRecords(JsonNode file) throws IOException {
        String name = file.get("file").asString();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        List<JsonNode> before = new ArrayList<>();
        try (FfsReader reader = Vectors.open(name);
                FfsWriter writer = FfsWriter.ofFile(bytes)) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.DATA) {
                    writer.record(reader.record());
                    before.add(Vectors.notation(reader.record()));
                } else if (kind == ItemKind.COMMENT) {
                    writer.comment(reader.comment());
                } else if (kind == ItemKind.FORMAT) {
                    writer.format(reader.format());
                }
            }
        }
        if (file.has("index")) {
            return;
        }
        byte[] original = Vectors.bytes(name);
        byte[] written = bytes.toByteArray();
        int magic = name.endsWith(".ffs") ? 0 : 4;
        assertEquals(HexFormat.of().formatHex(original), HexFormat.of().formatHex(written, magic, written.length));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void aDamagedFileIsRefused(String file) {
        assertThrows(FormatException.class, () -> {
            try (FfsReader reader = Vectors.open(file)) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    switch (kind) {
                        case DATA -> Vectors.notation(reader.record());
                        case COMMENT -> reader.comment();
                        case INDEX -> reader.index();
                        default -> {}
                    }
                }
            }
        });
    }
}
