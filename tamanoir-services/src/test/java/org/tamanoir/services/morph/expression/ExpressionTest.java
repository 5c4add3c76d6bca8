package org.tamanoir.services.morph.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordView;

/** What expressions mean: docs/expressions.md in rows. */
class ExpressionTest {
    private final Format format = Records.flight();
    private final RecordView record = Records.view(format, Records.values());

    private Object value(String text) {
        return Expression.compile(text, format).value(record);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            delay > 15                                   | true
            flight.delay > 15                            | true
            delay > 15.5                                 | true
            fuel_lb > 1000                               | true
            serial > 9223372036854775807u                | true
            serial > -1                                  | true
            hub == "ATL" && delay != 3                   | true
            hub in ["DFW", "ATL"]                        | true
            delay in [1, 2, 3]                           | false
            hub < "ATM"                                  | true
            "Z" < "ü"                                    | true
            "\\uffff" < "\\U0001F600"                    | true
            !late                                        | false
            late ? 1 : 2                                 | 1
            delay + 1                                    | 21
            -7 / 2                                       | -3
            -7 % 2                                       | -1
            fuel_lb * 0.5                                | 500.25
            (double(temp_f[0]) - 32.0) / 1.8             | 10.0
            legs[1].miles                                | 250
            legs[1].to + "/" + hub                       | Zürich/ATL
            legs.exists(l, l.miles > 200)                | true
            legs.all(l, l.miles > 200)                   | false
            legs.exists(l, l.to == hub)                  | false
            size(legs)                                   | 2
            size(legs[1].to)                             | 6
            size(gate)                                   | 4
            gate == b"A1\\000\\000"                      | true
            bytes(hub) == b"ATL"                         | true
            -40.0 in temp_f                              | true
            hub.startsWith("AT")                         | true
            hub.endsWith("L")                            | true
            hub.contains("X")                            | false
            hub.matches("^[A-Z]{3}$")                    | true
            int("-12") + int(3.9) + int(5u)              | -4
            double(delay) / 8.0                          | 2.5
            string(delay) + "%"                          | 20%
            uint(delay) < serial                         | true
            uint("-0") == 0u && int("-0") == 0           | true
            origin.city                                  | Atlanta
            origin.runways                               | 5
            alternate.city                               | ``
            alternate.runways                            | 0
            isnull(alternate)                            | true
            isnull(alternate.city)                       | true
            isnull(hub)                                  | false
            has(flight.hub)                              | true
            in_ + odd_name                               | 6
            hub == "DFW" && legs[9].miles == 1           | false
            legs.exists(l, 100 / (l.miles - 100) == 0)   | true
            """)
    void isCoveredByClosures(String text, String expected) {
        Expression expression = Expression.compile(text, format);
        assertThat(expression.value(record)).hasToString(expected);
        assertThat(expression.isClosures()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            grid[1][2]                                   | 6
            size(grid[0])                                | 3
            legs.map(l, l.miles)                         | [100, 250]
            legs.filter(l, l.miles > 200).size()         | 1
            legs.exists_one(l, l.miles > 200)            | true
            origin == origin                             | true
            origin                                       | {city=Atlanta, runways=5}
            string(fuel_lb)                              | 1000.5
            double("1.5")                                | 1.5
            {"ATL": 3}[hub]                              | 3
            timestamp("2026-01-01T00:00:00Z").getFullYear() | 2026
            isnull(alternate) && origin == origin        | true
            alternate.city + string(fuel_lb)             | 1000.5
            """)
    void runsOnTheRuntimeWhatHasNoClosure(String text, String expected) {
        Expression expression = Expression.compile(text, format);
        assertThat(expression.value(record)).hasToString(expected);
        assertThat(expression.isClosures()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            delay / (delay - 20)                  | expression: division by zero
            serial % 0u                           | expression: division by zero
            id * 9223372036854775807              | expression: overflow
            -9223372036854775807 - id             | expression: overflow
            serial + 1u                           | expression: overflow
            uint(delay) - 21u                     | expression: overflow
            int(serial)                           | expression: overflow
            int(1e19)                             | expression: overflow
            int(hub)                              | expression: conversion
            legs[2].miles                         | expression: index out of range
            legs[-1].miles                        | expression: index out of range
            alternate.runways / alternate.runways | expression: division by zero
            {"DFW": 3}[hub]                       | expression: index out of range
            uint("-1")                            | expression: overflow
            uint("-")                             | expression: conversion
            """)
    void failsForAConstantReason(String text, String reason) {
        Expression expression = Expression.compile(text, format);
        assertThatThrownBy(() -> expression.value(record))
                .isInstanceOf(EvaluationException.class)
                .hasMessage(reason)
                .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
    }

    /** In all places where a truth may stand; {@code string} of a double has the whole run on dev.cel's runtime. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '`', textBlock = """
            late == (delay > 99 || delay / (delay - 20) > 3) ; division by zero
            late != (delay > 99 || delay / (delay - 20) > 3) ; division by zero
            (late && delay / (delay - 20) > 3) in [true, false] ; division by zero
            true in [late && delay / (delay - 20) > 3, true] ; division by zero
            (late && int(hub) > 3) < true ; conversion
            !(late && int(hub) > 3) ; conversion
            (late && int(hub) > 3) ? late : !late ; conversion
            true == (late ? late && int(hub) > 3 : late) ; conversion
            late != legs.all(l, l.miles > int(hub)) ; conversion
            late == legs.exists(l, l.miles / (delay - 20) > 3) ; division by zero
            [late && int(hub) > 3] != [true] ; conversion
            size([late && int(hub) > 3]) == 1 ; conversion
            {"a": late && int(hub) > 3} != {"a": true} ; conversion
            {(late && int(hub) > 3): 1}[true] == 1 ; conversion
            legs.map(l, l.miles > 0 && int(hub) > 3).size() == 2 ; conversion
            legs.map(l, l.miles > 0 && int(hub) > 3, l).size() == 2 ; conversion
            legs.filter(l, l.miles > 0 && int(hub) > 3).size() == 2 ; conversion
            legs.exists_one(l, l.miles > 0 && int(hub) > 3) ; conversion
            string(late && int(hub) > 3) == "true" ; conversion
            late && delay / (delay - 20) > 3 && int(hub) > 3 ; division by zero
            legs.all(l, l.miles / (l.miles - 100) > 0 && int(hub) > 3) ; division by zero
            legs[9007199254740992].miles == 1 ; index out of range
            temp_f[4294967296] == 1.0 ; index out of range
            [1, 2][4294967296] == 1 ; index out of range
            timestamp("9999-12-31T23:59:59Z") + duration("1h") != timestamp(0) ; overflow
            duration("1h") + timestamp("9999-12-31T23:59:59Z") != timestamp(0) ; overflow
            timestamp("0001-01-01T00:00:00Z") - duration("1h") != timestamp(0) ; overflow
            timestamp(id * 9999999999999) != timestamp(0) ; overflow
            timestamp(9223372036854775807) != timestamp(0) ; overflow
            """)
    void failsForOneReasonByAllMeans(String text, String reason) {
        for (Expression each : List.of(
                Expression.compile(text, format),
                Expression.compileForClosures(text, format),
                Expression.compileForRuntime(text, format),
                Expression.compile("(" + text + ") && string(fuel_lb) != \"\"", format))) {
            assertThatThrownBy(() -> each.value(record))
                    .isInstanceOf(EvaluationException.class)
                    .hasMessage("expression: " + reason);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '`', textBlock = """
            late == (delay / (delay - 20) > 3 || late) ; true
            late == (delay / (delay - 20) > 3 && !late) ; false
            late == legs.exists(l, 100 / (l.miles - 100) == 0) ; true
            [legs.all(l, 100 / (l.miles - 100) > 0)] == [false] ; true
            legs.map(l, l.miles == 100 || 1 / (l.miles - 100) == 0).size() == 2 ; true
            timestamp("9999-12-31T22:59:59Z") + duration("1h") > timestamp(0) ; true
            timestamp(253402300799) > timestamp(-62135596800) ; true
            """)
    void hasAValueWhereAnotherOperandDecides(String text, boolean value) {
        assertThat(Expression.compile(text, format).test(record)).isEqualTo(value);
        assertThat(Expression.compileForRuntime(text, format).test(record)).isEqualTo(value);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            dealy > 15       | expression 'dealy > 15', column 1: there is no 'dealy'; did you mean delay?
            flight.hbu       | expression 'flight.hbu', column 7: there is no 'hbu'; did you mean hub?
            altitude_ft == 1 | expression 'altitude_ft == 1', column 1: there is no 'altitude_ft'; there are id, delay, \
            fuel_lb, hub, gate, serial, late, n, …
            delay * 1.5      | expression 'delay * 1.5', column 7: '*' does not take (int, double): make both the same by \
            double(…), int(…) or uint(…), whole numbers doubles by .0
            delay && late    | expression 'delay && late', column 7: '&&' does not take (int, bool): compare numbers \
            with 0, texts with ""
            9223372036854775808 | expression '9223372036854775808', column 1: a whole number beyond 64 bits: \
            at most 9223372036854775807 or 18446744073709551615u; a double ends in .0
            id < -9223372036854775809 | expression 'id < -9223372036854775809', column 6: a whole number beyond 64 bits: \
            at most 9223372036854775807 or 18446744073709551615u; a double ends in .0
            0x8000000000000000 | expression '0x8000000000000000', column 1: a whole number beyond 64 bits: \
            at most 9223372036854775807 or 18446744073709551615u; a double ends in .0
            18446744073709551616u | expression '18446744073709551616u', column 1: a whole number beyond 64 bits: \
            at most 9223372036854775807 or 18446744073709551615u; a double ends in .0
            isnull(5)        | expression 'isnull(5)', column 7: isnull takes a field, as in isnull(hub) or \
            isnull(flight.hub)
            hub.matches("[") | expression 'hub.matches("[")', column 13: no regular expression of RE2: missing closing ] \
            '['
            hub.matches(hub) | expression 'hub.matches(hub)', column 13: matches takes a pattern that stands in the \
            expression: 'text'
            """)
    void refusesInALineWithColumnAndRemedy(String text, String message) {
        assertThatThrownBy(() -> Expression.compile(text, format))
                .isInstanceOf(ExpressionException.class)
                .hasMessage(message);
    }

    @Test
    void namesTheFieldsThatItReads() {
        assertThat(Expression.compile(
                        "legs.exists(id, id.miles > delay) && flight.hub == odd_name + hub", format("odd-name")))
                .returns(java.util.Set.of("legs", "delay", "hub", "odd-name"), Expression::fields);
        assertThat(Expression.compile("flight == flight", format).fields()).contains("id", "grid", "odd-name");
    }

    private static Format format(String odd) {
        return Format.builder(Layout.X86_64)
                .structure("flight")
                .field("delay", "integer")
                .field("hub", "string")
                .field(odd, "string")
                .field("legs", "leg[2]")
                .field("id", "integer")
                .structure("leg")
                .field("miles", "integer")
                .build();
    }

    @Test
    void fieldOfTheRecordsNameHidesTheRecord() {
        Format own = Format.builder(Layout.X86_64)
                .structure("delay")
                .field("delay", "integer")
                .build();
        RecordView view = Records.view(own, Map.of("delay", 3));
        assertThat(Expression.compile("delay == 3", own).test(view)).isTrue();
        assertThatThrownBy(() -> Expression.compile("delay.delay == 3", own)).isInstanceOf(ExpressionException.class);
    }

    @Test
    void fieldsMayBeCalledAsTypesAndFunctionsAre() {
        Format own = Format.builder(Layout.X86_64)
                .structure("r")
                .field("int", "integer")
                .field("type", "integer")
                .field("size", "integer")
                .field("2nd", "integer")
                .build();
        RecordView view = Records.view(own, Map.of("int", 1, "type", 2, "size", 3, "2nd", 4));
        assertThat(Expression.compile("int + type + size + _2nd == 10", own).test(view))
                .isTrue();
    }

    @Test
    void refusesFieldsThatGetTheSameName() {
        Format own = Format.builder(Layout.X86_64)
                .structure("r")
                .field("a-b", "integer")
                .field("a.b", "integer")
                .build();
        assertThatThrownBy(() -> Expression.compile("true", own))
                .hasMessage("expression 'true': fields 'a-b' and 'a.b' of structure 'r' are both called a_b in "
                        + "expressions; select or translate one of them before");
    }

    @Test
    void nullReadsAsEmpty() {
        Map<String, Object> values = new HashMap<>(Records.values());
        values.keySet().retainAll(List.of("id"));
        RecordView empty = Records.view(format, values);
        assertThat(Expression.compile("hub == \"\" && size(legs) == 0 && isnull(hub) && isnull(legs)", format)
                        .test(empty))
                .isTrue();
        assertThat(Expression.compile("legs == [] && hub == \"\" && origin.city == \"\"", format)
                        .test(empty))
                .isTrue();
    }

    @Test
    void readsEveryLayout() {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            for (int pointer : new int[] {4, 8}) {
                Format other = Records.flight(Layout.X86_64.withOrder(order).withPointerBytes(pointer));
                RecordView view = Records.view(other, Records.values());
                assertThat(Expression.compile(
                                        "id == 42 && fuel_lb == 1000.5 && serial == 18446744073709551615u && temp_f[1] == "
                                                + "-40.0 && legs[1].miles == 250 && hub == 'ATL' && origin.runways == 5",
                                        other)
                                .test(view))
                        .as("%s, pointers of %d bytes", order, pointer)
                        .isTrue();
            }
        }
    }

