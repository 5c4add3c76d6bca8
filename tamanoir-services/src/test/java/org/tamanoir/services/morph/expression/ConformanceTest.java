package org.tamanoir.services.morph.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordView;

/**
 * Expressions without fields, of the kinds that CEL's conformance tests have, and what the specification says of them:
 * by all means. {@code fails} stands for an error of the evaluation.
 */
@Tag("once")
class ConformanceTest {
    private static final Format FORMAT = Records.flight();
    private static final RecordView RECORD = Records.view(FORMAT, Records.values());

    private static List<String> cases() {
        return Arrays.asList("""
                42 + 2 ⇒ 44
                42 - (-2) ⇒ 44
                -42 * -2 ⇒ 84
                -42 / 5 ⇒ -8
                -42 % 5 ⇒ -2
                42 % -5 ⇒ 2
                42 % 0 ⇒ fails
                15 / 0 ⇒ fails
                9223372036854775807 + 1 ⇒ fails
                -9223372036854775808 - 1 ⇒ fails
                5000000000 * 5000000000 ⇒ fails
                -9223372036854775808 / -1 ⇒ fails
                -(-9223372036854775808) ⇒ fails
                0x55555555 ⇒ 1431655765
                -0x8000000000000000 ⇒ -9223372036854775808
                0xffffffffffffffffu ⇒ 18446744073709551615
                42u - 43u ⇒ fails
                18446744073709551615u + 1u ⇒ fails
                5000000000u * 5000000000u ⇒ fails
                18446744073709551615u / 2u ⇒ 9223372036854775807
                42u % 0u ⇒ fails
                4.25 + 15.25 ⇒ 19.5
                15.75 / 0.0 ⇒ Infinity
                -15.75 / 0.0 ⇒ -Infinity
                0.0 / 0.0 ⇒ NaN
                1.5 * -1.5 ⇒ -2.25
                -(0.0) ⇒ -0.0
                1e-324 ⇒ 0.0
                0.0 == -0.0 ⇒ true
                0.0 / 0.0 == 0.0 / 0.0 ⇒ false
                0.0 / 0.0 != 0.0 / 0.0 ⇒ true
                0.0 / 0.0 in [0.0 / 0.0] ⇒ false
                [0.0 / 0.0] == [0.0 / 0.0] ⇒ false
                {1: 0.0 / 0.0} != {1: 0.0 / 0.0} ⇒ true
                [0.0] == [-0.0] ⇒ true
                1 < 1.5 ⇒ true
                1.5 > 1u ⇒ true
                9007199254740993 > 9007199254740992.0 ⇒ true
                9007199254740993u <= 9007199254740992.0 ⇒ false
                9223372036854775807 < 9223372036854775808.0 ⇒ true
                9223372036854775807 >= 9223372036854775807u ⇒ true
                -1 < 0u ⇒ true
                18446744073709551615u < 18446744073709551616.0 ⇒ true
                18446744073709551615u > -9223372036854775808 ⇒ true
                7 <= 0.0 / 0.0 ⇒ false
                7u >= 0.0 / 0.0 ⇒ false
                0 <= -0.0 ⇒ true
                0u >= -0.0 ⇒ true
                1.0 / 0.0 > 18446744073709551615u ⇒ true
                false < true ⇒ true
                true <= false ⇒ false
                'a' < 'b' ⇒ true
                'abc' < 'abcd' ⇒ true
                'A' < 'a' ⇒ true
                '\\uFFFF' < '\\U0001F600' ⇒ true
                b'a' < b'\\xff' ⇒ true
                b'' < b'\\x00' ⇒ true
                timestamp('2009-02-13T23:00:00Z') <= timestamp('2009-02-13T22:59:59Z') ⇒ false
                timestamp('1969-12-31T23:59:59.999Z') < timestamp(0) ⇒ true
                duration('200s') < duration('3m21s') ⇒ true
                duration('-1s') >= duration('-1000ms') ⇒ true
                'a' == 'a' ⇒ true
                b'ÿ' == b'\\303\\277' ⇒ true
                b'ÿ' == b'\\377' ⇒ false
                [1, 2] == [1, 2] ⇒ true
                [1, 2] == [2, 1] ⇒ false
                [[1], []] == [[1], []] ⇒ true
                {'a': 1, 'b': 2} == {'b': 2, 'a': 1} ⇒ true
                {'a': 1} == {'a': 2} ⇒ false
                {'a': [1.0]} == {'a': [1.0]} ⇒ true
                2 in [1, 2] ⇒ true
                'x' in [] ⇒ false
                'k' in {'k': 1} ⇒ true
                7 in {1: 'a'} ⇒ false
                true || 1 / 0 > 1 ⇒ true
                1 / 0 > 1 || true ⇒ true
                false && 1 / 0 > 1 ⇒ false
                1 / 0 > 1 && false ⇒ false
                1 / 0 > 1 || false ⇒ fails
                !(1 > 2) ⇒ true
                false ? 1 / 0 : 3 ⇒ 3
                (1 / 0 > 1) ? 1 : 2 ⇒ fails
                [1, 2, 3][1] ⇒ 2
                [1, 2, 3][3] ⇒ fails
                [1, 2, 3][-1] ⇒ fails
                {'a': 1}['b'] ⇒ fails
                {'a': 1}.a ⇒ 1
                {'a': 1}.b ⇒ fails
                has({'a': 1}.a) ⇒ true
                has({'a': 1}.b) ⇒ false
                {true: 'x', false: 'y'}[false] ⇒ y
                {7u: 'x'}[7u] ⇒ x
                size([1, 2]) ⇒ 2
                size({}) ⇒ 0
                size('') ⇒ 0
                size('πέντε') ⇒ 5
                size('\\U0001F62F') ⇒ 1
                size(b'\\xff\\x00') ⇒ 2
                'abc'.size() ⇒ 3
                'abc' + 'def' ⇒ abcdef
                b'a' + b'\\xff' ⇒ x'61ff'
                [1] + [2, 3] ⇒ [1, 2, 3]
                'foobar'.startsWith('foo') ⇒ true
                ''.startsWith('') ⇒ true
                'foobar'.endsWith('bar') ⇒ true
                'bar'.endsWith('foobar') ⇒ false
                'hello'.contains('ell') ⇒ true
                'hello'.contains('') ⇒ true
                'hello'.matches('^h.*o$') ⇒ true
                matches('hello', 'll') ⇒ true
                'mañana'.matches('a+ñ+a+n+a+') ⇒ true
                'hubba'.matches('ubb$') ⇒ false
                [1, 2, 3].exists(e, e > 2) ⇒ true
                [].exists(e, e > 2) ⇒ false
                [1, 0].exists(e, 4 / e > 100) ⇒ fails
                [0, 2].exists(e, 4 / e == 2) ⇒ true
                {'k1': 1, 'k2': 2}.exists(k, k == 'k2') ⇒ true
                [].all(e, e > 0) ⇒ true
                [1, 2].all(e, e > 1) ⇒ false
                [0, 1].all(e, 4 / e < 4) ⇒ false
                [7, 8].exists_one(e, e == 7) ⇒ true
                [7, 7].exists_one(e, e == 7) ⇒ false
                [3, 0].exists_one(e, 12 / e > 1) ⇒ fails
                [1, 2].map(e, e * 2) ⇒ [2, 4]
                [1, 2, 3].map(e, e > 1, e * e) ⇒ [4, 9]
                [2, 1, 0].map(e, 4 / e) ⇒ fails
                [1, 2, 3].filter(e, e % 2 == 1) ⇒ [1, 3]
                [['a'], ['b', 'c']].filter(e, size(e) > 1) ⇒ [[b, c]]
                [1, 2].map(x, [x].exists(y, y == 2)) ⇒ [false, true]
                int(42u) ⇒ 42
                int(18446744073709551615u) ⇒ fails
                int(-7.9) ⇒ -7
                int(11.5) ⇒ 11
                int(1e99) ⇒ fails
                int(9223372036854775807.0) ⇒ fails
                int(-9223372036854775808.0) ⇒ fails
                int(9223372036854774784.0) ⇒ 9223372036854774784
                int(0.0 / 0.0) ⇒ fails
                int('-987') ⇒ -987
                int('9223372036854775808') ⇒ fails
                int('١') ⇒ fails
                int('') ⇒ fails
                int(' 1') ⇒ fails
                int(timestamp('2004-09-16T23:59:59Z')) ⇒ 1095379199
                uint(-1) ⇒ fails
                uint(3.14159265) ⇒ 3
                uint(1e19) ⇒ 10000000000000000000
                uint(6.022e23) ⇒ fails
                uint(-0.5) ⇒ fails
                uint('300') ⇒ 300
                uint('18446744073709551616') ⇒ fails
                double(9223372036854775807) ⇒ 9.223372036854775807E18
                double(18446744073709551615u) ⇒ 1.8446744073709551615E19
                double('-84.32e7') ⇒ -8.432E8
                double('-0.0') ⇒ -0.0
                double('123') ⇒ 123.0
                double('.5') ⇒ 0.5
                double('5.e-1') ⇒ 0.5
                double('NaN') ⇒ NaN
                double('-Infinity') ⇒ -Infinity
                double('1e400') ⇒ fails
                double('0x1p3') ⇒ fails
                double('1d') ⇒ fails
                double('2f') ⇒ fails
                double(' 1') ⇒ fails
                double('١') ⇒ fails
                double('') ⇒ fails
                string(-456) ⇒ -456
                string(9876u) ⇒ 9876
                string(123.456) ⇒ 123.456
                string(-4.5e-3) ⇒ -0.0045
                string(true) ⇒ true
                string(b'\\303\\277') ⇒ ÿ
                string(b'\\000\\xff') ⇒ fails
                bytes('ÿ') ⇒ x'c3bf'
                bytes('\\377') == b'\\377' ⇒ false
                string(timestamp('2009-02-13T23:31:30Z')) ⇒ 2009-02-13T23:31:30Z
                string(timestamp('9999-12-31T23:59:59.999999999Z')) ⇒ 9999-12-31T23:59:59.999999999Z
                string(duration('1000000s')) ⇒ 1000000s
                timestamp('2009-02-13T23:31:30Z').getDate() ⇒ 13
                timestamp('2009-02-13T23:31:30Z').getDayOfMonth() ⇒ 12
                timestamp('2009-02-13T23:31:30Z').getDayOfWeek() ⇒ 5
                timestamp('2009-02-13T23:31:30Z').getDayOfYear() ⇒ 43
                timestamp('2009-02-13T23:31:30Z').getFullYear() ⇒ 2009
                timestamp('2009-02-13T23:31:30Z').getMonth() ⇒ 1
                timestamp('2009-02-13T23:31:30Z').getHours('02:00') ⇒ 1
                timestamp('2009-02-13T23:31:30Z').getMinutes('Asia/Kathmandu') ⇒ 16
                timestamp('2009-02-13T23:31:20.123456789Z').getMilliseconds() ⇒ 123
                timestamp('2009-02-13T02:00:00Z').getDayOfMonth('America/St_Johns') ⇒ 11
                timestamp('2009-02-13T23:31:30+01:00') == timestamp('2009-02-13T22:31:30Z') ⇒ true
                duration('10000s').getHours() ⇒ 2
                duration('3730s').getMinutes() ⇒ 62
                duration('3730s').getSeconds() ⇒ 3730
                timestamp('2009-02-13T23:00:00Z') + duration('240s') == timestamp('2009-02-13T23:04:00Z') ⇒ true
                duration('120s') + timestamp('2009-02-13T23:01:00Z') == timestamp('2009-02-13T23:03:00Z') ⇒ true
                timestamp('2009-02-13T23:31:00Z') - timestamp('2009-02-13T23:29:00Z') == duration('120s') ⇒ true
                duration('900s') - duration('42s') == duration('858s') ⇒ true
                timestamp('0000-01-01T00:00:00Z') ⇒ fails
                timestamp('10000-01-01T00:00:00Z') ⇒ fails
                timestamp('9999-12-31T23:59:59.999999999Z') + duration('1ns') ⇒ fails
                timestamp('0001-01-01T00:00:00Z') - duration('1ns') ⇒ fails
                timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z') ⇒ fails
                timestamp('0001-01-01T00:00:00Z') - timestamp('9999-12-31T23:59:59Z') ⇒ fails
                duration('320000000000s') ⇒ fails
                duration('200000000000s') + duration('200000000000s') ⇒ fails
                r'\\n' ⇒ \\n
                'a\\"b' ⇒ a"b
                '\\x41\\101\\u0041' ⇒ AAA
                """.stripIndent().split("\n"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isWhatTheSpecificationSays(String line) {
        String[] parts = line.split(" ⇒ ", 2);
        for (Expression each : List.of(
                Expression.compile(parts[0], FORMAT),
                Expression.compileForClosures(parts[0], FORMAT),
                Expression.compileForRuntime(parts[0], FORMAT))) {
            assertThat(outcome(each)).isEqualTo(expected(parts[1]));
        }
    }

    private static String outcome(Expression expression) {
        try {
            return shown(expression.value(RECORD));
        } catch (EvaluationException e) {
            return "fails";
        }
    }

    private static String shown(Object value) {
        return value instanceof byte[] bytes ? "x'" + HexFormat.of().formatHex(bytes) + "'" : value.toString();
    }

    /** A double as Java writes the nearest one. */
    private static String expected(String text) {
        return text.matches("-?[0-9.]+E[0-9]+") ? Double.toString(Double.parseDouble(text)) : text;
    }

    /** What docs/expressions.md does not list is refused, and named; where no field decides as soon as a plan is read. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "type(1) == type(2)|type",
                "dyn(1) == 1.0|dyn",
                "bool('true')|bool",
                "'a'.lowerAscii()|lowerAscii",
                "math.greatest(1, 2) > 1|greatest",
                "optional.of(1)|of",
                "null|null",
                "hub == null|null",
                "[1, 2.0] == [1.0, 2]|several kinds",
                "1 in [1, 'a']|several kinds",
                "{1: 'a', 'b': 'c'}[1]|several kinds",
                "{'a': 1, 'b': 2u}['a']|several kinds",
                "{'a': 1, 'a': 2}['a']|twice",
                "1e400 > 0.0|64 bits",
                "Airport{city: 'x'}|project",
            })
    void whatIsNotListedIsRefusedByItsName(String line) {
        String[] parts = line.split("\\|");
        assertThatThrownBy(() -> Expression.reads(parts[0], Set.of()))
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining(parts[1])
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> Expression.compile(parts[0], FORMAT)).isInstanceOf(ExpressionException.class);
    }

    /** These need the kinds of fields, so the first record of a format. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "[id, fuel_lb] == []|several kinds",
                "{fuel_lb: 1}[1.0]|keys of a map are double",
                "int|'int'",
                "[[1], ['a']].size()|several kinds",
                "1 == 1.0|does not take (int, double)",
                "47.5 % 5.5|does not take (double, double)",
            })
    void whatIsNotListedOfFieldsIsRefusedWithTheirFormat(String line) {
        String[] parts = line.split("\\|");
        assertThatThrownBy(() -> Expression.compile(parts[0], FORMAT))
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining(parts[1]);
    }

    @Test
    void structuresAreEqualAsTheirFieldsAre() {
        Format format = Format.builder(Layout.X86_64)
                .structure("record")
                .field("a", "part")
                .field("b", "part")
                .structure("part")
                .field("x", "float", 8)
                .field("u", "unsigned", 8)
                .build();
        Expression equal = Expression.compile("a == b", format);
        BigInteger most = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
        assertThat(equal.test(Records.view(
                        format, Map.of("a", Map.of("x", 0.0, "u", most), "b", Map.of("x", -0.0, "u", most)))))
                .isTrue();
        assertThat(equal.test(Records.view(
                        format,
                        Map.of("a", Map.of("x", Double.NaN, "u", most), "b", Map.of("x", Double.NaN, "u", most)))))
                .isFalse();
        assertThat(equal.test(
                        Records.view(format, Map.of("a", Map.of("x", 1.0, "u", most), "b", Map.of("x", 1.0, "u", 1L)))))
                .isFalse();
    }
}
