package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What YAML says is taken as it is, or refused with its line. */
@Tag("once")
class YamlExactTest {
    @TempDir
    Path folder;

    private @Nullable Object value(String yaml) throws IOException {
        return YamlData.read(Files.writeString(folder.resolve("x.yaml"), "\uFEFFz: 1\r\na: " + yaml + "\r\n"))
                .get("a");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1e400 | '1e400' is too large for float of 8 bytes",
                "-1e400 | '-1e400' is too large for float of 8 bytes",
                "1e-400 | '1e-400' is too small for float of 8 bytes, which would hold 0",
                "\"\\ud83d\" | a surrogate stands alone, which is no character",
                "\"\\U0000de00\" | a surrogate stands alone, which is no character",
                "!!int \"7\" | tags (!) are not allowed: put a text into quotes instead",
                "!!bool yes | tags (!) are not allowed: put a text into quotes instead",
                "!!binary aGk= | tags (!) are not allowed: put a text into quotes instead",
                "!x [1] | tags (!) are not allowed: put a text into quotes instead",
                "&x 1 | anchors and aliases (& and *) are not allowed: write the value out"
            })
    void whatWouldBeAnotherIsRefused(String yaml, String refusal) {
        assertThatThrownBy(() -> value(yaml)).hasMessage(folder.resolve("x.yaml") + ":2: " + refusal);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\\x", "\"\\u", "\"\\U", "\"\\x4", "\"\\uzz\"", "\"\\UFFFFFFFF\"", "\"\\U00110000\""})
    void aCharacterThatIsNoneIsRefusedInALine(String yaml) {
        assertThatThrownBy(() -> YamlTree.parse("z: 1\na: " + yaml + (yaml.endsWith("\"") ? "\nb: 1" : "")))
                .isInstanceOfSatisfying(
                        YamlTree.SyntaxException.class, e -> assertThat(e.line).isEqualTo(2))
                .hasMessageStartingWith("no valid YAML: ")
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "010",
                "0o10",
                "0x10",
                "0b1",
                "1_000",
                "yes",
                "NO",
                "on",
                "True",
                ".inf",
                ".nan",
                "+1",
                "1.",
                ".5",
                "1:30",
                "2001-01-01",
                "٣",
                "NaN",
                "Infinity",
                "1e400x"
            })
    void aWordThatIsNoneOfJsonIsAText(String word) throws IOException {
        assertThat(value(word)).isEqualTo(word);
    }

    @Test
    void numbersAreExact() throws IOException {
        assertThat(value("9223372036854775807")).isEqualTo(new BigInteger("9223372036854775807"));
        assertThat(value("123456789012345678")).isEqualTo(123456789012345678L);
        assertThat(value("18446744073709551616")).isEqualTo(new BigInteger("18446744073709551616"));
        assertThat(value("0.1")).isEqualTo(0.1);
        assertThat(value("-0.0")).isEqualTo(-0.0);
        assertThat(value("\"\\ud83d\\ude00\"")).isEqualTo("😀");
    }

    @Test
    void bytesThatAreNotUtf8AreRefused() throws IOException {
        Path file = Files.write(folder.resolve("x.yaml"), new byte[] {'a', ':', ' ', (byte) 0xC1, (byte) 0x81, '\n'});
        assertThatThrownBy(() -> YamlData.read(file)).hasMessageContaining("it is not UTF-8 text");
    }

    @ParameterizedTest
    @ValueSource(strings = {"٣", "१", "３"})
    void digitsAreThoseOfAscii(String three) {
        assertThatThrownBy(() -> Quantity.number(three, 0, 9)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Endpoint.parse("127.0.0.1:" + three, 0))
                .hasMessageContaining("a number from 0 to 65535 is wanted");
    }
}