    @Test
    void unsignedOf8BytesKeepsAllBits() {
        assertThat(value("serial")).isEqualTo(new BigInteger("18446744073709551615"));
        assertThat(Expression.compile("serial", format).getLong(record)).isEqualTo(-1);
    }

    @Test
    void failureCountsOnlyWhereNoOtherOperandDecides() {
        assertThat(value("delay / 0 == 1 || hub == 'ATL'")).isEqualTo(true);
        assertThat(value("hub == 'ATL' || delay / 0 == 1")).isEqualTo(true);
        assertThatThrownBy(() -> value("delay / 0 == 1 || hub == 'DFW'")).isSameAs(EvaluationException.DIVISION);
    }

    @Test
    void hostileTextsAreRefused() {
        refused("1" + " ".repeat(4_096), "4097 characters, at most 4096");
        refused("(".repeat(300) + "1" + ")".repeat(300), "recursion");
        refused("1" + "+1".repeat(1_000), "recursion");
        refused("flight" + ".id".repeat(1_000), "");
        refused("hub.matches('((a{1000}){1000}){1000}')", "counts that multiply to more than");
        refused("hub.matches('(abc){900}')", "at most 1000");
        refused("structure.flight{id: 1}", "structures are not made in expressions");
        refused("hub.getClass()", "");
        refused("\u0000", "");
    }

