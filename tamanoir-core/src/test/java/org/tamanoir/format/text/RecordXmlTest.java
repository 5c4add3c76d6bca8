package org.tamanoir.format.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;

class RecordXmlTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .field("n", "integer")
            .field("gates", "integer[n]", 2)
            .field("fuel left", "float")
            .field("next", "*flight")
            .build();

    private static RecordView record(Map<String, ?> values) {
        byte[] encoded = new RecordEncoder(FLIGHT).encode(values);
        return new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length);
    }

    private static byte[] parse(Format format, String xml) throws IOException, XMLStreamException {
        XMLStreamReader in = XmlRecords.parser(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
        in.nextTag();
        return new XmlRecords(format).encode(in);
    }

    /** Returns the values of a flight with these elements. */
    private static Map<String, @Nullable Object> flight(String elements) throws IOException, XMLStreamException {
        byte[] encoded = parse(FLIGHT, "<record>" + elements + "</record>");
        return RecordTree.read(new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length));
    }

    private static void comesBack(String hub) throws IOException, XMLStreamException {
        byte[] encoded = new RecordEncoder(FLIGHT).encode(Map.of("hub", hub));
        RecordView record = new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length);
        assertArrayEquals(encoded, parse(FLIGHT, new RecordXml().element(record)));
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
                "many-fields",
                "flights"
            })
    void aRecordComesBackFromXmlByteForByte(String name) throws IOException, XMLStreamException {
        int records = 0;
        for (String writer : List.of("le64", "be32")) {
            InputStream file = RecordXmlTest.class.getResourceAsStream("/ffs/" + writer + "/" + name + ".ffs");
            if (file == null) {
                continue;
            }
            try (FfsReader reader = FfsReader.ofFile(file)) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    if (kind == ItemKind.DATA) {
                        RecordView record = reader.record();
                        byte[] came = new byte[record.length()];
                        record.memory().get(record.start(), came);
                        assertArrayEquals(came, parse(record.format(), new RecordXml().element(record)));
                        records++;
                    }
                }
            }
        }
        assertTrue(records > 0);
    }

    @Test
    void aFieldIsAnElement() {
        Map<String, Object> values =
                new HashMap<>(Map.of("delay", -5, "hub", "A<&>\"é😀\"", "gates", List.of(7, 8), "fuel left", 0.5));
        assertEquals(
                "<record format=\"" + FLIGHT.id() + "\" name=\"flight\" id=\"0\"><delay>-5</delay>"
                        + "<hub>A&lt;&amp;&gt;\"é😀\"</hub><n>2</n><gates><item>7</item><item>8</item></gates>"
                        + "<field name=\"fuel left\">0.5</field><next null=\"true\"></next></record>",
                new RecordXml().element(record(values)));
    }

    @Test
    void spacesAndWhatXmlCannotHoldComeBack() throws IOException, XMLStreamException {
        for (String hub : List.of("", " ", "\r\n", "\u0001", "\uFFFE", "]]>", " a\tb\n", "<!-- -->", "&lt;&#10;")) {
            comesBack(hub);
        }
    }

    @Test
    void aLongTextOfReferencesComesBack() throws IOException, XMLStreamException {
        comesBack("<&>".repeat(100_000));
    }

    @Test
    void blanksBetweenElementsAreNothing() throws IOException, XMLStreamException {
        assertEquals(7L, flight(" <!-- late -->\n<delay> 7 </delay>\n").get("delay"));
    }

    @Test
    void aFieldThatTheFormatDoesNotHaveIsRefused() {
        assertEquals(
                "structure 'flight' has no field 'gate'",
                assertThrows(FormatException.class, () -> flight("<gate>7</gate>"))
                        .getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<delay></delay>",
                "<delay>1e3</delay>",
                "<delay>2147483648</delay>",
                "<delay><item>1</item></delay>",
                "<hub hex='0'/>",
                "<hub null='true'>ATL</hub>",
                "<gates>7</gates>",
                "<gates><gate>7</gate></gates>",
                "<next ref='3'/>",
                "<delay>&unknown;</delay>",
                "<delay>7",
                "late"
            })
    void whatIsNoRecordIsRefused(String elements) {
        Exception refused = assertThrows(Exception.class, () -> flight(elements));
        assertTrue(refused instanceof FormatException || refused instanceof XMLStreamException, refused::toString);
    }

    @Test
    void aNumberWithoutEndIsRefused() {
        assertThrows(FormatException.class, () -> flight("<delay>" + "9".repeat(1_000_000) + "</delay>"));
    }

    @Test
    void whatNestsTooDeepIsRefused() {
        assertThrows(FormatException.class, () -> flight("<next>".repeat(5_000) + "</next>".repeat(5_000)));
    }

    @Test
    void aListOfAThousandComesBack() throws IOException, XMLStreamException {
        String xml = "<record>" + "<next>".repeat(1_000) + "</next>".repeat(1_000) + "</record>";
        byte[] encoded = parse(FLIGHT, xml);
        RecordView record = new RecordView().wrap(FLIGHT, ByteBuffer.wrap(encoded), 0, encoded.length);
        assertArrayEquals(encoded, parse(FLIGHT, new RecordXml().element(record)));
    }

    @Test
    void noEntityOfADocumentTypeIsRead(@TempDir Path folder) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "secret");
        for (String entity : List.of("'inside'", "SYSTEM '" + secret.toUri() + "'")) {
            String document = "<!DOCTYPE record [<!ENTITY e " + entity + ">]><record><hub>&e;</hub></record>";
            assertThrows(Exception.class, () -> {
                XMLStreamReader in =
                        XmlRecords.parser(new ByteArrayInputStream(document.getBytes(StandardCharsets.UTF_8)));
                while (!in.isStartElement()) {
                    in.next();
                }
                new XmlRecords(FLIGHT).encode(in);
            });
        }
    }
}
