package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

class ConversionTest {
    static List<Arguments> conversions() {
        return Vectors.ALL
                .get("conversions")
                .valueStream()
                .flatMap(one -> one.get("sources").propertyNames().stream()
                        .map(file -> Arguments.of(one.get("conversion").asString(), file, one)))
                .toList();
    }

    static List<JsonNode> files() {
        return Vectors.files();
    }

    private static Target target(JsonNode structures, Layout layout) {
        FormatBuilder builder = Format.builder(layout);
        for (JsonNode structure : structures) {
            builder.structure(structure.get("name").asString());
            for (JsonNode field : structure.get("fields")) {
                int size = field.get(1).asString().startsWith("string")
                        ? -1
                        : field.get(2).asInt();
                builder.field(field.get(0).asString(), field.get(1).asString(), size);
            }
        }
        return builder.target();
    }

    @ParameterizedTest(name = "{0} of {1}")
    @MethodSource("conversions")
    void aRecordBecomesWhatTheReceiverNeeds(String name, String file, JsonNode vector) throws IOException {
        for (Layout layout : layouts()) {
            if (vector.get("result").isString()) {
                assertThrows(FormatException.class, () -> convert(file, vector, layout));
            } else {
                List<JsonNode> found = convert(file, vector, layout);
                for (int i = 0; i < found.size(); i++) {
                    JsonNode expected = vector.get("result").get(i);
                    JsonNode one = found.get(i);
                    assertTrue(Vectors.alike(expected, one), () -> layout + "\n" + expected + "\n" + one);
                }
            }
        }
    }

