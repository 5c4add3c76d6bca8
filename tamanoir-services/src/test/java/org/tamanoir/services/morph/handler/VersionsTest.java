package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;

/** Three versions: 2 adds a gate, 3 has fuel in kilograms. */
class VersionsTest {
    private static final Format FIRST = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("fuel_lb", "double")
            .build();
    private static final Format SECOND = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("fuel_lb", "double")
            .field("gate", "integer")
            .build();
    private static final Format THIRD = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("fuel_kg", "double")
            .field("gate", "integer")
            .build();
    private static final PlanNames NAMES = new PlanNames(
            Map.of("flight@1", Target.of(FIRST), "flight@2", Target.of(SECOND), "flight@3", Target.of(THIRD)),
            Path.of("."));
    private static final List<Object> STEPS = List.of(
            Map.of("from", "flight@1", "translate", Map.of("output", "flight@2", "defaults", Map.of("gate", -1))),
            Map.of(
                    "from",
                    "flight@2",
                    "project",
                    Map.of("output", "flight@3", "fields", Map.of("fuel_kg", "fuel_lb * 0.5"))));

    private static Run versions(List<Object> steps) {
        return new Run(HandlerKinds.make("handlers.it.versions", "versions", steps, NAMES));
    }

    @Test
    void eachVersionBecomesTheNewestByTheStepsFromItOn() {
        Run run = versions(STEPS);
        run.give(FIRST, 1, Map.of("id", 1, "fuel_lb", 8.0));
        run.give(SECOND, 1, Map.of("id", 2, "fuel_lb", 8.0, "gate", 5));
        run.give(THIRD, 1, Map.of("id", 3, "fuel_kg", 8.0, "gate", 5));

        assertThat(run.out)
                .containsExactly(
                        "0: id=1 fuel_kg=4.0 gate=-1", "0: id=2 fuel_kg=4.0 gate=5", "0: id=3 fuel_kg=8.0 gate=5");
    }

    @Test
    void anUnknownVersionEntersWhereItHasAllFieldsAndFewestBesides() {
        Format between = Format.builder(Layout.X86_64.withPointerBytes(4))
                .structure("flight")
                .field("note", "string")
                .field("gate", "integer")
                .field("fuel_lb", "float", 4)
                .field("id", "integer", 4)
                .build();
        Run run = versions(STEPS);
        run.give(between, 1, Map.of("id", 2, "fuel_lb", 8.0, "gate", 5));

        assertThat(run.out).containsExactly("0: id=2 fuel_kg=4.0 gate=5");
    }

    @Test
    void whatHasNotAllFieldsOfAnyVersionIsRefused() {
        Format other = Format.builder(Layout.X86_64)
                .structure("flight")
                .field("id", "integer", 8)
                .build();

        assertThatThrownBy(() -> versions(STEPS).bound(other))
                .isInstanceOf(FormatException.class)
                .hasMessage("format flight has not all fields of any of the versions of flight");
    }

    @Test
    void stepsThatDoNotFitOneAnotherAreRefused() {
        List<Object> steps = List.of(STEPS.get(0), Map.of("from", "flight@2", "translate", "flight@3"));

        assertThatThrownBy(() -> versions(steps))
                .hasMessage("handlers.it.versions.steps: field 'fuel_kg' of 'flight' is missing in format 'flight' and"
                        + " has no default");
    }

    @Test
    void aStepThatHoldsRecordsIsRefused() {
        assertThatThrownBy(() -> versions(List.of(Map.of("from", "flight@1", "reduce", Map.of()))))
                .hasMessageStartingWith("handlers.it.versions.steps[0].from: has [] beside it: one of ");
    }
}
