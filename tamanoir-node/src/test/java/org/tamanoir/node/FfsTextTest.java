package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

/** {@code ffs convert} of text is exact or refused, with file, place and field. */
@Tag("once")
class FfsTextTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .field("fuel", "float", 8)
            .build();

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private Path formats;

    @BeforeEach
    void writeFormats() throws IOException {
        formats = folder.resolve("formats.ffs");
        write(formats, FLIGHT, Map.of("delay", 1));
    }

    private static void write(Path file, Format format, Map<String, Object> values) throws IOException {
        byte[] record = new RecordEncoder(format).encode(values);
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            writer.record(format, ByteBuffer.wrap(record), 0, record.length);
        }
    }

    private int run(Object... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        String[] texts = Arrays.stream(args).map(String::valueOf).toArray(String[]::new);
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    }

    /** Converts a file and returns what is said of it on standard error, without its name. */
    private String refusal(String name, byte[] content) throws IOException {
        Path input = Files.write(folder.resolve(name), content);
        Path output = folder.resolve("out.ffs");
        assertThat(run("ffs", "convert", input, output, "--formats", formats)).isEqualTo(1);
        assertThat(output).doesNotExist();
        String said = "tamanoir ffs convert: " + input + ": ";
        assertThat(err.toString()).startsWith(said).hasLineCount(1);
        return err.toString().strip().substring(said.length());
    }

    private static String json(String value) {
        return "{\"format\":\"" + FLIGHT.id() + "\",\"value\":" + value + "}\n";
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String xml(String elements) {
        return "<record format='" + FLIGHT.id() + "'>" + elements + "</record>\n";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"delay\":3.5} | VALUE: line 2: field 'delay': needs a whole number, not 3.5",
                "{\"fuel\":1e400} | VALUE: line 2: field 'fuel': '1e400' is too large for float of 8 bytes",
                "{\"hub\":\"\\ud83d\"} | VALUE: line 2: field 'hub': text with a surrogate that stands alone, which is no character",
                "{\"delay\":4294967296} | VALUE: line 2: field 'delay': 4294967296 does not fit integer of 4 bytes",
                "{\"gate\":1} | VALUE: line 2: structure 'flight' has no field 'gate'"
            })
    void anErrorNamesFileLineAndField(String value, String refusal) throws IOException {
        assertThat(refusal("in.json", utf8(json("{}") + json(value) + json("{}"))))
                .isEqualTo(refusal);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"name\":\"\ud83d\",\"value\":{} | VALUE: line 1: \"name\" is '?', but the format's is 'flight'",
                "\"name\":\"leg\",\"value\":{} | VALUE: line 1: \"name\" is 'leg', but the format's is 'flight'",
                "\"value\":{},\"name\":\"leg\" | VALUE: line 1: \"name\" is 'leg', but the format's is 'flight'",
                "\"name\":5,\"value\":{} | VALUE: line 1: \"name\" is no text but a number",
                "\"value\":{},\"x\\n\":1 | VALUE: line 1: \"x?\" beside \"format\", \"name\" and \"value\""
            })
    void whatStandsBesideTheValueIsExact(String members, String refusal) throws IOException {
        assertThat(refusal("in.json", utf8("{\"format\":\"" + FLIGHT.id() + "\"," + members + "}")))
                .isEqualTo(refusal);
    }

    @Test
    void aMemberTwiceAndAFormatThatIsNoTextAreRefused() throws IOException {
        String named = "{\"format\":\"" + FLIGHT.id() + "\",\"name\":\"flight\",";
        assertThat(refusal("in.json", utf8(named + "\"name\":\"flight\",\"value\":{}}")))
                .startsWith("VALUE: line 1: \"name\" a second time");
        assertThat(refusal("in.json", utf8("{\"format\":null,\"value\":{}}")))
                .isEqualTo("VALUE: line 1: \"format\" is no text but null");
        byte[] octets = HexFormat.of().parseHex("a166666f726d61744161");
        assertThat(refusal("in.cbor", octets)).isEqualTo("VALUE: record 0: \"format\" is no text but bytes");
        byte[] undefined = HexFormat.of().parseHex("a166666f726d6174f7");
        assertThat(refusal("in.cbor", undefined)).contains("undefined or another simple value");
    }

    @Test
    void anInstructionBehindTheRootIsRefused() throws IOException {
        assertThat(refusal("in.xml", utf8("<records>" + xml("") + "</records>\n<?pi x?>\n")))
                .endsWith("processing instruction behind the end of <records>");
    }

    @Test
    void aSyntaxErrorHasItsLine() throws IOException {
        assertThat(refusal("in.json", utf8(json("{}") + json("{\"delay\":\n01}"))))
                .startsWith("VALUE: line 3: ");
        assertThat(refusal("in.json", utf8(json("{}") + "7"))).startsWith("VALUE: line 2: ");
        assertThat(refusal("in.json", utf8(json("{}") + "\0"))).startsWith("VALUE: line 2: ");
        assertThat(refusal("in.json", utf8(json("{}") + json("{\"delay\":1,}"))))
                .startsWith("VALUE: line 2: ");
        byte[] text = utf8(json("{}") + json("{\"hub\":\"?\"}"));
        text[text.length - 5] = (byte) 0xC1;
        assertThat(refusal("in.json", text))
                .isEqualTo("VALUE: line 2: field 'hub': not UTF-8 at byte offset " + (text.length - 5)
                        + ": convert it to UTF-8");
    }

    @Test
    void aMemberTwiceIsRefused() throws IOException {
        String id = "\"format\":\"" + FLIGHT.id() + "\"";
        for (String object :
                List.of("{" + id + "," + id + ",\"value\":{}}", "{" + id + ",\"value\":{},\"value\":{}}")) {
            assertThat(refusal("in.json", utf8(object))).contains("a second time");
        }
    }

    @Test
    void anErrorOfCborNamesRecordAndField() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        for (String item : List.of("6141", "62c181")) { // "A", and an A in two bytes.
            file.writeBytes(HexFormat.of().parseHex("a266666f726d6174"));
            file.write(0x78);
            file.write(FLIGHT.id().toString().length());
            file.writeBytes(utf8(FLIGHT.id().toString()));
            file.writeBytes(HexFormat.of().parseHex("6576616c7565a163687562" + item));
        }
        assertThat(refusal("in.cbor", file.toByteArray()))
                .isEqualTo("VALUE: record 1: field 'hub': text that is not UTF-8 at byte offset " + (file.size() - 2));
        byte[] number = file.toByteArray();
        byte[] cut = Arrays.copyOf(number, number.length - 2);
        cut[cut.length - 1] = 0x07; // A number in the place of the text.
        assertThat(refusal("in.cbor", cut)).isEqualTo("VALUE: record 1: field 'hub': needs a text, not 7");
    }

    @ParameterizedTest
    @ValueSource(strings = {"<records/>", "junk", "&#32;", "<?xml version='1.0'?><records/>", "<", "\0"})
    void whatStandsBehindADocumentIsRefused(String behind) throws IOException {
        assertThat(refusal("in.xml", utf8("<records>\n" + xml("<delay>7</delay>") + "</records>\n" + behind)))
                .startsWith("VALUE: line 4: ");
    }

    @Test
    void commentsBehindADocumentAreNothing() throws IOException {
        Path input = Files.writeString(
                folder.resolve("in.xml"), "\uFEFF<records>" + xml("<delay>7</delay>") + "</records>\n<!-- end -->\n");
        assertThat(run("ffs", "convert", input, folder.resolve("out.json"), "--formats", formats))
                .isZero();
        assertThat(Files.readString(folder.resolve("out.json"))).contains("\"delay\":7");
    }

    @Test
    void aDocumentOfAnotherElementIsRefused() throws IOException {
        assertThat(refusal("in.xml", utf8(xml("")))).contains("line 1: the document is no <records>");
    }

    @ParameterizedTest
    @ValueSource(strings = {"format", "null", "xmlns", "xml:lang"})
    void anAttributeOfTheRootIsRefused(String name) throws IOException {
        assertThat(refusal("in.xml", utf8("<records " + name + "='x'>" + xml("") + "</records>")))
                .isEqualTo("VALUE: line 1: attribute '" + name + "' of <records>, which means nothing here");
    }

    @Test
    void anErrorOfXmlNamesLineAndField() throws IOException {
        assertThat(refusal("in.xml", utf8("<records>\n" + xml("") + xml("<fuel>0x1p3</fuel>") + "</records>")))
                .isEqualTo("VALUE: line 3: field 'fuel': needs a number in digits, NaN, INF or -INF, not '0x1p3'");
        assertThat(refusal("in.xml", utf8("<records>\n" + xml("") + xml("<fuel>\n1</hub>") + "</records>")))
                .startsWith("VALUE: line 4: field 'fuel': ");
        for (String hub : List.of("&#xD83D;", "&nbsp;", "\0", "<")) {
            assertThat(refusal("in.xml", utf8("<records>\n" + xml("") + xml("<hub>" + hub + "</hub>") + "</records>")))
                    .startsWith("VALUE: line 3: field 'hub': ");
        }
    }

    @Test
    void bytesOfAnotherEncodingAreSaidInWords() throws IOException {
        String document = " encoding='US-ASCII'?><records>" + xml("<hub>\u00e9</hub>") + "</records>";
        assertThat(refusal("in.xml", ("<?xml version='1.0'" + document).getBytes(StandardCharsets.ISO_8859_1)))
                .startsWith("VALUE: line 1: ")
                .endsWith("bytes that are no text in the document's encoding: convert it to UTF-8");
        byte[] wide = ("\uFEFF<records>" + xml("<hub>x</hub>") + "</records>").getBytes(StandardCharsets.UTF_16LE);
        assertThat(refusal("in.xml", Arrays.copyOf(wide, wide.length - 1)))
                .endsWith("bytes that are no text in the document's encoding: convert it to UTF-8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"delay\":NaN} | field 'delay': 'NaN' is no number of JSON",
                "{\"delay\":+1} | field 'delay': a number is not written as in JSON",
                "{\"delay\":01} | field 'delay': a number is not written as in JSON",
                "{\"delay\":1.} | field 'delay': a number is not written as in JSON",
                "{\"delay\":0x1} | field 'delay': ",
                "{\"delay\":1e} | field 'delay': a number is not written as in JSON",
                "{\"delay\":tru} | field 'delay': 'tru' is no value: texts stand in double quotes",
                "{\"delay\":'1'} | field 'delay': ''' stands where it cannot",
                "{\"delay\":/**/1} | field 'delay': '/' stands where it cannot",
                "{\"delay\":1] | field 'delay': ']' closes what it did not open",
                "{\"delay\":1,} | field 'delay': '}' stands where it cannot",
                "{\"hub\":\"\\x\"} | field 'hub': '\\' begins no escape of JSON",
                "{\"hub\":\"\\u00x0\"} | field 'hub': '\\' begins no escape of JSON",
                "{\"hub\":\"\u0001\"} | field 'hub': a control character stands in a text: write \\n, \\t or \\u00XX",
                "{\"hub\":\u0001} | field 'hub': a control character stands between values",
                "{\"delay\":[1]} | field 'delay': integer is a list",
                "{\"hub\" | "
            })
    void whatIsNoJsonIsSaidInWords(String value, String refusal) throws IOException {
        String line = refusal("in.json", utf8(json(value)));
        assertThat(line).startsWith("VALUE: line 1: " + Objects.requireNonNullElse(refusal, ""));
        assertThat(line).doesNotContain("Feature", "tools.jackson", "Source", "START_", "VALUE_", "(code");
    }

    @Test
    void whatIsCutOffIsSaidInWords() throws IOException {
        assertThat(refusal("in.json", utf8("{\"format\":\"" + FLIGHT.id() + "\",\"value\":{\"hub\":\"x")))
                .isEqualTo("VALUE: line 1: field 'hub': it is cut off: its end lacks");
        assertThat(refusal("in.cbor", HexFormat.of().parseHex("a266666f726d617478")))
                .isEqualTo("VALUE: record 0: it is cut off: its end lacks");
    }

    @Test
    void anEmptyFileIsNoDocument() throws IOException {
        assertThat(refusal("in.xml", new byte[0])).startsWith("VALUE: line 1: ");
    }

    @Test
    void aNullThatStandsAloneIsNoEmptyLine() throws IOException {
        Format one = Format.builder(Layout.X86_64)
                .structure("one")
                .field("hub", "string")
                .build();
        Path input = folder.resolve("one.ffs");
        write(input, one, Map.of());
        assertThat(run("ffs", "convert", input, folder.resolve("one.csv"))).isZero();
        assertThat(Files.readString(folder.resolve("one.csv"))).isEqualTo("hub\r\n\"\"\r\n");
    }
}
