package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.Target;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.expression.EvaluationException;

/** Filter, route and project. */
class ExpressionHandlersTest {
    private static final Format FLIGHT = flight(Layout.X86_64);
    private static final Format METRIC = Format.builder(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN))
            .structure("flight_si")
            .field("fuel_kg", "float", 8)
            .field("id", "integer", 8)
            .field("hub", "string")
            .field("gate", "char[6]")
            .field("small", "integer", 1)
            .field("big", "unsigned", 8)
            .field("late", "boolean", 1)
            .field("m", "integer", 4)
            .field("stops", "leg[m]")
            .field("label", "string")
            .structure("leg")
            .field("miles", "integer", 8)
            .build();

    private final Out out = new Out();

    private static Format flight(Layout layout) {
        return Format.builder(layout)
                .structure("flight")
                .field("id", "integer", 8)
                .field("delay", "integer", 4)
                .field("fuel_lb", "float", 8)
                .field("hub", "string")
                .field("m", "integer", 4)
                .field("legs", "leg[m]")
                .structure("leg")
                .field("miles", "integer", 4)
                .build();
    }

    private static Map<String, Object> values() {
        Map<String, Object> values = new HashMap<>();
        values.put("id", 42);
        values.put("delay", 20);
        values.put("fuel_lb", 1000.0);
        values.put("hub", "ATL");
        values.put("legs", List.of(Map.of("miles", 3), Map.of("miles", 5)));
        return values;
    }

    private static MessageHandler make(String kind, Object settings) {
        PlanNames names =
                new PlanNames(Map.of("flight", Target.of(FLIGHT), "flight_si", Target.of(METRIC)), Path.of("."));
        return HandlerKinds.make("handlers.it." + kind, kind, settings, names);
    }

    private Outcome give(MessageHandler handler, Map<String, Object> values) throws Exception {
        byte[] record = new RecordEncoder(FLIGHT).encode(values);
        Message message = new Message().wrap(FLIGHT, ByteBuffer.wrap(record), 0, record.length, new Packet(), 7);
        return handler.bind(FLIGHT).handle(message, out);
    }

    /** Keeps what a handler did with the last message. */
    private static final class Out implements Outlet {
        long ports = 1;

        @Nullable
        Message replaced;

        final List<String> drops = new ArrayList<>();

        @Override
        public long nowNs() {
            return 0;
        }

        @Override
        public void to(long bits) {
            ports = bits;
        }

        @Override
        public void replace(Message record) {
            replaced = record;
        }

        @Override
        public Outcome drop(String reason) {
            drops.add(reason);
            return Outcome.DROP;
        }

        @Override
        public void emit(int port, Message made) {
            throw new AssertionError("nothing is made");
        }

        @Override
        public void release(long messages, @Nullable String droppedFor) {
            throw new AssertionError("nothing is held");
        }
    }

    @Test
    void filterDropsWhatItsExpressionIsFalseFor() throws Exception {
        MessageHandler filter = make("filter", "flight.delay > 15 && flight.hub in [\"ATL\",\"DFW\"]");
        assertThat(give(filter, values())).isEqualTo(Outcome.FORWARD);
        Map<String, Object> early = values();
        early.put("delay", 3);
        assertThat(give(filter, early)).isEqualTo(Outcome.DROP);
        assertThat(out.drops).containsExactly("filtered");
        assertThat(filter.bind(FLIGHT).output(0)).isSameAs(FLIGHT);
    }

    @Test
    void filterSaysWhatItReads() {
        assertThat(make("filter", "flight.delay > 15 && hub != 'X' && legs.exists(l, l.miles > 2)")
                        .effect())
                .isEqualTo(new Effect(true, Set.of("delay", "hub", "legs"), Set.of(), Double.NaN));
        // What no format of the plan has may be another name's form: seat_class of seat-class.
        assertThat(make("filter", "seat_class > 15").effect().reads()).isNull();
        assertThat(make("filter", "flight == flight").effect().reads()).isNull();
        assertThat(make("filter", "altitude > 15").effect().reads()).containsExactly("altitude");
    }

    @Test
    void whatIsNoExpressionIsRefusedWithItsPlaceInThePlan() {
        assertThatThrownBy(() -> make("filter", "delay >"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("handlers.it.filter.when: expression 'delay >', column 8: ");
        assertThatThrownBy(() -> make("project", Map.of("output", "flight_si", "fields", Map.of("fuel", "1.0"))))
                .hasMessage(
                        "handlers.it.project.fields: format flight_si has no field 'fuel'; it has fuel_kg, id, hub, "
                                + "gate, small, big, late, m, stops, label");
        assertThatThrownBy(() -> make("project", Map.of("output", "flight_si")))
                .hasMessageStartingWith("handlers.it.project.fields: is missing");
    }

    @Test
    void formatThatLacksAFieldIsRefusedWhenItComes() {
        assertThatThrownBy(() -> make("filter", "dealy > 15").bind(FLIGHT))
                .isInstanceOf(FormatException.class)
                .hasMessage("expression 'dealy > 15', column 1: there is no 'dealy'; did you mean delay?");
        assertThatThrownBy(() -> make("filter", "delay").bind(FLIGHT))
                .hasMessage("expression 'delay': its value is a int, here it has to be a bool");
    }

    @Test
    void failedExpressionIsThrown() {
        assertThatThrownBy(() -> give(make("filter", "100 / (delay - 20) > 1"), values()))
                .isSameAs(EvaluationException.DIVISION);
    }

    @Test
    void routeNumbersThePort() throws Exception {
        MessageHandler route = make("route", Map.of("port", "delay > 15 ? 2 : delay", "ports", 3));
        assertThat(route.ports()).isEqualTo(3);
        assertThat(give(route, values())).isEqualTo(Outcome.FORWARD);
        assertThat(out.ports).isEqualTo(0b100);
        for (int delay : new int[] {-1, 3}) {
            Map<String, Object> other = values();
            other.put("delay", delay);
            assertThat(give(route, other)).isEqualTo(Outcome.DROP);
        }
        assertThat(out.drops).containsExactly("no such port", "no such port");
        assertThat(make("route", "0").ports()).isEqualTo(64);
    }

    private static Map<String, Object> metric() {
        return new HashMap<>(Map.of(
                "fuel_kg", "fuel_lb * 0.45359237",
                "gate", "hub + '1'",
                "small", "delay",
                "big", "18446744073709551615u",
                "late", "delay > 15",
                "stops", "legs",
                "label", "string(id) + '/' + hub"));
    }

    @Test
    void projectMakesARecordOfTheOutput() throws Exception {
        MessageHandler project = make("project", Map.of("output", "flight_si", "fields", metric()));
        assertThat(give(project, values())).isEqualTo(Outcome.FORWARD);
        Map<String, @Nullable Object> made =
                RecordTree.read(java.util.Objects.requireNonNull(out.replaced).record());
        assertThat(made.get("fuel_kg")).isEqualTo(1000.0 * 0.45359237);
        assertThat(made.get("id")).isEqualTo(42L);
        assertThat(text(made.get("hub"))).isEqualTo("ATL");
        assertThat(made.get("gate")).isEqualTo(List.of(65L, 84L, 76L, 49L, 0L, 0L));
        assertThat(made.get("small")).isEqualTo(20L);
        assertThat(made.get("big")).hasToString("18446744073709551615");
        assertThat(made.get("late")).isEqualTo(1L);
        assertThat(made.get("stops")).isEqualTo(List.of(Map.of("miles", 3L), Map.of("miles", 5L)));
        assertThat(text(made.get("label"))).isEqualTo("42/ATL");
        assertThat(out.replaced.arrivalNs()).isEqualTo(7);
    }

    private static String text(@Nullable Object bytes) {
        return new String((byte[]) java.util.Objects.requireNonNull(bytes), StandardCharsets.UTF_8);
    }

    @Test
    void projectWithoutAnOutputKeepsTheFormat() throws Exception {
        MessageHandler project = make("project", Map.of("fields", Map.of("delay", "delay * 60")));
        give(project, values());
        Map<String, @Nullable Object> made =
                RecordTree.read(java.util.Objects.requireNonNull(out.replaced).record());
        assertThat(made.get("delay")).isEqualTo(1200L);
        assertThat(made.get("legs")).isEqualTo(List.of(Map.of("miles", 3L), Map.of("miles", 5L)));
        assertThat(project.effect().changes()).containsExactly("delay");
        assertThat(project.bind(FLIGHT).output(0)).isSameAs(FLIGHT);
    }

    @Test
    void valueThatDoesNotFitItsFieldFails() {
        for (Map<String, Object> wrong : List.of(
                Map.<String, Object>of("small", "delay * 10"),
                Map.<String, Object>of("big", "-delay"),
                Map.<String, Object>of("gate", "hub + hub + hub"))) {
            Map<String, Object> fields = metric();
            fields.putAll(wrong);
            MessageHandler project = make("project", Map.of("output", "flight_si", "fields", fields));
            assertThatThrownBy(() -> give(project, values())).as("%s", wrong).isSameAs(EvaluationException.OVERFLOW);
        }
    }

    @Test
    void fieldsRefuseWhatTheyDoNotTake() {
        Map<String, Object> fields = metric();
        fields.put("small", "fuel_lb");
        assertThatThrownBy(() -> make("project", Map.of("output", "flight_si", "fields", fields))
                        .bind(FLIGHT))
                .isInstanceOf(FormatException.class)
                .hasMessage(
                        "field small integer does not take 'fuel_lb', which is a double: convert it by int(…), double(…), "
                                + "string(…); arrays and structures are taken over whole");
        assertThatThrownBy(() ->
                        make("project", Map.of("fields", Map.of("weight", "1"))).bind(FLIGHT))
                .hasMessage(
                        "format flight has no field 'weight' to assign to; it has id, delay, fuel_lb, hub, m, legs");
    }

    @Test
    void projectKeepsWhatItTakesOverWide() {
        Effect effect = make("project", Map.of("output", "flight_si", "fields", metric()))
                .effect();
        assertThat(effect.leaves(Set.of("id", "hub"))).isTrue();
        assertThat(effect.leaves(Set.of("m"))).isFalse();
        assertThat(effect.leaves(Set.of("fuel_kg"))).isFalse();
    }
}
