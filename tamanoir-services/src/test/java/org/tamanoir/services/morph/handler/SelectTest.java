package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;

class SelectTest {
    private static final Format BOOKING = Format.builder(
                    Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN).withPointerBytes(4))
            .structure("booking")
            .field("ssn", "string")
            .field("meal", "integer")
            .field("n", "integer", 2)
            .field("seats", "seat[n]")
            .field("price", "double")
            .structure("seat")
            .field("row", "integer")
            .field("note", "string")
            .build();
    private static final Map<String, Object> VALUES = Map.of(
            "ssn",
            "123-45",
            "meal",
            2,
            "n",
            2,
            "price",
            99.5,
            "seats",
            List.of(Map.of("row", 11, "note", "aisle"), Map.of("row", 12)));

    private static Run select(Map<String, Object> settings) {
        return Run.of("select", settings, BOOKING);
    }

    @Test
    void fieldsAreTakenIntoASmallerFormatWithWhatCountsThem() {
        Run run = select(Map.of("fields", List.of("meal", "seats")));
        run.give(BOOKING, 1, VALUES);

        assertThat(run.out).containsExactly("0: meal=2 n=2 seats=[{row=11 note=aisle}, {row=12 note=null}]");
        assertThat(run.formats.get(0).name()).isEqualTo("booking");
        assertThat(run.formats.get(0).layout()).isEqualTo(Layout.X86_64);
    }

    @Test
    void theSmallerFormatMayHaveANameOfItsOwn() {
        Run run = select(Map.of("fields", List.of("meal"), "name", "meals"));
        run.give(BOOKING, 1, VALUES);

        assertThat(run.out).containsExactly("0: meal=2");
        assertThat(run.formats.get(0).name()).isEqualTo("meals");
    }

    @Test
    void whatIsCutKeepsTheFormatWithoutItsVariablePart() {
        Run run = select(Map.of("cut", true));
        run.give(BOOKING, 1, VALUES);

        assertThat(run.out).containsExactly("0: ssn=null meal=2 n=2 seats=null price=99.5");
        assertThat(run.formats).containsExactly(BOOKING);
    }

    @Test
    void whatIsCutKeepsTheFieldsThatAreListed() {
        Run run = select(Map.of("cut", true, "fields", List.of("ssn", "price")));
        run.give(BOOKING, 1, VALUES);

        assertThat(run.out).containsExactly("0: ssn=123-45 meal=0 n=0 seats=null price=99.5");
    }

    @Test
    void aBareListIsItsFields() {
        Run run = new Run(HandlerKinds.make("h.select", "select", List.of("price"), Run.names(BOOKING)));
        run.give(BOOKING, 1, VALUES);

        assertThat(run.out).containsExactly("0: price=99.5");
    }

    @Test
    void anUnknownFieldIsRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> select(Map.of("fields", "snn")).bound(BOOKING))
                .hasMessage("format booking has no field 'snn'; it has: [ssn string, meal integer, n integer,"
                        + " seats seat[n], price double]");
    }

    @Test
    void nothingToSelectIsRefused() {
        assertThatThrownBy(() -> select(Map.of()))
                .hasMessage("handlers.it.select.fields: is missing: list fields, as in [id, hub], or say cut: true");
    }

    @Test
    void aStructureThatLeadsToItselfCannotBecomeSmaller() {
        Format node = Format.builder(Layout.X86_64)
                .structure("node")
                .field("value", "integer")
                .field("next", "*node")
                .build();

        assertThatThrownBy(
                        () -> Run.of("select", Map.of("fields", "next"), node).bound(node))
                .hasMessage("structure node leads to itself: give what is made of it another name, or cut it");
        assertThat(Run.of("select", Map.of("fields", "next", "name", "link"), node)
                        .bound(node)
                        .output(0)
                        .structures())
                .hasSize(2);
    }

    @Test
    void whatIsListedStaysAsItWas() {
        assertThat(select(Map.of("fields", List.of("meal", "ssn")))
                        .handler
                        .effect()
                        .leaves(Set.of("ssn")))
                .isTrue();
        assertThat(select(Map.of("fields", List.of("meal"))).handler.effect().leaves(Set.of("ssn")))
                .isFalse();
        assertThat(select(Map.of("cut", true)).handler.effect().leaves(Set.of("ssn")))
                .isFalse();
    }
}