    private void refused(String text, String part) {
        assertThatThrownBy(() -> Expression.compile(text, format))
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining(part)
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400).doesNotContain("\n"));
    }

    @Test
    void loopsAreBounded() {
        Format many = Format.builder(Layout.X86_64)
                .structure("r")
                .field("n", "integer")
                .field("v", "integer[n]")
                .build();
        RecordView view = Records.view(many, Map.of("v", java.util.Collections.nCopies(200, 1)));
        for (String text : List.of("v.all(a, v.all(b, a == b))", "v.map(a, v.map(b, a)).size() == 1")) {
            assertThatThrownBy(() -> Expression.compile(text, many).test(view))
                    .as(text)
                    .isSameAs(EvaluationException.ITERATIONS);
        }
        assertThat(Expression.compile("v.all(a, a == 1)", many).test(view)).isTrue();
    }

    @Test
    void closuresAllocateNothing() {
        Expression filter = Expression.compile(
                "delay > 15 && flight.hub in ['ATL', 'DFW'] && legs.exists(l, l.miles * 2 > 300) && fuel_lb / 2.0 > 1.0"
                        + " && !hub.startsWith('X') && (hub + string(delay)).endsWith('20') && int('12') == 12"
                        + " && (delay / 0 == 1 || size(hub) == 3)",
                format);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        int times = 100_000;
        long least = Long.MAX_VALUE;
        // What the JVM itself allocates on this thread while it compiles comes once and not in each round.
        for (int round = 0; round < 5; round++) {
            long before = threads.getThreadAllocatedBytes(thread);
            for (int i = 0; i < times; i++) {
                if (!filter.test(record)) {
                    throw new AssertionError("the record passes");
                }
            }
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        assertThat(least).as("bytes of %d evaluations", times).isLessThan(times);
    }

    @Test
    void comparisonsOfFixedPlacesAreGenerated() {
        for (String text :
                List.of("delay > 15", "origin.runways == 5 && late", "!(fuel_lb <= 3.0 || flight.id < delay)")) {
            Expression expression = Expression.compile(text, format);
            assertThat(expression.isGenerated()).as(text).isTrue();
            assertThat(expression.test(record)).as(text).isTrue();
        }
        for (String text : List.of("hub == 'ATL'", "alternate.runways == 0", "delay > 1 && delay / 2 > 1")) {
            assertThat(Expression.compile(text, format).isGenerated()).as(text).isFalse();
        }
    }

    @Test
    void whatIsTooLongForTheCompilerIsNotGenerated() {
        String text = String.join(" && ", java.util.Collections.nCopies(250, "delay > 1"));
        Expression expression = Expression.compile(text, format);
        assertThat(expression.isGenerated()).isFalse();
        assertThat(expression.test(record)).isTrue();
    }

    @Test
    void recordOfAnotherFormatIsRefused() {
        Format same = Records.flight();
        for (String text : List.of("delay > 15", "delay + 1 > 15")) {
            assertThatThrownBy(() -> Expression.compile(text, same).test(record))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void textsCanBeReadWhereTheyLie() {
        TextView view = new TextView();
        Expression.compile("hub", format).getText(record, view);
        assertThat(view.toBytes()).isEqualTo("ATL".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertThat(view.memory()).isSameAs(record.memory());
    }

    @Test
    void requiresAType() {
        assertThatThrownBy(() -> Expression.compile("delay", format).require(ResultType.BOOL))
                .hasMessage("expression 'delay': its value is a int, here it has to be a bool");
    }

    @Test
    void damagedRecordFailsAsOne() {
        ByteBuffer memory = record.memory();
        int slot = record.base()
                + java.util.Objects.requireNonNull(format.top().field("hub")).offset();
        memory.order(ByteOrder.LITTLE_ENDIAN).putLong(slot, 1L << 40);
        for (String text : List.of(
                "hub == ''",
                "{hub: 1} == {}",
                "hub != '' || id == 42",
                "hub == '' && id == 41",
                "delay / (delay - 20) > 3 || hub != '' || id == 42",
                "[1, 2].exists(i, hub != '' || i == 1)",
                "legs.all(l, hub == '' && l.miles < 0)",
                "(hub == '' && id == 41) == false",
                "(late || hub == '' ? hub : 'x') == 'y' || id == 42",
                "string(fuel_lb) != '' && (hub == 'x' || id == 42)",
                "flight.hub != '' || flight == flight")) {
            for (Expression each : List.of(
                    Expression.compile(text, format),
                    Expression.compileForClosures(text, format),
                    Expression.compileForRuntime(text, format))) {
                assertThatThrownBy(() -> each.test(record))
                        .as(text)
                        .isInstanceOf(org.tamanoir.format.FormatException.class);
            }
        }
    }

    @Test
    void formatWithManyFieldsIsCompiled() {
        FormatBuilder builder = Format.builder(Layout.X86_64).structure("wide");
        for (int i = 0; i < 2_000; i++) {
            builder.field("f" + i, "integer");
        }
        Format wide = builder.build();
        assertThat(Expression.compile("f1999 == 0", wide).test(Records.view(wide, Map.of())))
                .isTrue();
    }
}
