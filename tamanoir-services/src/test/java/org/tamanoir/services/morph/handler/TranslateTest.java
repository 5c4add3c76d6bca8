package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.message.Effect;

class TranslateTest {
    private static final Format OLD = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("delay", "integer", 8)
            .field("hub", "string")
            .build();
    private static final Format NEW = Format.builder(Layout.X86_64)
            .structure("leg")
            .field("hub", "string")
            .field("id", "integer", 8)
            .field("delay", "double")
            .field("gate", "integer", 2)
            .build();
    private static final Map<String, Object> FLIGHT = Map.of("id", 7, "delay", 15, "hub", "ATL");

    @Test
    void recordsBecomeTheOutputsWithDefaultsAndAcrossKinds() {
        Run run = Run.of(
                "translate", Map.of("output", "leg", "defaults", Map.of("gate", 4), "across-kinds", true), OLD, NEW);
        run.give(OLD, 3, FLIGHT);

        assertThat(run.out).containsExactly("0: hub=ATL id=7 delay=15.0 gate=4");
        assertThat(run.streams).containsExactly(3);
    }

    @Test
    void recordsOfTheOutputPassAsTheyAre() {
        Run run = Run.of("translate", Map.of("output", "flight"), OLD);
        run.give(OLD, 3, FLIGHT);

        assertThat(run.out).containsExactly("0: id=7 delay=15 hub=ATL");
    }

    @Test
    void kindsThatDifferAreRefusedUnlessAllowed() {
        Run run = Run.of("translate", Map.of("output", "leg", "defaults", Map.of("gate", 4)), OLD, NEW);

        assertThatThrownBy(() -> run.bound(OLD))
                .isInstanceOf(FormatException.class)
                .hasMessage("field 'delay' of 'leg' is float, in the source integer");
    }

    @ParameterizedTest
    @CsvSource({
        "40000,gate",
        "-32769,gate",
        "99999999999999999999,gate",
        "٣,gate",
        "' 5',gate",
        "3.5,gate",
        "1e400,delay"
    })
    void aDefaultThatItsFieldDoesNotHoldIsRefused(String text, String field) {
        assertThatThrownBy(
                        () -> Run.of("translate", Map.of("output", "leg", "defaults", Map.of(field, text)), OLD, NEW))
                .hasMessageStartingWith("handlers.it.translate.defaults: field '" + field
                        + "' of 'leg' has the default '" + text + "'");
    }

    @Test
    void aDefaultOfNoFieldIsRefused() {
        assertThatThrownBy(() -> Run.of("translate", Map.of("output", "leg", "defaults", Map.of("seat", 4)), OLD, NEW))
                .hasMessage("handlers.it.translate.defaults: format leg has no field 'seat'");
    }

    @Test
    void whatNoConversionNarrowsMayBeLookedAtBefore() {
        Effect effect = Run.of("translate", Map.of("output", "leg", "defaults", Map.of("delay", 1)), OLD, NEW)
                .handler
                .effect();

        assertThat(effect.passes()).isFalse();
        assertThat(effect.leaves(Set.of("id", "hub"))).isTrue();
        assertThat(effect.leaves(Set.of("gate"))).as("narrow").isFalse();
        assertThat(effect.leaves(Set.of("delay"))).as("perhaps the default").isFalse();
    }

    @Test
    void nothingChangesNothing() {
        Run run = Run.of("nothing", Map.of(), OLD);
        run.give(OLD, 3, FLIGHT);

        assertThat(run.out).containsExactly("0: id=7 delay=15 hub=ATL");
        assertThat(run.handler.effect().leaves(Set.of("id"))).isTrue();
        assertThat(run.handler.effect().passes()).isTrue();
    }
}
