package org.tamanoir.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonTest {
    private record Leaf(@Nullable String text, double number, boolean truth) {}

    private record Tree(long count, List<Leaf> leaves, Map<Thread.State, Long> byState) {}

    @Test
    void recordsMapsAndListsAreOneLine() {
        Tree tree = new Tree(
                Long.MAX_VALUE,
                Arrays.asList(new Leaf("a \"quoted\"\nline", 0.5, true), new Leaf(null, -2, false), null),
                Map.of(Thread.State.NEW, 3L));
        assertThat(Json.of(tree))
                .isEqualTo("{\"count\":9223372036854775807,\"leaves\":["
                        + "{\"text\":\"a \\\"quoted\\\"\\nline\",\"number\":0.5,\"truth\":true},"
                        + "{\"text\":null,\"number\":-2.0,\"truth\":false},null],\"byState\":{\"NEW\":3}}");
    }
}
