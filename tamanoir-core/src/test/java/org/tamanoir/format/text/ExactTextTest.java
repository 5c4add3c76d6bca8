package org.tamanoir.format.text;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;

/** Text and numbers are what the input says, or are refused. */
@Tag("once")
class ExactTextTest {
    private static final Format ALL = Format.builder(Layout.X86_64)
            .structure("all")
            .field("i1", "integer", 1)
            .field("i8", "integer", 8)
            .field("u8", "unsigned integer", 8)
            .field("f4", "float", 4)
            .field("f8", "float", 8)
            .field("b", "boolean", 1)
            .field("s", "string")
            .field("grid", "integer[2][2]", 4)
            .field("legs", "leg[2]")
            .structure("leg")
            .field("gate", "integer", 2)
            .field("at", "string")
            .build();

    private static @Nullable Object value(byte[] record, String field) {
        Object value = RecordTree.read(new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length))
                .get(field);
        return value instanceof byte[] text ? new String(text, StandardCharsets.UTF_8) : value;
    }

    private static byte[] record(JsonParser in) {
        return Objects.requireNonNull(new JsonRecords(ALL).next(in));
    }

    private static byte[] json(byte[] text) {
        try (JsonParser in = RecordJson.factory()
                .createParser(ObjectReadContext.empty(), new StrictUtf8(new ByteArrayInputStream(text)))) {
            return record(in);
        }
    }

    private static byte[] json(String text) {
        return json(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] cbor(String hex) throws IOException {
        return new CborInput(new ByteArrayInputStream(HexFormat.of().parseHex(hex))).readAllBytes();
    }

    private static byte[] xml(byte[] document) throws IOException, XMLStreamException {
        XMLStreamReader in = XmlRecords.parser(new ByteArrayInputStream(document));
        in.nextTag();
        return new XmlRecords(ALL).encode(in);
    }

    private static byte[] xml(String elements) throws IOException, XMLStreamException {
        return xml(("<record>" + elements + "</record>").getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "f8 | 0.1 | 0.1",
                "f8 | 1e308 | 1e308",
                "f8 | 4.9e-324 | 4.9e-324",
                "f8 | 0e-400 | 0",
                "f8 | 9007199254740992 | 9007199254740992",
                "f8 | 9007199254740993.0 | 9007199254740992",
                "f4 | 0.1 | 0.10000000149011612",
                "f4 | 16777216 | 16777216",
                "f4 | 1.000000178813934326171874999 | 1.0000001192092896",
                "f4 | 3.4028235e38 | 3.4028234663852886E38"
            })
    void aFloatIsTheNearest(String field, String number, double nearest) throws IOException, XMLStreamException {
        assertThat(value(json("{\"" + field + "\":" + number + "}"), field)).isEqualTo(nearest);
        assertThat(value(xml("<" + field + ">" + number + "</" + field + ">"), field))
                .isEqualTo(nearest);
    }

    @Test
    void minusZeroIsMinusZero() throws IOException, XMLStreamException {
        assertThat(value(json("{\"f8\":-0}"), "f8")).isEqualTo(-0.0);
        assertThat(value(json("{\"f4\":-0.0}"), "f4")).isEqualTo(-0.0);
        assertThat(value(xml("<f8>-0</f8>"), "f8")).isEqualTo(-0.0);
        assertThat(value(json("{\"i8\":-0}"), "i8")).isEqualTo(0L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "f8 | 1e400 | too large for float of 8 bytes",
                "f8 | -1e400 | too large for float of 8 bytes",
                "f4 | 1e39 | too large for float of 4 bytes",
                "f4 | 3.4028236e38 | too large for float of 4 bytes",
                "f8 | 1e-400 | too small for float of 8 bytes",
                "f4 | 1e-50 | too small for float of 4 bytes",
                "f8 | 9007199254740993 | is not exact as float of 8 bytes",
                "f4 | 16777217 | is not exact as float of 4 bytes",
                "i1 | 128 | does not fit integer of 1 bytes",
                "i8 | 9223372036854775808 | does not fit integer of 8 bytes",
                "u8 | 18446744073709551616 | does not fit unsigned of 8 bytes",
                "u8 | -1 | does not fit unsigned of 8 bytes",
                "i8 | 3.5 | whole number",
                "i8 | 3.0 | whole number",
                "i8 | 1e3 | whole number"
            })
    void aNumberThatWouldBeAnotherIsRefused(String field, String number, String refusal) {
        assertThatThrownBy(() -> json("{\"" + field + "\":" + number + "}"))
                .isInstanceOf(FormatException.class)
                .hasMessageStartingWith("field '" + field + "': ")
                .hasMessageContaining(refusal);
        assertThatThrownBy(() -> xml("<" + field + ">" + number + "</" + field + ">"))
                .isInstanceOf(FormatException.class)
                .hasMessageStartingWith("field '" + field + "': ")
                .hasMessageContaining(refusal);
    }

    @Test
    void theBoundsOfWholeNumbersAreTaken() throws IOException, XMLStreamException {
        for (String number : List.of("9223372036854775807", "-9223372036854775808")) {
            assertThat(value(json("{\"i8\":" + number + "}"), "i8")).isEqualTo(Long.valueOf(number));
            assertThat(value(xml("<i8>" + number + "</i8>"), "i8")).isEqualTo(Long.valueOf(number));
        }
        BigInteger most = new BigInteger("18446744073709551615");
        assertThat(value(json("{\"u8\":" + most + "}"), "u8")).hasToString(most.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "01",
                "+1",
                "1.",
                ".5",
                "0x10",
                "NaN",
                "Infinity",
                "1e",
                "--1",
                "1_0",
                "'1'",
                "1d",
                "٣",
                "\"1\"",
                "\"1.0\"",
                "\"NaN\"",
                "tru",
                "[1]",
                "{\"hex\":\"01\"}",
                "{\"hex\":55}",
                "{\"foo\":\"01\"}"
            })
    void whatIsNoNumberOfJsonIsRefused(String number) {
        assertThatThrownBy(() -> json("{\"i8\":" + number + "}"))
                .isInstanceOfAny(FormatException.class, JacksonException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0x1p3",
                "0x10",
                "1.5d",
                "2f",
                "2F",
                "1D",
                "٣",
                "१",
                "1e",
                "e5",
                ".",
                "",
                "1 2",
                "--1",
                "1_0",
                "1,5",
                "\u00a01",
                "\u20031",
                "\u00851",
                "nan",
                "inf",
                "Infinityd",
                "+NaN",
                "1e5.5",
                "-",
                "+"
            })
    void whatXmlSchemaDoesNotKnowIsNoNumber(String number) {
        for (String field : List.of("f8", "f4", "i8", "b")) {
            assertThatThrownBy(() -> xml("<" + field + ">" + number + "</" + field + ">"))
                    .as(field + " " + number)
                    .isInstanceOf(FormatException.class);
        }
    }

    @Test
    void whatXmlSchemaKnowsIsTaken() throws IOException, XMLStreamException {
        assertThat(value(xml("<i8> +07\r\n</i8>"), "i8")).isEqualTo(7L);
        assertThat(value(xml("<f8>\t+.5e+1 </f8>"), "f8")).isEqualTo(5.0);
        assertThat(value(xml("<f8>5.</f8>"), "f8")).isEqualTo(5.0);
        assertThat(value(xml("<f8>INF</f8>"), "f8")).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(value(xml("<f4>-INF</f4>"), "f4")).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(value(xml("<f8>Infinity</f8>"), "f8")).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(value(xml("<f8>NaN</f8>"), "f8")).isEqualTo(Double.NaN);
        for (String truth : List.of("1", "true", " true ")) {
            assertThat(value(xml("<b>" + truth + "</b>"), "b")).isEqualTo(1L);
            assertThat(value(xml("<s null='" + truth + "'/>"), "s")).isNull();
        }
        for (String lie : List.of("0", "false")) {
            assertThat(value(xml("<b>" + lie + "</b>"), "b")).isEqualTo(0L);
            assertThat(value(xml("<s null='" + lie + "'>x</s>"), "s")).isEqualTo("x");
        }
        assertThatThrownBy(() -> xml("<s null='yes'/>"))
                .hasMessage("field 's': attribute null is neither true nor false");
        assertThatThrownBy(() -> xml("<i8>true</i8>")).isInstanceOf(FormatException.class);
    }

    @Test
    void anInfinityIsWrittenAsXmlSchemaDoes() throws IOException, XMLStreamException {
        for (double value : List.of(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY)) {
            byte[] record = new RecordEncoder(ALL).encode(Map.of("f8", value, "f4", value));
            String element =
                    new RecordXml().element(new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length));
            assertThat(element).contains("<f8>" + (value > 0 ? "" : "-") + "INF</f8>");
            assertThat(xml(element.getBytes(StandardCharsets.UTF_8))).isEqualTo(record);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\\ud83d",
                "\\ude00",
                "\\ud83d\\ud83d",
                "\\ude00\\ud83d",
                "x\\ud83dy",
                "\\uD83D\\n",
                "\\u0000",
                "a\\u0000b"
            })
    void aTextThatIsNoneIsRefused(String text) {
        assertThatThrownBy(() -> json("{\"s\":\"" + text + "\"}"))
                .isInstanceOf(FormatException.class)
                .hasMessageStartingWith("field 's': text ");
    }

    @Test
    void aPairOfSurrogatesIsACharacter() {
        assertThat(value(json("{\"s\":\"\\ud83d\\ude00\"}"), "s")).isEqualTo("😀");
        assertThat(value(json("\uFEFF{\"s\":\"\uFEFF😀\"}"), "s")).isEqualTo("\uFEFF😀");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "80",
                "bf",
                "c0",
                "c080",
                "c181",
                "c3",
                "e0",
                "e08080",
                "e08181",
                "e28f",
                "eda080",
                "edb080",
                "eda0bdedb880",
                "f0808080",
                "f08080af",
                "f09f98",
                "f4908080",
                "f5808080",
                "fe",
                "ff",
                "c328",
                "e28228"
            })
    void bytesThatAreNotUtf8AreRefused(String hex) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(hex);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes("{\"s\":\"".getBytes(StandardCharsets.US_ASCII));
        text.writeBytes(bytes);
        text.writeBytes("\"}".getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> json(text.toByteArray())).hasMessageContaining("not UTF-8 at byte offset 6");
        assertThatThrownBy(() -> StrictUtf8.decode(text.toByteArray()))
                .hasMessage("not UTF-8 at byte offset 6: convert it to UTF-8");

        String head = "a16173" + String.format("%02x", 0x60 + bytes.length);
        assertThatThrownBy(() -> cbor(head + hex)).hasMessageStartingWith("text that is not UTF-8 at byte offset ");
        assertThatThrownBy(() -> cbor("7f" + head + hex + "ff")).hasMessageContaining("text that is not UTF-8");
        assertThat(cbor("58" + String.format("%02x", bytes.length) + hex)).hasSize(bytes.length + 2);

        ByteArrayOutputStream element = new ByteArrayOutputStream();
        element.writeBytes("<record><s>".getBytes(StandardCharsets.US_ASCII));
        element.writeBytes(bytes);
        element.writeBytes("</s></record>".getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> xml(element.toByteArray()))
                .isInstanceOf(XMLStreamException.class)
                .hasMessageContaining("not UTF-8 at byte offset 11");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "64f09f9880",
                "7f62c3a96161ff",
                "7f60ff",
                "5bffffffffffffffff",
                "780161",
                "79000161",
                "7a0000000161",
                "7b000000000000000161",
                "c249ff0000000000000000",
                "fbffffffffffffffff",
                "f97e00",
                "3bffffffffffffffff",
                "bf6161ffff",
                "1c1d1e",
                "9f01ff",
                "c48221190fa0",
                "c48220c34101",
                "c25f4101ff",
                "a17f6161ff82f6a0",
                "bf6161bf6162c24101ffff",
                "a0f5"
            })
    void cborIsHandedOnAsItIs(String hex) throws IOException {
        assertThat(HexFormat.of().formatHex(cbor(hex))).isEqualTo(hex);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a16161f7 | undefined or another simple value",
                "a16161e5 | undefined or another simple value",
                "a16161f820 | undefined or another simple value",
                "d9d9f7a0 | tag 55799, where 2, 3 and 4 are taken,",
                "a16161c06161 | tag 0,",
                "a16161db000000000000000101 | tag 1,",
                "a16161dbffffffffffffffff01 | tag 18446744073709551615,",
                "a16161c24101a1c5 | key that is no text",
                "a16161c5820101 | tag 5,",
                "a16161c2c24101 | tag 2 without a byte string",
                "a16161c2f6 | tag 2 without a byte string",
                "a16161c3820001 | tag 3 without a byte string",
                "a16161c405 | tag 4 without a list of two whole numbers",
                "a16161c480 | tag 4 without",
                "a16161c483000000 | tag 4 without",
                "a16161c482f6f6 | tag 4 without",
                "a16161c482616100 | tag 4 without",
                "a16161c48200f93c00 | tag 4 without",
                "a16161c482c2410100 | tag 4 without",
                "a16161c49f0001ff | tag 4 without",
                "a1416101 | key that is no text",
                "a10101 | key that is no text",
                "a26161010202 | key that is no text",
                "a16161a26162800200 | key that is no text",
                "bf61610102 | key that is no text",
                "bf61617f6162ff02 | key that is no text",
                "bf61619f01ffa0 | key that is no text",
                "a15f4161ff01 | key that is no text"
            })
    void cborThatAParserWouldDropOrTakeForAnotherIsRefused(String line) {
        String[] hexAndWhy = line.split(" \\| ");
        assertThatThrownBy(() -> cbor(hexAndWhy[0]))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(hexAndWhy[1]);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"i8\":null} | field 'i8': needs a number, not null",
                "{\"f8\":null} | field 'f8': needs a number, not null",
                "{\"b\":null} | field 'b': needs a number, not null",
                "{\"grid\":null} | field 'grid': needs a list, not null",
                "{\"grid\":[[1,2],[3,null]]} | field 'grid[1][1]': needs a number, not null",
                "{\"grid\":[[1,2],null]} | field 'grid[1]': array of integer is no list but null",
                "{\"legs\":[{},null]} | field 'legs[1]': needs its fields, not null",
                "{\"legs\":[{},{\"gate\":null}]} | field 'legs[1].gate': needs a number, not null",
                "{\"i1\":true} | field 'i1': needs a number, not true",
                "{\"u8\":false} | field 'u8': needs a number, not false"
            })
    void nullAndTruthAreNoNumbers(String object, String why) {
        assertThatThrownBy(() -> json(object))
                .isInstanceOf(FormatException.class)
                .hasMessage(why);
        assertThat(value(json("{\"b\":true}"), "b")).isEqualTo(1L);
        assertThat(value(json("{\"s\":null}"), "s")).isNull();
    }

    @Test
    void nullOfXmlIsNoNumber() {
        assertThatThrownBy(() -> xml("<i8 null='1'/>")).hasMessage("field 'i8': needs a number, not null");
        assertThatThrownBy(() -> xml("<legs><item/><item null='true'/></legs>"))
                .hasMessage("field 'legs[1]': needs its fields, not null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"f4", "f8"})
    void aFloatIsNoTruthAndNoBytes(String field) {
        String octets = field.equals("f4") ? "00000000" : "0000000000000000";
        assertThatThrownBy(() -> json("{\"" + field + "\":true}"))
                .hasMessage("field '" + field + "': needs a number, not true");
        assertThatThrownBy(() -> json("{\"" + field + "\":{\"octets\":\"" + octets + "\"}}"))
                .hasMessage("field '" + field + "': needs a number, not bytes");
        assertThatThrownBy(() -> xml("<" + field + " octets='" + octets + "'/>"))
                .hasMessage("field '" + field + "': needs a number, not bytes");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<s>a<?pi x?>b</s> | field 's': text with a processing instruction inside",
                "<i8>1<?pi?>2</i8> | field 'i8': text with a processing instruction inside",
                "<s hex=\"ff\" null=\"true\"/> | field 's': more than one of the attributes null, hex, octets, id and ref",
                "<s x:null=\"true\"/> | field 's': attribute 'x:null', which means nothing here",
                "<s nul=\"true\">x</s> | field 's': attribute 'nul', which means nothing here",
                "<s name=\"i8\">x</s> | field 's': attribute 'name', which means nothing here",
                "<s octets=\"61\"/> | field 's': attribute 'octets', which means nothing here",
                "<i8 hex=\"00\"/> | field 'i8': attribute 'hex', which means nothing here",
                "<field name=\"s\" x=\"\">x</field> | field 's': attribute 'x', which means nothing here",
                "<grid><item null=\"true\"/></grid> | attribute 'null', which means nothing here",
                "<legs x=\"1\"/> | field 'legs': attribute 'x', which means nothing here",
                "<legs><item hex=\"\"/></legs> | field 'legs[0]': attribute 'hex', which means nothing here"
            })
    void whatXmlHasBesideAValueIsRefused(String elements, String why) {
        assertThatThrownBy(() -> xml(elements))
                .isInstanceOf(FormatException.class)
                .hasMessage(why);
    }

    @Test
    void aRecordOfXmlHasTheAttributesThatAreWritten() throws IOException, XMLStreamException {
        assertThat(value(
                        xml("<record format='f' name='all'><field name='i8'>7</field></record>".getBytes(UTF_8)), "i8"))
                .isEqualTo(7L);
        assertThat(value(xml("<s null='false' hex='ff41'/>"), "s")).isEqualTo("\uFFFDA");
        assertThatThrownBy(() -> xml("<record name='other'/>".getBytes(UTF_8)))
                .hasMessage("attribute name is not the format's");
        assertThatThrownBy(() -> xml("<record nam='all'/>".getBytes(UTF_8)))
                .hasMessage("attribute 'nam', which means nothing here");
    }

    @Test
    void anEncodingIsDeclaredWhereItIsLookedFor() throws IOException, XMLStreamException {
        String far = "<?xml " + " ".repeat(1_100) + "version='1.0' encoding='ISO-8859-1'?><record><s>x</s></record>";
        assertThatThrownBy(() -> xml(far.getBytes(StandardCharsets.ISO_8859_1)))
                .isInstanceOf(XMLStreamException.class)
                .hasMessage("declaration of more than 1024 bytes: shorten it");
        String near = "<?xml version='1.0'?><record><s>" + "x".repeat(1_100) + "</s></record>";
        assertThat(value(xml(near.getBytes(UTF_8)), "s")).isEqualTo("x".repeat(1_100));
    }

    @ParameterizedTest
    @ValueSource(strings = {"windows-1252", "Shift_JIS", "ISO-8859-15", "x-nope", "utf8"})
    void anEncodingWhoseFaultsAreReplacedIsRefused(String encoding) {
        byte[] document = ("<?xml version='1.0' encoding='" + encoding + "'?><record><s>\u0081</s></record>")
                .getBytes(StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> xml(document)).isInstanceOf(XMLStreamException.class);
    }

    @Test
    void encodingsThatAreExactAreTaken() throws IOException, XMLStreamException {
        for (Charset encoding : List.of(
                StandardCharsets.UTF_8,
                StandardCharsets.ISO_8859_1,
                StandardCharsets.UTF_16,
                StandardCharsets.UTF_16LE)) {
            String mark = encoding == StandardCharsets.UTF_16LE ? "\uFEFF" : "";
            String name = encoding == StandardCharsets.UTF_16LE ? "UTF-16" : encoding.name();
            byte[] document = (mark + "<?xml version='1.0' encoding='" + name + "'?><record><s>é</s></record>")
                    .getBytes(encoding);
            assertThat(value(xml(document), "s")).as(name).isEqualTo("é");
        }
        assertThatThrownBy(() -> xml("\uFEFF<?xml version='1.0' encoding='ISO-8859-1'?><record><s>é</s></record>"
                        .getBytes(StandardCharsets.UTF_8)))
                .hasMessageContaining("encoding ISO-8859-1: convert it to UTF-8");
    }

    @Test
    void anErrorNamesItsField() {
        assertThatThrownBy(() -> json("{\"legs\":[{\"gate\":1},{\"gate\":70000}]}"))
                .hasMessage("field 'legs[1].gate': 70000 does not fit integer of 2 bytes");
        assertThatThrownBy(() -> json("{\"legs\":[{\"gate\":1},{\"at\":7}]}"))
                .hasMessage("field 'legs[1].at': needs a text, not 7");
        assertThatThrownBy(() -> json("{\"legs\":[{\"gate\":1},{\"gate\":1.5}]}"))
                .hasMessage("field 'legs[1].gate': needs a whole number, not 1.5");
        assertThatThrownBy(() -> json("{\"legs\":[{\"gate\":1},{\"port\":1}]}"))
                .hasMessage("field 'legs[1]': structure 'leg' has no field 'port'");
        assertThatThrownBy(() -> json("{\"grid\":[[1,2],[3,\"4\"]]}"))
                .hasMessage("field 'grid[1][1]': needs a number, not 4");
        assertThatThrownBy(() -> json("{\"grid\":[[1,2],[4294967296,3]]}"))
                .hasMessage("field 'grid[1][0]': 4294967296 does not fit integer of 4 bytes");
        assertThatThrownBy(() -> xml("<legs><item/><item><gate>x</gate></item></legs>"))
                .hasMessage("field 'legs[1].gate': needs a whole number in digits, not 'x'");
        assertThatThrownBy(() -> xml("<grid><item><item>1</item></item><item><item>?</item></item></grid>"))
                .hasMessageStartingWith("field 'grid[1][0]': ");
        assertThatThrownBy(() -> xml("<legs><item/><item><port/></item></legs>"))
                .hasMessage("field 'legs[1]': structure 'leg' has no field 'port'");
    }

    @Test
    void whatStandsTwiceIsRefused() {
        assertThatThrownBy(() -> xml("<i8>1</i8><i8>2</i8>")).hasMessage("structure 'all' has 'i8' twice");
        assertThatThrownBy(() -> json("{\"i8\":1,\"i8\":2}")).hasMessage("structure 'all' has 'i8' twice");
    }

    @Test
    void theEncoderRefusesWhatJavaRounds() {
        for (Map<String, Object> values : List.<Map<String, Object>>of(
                Map.of("f4", 1e39),
                Map.of("f4", 1e-50),
                Map.of("f4", 16_777_217),
                Map.of("f8", (1L << 53) + 1),
                Map.of("f8", BigInteger.TEN.pow(400)),
                Map.of("s", "\ud83d"))) {
            assertThatThrownBy(() -> new RecordEncoder(ALL).encode(values))
                    .as(values.toString())
                    .isInstanceOf(FormatException.class)
                    .hasMessageStartingWith(
                            "field '" + values.keySet().iterator().next() + "': ");
        }
        assertThat(value(new RecordEncoder(ALL).encode(Map.of("f4", Float.POSITIVE_INFINITY)), "f4"))
                .isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(value(new RecordEncoder(ALL).encode(Map.of("f4", 0.1)), "f4"))
                .isEqualTo((double) 0.1f);
    }

    private static String csv(Format format, Map<String, Object> values) {
        byte[] record = new RecordEncoder(format).encode(values);
        StringWriter text = new StringWriter();
        RecordCsv csv = new RecordCsv(text);
        csv.header(format);
        csv.record(new RecordView().wrap(format, ByteBuffer.wrap(record), 0, record.length));
        return text.toString();
    }

    /** The right sides are what {@code csv.writer} of Python 3.11 writes. */
    @Test
    void aTableIsWrittenAsPythonDoes() {
        Format one = Format.builder(Layout.X86_64)
                .structure("one")
                .field("s", "string")
                .build();
        assertThat(csv(one, new HashMap<>())).isEqualTo("s\r\n\"\"\r\n");
        Map<String, String> cells = Map.of(
                "",
                "\"\"",
                "a",
                "a",
                " a ",
                " a ",
                "a,b",
                "\"a,b\"",
                "a\"b",
                "\"a\"\"b\"",
                "a\nb",
                "\"a\nb\"",
                "a\rb",
                "\"a\rb\"",
                "é😀",
                "é😀",
                "'",
                "'");
        cells.forEach((text, cell) -> assertThat(csv(one, Map.of("s", text))).isEqualTo("s\r\n" + cell + "\r\n"));
        Format two = Format.builder(Layout.X86_64)
                .structure("two")
                .field("s", "string")
                .field("t", "string")
                .build();
        assertThat(csv(two, new HashMap<>())).isEqualTo("s,t\r\n,\r\n");
    }

    @Test
    void twoFieldsThatWouldBeOneColumnAreRefused() {
        Format twice = Format.builder(Layout.X86_64)
                .structure("twice")
                .field("a.b", "integer", 4)
                .field("a", "inner")
                .structure("inner")
                .field("b", "integer", 4)
                .build();
        assertThatThrownBy(() -> csv(twice, Map.of("a.b", 1))).hasMessage("two fields are the column 'a.b': take JSON");
    }

    @ParameterizedTest
    @CsvSource({"0", "-0", "7", "-5", "255"})
    void aWholeNumberWithinBoundsIsRead(String text) {
        assertThat(Decimals.whole(text, -5, 255)).isEqualTo(Long.parseLong(text));
        assertThat(Decimals.number(text, -5, 255)).isEqualTo(Long.parseLong(text));
        assertThat(Decimals.number("0x1F", -5, 255)).isEqualTo(31);
        assertThat(Decimals.whole("-9223372036854775808", Long.MIN_VALUE, 0)).isEqualTo(Long.MIN_VALUE);
    }

    @ParameterizedTest
    @CsvSource({
        "+7, is no whole number: one from -5 to 255 is wanted",
        "007, is no whole number",
        "1.0, is no whole number",
        "٣, is no whole number",
        "0x, is no whole number",
        "-0x5, is no whole number",
        "256, 256 is out of bounds: -5 to 255 are allowed",
        "-6, -6 is out of bounds",
        "18446744073709551617, 18446744073709551617 is out of bounds"
    })
    void aWholeNumberThatIsNoneIsRefused(String text, String problem) {
        assertThatThrownBy(() -> Decimals.number(text, -5, 255))
                .isInstanceOf(NumberFormatException.class)
                .hasMessageContaining(problem);
        assertThatThrownBy(() -> Decimals.whole("0x1F", -5, 255)).hasMessageContaining("'0x1F' is no whole number");
    }
}
