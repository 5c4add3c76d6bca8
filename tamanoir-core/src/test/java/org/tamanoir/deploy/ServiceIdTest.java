package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

class ServiceIdTest {
    @Test
    void theTextOfAnIdIsReadBack() {
        ServiceId id = ServiceId.parse("org.example.Foo:1.0-rc1");
        assertThat(id).isEqualTo(new ServiceId("org.example.Foo", "1.0-rc1"));
        assertThat(id).hasToString("org.example.Foo:1.0-rc1");
        assertThat(id.path()).isEqualTo("services/org.example.Foo/1.0-rc1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Foo",
                ":1",
                "Foo:",
                "..:1",
                "a..b:1",
                ".a:1",
                "a.:1",
                "a/b:1",
                "a b:1",
                "1a:1",
                "a:b",
                "a:1.",
                "a:.1",
                "a:1..2",
                "a:1/2",
                "a:1 ",
                "a:1\n",
                "a\n:1",
                "a:1:2",
                "caf\u00e9:1",
                "a:1_0"
            })
    void whatIsNotSafeAsAFileNameIsRefusedInOneLine(String text) {
        assertThatThrownBy(() -> ServiceId.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("\n");
    }

    @Test
    void theLongestFitsAFileName() {
        ServiceId longest = new ServiceId("a".repeat(ServiceId.MAX_NAME), "1".repeat(ServiceId.MAX_VERSION));
        assertThat(longest.jarName().getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(255);
        assertThatThrownBy(() -> ServiceId.requireName("a".repeat(ServiceId.MAX_NAME + 1)))
                .hasMessageContaining("at most 180");
        assertThatThrownBy(() -> new ServiceId("a", "1".repeat(ServiceId.MAX_VERSION + 1)))
                .hasMessageContaining("at most 48");
    }

    @Test
    void aLongWrongVersionIsRefusedWithoutTryingEveryWayToReadIt() {
        assertThatThrownBy(() -> new ServiceId("a", "1" + "a".repeat(ServiceId.MAX_VERSION - 2) + "!"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void versionsAreInTheOrderOfReleases() {
        List<String> ordered = List.of(
                "0",
                "0.9",
                "1-alpha",
                "1-rc1",
                "1-rc2",
                "1-rc10",
                "1",
                "1.0-SNAPSHOT",
                "1.0",
                "1.0.1-2",
                "1.0.1",
                "1.2",
                "1.10",
                "2",
                "2b",
                "2.0");
        long seed = Seeds.ofCommit(ServiceIdTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(100); i++) {
            List<String> shuffled = new ArrayList<>(ordered);
            Collections.shuffle(shuffled, random);
            shuffled.sort(ServiceId.VERSION_ORDER);
            assertThat(shuffled).as("seed " + seed).isEqualTo(ordered);
        }
    }
}
