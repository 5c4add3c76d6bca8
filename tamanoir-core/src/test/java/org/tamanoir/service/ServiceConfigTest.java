package org.tamanoir.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceConfigTest {
    private static long number(String text) {
        return new ServiceConfig(Map.of("mark", text)).number("mark", 1, -300, 300);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "10, 10", "-7, -7", "300, 300", "0x1f, 31", "0X1F, 31", "0x010, 16", "-0x10, -16"})
    void aWholeNumberIsTaken(String text, long number) {
        assertThat(number(text)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "010",
                "00",
                "#10",
                "\u0667",
                "1\u0660",
                "0x",
                "0x\u0661",
                "+5",
                "1_0",
                " 1",
                "1 ",
                "1.0",
                "1e1",
                "",
                "301",
                "-301",
                "9223372036854775808",
                "0xffffffffffffffff",
                "99999999999999999999"
            })
    void whatCouldBeAnotherNumberIsRefused(String text) {
        assertThatThrownBy(() -> number(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("mark: " + text + " must be a whole number from -300 to 300");
    }

    private static double decimal(String text) {
        return new ServiceConfig(Map.of("ratio", text)).decimal("ratio", 1, -10, 9_007_199_254_740_993L);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0.5, 0.5", "-10.0, -10", "9.99999999999999999999, 10", "9007199254740993, 9007199254740992"})
    void aDecimalIsTheNearest(String text, double number) {
        assertThat(decimal(text)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-10.0000000000000000001",
                "9007199254740993.0000000000000000001",
                "9007199254740994",
                "1e1",
                ".5"
            })
    void aDecimalThatIsOutOfBoundsByAHairIsRefused(String text) {
        assertThatThrownBy(() -> decimal(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ratio: " + text + " must be a number from -10 to 9007199254740993, as in 0.5");
    }
}