    private static List<Layout> layouts() {
        Layout big = Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN);
        return List.of(
                Layout.X86_64,
                big,
                big.withPointerBytes(4).withVersion(0),
                Layout.X86_64.withFloats(FloatFormat.MIXED).withColumnMajor(true));
    }

    private static List<JsonNode> convert(String file, JsonNode vector, Layout layout) throws IOException {
        List<JsonNode> found = new ArrayList<>();
        try (FfsReader reader = Vectors.open(file)) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.DATA) {
                    RecordView record = reader.record();
                    Conversion conversion = Conversion.compile(record.format(), target(vector.get("target"), layout));
                    found.add(notation(conversion, record));
                }
            }
        }
        return found;
    }

    private static JsonNode notation(Conversion conversion, RecordView record) {
        int bytes = conversion.convert(record);
        return Vectors.notation(new RecordView().wrap(conversion.target(), conversion.memory(), 0, bytes));
    }

    /** Into the same structures in the other order, as another machine would have them. */
    @ParameterizedTest
    @MethodSource("files")
    void anotherOrderHasTheSameValues(JsonNode file) throws IOException {
        try (FfsReader reader = Vectors.open(file.get("file").asString())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.DATA) {
                    RecordView record = reader.record();
                    Format format = record.format();
                    Layout own = format.layout();
                    Layout other = own.withOrder(own.big() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
                            .withPointerBytes(12 - own.pointerBytes());
                    JsonNode expected = Vectors.notation(record);
                    JsonNode found = notation(Conversion.compile(format, Target.of(again(format, other))), record);
                    assertTrue(Vectors.alike(expected, found), () -> expected + "\n" + found);
                }
            }
        }
    }

    private static Format again(Format format, Layout layout) {
        FormatBuilder builder = Format.builder(layout);
        for (Structure structure : format.structures()) {
            builder.structure(structure.name());
            for (Field field : structure.fields()) {
                int size = field.type().kind() == Kind.STRING ? -1 : field.size();
                builder.field(field.name(), field.typeText(), size);
            }
        }
        return builder.build();
    }

    @Test
    void aCountThatDoesNotFitDropsTheRecord() {
        Format source = Format.builder(Layout.X86_64)
                .structure("s")
                .field("n", "integer", 4)
                .field("a", "char[n]")
                .build();
        Format target = Format.builder(Layout.X86_64)
                .structure("s")
                .field("n", "integer", 1)
                .field("a", "char[n]")
                .build();
        byte[] encoded = new RecordEncoder(source).encode(Map.of("a", new byte[256]));
        RecordView record = new RecordView().wrap(source, ByteBuffer.wrap(encoded), 0, encoded.length);
        FormatException refused = assertThrows(
                FormatException.class,
                () -> Conversion.compile(source, Target.of(target)).convert(record));
        assertEquals(FormatFault.CONVERSION, refused.fault());
    }

    @Test
    void numbersOfOtherKindsAreConvertedWhereThatIsAsked() {
        Format source = numbers("integer", "unsigned", "float");
        Target target = Target.of(numbers("float", "integer", "integer"));
        byte[] encoded = new RecordEncoder(source).encode(Map.of("a", -3, "b", 7, "c", 2.75));
        RecordView record = new RecordView().wrap(source, ByteBuffer.wrap(encoded), 0, encoded.length);
        assertThrows(FormatException.class, () -> Conversion.compile(source, target));
        assertEquals(
                "{\"a\":-3.0,\"b\":7,\"c\":2}",
                notation(Conversion.compileAcrossKinds(source, target), record).toString());
    }

    private static Format numbers(String a, String b, String c) {
        return Format.builder(Layout.X86_64)
                .structure("numbers")
                .field("a", a, 4)
                .field("b", b, 8)
                .field("c", c, 8)
                .build();
    }

    static List<Arguments> widths() {
        return Stream.of("integer:2", "integer:4", "integer:8", "float:4", "float:8", "char:1")
                .flatMap(kind -> Stream.of(0, 1, 3, 4, 5, 17).map(n -> Arguments.of(kind, n)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("widths")
    void arraysChangeTheirOrderWhateverTheirLength(String kind, int elements) {
        String[] parts = kind.split(":");
        List<Integer> values = Stream.iterate(1, v -> v + 3).limit(elements).toList();
        Format source = array(Layout.X86_64, parts);
        Format target = array(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN), parts);
        byte[] encoded = new RecordEncoder(source).encode(Map.of("a", values));
        RecordView record = new RecordView().wrap(source, ByteBuffer.wrap(encoded), 0, encoded.length);
        byte[] expected = new RecordEncoder(target).encode(Map.of("a", values));
        byte[] found = new byte[expected.length];
        Conversion.compile(source, Target.of(target)).convert(record, ByteBuffer.wrap(found), 0);
        assertEquals(ByteBuffer.wrap(expected), ByteBuffer.wrap(found));
    }

    private static Format array(Layout layout, String[] kind) {
        return Format.builder(layout)
                .structure("s")
                .field("n", "integer", 4)
                .field("a", kind[0] + "[n]", Integer.parseInt(kind[1]))
                .build();
    }

    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("hub", "string")
            .field("n", "integer")
            .field("gates", "integer[n]")
            .field("seat", "seat[2]")
            .structure("seat")
            .field("row", "integer")
            .field("name", "string")
            .build();

    private static RecordView flight() {
        Map<String, Object> value = Map.of(
                "id",
                7,
                "hub",
                "ATL",
                "n",
                2,
                "gates",
                List.of(3, 4),
                "seat",
                List.of(Map.of("row", 1, "name", "a"), Map.of("row", 2, "name", "b")));
        byte[] record = new RecordEncoder(FLIGHT).encode(value);
        return new RecordView().wrap(FLIGHT, ByteBuffer.wrap(record), 0, record.length);
    }

    private static RecordView converted(Conversion conversion, RecordView record) {
        int length = conversion.convert(record);
        return new RecordView().wrap(conversion.target(), conversion.memory(), 0, length);
    }

    private static Target preset(String text, String type, int size) {
        return Format.builder(Layout.X86_64)
                .structure("leg")
                .field("gate(" + text + ")", type, size)
                .target();
    }

    @ParameterizedTest
    @CsvSource({
        "3000000000, integer, 4, does not fit integer of 4 bytes",
        "99999999999999999999, integer, 8, does not fit integer of 8 bytes",
        "18446744073709551616, unsigned integer, 8, does not fit unsigned of 8 bytes",
        "-1, unsigned integer, 8, does not fit unsigned of 8 bytes",
        "300, unsigned integer, 1, does not fit unsigned of 1 bytes",
        "256, char, 1, more than one byte",
        "256, boolean, 1, does not fit boolean of 1 bytes",
        "4294967296, enumeration, 4, does not fit enumeration of 4 bytes",
        "1e39, float, 4, too large for float of 4 bytes",
        "1e400, float, 8, too large for float of 8 bytes",
        "1e-46, float, 4, too small for float of 4 bytes",
        "16777217, float, 4, is not exact as float of 4 bytes",
        "9007199254740993, double, 8, is not exact as float of 8 bytes",
        "1.5, float, 16, has 16 bytes",
        "٣, integer, 4, is no number in digits",
        "' 5', integer, 4, is no number in digits",
        "0x10, integer, 4, is no number in digits",
        "1d, double, 8, is no number in digits",
        "5.0, integer, 4, is no whole number in digits"
    })
    void aDefaultThatItsFieldDoesNotHoldIsRefused(String text, String type, int size, String why) {
        FormatException e = assertThrows(FormatException.class, () -> preset(text, type, size));

        assertEquals(FormatFault.CONVERSION, e.fault());
        assertTrue(e.getMessage().startsWith("field 'gate' of 'leg' has "), e.getMessage());
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "-2147483648, integer, 4, -2147483648",
        "+007, integer, 4, 7",
        "18446744073709551615, unsigned integer, 8, -1",
        "7, char, 1, 55",
        "'', char, 1, 0",
        "0.1, float, 4, 0.10000000149011612",
        "9007199254740993.0, double, 8, 9007199254740992",
        "-0, double, 8, -0.0",
        "0e-400, double, 8, 0"
    })
    void aDefaultIsWhatTheTextSays(String text, String type, int size, String wanted) {
        Target target = preset(text, type, size);
        Format empty = Format.builder(Layout.X86_64)
                .structure("leg")
                .field("other", "integer", 4)
                .build();
        byte[] bytes = new RecordEncoder(empty).encode(Map.of());
        RecordView record = new RecordView().wrap(empty, ByteBuffer.wrap(bytes), 0, bytes.length);
        Conversion conversion = Conversion.compile(empty, target);
        int length = conversion.convert(record);
        RecordView leg = new RecordView().wrap(target.format(), conversion.memory(), 0, length);

        Accessor gate = target.format().accessor("gate");
        if (type.equals("float") || type.equals("double")) {
            assertEquals(Double.parseDouble(wanted), gate.getDouble(leg));
        } else {
            assertEquals(Long.parseLong(wanted), gate.getLong(leg));
        }
    }

    @Test
    void fieldsAreTakenUnderOtherNamesAndTheRestIsNull() {
        Format target = Format.builder(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN))
                .structure("reply")
                .field("number", "integer", 4)
                .field("from", "string")
                .field("to", "string")
                .build();

        RecordView reply = converted(
                Conversion.compileFields(FLIGHT, Target.of(target), Map.of("number", "id", "from", "hub")), flight());

        assertEquals(7, target.accessor("number").getLong(reply));
        assertEquals("ATL", target.accessor("from").getText(reply, 0));
        assertTrue(target.accessor("to").isNull(reply, 0));
    }

    @Test
    void severalRecordsFillOne() {
        Target target = Format.builder(Layout.X86_64)
                .structure("offer")
                .field("id", "integer", 8)
                .field("seat", "seat[2]")
                .field("hub", "string")
                .field("gate(9)", "integer")
                .structure("seat")
                .field("row", "integer")
                .field("name", "string")
                .target();
        RecordWriter writer = new RecordWriter(target.format());
        writer.begin(target.format());

        Conversion.compileFields(FLIGHT, target, Map.of("hub", "hub", "gate", ""))
                .fill(flight(), writer);
        Conversion.compileFields(FLIGHT, target, Map.of("id", "id", "seat", "seat"))
                .fill(flight(), writer);

        RecordView offer = new RecordView().wrap(target.format(), writer.memory(), 0, writer.finish());
        assertEquals("ATL", target.format().accessor("hub").getText(offer, 0));
        assertEquals(9, target.format().accessor("gate").getLong(offer));
        assertEquals("b", target.format().accessor("seat[1].name").getText(offer, 0));
    }

    @Test
    void anArrayIsNotTakenWithoutWhatCountsIt() {
        FormatException refusal = assertThrows(
                FormatException.class,
                () -> Conversion.compileFields(FLIGHT, Target.of(FLIGHT), Map.of("gates", "gates")));

        assertEquals("field 'gates' of 'flight' is counted by 'n', which is not taken with it", refusal.getMessage());
    }

    @Test
    void theBaseAloneHasNoStringsAndNoPointers() {
        RecordView base = converted(Conversion.compileBase(FLIGHT), flight());

        assertEquals(FLIGHT.top().recordLength(), base.bodyLength());
        assertEquals(7, FLIGHT.accessor("id").getLong(base));
        assertEquals(2, FLIGHT.accessor("seat[1].row").getLong(base));
        assertTrue(FLIGHT.accessor("hub").isNull(base, 0));
        assertTrue(FLIGHT.accessor("gates").isNull(base, 0));
        assertTrue(FLIGHT.accessor("seat[1].name").isNull(base, 0));
    }
}
