package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;
import org.tamanoir.message.Outcome;

class EnrichTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 4)
            .field("hub", "string")
            .build();
    private static final String HUBS = "hub,city,runways,lat\r\nATL,\"Atlanta, \"\"GA\"\"\",5,33.6\r\nDFW,Dallas,7,\n";

    @TempDir
    private Path folder;

    private Run enrich(String file, String content, Object... settings) throws IOException {
        Files.writeString(folder.resolve(file), content);
        Map<String, Object> all = new HashMap<>(Map.of("table", file, "key", "hub"));
        for (int i = 0; i < settings.length; i += 2) {
            all.put((String) settings[i], settings[i + 1]);
        }
        PlanNames names = new PlanNames(Map.of("flight", Target.of(FLIGHT)), folder);
        return new Run(HandlerKinds.make("handlers.it.enrich", "enrich", all, names));
    }

    private static Map<String, Object> flight(String hub) {
        return Map.of("id", 7, "hub", hub);
    }

    @Test
    void fieldsComeFromTheRowOfTheKey() throws IOException {
        Run run = enrich("hubs.csv", HUBS);
        run.give(FLIGHT, 1, flight("ATL"));
        run.give(FLIGHT, 1, flight("DFW"));

        assertThat(run.out)
                .containsExactly(
                        "0: id=7 hub=ATL city=Atlanta, \"GA\" runways=5 lat=33.6",
                        "0: id=7 hub=DFW city=Dallas runways=7 lat=0.0");
        assertThat(run.formats.get(0).name()).isEqualTo("flight");
    }

    @Test
    void withoutARowTheFieldsAreEmpty() throws IOException {
        Run run = enrich("hubs.csv", HUBS, "fields", List.of("runways", "city"));
        run.give(FLIGHT, 1, flight("JFK"));

        assertThat(run.out).containsExactly("0: id=7 hub=JFK runways=0 city=null");
    }

    @Test
    void withoutARowAMessageIsDroppedIfItShall() throws IOException {
        Run run = enrich("hubs.csv", HUBS, "missing", "drop");

        assertThat(run.give(FLIGHT, 1, flight("JFK"))).isEqualTo(Outcome.DROP);
        assertThat(run.drops).containsOnly(Map.entry(Enrich.NO_ROW, 1L));
    }

    @Test
    void aTableMayBeJsonAndItsKeyNamedOtherwise() throws IOException {
        Run run = enrich(
                "hubs.json",
                "[{\"code\": 7, \"open\": true, \"note\": null}, {\"code\": 8, \"note\": \"x\"}]",
                "key",
                Map.of("id", "code"));
        run.give(FLIGHT, 1, flight("ATL"));

        assertThat(run.out).containsExactly("0: id=7 hub=ATL open=true note=null");
    }

    @Test
    void typesMayBeGiven() throws IOException {
        Run run = enrich("ids.csv", "hub,n\n007,5\n", "types", Map.of("hub", "string", "n", "float(4)"));
        run.give(FLIGHT, 1, flight("007"));

        assertThat(run.out).containsExactly("0: id=7 hub=007 n=5.0");
    }

    @Test
    void aKeyOfAnotherKindIsRefused() throws IOException {
        Run run = enrich("ids.csv", "hub,n\n7,5\n");

        assertThatThrownBy(() -> run.bound(FLIGHT))
                .hasMessage("key hub of flight is string, hub of row is integer: translate one of them before");
    }

    @Test
    void twoRowsOfOneKeyAreRefused() {
        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\nATL,5\nATL,6\n"))
                .hasMessage("handlers.it.enrich.table: line 3 has the key of another: {hub=ATL, n=6}");
    }

    @Test
    void aTableThatDoesNotFitTheStateIsRefused() {
        String rows = "x".repeat(3_000);

        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\nA," + rows + "\nB," + rows + "\n", "state", "4KiB"))
                .hasMessage("handlers.it.enrich.state: 4096 bytes hold 1 of 2 rows");
    }

    @Test
    void brokenTablesAreRefusedWithTheRow() {
        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\nATL\n"))
                .hasMessage(
                        "handlers.it.enrich.table: hubs.csv cannot be read: line 2: field 'n': its cell lacks: the row has 1, the first line 2");
        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\n\"ATL,5\n"))
                .hasMessage(
                        "handlers.it.enrich.table: hubs.csv cannot be read: line 2: field 'hub': a quote is not closed");
        assertThatThrownBy(() -> enrich("hubs.json", "{\"a\": [1]}"))
                .hasMessageContaining("a list of objects is wanted");
        assertThatThrownBy(() -> enrich("hubs.json", "[{")).hasMessageContaining("it is no JSON");
    }

    @Test
    void aColumnThatTheTableLacksIsRefused() {
        assertThatThrownBy(() -> enrich("hubs.csv", HUBS, "types", Map.of("town", "integer(4)")))
                .hasMessageStartingWith("handlers.it.enrich.types: the table has no column 'town'");
        assertThatThrownBy(() -> enrich("hubs.csv", HUBS, "fields", "town"))
                .hasMessage(
                        "handlers.it.enrich.fields: the table has no column 'town'; it has: hub, city, runways, lat");
    }

    @Test
    void aFieldThatTheRecordHasIsRefused() throws IOException {
        Run run = enrich("hubs.csv", "hub,id\nATL,5\n");

        assertThatThrownBy(() -> run.bound(FLIGHT))
                .hasMessage("format flight has a field 'id': name the table's column otherwise");
    }

    @Test
    void whatTheRecordHadStays() throws IOException {
        assertThat(enrich("hubs.csv", HUBS).handler.effect().leaves(Set.of("id", "hub")))
                .isTrue();
        assertThat(enrich("hubs.csv", HUBS).handler.effect().leaves(Set.of("city")))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "7, -7, 0 | integer",
                "9223372036854775807, -9223372036854775808 | integer",
                "9223372036854775808, 1 | string",
                "1234567890123456789 | integer",
                "12345678901234567890 | string",
                "89012345678901234567, 7 | string",
                "007, 7 | string",
                "+33123456789 | string",
                "-0 | string",
                "0.1, 5, -2.5, 7.0, -0.0 | double",
                "1.10, 1.9 | string",
                "-2.50, 1 | string",
                "1e3, 0.5 | string",
                ".5 | string",
                "5., 0.5 | string",
                "+1.5 | string",
                "-0.5, 00.5 | string",
                "1234567890123456789, 0.5 | string",
                "0.12345678901234567891 | string",
                "1e400, 0.5 | string",
                "1e-400, 0.5 | string",
                "1e99999999999 | string",
                "007.5 | string",
                "0x10 | string",
                "1.5d | string",
                "٣ | string",
                "NaN, 0.5 | string",
                "1 000 | string"
            })
    void aColumnIsWhatHoldsItsCellsUnchanged(String cells, String type) throws IOException {
        StringBuilder csv = new StringBuilder("hub,n\n");
        int row = 0;
        for (String cell : cells.split(", ")) {
            csv.append('h').append(row++).append(',').append(cell).append('\n');
        }
        Run run = enrich("t.csv", csv.toString());
        run.give(FLIGHT, 1, flight("h0"));
        assertThat(kind(run)).isEqualTo(type.startsWith("double") ? "float" : type);
        assertThat(run.out).containsExactly("0: id=7 hub=h0 n=" + cells.split(", ")[0]);
    }

    private static String kind(Run run) {
        return run.formats.get(0).top().field("n").type().kind().toString().toLowerCase(Locale.ROOT);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"1.10\" | string | 1.10",
                "\"1e3\" | string | 1e3",
                "\"-0.0\" | string | -0.0",
                "\"1\" | string | 1",
                "1 | integer | 1",
                "-0 | string | -0",
                "1.10 | float | 1.1",
                "1e3 | float | 1000.0",
                "12345678901234567890 | string | 12345678901234567890",
                "0.12345678901234567891 | string | 0.12345678901234567891",
                "true | string | true"
            })
    void aTextOfJsonIsAText(String value, String kind, String shown) throws IOException {
        for (String other : List.of("", ",\n{\"hub\":\"B\",\"n\":null}", ",{\"hub\":\"B\"}")) {
            Run run = enrich("t.json", "[{\"hub\":\"A\",\"n\":" + value + "}" + other + "]");
            run.give(FLIGHT, 1, flight("A"));
            assertThat(kind(run)).isEqualTo(kind);
            assertThat(run.out).containsExactly("0: id=7 hub=A n=" + shown);
        }
        Run mixed = enrich("t.json", "[{\"hub\":\"A\",\"n\":" + value + "},{\"hub\":\"B\",\"n\":\"1\"}]");
        mixed.give(FLIGHT, 1, flight("A"));
        assertThat(kind(mixed)).isEqualTo("string");
    }

    @Test
    void aKeyInQuotationMarksIsAText() throws IOException {
        Run run = enrich("t.json", "[{\"hub\":\"5\",\"x\":1}]");
        run.give(FLIGHT, 1, flight("5"));
        assertThat(run.out).containsExactly("0: id=7 hub=5 x=1");

        Run types = enrich("t.json", "[{\"hub\":\"A\",\"n\":\"1.10\"}]", "types", Map.of("n", "double"));
        types.give(FLIGHT, 1, flight("A"));
        assertThat(types.out).containsExactly("0: id=7 hub=A n=1.1");
    }

    @Test
    void aTableWithoutRowsFitsEveryKey() throws IOException {
        for (Object key : List.of("hub", Map.of("id", "hub"))) {
            Run run = enrich("t.csv", "hub,n\n", "key", key);
            run.give(FLIGHT, 1, flight("A"));
            assertThat(run.out).containsExactly("0: id=7 hub=A n=null");
        }
    }

    @Test
    void aColumnWithoutANameIsRefused() {
        assertThatThrownBy(() -> enrich("t.csv", "hub,\nA,1\n"))
                .hasMessageEndingWith("line 1: column 2 has no name: name it or remove it");
        assertThatThrownBy(() -> enrich("t.csv", "\n\"\",hub\n1,A\n"))
                .hasMessageEndingWith("line 2: column 1 has no name: name it or remove it");
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\"},\n{\"hub\": \"B\", \"\": 1}]"))
                .hasMessageEndingWith("line 2: a field has no name: name it or remove it");
    }

    @Test
    void whatIsNotUtf8HasItsLineAndField() throws IOException {
        Map<String, String> refusals = Map.of(
                "hub,n\nA,1\nB,x~", "line 3: field 'n': not UTF-8 at byte offset 13",
                "hub,n\r\nA,\"1\r\n2\"\r\n~,x", "line 4: field 'hub': not UTF-8",
                "hub,n\nA,\"1\n~\"", "line 2: field 'n': not UTF-8",
                "hub,n\nA,\"1\"~\n", "line 2: field 'n': not UTF-8",
                "hub,n\nA\nB,~\n", "line 2: field 'n': its cell lacks",
                "hub,n~\nA\n", "line 1: not UTF-8",
                "[{\"hub\": \"A\",\n\"n\": \"x~\"}]", "line 2: field 'n': it is no JSON: not UTF-8");
        for (Map.Entry<String, String> refusal : refusals.entrySet()) {
            byte[] bytes = refusal.getKey().getBytes(StandardCharsets.ISO_8859_1);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = bytes[i] == '~' ? (byte) 0xE9 : bytes[i];
            }
            boolean isJson = refusal.getKey().startsWith("[");
            assertThatThrownBy(() -> TableFile.parse(bytes, isJson)).hasMessageStartingWith(refusal.getValue());
        }
    }

    @Test
    void whatIsNoJsonIsSaidInWords() {
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\",\n\"n\": NaN}]"))
                .hasMessageEndingWith("line 2: field 'n': it is no JSON: 'NaN' is no number of JSON");
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\","))
                .hasMessageEndingWith("it is no JSON: it is cut off: its end lacks");
    }

    @Test
    void numbersOfJsonAreWhatTheyWereWrittenAs() throws IOException {
        Run run = enrich(
                "t.json",
                "[{\"hub\": \"A\", \"n\": 12345678901234567890, \"x\": 0.12345678901234567891, \"l\": [1.10, {\"a\": 25e-1}]}]");
        run.give(FLIGHT, 1, flight("A"));

        assertThat(run.out)
                .containsExactly("0: id=7 hub=A n=12345678901234567890 x=0.12345678901234567891 l=[1.10,{\"a\":2.5}]");
    }

    @Test
    void aByteOrderMarkIsPassedOver() throws IOException {
        for (Run run : List.of(
                enrich("t.csv", "\uFEFF\"hub\",n\r\nA,5\r\n"),
                enrich("t.json", "\uFEFF[{\"hub\": \"A\", \"n\": 5}]"))) {
            run.give(FLIGHT, 1, flight("A"));
            assertThat(run.out).containsExactly("0: id=7 hub=A n=5");
        }
    }

    @Test
    void errorsNameTheLineOfTheFile() {
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\r\n\"A\r\nB\",1\r\n\r\nC\r\n"))
                .hasMessageEndingWith("line 5: field 'n': its cell lacks: the row has 1, the first line 2");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\n\"A\n\nB\",1\nC,2\nC,3\n"))
                .hasMessageEndingWith("line 6 has the key of another: {hub=C, n=3}");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\rA,1\rB,\"2\"x\r"))
                .hasMessageEndingWith("line 3: field 'n': 'x' stands behind a closing quote");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\n\n\nA,\"2"))
                .hasMessageEndingWith("line 4: field 'n': a quote is not closed");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\nA,1\nB,1e400\n", "types", Map.of("n", "double")))
                .hasMessageEndingWith("table: line 3: field 'n': '1e400' is too large for float of 8 bytes");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\nA,1\nB,128\n", "types", Map.of("n", "integer(1)")))
                .hasMessageEndingWith("table: line 3: field 'n': 128 does not fit integer of 1 bytes");
        assertThatThrownBy(() -> enrich("t.json", "[\n{\"hub\": \"A\"},\n{\"hub\": \"A\"}]"))
                .hasMessageEndingWith("table: line 3 has the key of another: {hub=A}");
        assertThatThrownBy(() -> enrich("t.json", "[\n{\"hub\": \"A\",\n\"hub\": \"B\"}]"))
                .hasMessageEndingWith("line 3: 'hub' stands twice in one object: remove one");
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\"},\n01]"))
                .hasMessageContaining("line 2: it is no JSON");
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\"}]\n[]"))
                .hasMessageEndingWith("line 2: something stands behind the list: remove it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0x1p3", "1.5d", "2f", "٣", "1e39", "1e-50", "16777217", " 1", "1 "})
    void aCellThatIsNoNumberOfItsTypeIsRefused(String cell) {
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\nA," + cell + "\n", "types", Map.of("n", "float(4)")))
                .hasMessageContaining("table: line 2: field 'n': ");
    }

    @Test
    void aTextThatIsNoneIsRefused() {
        assertThatThrownBy(() -> enrich("t.json", "[{\"hub\": \"A\", \"n\": \"\\ud83d\"}]"))
                .hasMessageContaining("line 1: field 'n': text with a surrogate that stands alone");
        assertThatThrownBy(() -> enrich("t.csv", "hub,n\nA,a\0b\n")).hasMessageContaining("line 2: field 'n': text ");
        for (String file : List.of("t.csv", "t.json")) {
            assertThatThrownBy(() -> {
                        Files.write(folder.resolve(file), new byte[] {'h', (byte) 0xC1, (byte) 0x81});
                        TableFile.read(folder.resolve(file));
                    })
                    .hasMessageContaining("not UTF-8 at byte offset 1: convert it to UTF-8");
        }
    }

    /** The right sides are rows of {@code csv.DictReader} of Python 3.11, which gives {@code ''} where a cell is not there. */
    @Test
    void aTableIsReadAsPythonDoes() throws IOException {
        Map<String, String> vectors = Map.of(
                "a,b\n1,2\n", "[{a=1, b=2}]",
                "a,b\r\n1,\"x,y\"\r\n", "[{a=1, b=x,y}]",
                "a,b\n\"1\"\"2\",\"\"\n", "[{a=1\"2}]",
                "a,b\n\n1,2\n\r\n3,4", "[{a=1, b=2}, {a=3, b=4}]",
                "a,b\n\"x\r\ny\",2\n", "[{a=x\r\ny, b=2}]",
                "a,b\n1\"2, 3 \n", "[{a=1\"2, b= 3 }]",
                "a,b\r1,2\r3,4\r", "[{a=1, b=2}, {a=3, b=4}]",
                "a,b\n,\n", "[{}]",
                "a\n\"\"\n", "[{}]");
        for (Map.Entry<String, String> vector : vectors.entrySet()) {
            Path file = Files.writeString(folder.resolve("v.csv"), vector.getKey());
            assertThat(TableFile.read(file).rows().stream()
                            .map(TableFile.Line::cells)
                            .toList())
                    .as(vector.getKey())
                    .hasToString(vector.getValue());
        }
    }
}
