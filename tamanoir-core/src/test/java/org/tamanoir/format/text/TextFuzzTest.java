package org.tamanoir.format.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;
import org.tamanoir.support.Damage;
import org.tamanoir.support.Seeds;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

/**
 * Random JSON and XML, damaged or not, against judges that share no code with the readers: Jackson's tokens and the JDK's
 * DOM say what stands there, and rules of fields are written down a second time.
 */
@Tag("once")
class TextFuzzTest {
    private static final int ROUNDS = 2_000;
    private static final Format ALL = Format.builder(Layout.X86_64)
            .structure("all")
            .field("i1", "integer", 1)
            .field("i8", "integer", 8)
            .field("u8", "unsigned integer", 8)
            .field("f4", "float", 4)
            .field("f8", "float", 8)
            .field("b", "boolean", 1)
            .field("s", "string")
            .build();
    private static final String[] NAMES = {"i1", "i8", "u8", "f4", "f8", "b", "s"};
    private static final String[] NUMBERS = {
        "0",
        "-0",
        "1",
        "-1",
        "127",
        "128",
        "-128",
        "-129",
        "255",
        "256",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "9007199254740993",
        "16777217",
        "0.1",
        "-2.5",
        "1e400",
        "1e39",
        "1e-400",
        "4.9e-324",
        "1e-50",
        "3.4028235e38",
        "1E+2",
        "0e9",
        "01",
        "+1",
        "1.",
        ".5",
        "0x10",
        "1.5d",
        "NaN",
        "INF",
        "-INF",
        "Infinity",
        "true",
        "false",
        "null",
        "٣",
        "1 ",
        "1_0",
        "12345678901234567890.5"
    };
    private static final String[] TEXTS = {
        "", "a", "é", "😀", "٣", "NaN", "Infinity", "-Infinity", "x y", "\uFEFF", "\uFFFD"
    };

    /** What a field holds is not what the judge says, or the record is none. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static @Nullable Map<String, @Nullable Object> tree(byte[] record) {
        return RecordTree.read(new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length));
    }

    private static byte @Nullable [] json(byte[] text) throws IOException {
        try (JsonParser in = RecordJson.factory()
                .createParser(ObjectReadContext.empty(), new StrictUtf8(new ByteArrayInputStream(text)))) {
            byte[] record = new JsonRecords(ALL).next(in);
            return in.nextToken() == null ? record : null;
        } catch (FormatException | JacksonException e) {
            return null;
        }
    }

    private static String object(Random random) {
        StringBuilder text = new StringBuilder("{");
        for (int n = random.nextInt(5); n > 0; n--) {
            text.append('"').append(Damage.any(random, NAMES)).append("\":");
            switch (random.nextInt(4)) {
                case 0 -> text.append('"').append(Damage.any(random, TEXTS)).append('"');
                case 1 ->
                    text.append(Damage.any(
                            random,
                            "\"\\ud83d\"",
                            "\"\\ud83d\\ude00\"",
                            "\"\\u0000\"",
                            "{\"hex\":\"4142\"}",
                            "{\"hex\":\"c181\"}",
                            "{\"octets\":\"0000803f\"}",
                            "[1]",
                            "{}",
                            "{\"hex\":55}"));
                default -> text.append(Damage.any(random, NUMBERS));
            }
            text.append(n > 1 ? "," : "");
        }
        return text.append("}").toString();
    }

    /** Returns what the record has to hold. */
    private static Map<String, @Nullable Object> judgeOfJson(byte[] bytes) throws Refused {
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (!Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            throw new Refused();
        }
        Map<String, @Nullable Object> values = new HashMap<>();
        try (JsonParser in = RecordJson.factory()
                .createParser(ObjectReadContext.empty(), text.startsWith("\uFEFF") ? text.substring(1) : text)) {
            require(in.nextToken() == JsonToken.START_OBJECT);
            while (in.nextToken() != JsonToken.END_OBJECT) {
                String name = in.currentName();
                require(Arrays.asList(NAMES).contains(name) && !values.containsKey(name));
                values.put(name, judgeOfValue(in, name));
            }
            require(in.nextToken() == null);
        } catch (JacksonException e) {
            throw new Refused();
        }
        return values;
    }

