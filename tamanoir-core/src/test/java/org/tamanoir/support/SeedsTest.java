package org.tamanoir.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("once")
class SeedsTest {
    private static final String SEED = "tamanoir.seed";
    private static final String DEPTH = "tamanoir.depth";

    /** Ways to a seed or a number of rounds that take a value which is no number for none. */
    private static final Pattern SILENT = Pattern.compile("\\b(Integer\\.getInteger|Long\\.getLong)\\(");

    /** Seeds of the clock, which nobody has again. */
    private static final Pattern OF_THE_CLOCK = Pattern.compile(
            "(Random\\(|[sS]eed = |SEED = )System\\.(nanoTime|currentTimeMillis)|new (Splittable)?Random\\(\\)");

    private final @Nullable String seedBefore = System.getProperty(SEED);
    private final @Nullable String depthBefore = System.getProperty(DEPTH);

    @AfterEach
    void putBack() {
        set(SEED, seedBefore);
        set(DEPTH, depthBefore);
    }

    private static void set(String property, @Nullable String value) {
        if (value == null) {
            System.clearProperty(property);
        } else {
            System.setProperty(property, value);
        }
    }

    @Test
    void roundsBeginWithTheSeedThatIsGivenAndAreAsManyAsTheDepthSays() {
        set(SEED, "7");
        set(DEPTH, "3");

        assertThat(Seeds.ofCommit(SeedsTest.class)).isEqualTo(7);
        assertThat(Seeds.ofCommit(SeedsTest.class, 2)).containsExactly(7, 8, 9, 10, 11, 12);
        assertThat(Seeds.scaled(100)).isEqualTo(300);
    }

    @Test
    void withoutASeedItIsTheSameForAllTestsOfACommit() {
        set(SEED, null);

        assertThat(Seeds.ofCommit(SeedsTest.class))
                .isEqualTo(Seeds.ofCommit(Seeds.class))
                .isBetween(0L, 0xFFF_FFFFL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "1.5", "0x10", "-1", "9223372036854775807", "99999999999999999999"})
    void aSeedThatIsNoneIsRefusedInOneLine(String seed) {
        set(SEED, seed);

        assertThatThrownBy(() -> Seeds.ofCommit(SeedsTest.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("-Dtamanoir.seed=" + seed + ": must be a whole number from 0 to 9223372034707292160");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "deep", "0", "-20", "2.5", "21475"})
    void aDepthThatIsNoneIsRefusedInOneLine(String depth) {
        set(DEPTH, depth);

        assertThatThrownBy(() -> Seeds.scaled(100_000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("-Dtamanoir.depth=" + depth + ": must be a whole number from 1 to 21474");
    }

    @Test
    void aNumberOfRoundsThatIsNoneIsRefusedInOneLine() {
        set(DEPTH, "many");

        assertThat(Seeds.number("tamanoir.none", 12)).isEqualTo(12);
        assertThatThrownBy(() -> Seeds.number(DEPTH, 12))
                .hasMessage("-Dtamanoir.depth=many: must be a whole number from 0 to 2147483647");
    }

    /** A seed of its own, or an option that is read past {@link Seeds}, is one that no run can be asked for. */
    @Test
    void noTestTakesASeedOrARoundPastThisClass() throws IOException {
        List<Path> past = new ArrayList<>();
        for (Path tests : testSources()) {
            try (Stream<Path> files = Files.walk(tests)) {
                files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("SeedsTest.java"))
                        .filter(file -> SILENT.matcher(read(file)).find()
                                || OF_THE_CLOCK.matcher(read(file)).find())
                        .forEach(past::add);
            }
        }
        assertThat(past).isEmpty();
    }

    /** Those of all modules, and nothing of what builds write meanwhile. */
    private static List<Path> testSources() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
