package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
        Run run = enrich("ids.csv", "hub,n\n007,5\n");

        assertThatThrownBy(() -> run.bound(FLIGHT))
                .hasMessage("key hub of flight is string, hub of row is integer: translate one of them before");
    }

    @Test
    void twoRowsOfOneKeyAreRefused() {
        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\nATL,5\nATL,6\n"))
                .hasMessage("handlers.it.enrich.table: row 2 has the key of another: {hub=ATL, n=6}");
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
                .hasMessage("handlers.it.enrich.table: hubs.csv cannot be read: row 2 has 1 cells, the first has 2");
        assertThatThrownBy(() -> enrich("hubs.csv", "hub,n\n\"ATL,5\n"))
                .hasMessage("handlers.it.enrich.table: hubs.csv cannot be read: row 2: a quote is not closed");
        assertThatThrownBy(() -> enrich("hubs.json", "{\"a\": [1]}"))
                .hasMessageContaining("a list of objects is wanted");
        assertThatThrownBy(() -> enrich("hubs.json", "[{")).hasMessageContaining("it is no JSON");
    }

    @Test
    void aColumnThatTheTableLacksIsRefused() {
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
}