    private static @Nullable Object judgeOfValue(JsonParser in, String name) throws Refused {
        JsonToken token = in.nextToken();
        if (token == JsonToken.VALUE_NULL) {
            require(name.equals("s"));
            return null;
        }
        if (token == JsonToken.START_OBJECT) {
            require(in.nextToken() == JsonToken.PROPERTY_NAME);
            require(in.currentName().equals("hex") && name.equals("s"));
            require(in.nextToken() == JsonToken.VALUE_STRING && in.getString().matches("([0-9a-fA-F]{2})*"));
            byte[] octets = HexFormat.of().parseHex(in.getString());
            require(in.nextToken() == JsonToken.END_OBJECT);
            require(new String(octets, StandardCharsets.ISO_8859_1).indexOf(0) < 0);
            return octets;
        }
        String text = in.getString();
        if (name.equals("s")) {
            require(token == JsonToken.VALUE_STRING);
            return text(text);
        }
        if (token == JsonToken.VALUE_STRING) {
            require(name.startsWith("f") && text.matches("NaN|-?Infinity"));
            return Double.valueOf(text);
        }
        if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
            require(name.equals("b"));
            return number(name, token == JsonToken.VALUE_TRUE ? "1" : "0");
        }
        require(token.isNumeric() && (name.startsWith("f") || token == JsonToken.VALUE_NUMBER_INT));
        return number(name, text);
    }

    private static byte[] text(String text) throws Refused {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        require(text.indexOf(0) < 0 && new String(bytes, StandardCharsets.UTF_8).equals(text));
        return bytes;
    }

    /** Returns a number in digits as a field of that name has to hold it. */
    private static Object number(String name, String digits) throws Refused {
        boolean isWhole = digits.matches("[+-]?\\d+");
        if (!name.startsWith("f")) {
            require(isWhole);
            BigInteger whole = new BigInteger(digits);
            int bits = name.endsWith("8") ? 64 : 8;
            BigInteger least =
                    name.startsWith("i") ? BigInteger.TWO.pow(bits - 1).negate() : BigInteger.ZERO;
            require(whole.compareTo(least) >= 0 && whole.compareTo(least.add(BigInteger.TWO.pow(bits))) < 0);
            return whole;
        }
        String mantissa = digits.split("[eE]")[0];
        double nearest = name.equals("f4") ? Float.parseFloat(digits) : Double.parseDouble(digits);
        require(!Double.isInfinite(nearest));
        require(nearest != 0 || new BigDecimal(mantissa).signum() == 0);
        require(!isWhole || new BigDecimal(nearest).toBigIntegerExact().equals(new BigInteger(digits)));
        return nearest;
    }

    private static void require(boolean holds) throws Refused {
        if (!holds) {
            throw new Refused();
        }
    }

    /** Compares what a record holds with what the judge says. */
    private static void compare(String input, Map<String, @Nullable Object> wanted, byte[] record) {
        Map<String, @Nullable Object> read = Objects.requireNonNull(tree(record));
        for (String name : NAMES) {
            Object want = wanted.get(name);
            Object is = read.get(name);
            if (want instanceof byte[] text) {
                assertArrayEquals(text, is instanceof byte[] bytes ? bytes : null, input);
            } else if (want instanceof Double number) {
                assertEquals(number, ((Number) Objects.requireNonNull(is)).doubleValue(), 0.0, input);
            } else if (name.equals("s")) {
                assertEquals(null, is, input);
            } else if (want instanceof BigInteger) {
                assertEquals(want.toString(), String.valueOf(is), input);
            } else {
                assertEquals(0.0, ((Number) Objects.requireNonNull(is)).doubleValue(), input);
            }
        }
    }

    @Test
    void jsonIsWhatJacksonSaysOrRefused() throws IOException {
        for (long seed : Seeds.ofCommit(TextFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] text = Damage.of(object(random).getBytes(StandardCharsets.UTF_8), random);
            String shown = "seed " + seed + ": " + new String(text, StandardCharsets.ISO_8859_1);
            byte[] record = json(text);
            try {
                Map<String, @Nullable Object> wanted = judgeOfJson(text);
                assertEquals(true, record != null, shown);
                compare(shown, wanted, Objects.requireNonNull(record));
            } catch (Refused e) {
                assertEquals(null, record, shown);
            }
        }
    }

    private static byte @Nullable [] xml(byte[] document) throws IOException {
        try {
            XMLStreamReader in = XmlRecords.parser(new ByteArrayInputStream(document));
            in.nextTag();
            byte[] record = new XmlRecords(ALL).encode(in);
            while (in.hasNext()) {
                in.next();
            }
            return record;
        } catch (FormatException | XMLStreamException e) {
            return null;
        }
    }

    private static String document(Random random) {
        StringBuilder text = new StringBuilder("<record>");
        for (int n = random.nextInt(5); n > 0; n--) {
            String name = Damage.any(random, NAMES);
            String space = Damage.any(random, "", "", " ", "\n", "\t", "<!-- -->", "\u00a0");
            String value = random.nextInt(4) == 0
                    ? Damage.any(
                            random,
                            "&lt;",
                            "&#x1F600;",
                            "&#xD83D;",
                            "<![CDATA[1]]>",
                            "1<!-- -->2",
                            "1<?x?>2",
                            "<x/>",
                            "&e;")
                    : Damage.any(random, random.nextBoolean() ? NUMBERS : TEXTS);
            String attribute = Damage.any(random, "", "", "", " null='true'", " null=' 1 '", " null='0'", " null='no'");
            text.append('<').append(name).append(attribute).append('>');
            text.append(attribute.contains("1") || attribute.contains("true") ? "" : space + value + space);
            text.append("</").append(name).append('>');
        }
        return text.append("</record>").toString();
    }

    private static DocumentBuilder documents() throws ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        DocumentBuilder documents = factory.newDocumentBuilder();
        documents.setErrorHandler(new ErrorHandler() {
            @Override
            public void warning(SAXParseException e) {}

            @Override
            public void error(SAXParseException e) throws SAXException {
                throw e;
            }

            @Override
            public void fatalError(SAXParseException e) throws SAXException {
                throw e;
            }
        });
        return documents;
    }

    /** Returns what the record has to hold; null where what damage made of attributes is not judged. */
    private static @Nullable Map<String, @Nullable Object> judgeOfXml(DocumentBuilder documents, byte[] bytes)
            throws Refused {
        Element root;
        try {
            root = documents.parse(new ByteArrayInputStream(bytes)).getDocumentElement();
        } catch (SAXException | IOException e) {
            throw new Refused();
        }
        Map<String, @Nullable Object> values = new HashMap<>();
        if (root.hasAttributes()) {
            return null;
        }
        for (Node node = root.getFirstChild(); node != null; node = node.getNextSibling()) {
            boolean isText = node.getNodeType() == Node.TEXT_NODE || node.getNodeType() == Node.CDATA_SECTION_NODE;
            require(!isText || node.getTextContent().matches("[ \t\r\n]*"));
            if (node instanceof Element field) {
                String name = field.getTagName();
                if (field.getAttributes().getLength() > (field.hasAttribute("null") ? 1 : 0) || name.equals("field")) {
                    return null;
                }
                require(Arrays.asList(NAMES).contains(name) && !values.containsKey(name));
                values.put(name, judgeOfElement(field, name));
            }
        }
        return values;
    }

    private static @Nullable Object judgeOfElement(Element field, String name) throws Refused {
        String absent = field.getAttribute("null").replaceAll("^[ \t\r\n]+|[ \t\r\n]+$", "");
        require(!field.hasAttribute("null") || absent.matches("true|false|0|1"));
        for (Node node = field.getFirstChild(); node != null; node = node.getNextSibling()) {
            boolean isInstruction = node.getNodeType() == Node.PROCESSING_INSTRUCTION_NODE;
            require(!(node instanceof Element) && !(isInstruction && !absent.matches("true|1")));
        }
        String text = field.getTextContent();
        if (absent.matches("true|1")) {
            require(text.matches("[ \t\r\n]*") && name.equals("s"));
            return null;
        }
        if (name.equals("s")) {
            return text(text);
        }
        String number = text.replaceAll("^[ \t\r\n]+|[ \t\r\n]+$", "");
        if (name.equals("b") && number.matches("true|false")) {
            return number.equals("true") ? BigInteger.ONE : BigInteger.ZERO;
        }
        if (name.startsWith("f") && number.matches("NaN|[+-]?INF|-?Infinity")) {
            return Double.valueOf(number.replaceFirst("INF", "Infinity").replaceFirst("Infinityinity", "Infinity"));
        }
        require(number.matches("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?"));
        return number(name, number);
    }

    @Test
    void xmlIsWhatADocumentSaysOrRefused() throws IOException, ParserConfigurationException {
        DocumentBuilder documents = documents();
        for (long seed : Seeds.ofCommit(TextFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] text = Damage.of(document(random).getBytes(StandardCharsets.UTF_8), random);
            String shown = "seed " + seed + ": " + new String(text, StandardCharsets.ISO_8859_1);
            byte[] record = xml(text);
            try {
                Map<String, @Nullable Object> wanted = judgeOfXml(documents, text);
                if (wanted != null) {
                    assertEquals(true, record != null, shown);
                    compare(shown, wanted, Objects.requireNonNull(record));
                }
            } catch (Refused e) {
                assertEquals(null, record, shown);
            }
        }
    }

    @Test
    void whatARecordHoldsComesBackFromBoth() throws IOException {
        for (long seed : Seeds.ofCommit(TextFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            Map<String, Object> values = new HashMap<>();
            values.put("i8", random.nextLong());
            values.put("u8", new BigInteger(64, random));
            values.put("f4", Float.intBitsToFloat(random.nextInt() & 0xFF7FFFFF));
            values.put("f8", Double.longBitsToDouble(random.nextLong() & 0xFFEFFFFFFFFFFFFFL));
            byte[] text = new byte[random.nextInt(6)];
            for (int i = 0; i < text.length; i++) {
                text[i] = (byte) (1 + random.nextInt(255));
            }
            values.put("s", text);
            byte[] record = new RecordEncoder(ALL).encode(values);
            RecordView view = new RecordView().wrap(ALL, ByteBuffer.wrap(record), 0, record.length);
            StringWriter written = new StringWriter();
            try (JsonGenerator out = RecordJson.factory().createGenerator(ObjectWriteContext.empty(), written)) {
                new RecordJson().write(view, out);
            }
            assertArrayEquals(record, json(written.toString().getBytes(StandardCharsets.UTF_8)), "seed " + seed);
            assertArrayEquals(
                    record, xml(new RecordXml().element(view).getBytes(StandardCharsets.UTF_8)), "seed " + seed);
        }
    }
}
