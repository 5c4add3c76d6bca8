package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;

class HandlerSettingsTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .build();
    private static final PlanNames NAMES = new PlanNames(Map.of("flight", Target.of(FLIGHT)), Path.of("plans"));

    private static HandlerSettings settings(Map<String, ?> tree) {
        return new HandlerSettings("handlers.a.kind", tree, NAMES);
    }

    @Test
    void quantitiesHaveUnits() {
        HandlerSettings settings = settings(Map.of("window", "5s", "state", "16MiB"));

        assertThat(settings.durationNs("window", "1s", 1, Long.MAX_VALUE)).isEqualTo(5_000_000_000L);
        assertThat(settings.bytes("state", "1", 1, 1 << 30)).isEqualTo(16 << 20);
    }

    @Test
    void absentSettingsHaveTheirDefault() {
        HandlerSettings settings = settings(Map.of());

        assertThat(settings.durationNs("window", "200ms", 1, Long.MAX_VALUE)).isEqualTo(200_000_000L);
        assertThat(settings.number("count", 7, 1, 10)).isEqualTo(7);
        assertThat(settings.flag("cut", false)).isFalse();
        assertThat(settings.choice("missing", "drop", "empty")).isEqualTo("drop");
        assertThat(settings.texts("key")).isEmpty();
    }

    @Test
    void aNumberOutOfBoundsIsRefusedWithTheBounds() {
        assertThatThrownBy(() -> settings(Map.of("count", 11)).number("count", 7, 1, 10))
                .hasMessage("handlers.a.kind.count: 11 is out of bounds: 1 to 10 are allowed");
    }

    @Test
    void aQuantityThatFitsNoLongIsOutOfBounds() {
        assertThatThrownBy(
                        () -> settings(Map.of("window", "999999999999999999h")).durationNs("window", "1s", 1, 10))
                .hasMessageContaining("out of bounds");
    }

    @Test
    void anUnknownFormatIsRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> settings(Map.of("output", "plane")).format("output"))
                .hasMessage("handlers.a.kind.output: no format 'plane'; known: flight");
    }

    @Test
    void aMissingSettingIsRefusedWithWhatIsThere() {
        assertThatThrownBy(() -> settings(Map.of("outptu", "flight")).format("output"))
                .hasMessage("handlers.a.kind.output: is missing: a text is wanted; found: outptu");
    }

    @Test
    void whatNobodyAskedForIsRefusedInItemsToo() {
        HandlerSettings settings = settings(Map.of("to", List.of(Map.of("to", "a", "wen", "b"), "c")));

        List<HandlerSettings> items = settings.items("to", "to");
        items.forEach(item -> item.text("to"));

        assertThat(items).hasSize(2);
        assertThatThrownBy(settings::requireNoOthers)
                .hasMessage("handlers.a.kind.to[0].wen: unknown setting; known: to");
    }

    @Test
    void filesStayWithinThePlansFolder() {
        assertThat(settings(Map.of("table", "hubs.csv")).file("table"))
                .isEqualTo(Path.of("plans/hubs.csv").toAbsolutePath());
        assertThatThrownBy(() -> settings(Map.of("table", "../hubs.csv")).file("table"))
                .hasMessageContaining("leads out of the plan's folder");
    }

    @Test
    void anUnknownKindIsRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> HandlerKinds.make("handlers.a.filtre", "filtre", "x", NAMES))
                .hasMessageStartingWith("handlers.a.filtre: 'filtre' is no kind of handler; known: ");
    }

    @Test
    void aKindWithoutAMainSettingRefusesABareText() {
        assertThatThrownBy(() -> HandlerKinds.make("handlers.a.nothing", "nothing", "x", NAMES))
                .hasMessage("handlers.a.nothing: 'x' stands where settings (key: value) are wanted");
    }

    @Test
    void refusesAListWithNothingInIt() {
        Map<String, Object> tree = Map.of("fields", java.util.Arrays.asList("id", null));
        HandlerSettings settings = new HandlerSettings("handlers.a", tree, new PlanNames(Map.of(), Path.of(".")));
        assertThatThrownBy(() -> settings.texts("fields"))
                .hasMessage("handlers.a.fields: nothing stands where a value is wanted: [id, null]");
    }
}
