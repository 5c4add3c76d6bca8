package org.tamanoir.format.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

class RecordTextTest {
    private static String json(RecordView record) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = RecordJson.factory().createGenerator(ObjectWriteContext.empty(), text)) {
            new RecordJson().write(record, out);
        }
        return text.toString();
    }

    private static byte[] parse(Format format, String json) {
        try (JsonParser in = RecordJson.factory().createParser(ObjectReadContext.empty(), json)) {
            return Objects.requireNonNull(new JsonRecords(format).next(in));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars",
                "strings",
                "static-arrays",
                "nested",
                "dynamic",
                "dynamic-structs",
                "string-array",
                "multi-dim",
                "pointers",
                "recursive-list",
                "recursive-shared",
                "recursive-cycle",
                "recursive-inner",
                "long-double",
                "column-major",
                "mixed-endian-float",
                "flights"
            })
    void aRecordComesBackFromJsonByteForByte(String name) throws IOException {
        for (String writer : List.of("le64", "be32")) {
            InputStream file = RecordTextTest.class.getResourceAsStream("/ffs/" + writer + "/" + name + ".ffs");
            if (file == null) {
                continue;
            }
            try (FfsReader reader = FfsReader.ofFile(file)) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    if (kind == ItemKind.DATA) {
                        RecordView record = reader.record();
                        byte[] came = new byte[record.length()];
                        record.memory().get(record.start(), came);
                        assertArrayEquals(came, parse(record.format(), json(record)));
                    }
                }
            }
        }
    }

    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .field("at", "place")
            .field("next", "*flight")
            .structure("place")
            .field("x", "float")
            .field("y", "float[2]")
            .build();

    @Test
    void aFieldThatTheFormatDoesNotHaveIsRefused() {
        assertThrows(FormatException.class, () -> parse(FLIGHT, "{\"gate\":7}"));
    }

    @Test
    void aNumberThatDoesNotFitIsRefused() {
        assertEquals(
                "field 'delay': 2147483648 does not fit integer of 4 bytes",
                assertThrows(FormatException.class, () -> parse(FLIGHT, "{\"delay\":2147483648}"))
                        .getMessage());
    }

    @Test
    void jsonThatIsDamagedIsRefused() {
        for (String text : List.of("{", "[]", "{\"delay\":}", "{\"hub\":{\"hex\":\"0\"}}", "{\"at\":{\"y\":[1]}}")) {
            assertThrows(FormatException.class, () -> parse(FLIGHT, text), text);
        }
    }

    @Test
    void whatNestsTooDeepIsRefused() {
        String text = "{\"next\":".repeat(3_000) + "null" + "}".repeat(3_000);
        assertThrows(FormatException.class, () -> parse(FLIGHT, text));
    }

    @Test
    void whatNestsAsDeepAsARecordMayComesBack() {
        String text = "{\"next\":".repeat(FormatLimits.POINTER_DEPTH + 1) + "null"
                + "}".repeat(FormatLimits.POINTER_DEPTH + 1);
        byte[] encoded = parse(FLIGHT, text);
        RecordView record = new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length);
        assertArrayEquals(encoded, parse(FLIGHT, json(record)));
    }

    @Test
    void aReferenceNamesOneStructureOfItsTypeAndStandsAlone() {
        for (String text : List.of(
                "{\"@id\":1,\"@ref\":1,\"delay\":7}",
                "{\"@id\":1,\"next\":{\"@id\":2},\"at\":{\"@ref\":2}}",
                "{\"@id\":1,\"next\":{\"@id\":1}}",
                "{\"next\":{\"@id\":1,\"next\":{\"@ref\":1,\"delay\":7}}}",
                "{\"delay\":7,\"delay\":8}")) {
            assertThrows(FormatException.class, () -> parse(FLIGHT, text), text);
        }
    }

    @Test
    void aRowHasACellForEachField() {
        byte[] encoded = new RecordEncoder(FLIGHT)
                .encode(Map.of("delay", 5, "hub", "a \"b\", c", "at", Map.of("x", 1.5, "y", List.of(1, 2))));
        StringWriter text = new StringWriter();
        RecordCsv csv = new RecordCsv(text);
        csv.header(FLIGHT);
        csv.record(new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length));
        assertEquals("delay,hub,at.x,at.y,next\r\n5,\"a \"\"b\"\", c\",1.5,\"[1.0,2.0]\",\r\n", text.toString());
        assertTrue(FLIGHT.top().isRecursive());
    }
}
