package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a plan says is taken as it is, or refused with its line. */
@Tag("once")
class PlanTreeTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1e400 | '1e400' is too large for float of 8 bytes",
                "-1.5e999 | '-1.5e999' is too large for float of 8 bytes",
                "1e-400 | '1e-400' is too small for float of 8 bytes, which would hold 0",
                "\"\\ud83d\" | a surrogate stands alone",
                "!!bool yes | tags (!) are not allowed: put a text into quotes instead",
                "!!binary aGk= | tags (!) are not allowed: put a text into quotes instead"
            })
    void whatWouldBeAnotherIsRefused(String yaml, String refusal) {
        assertThatThrownBy(() -> PlanTree.parse("p.yaml", "z: 1\na: " + yaml))
                .hasMessage("plan p.yaml line 2: " + refusal);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\\x", "\"\\u", "\"\\U", "\"\\x4", "\"\\uzz\"", "\"\\UFFFFFFFF\"", "\"\\U00110000\""})
    void aCharacterThatIsNoneIsRefusedInALine(String yaml) {
        assertThatThrownBy(() -> PlanTree.parse("p", "a: " + yaml))
                .hasMessageStartingWith("plan p")
                .hasMessageContaining(": no valid YAML: ")
                .hasMessageNotContaining("\n");
    }

    @Test
    void numbersAndTextsAreExact() {
        assertThat(PlanTree.parse("p", "a: 12345678901234567890").get("a"))
                .isEqualTo(new BigInteger("12345678901234567890"));
        assertThat(PlanTree.parse("p", "a: 9007199254740993").get("a")).hasToString("9007199254740993");
        assertThat(PlanTree.parse("p", "\uFEFFa: 010").get("a")).isEqualTo("010");
        assertThat(PlanTree.parse("p", "a: yes").get("a")).isEqualTo("yes");
        assertThat(PlanTree.parse("p", "a: 0.1").get("a")).isEqualTo(0.1);
        assertThat(PlanTree.parse("p", "a: \"\\ud83d\\ude00\"").get("a")).isEqualTo("😀");
    }

    @Test
    void aKeyIsOneWhateverItsKind() {
        assertThatThrownBy(() -> PlanTree.parse("p", "1: x\n\"1\": y")).hasMessageContaining("'1' stands twice");
    }

    @Test
    void bytesThatAreNotUtf8AreRefused(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("p.yaml"), new byte[] {'a', ':', ' ', (byte) 0xC1, (byte) 0x81});
        assertThatThrownBy(() -> PlanTree.read(file))
                .hasMessage("plan " + file + " cannot be read: not UTF-8 at byte offset 3: convert it to UTF-8");
    }
}
