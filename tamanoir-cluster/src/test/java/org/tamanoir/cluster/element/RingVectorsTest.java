package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

@Tag("once")
class RingVectorsTest {
    private static final long LONG_AFTER = 1_000_000;

    static Stream<Arguments> scenarios() {
        JsonNode scenarios = Vectors.read("ring.json").get("scenarios");
        return StreamSupport.stream(scenarios.spliterator(), false)
                .map(each -> Arguments.of(each.get("name").asString(), each));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void ordersAsTheScenarioSays(String name, JsonNode scenario) {
        SimulatedRing ring = ring(scenario.get("input"));
        play(ring, scenario.get("input"), true);

        JsonNode expected = scenario.get("expect");
        JsonNode measures = expected.get("measures");
        assertThat(ring.order).isEqualTo(numbers(expected.get("order")));
        assertThat(ring.late()).isEqualTo(expected.get("late").asLong());
        assertThat(ring.stale()).isEqualTo(expected.get("staleTokens").asLong());
        assertThat(ring.waiting()).isEqualTo(expected.get("waiting").asInt());
        Reordering reordering = Reordering.of(array(ring.order));
        assertThat(List.of(
                        reordering.min(),
                        reordering.max(),
                        reordering.hMinus(),
                        reordering.nMinus(),
                        reordering.h0(),
                        reordering.h1(),
                        reordering.hPlus(),
                        reordering.nPlus(),
                        reordering.doubles(),
                        reordering.lost()))
                .isEqualTo(Stream.of("minJ", "maxJ", "hMinus", "nMinus", "h0", "h1", "hPlus", "nPlus", "delta", "lost")
                        .map(each -> measures.get(each).asLong())
                        .toList());
    }

    static Stream<Arguments> scenariosWithoutTokens() {
        return scenarios().filter(each -> ((JsonNode) each.get()[1]).has("expectNone"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenariosWithoutTokens")
    void ordersWithoutTokensAsTheScenarioSays(String name, JsonNode scenario) {
        SimulatedRing ring = ring(scenario.get("input"));
        play(ring, scenario.get("input"), false);

        assertThat(ring.order).isEqualTo(numbers(scenario.get("expectNone")));
    }

    private static SimulatedRing ring(JsonNode input) {
        long tx = Vectors.number(input, "tx", 0);
        List<Long> txs = input.has("txs") ? numbers(input.get("txs")) : List.of();
        List<SimulatedRing.Pause> pauses = new ArrayList<>();
        if (input.has("pauses")) {
            input.get("pauses")
                    .forEach(each -> pauses.add(new SimulatedRing.Pause(
                            each.get(0).asInt(),
                            each.get(1).asLong(),
                            each.get(2).asLong())));
        }
        SimulatedRing ring = new SimulatedRing(
                input.get("n").asInt(),
                unit -> Vectors.settings(input, (int) unit),
                sequence -> txs.isEmpty() ? tx : txs.get(sequence),
                input.get("hop").asLong(),
                input.get("switch").asInt(),
                input.get("aggTx").asLong(),
                pauses);
        Set<List<Long>> lost = pairs(input.get("loseToken"));
        Set<List<Long>> twice = pairs(input.get("duplicateToken"));
        ring.faults = (serial, from) -> {
            List<Long> at = List.of(serial, (long) from);
            return lost.contains(at) ? 0 : twice.contains(at) ? 2 : 1;
        };
        ring.reissue = Vectors.number(input, "reissue", 0);
        return ring;
    }

    private static void play(SimulatedRing ring, JsonNode input, boolean withTokens) {
        input.get("arrivals")
                .forEach(each -> ring.arrive(
                        each.get(0).asLong(),
                        each.get(1).asInt(),
                        each.get(2).asLong(),
                        each.get(3).asInt()));
        ring.begin(withTokens);
        ring.run(LONG_AFTER);
    }

    private static Set<List<Long>> pairs(JsonNode node) {
        Set<List<Long>> pairs = new HashSet<>();
        if (node != null) {
            node.forEach(each -> pairs.add(numbers(each)));
        }
        return pairs;
    }

    private static List<Long> numbers(JsonNode node) {
        List<Long> numbers = new ArrayList<>();
        node.forEach(each -> numbers.add(each.asLong()));
        return numbers;
    }

    private static long[] array(List<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }
}
