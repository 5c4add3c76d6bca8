package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Anep;
import org.tamanoir.support.Seeds;

@Tag("once")
class RoundsTest {
    private final List<String> sent = new ArrayList<>();

    private Rounds rounds(Distribution distribution, int size, int... weights) {
        Rounds rounds = new Rounds(
                distribution,
                size,
                Rounds.MAX_PATHS,
                1,
                (way, path, round, flags) ->
                        sent.add("%d:%d marker %d%s".formatted(round, path, flags, way == path ? "" : " by " + way)));
        for (int path = 0; path < weights.length; path++) {
            rounds.weight(path, weights[path]);
        }
        return rounds;
    }

    /** Places packets, and returns them and markers as round:path, with flags that are not 0. */
    private List<String> place(Rounds rounds, int packets) {
        for (int i = 0; i < packets; i++) {
            int path = rounds.next(0);
            sent.add("%d:%d%s".formatted(rounds.round(), path, rounds.flags() == 0 ? "" : " " + rounds.flags()));
        }
        List<String> placed = List.copyOf(sent);
        sent.clear();
        return placed;
    }

    @Test
    void roundRobinGivesEachPathOnePacketARound() {
        assertThat(place(rounds(Distribution.ROUND_ROBIN, 9, 1, 5, 1), 7))
                .containsExactly("1:0 2", "1:1 2", "1:2 2", "2:0 2", "2:1 2", "2:2 2", "3:0 2");
    }

    @Test
    void weightedRoundsAreSmoothAndMarkTheLastOfEachPath() {
        assertThat(place(rounds(Distribution.WEIGHTED, 7, 5, 1, 1), 8))
                .containsExactly("1:0", "1:0", "1:1 2", "1:0", "1:2 2", "1:0", "1:0 2", "2:0");
    }

    @Test
    void weightedRoundsOfAnySizeGiveEachPathItsShareInTheLongRun() {
        for (long seed : Seeds.ofCommit(RoundsTest.class, 200)) {
            Random random = new Random(seed);
            int paths = 1 + random.nextInt(8);
            int[] weights = random.ints(paths, 0, 20).toArray();
            weights[random.nextInt(paths)] = 1;
            int sum = Arrays.stream(weights).sum();
            int size = 1 + random.nextInt(40);
            Rounds rounds = rounds(Distribution.WEIGHTED, size, weights);
            int[] counts = new int[paths];
            for (int i = 1; i <= 1_000; i++) {
                counts[rounds.next(0)]++;
                assertThat(rounds.round()).as("seed %d", seed).isEqualTo(1 + (i - 1) / size);
            }
            for (int path = 0; path < paths; path++) {
                assertThat((double) counts[path])
                        .as("seed %d, path %d", seed, path)
                        .isBetween(1_000.0 * weights[path] / sum - paths, 1_000.0 * weights[path] / sum + paths);
            }
        }
    }

    @Test
    void exactRoundsHaveAMarkerForEachPathWithoutAPacketAndTheFirstSaysSo() {
        assertThat(place(rounds(Distribution.EXACT, 1, 2, 1, 1), 6))
                .containsExactly(
                        "1:1 marker 19",
                        "1:0 18",
                        "1:2 18",
                        "2:2 marker 3",
                        "2:0 2",
                        "2:1 2",
                        "3:1 marker 3",
                        "3:0 2",
                        "3:2 2");
    }

    @Test
    void exactRoundsHaveOneItemForEachPathWhateverTheWeights() {
        for (long seed : Seeds.ofCommit(RoundsTest.class, 200)) {
            Random random = new Random(seed);
            int paths = 1 + random.nextInt(8);
            int[] weights = random.ints(paths, 0, 9).toArray();
            weights[random.nextInt(paths)] = 3;
            List<String> placed = place(rounds(Distribution.EXACT, 1, weights), 500);
            Map<String, Integer> items = new HashMap<>();
            placed.forEach(item -> items.merge(item.split(" ")[0], 1, Integer::sum));
            assertThat(items.values()).as("seed %d", seed).containsOnly(1);
            long whole = Long.parseLong(placed.get(placed.size() - 1).split(":")[0]) - 1;
            for (long round = 1; round <= whole; round++) {
                for (int path = 0; path < paths; path++) {
                    assertThat(items).as("seed %d", seed).containsKey(round + ":" + path);
                }
            }
        }
    }

    @Test
    void packetsOfOneKeyStayOnOnePathAndOthersFillUp() {
        Rounds rounds = rounds(Distribution.STICKY, 12, 1, 1, 1);
        Map<Long, Set<Integer>> pathsOfKeys = new HashMap<>();
        int[] counts = new int[3];
        Random random = new Random(3);
        for (int i = 0; i < 3_000; i++) {
            long key = i / 10 + random.nextInt(3); // pictures of some ten packets, a little mixed
            int path = rounds.next(key);
            pathsOfKeys.computeIfAbsent(key, k -> new HashSet<>()).add(path);
            counts[path]++;
        }

        assertThat(pathsOfKeys.values()).allSatisfy(paths -> assertThat(paths).hasSize(1));
        assertThat(Arrays.stream(counts).boxed())
                .allSatisfy(count -> assertThat(count).isBetween(850, 1_150));
        assertThat(rounds.round()).isEqualTo(250);
    }

    @Test
    void aKeyWhosePathIsGoneGetsAnother() {
        Rounds rounds = rounds(Distribution.STICKY, 1, 1, 1);
        int path = rounds.next(7);

        rounds.weight(path, Rounds.ABSENT);

        assertThat(rounds.next(7)).isEqualTo(1 - path);
        assertThat(rounds.next(7)).isEqualTo(1 - path);
    }

    @Test
    void weightsChangeFromTheNextRoundOn() {
        Rounds rounds = rounds(Distribution.WEIGHTED, 4, 1, 1);
        assertThat(place(rounds, 1)).containsExactly("1:0");

        rounds.weight(1, 0);

        assertThat(place(rounds, 4)).containsExactly("1:1", "1:0 2", "1:1 2", "2:0");
    }

    @Test
    void aPathThatLeavesGetsAMarkerThatSaysSoAndNothingAfterIt() {
        Rounds rounds = rounds(Distribution.ROUND_ROBIN, 1, 1, 1, 1);
        place(rounds, 1);

        rounds.weight(2, Rounds.LEAVING);

        assertThat(place(rounds, 5))
                .containsExactly(
                        "1:1 2",
                        "1:2 2",
                        "2:2 marker " + (Anep.ROUND_EMPTY | Anep.ROUND_LAST | Anep.ROUND_PATH_ENDS),
                        "2:0 2",
                        "2:1 2",
                        "3:0 2");
    }

    @Test
    void aPathThatJoinsGetsItsFirstPacketInTheNextRound() {
        Rounds rounds = rounds(Distribution.ROUND_ROBIN, 1, 1, 1);
        place(rounds, 1);

        rounds.weight(5, 1);

        assertThat(place(rounds, 4)).containsExactly("1:1 2", "2:0 2", "2:1 2", "2:5 2");
    }

    @Test
    void aPathThatJoinsExactOrderIsAnnouncedOnAllPathsBeforeItsFirstPacket() {
        Rounds rounds = rounds(Distribution.EXACT, 1, 1, 1);
        assertThat(place(rounds, 1)).containsExactly("1:0 18");

        rounds.weight(2, 1);

        assertThat(place(rounds, 6))
                .containsExactly(
                        "1:1 18",
                        "2:2 marker 9 by 0",
                        "2:2 marker 9 by 1",
                        "2:2 marker 9",
                        "2:0 2",
                        "2:1 2",
                        "3:0 2",
                        "3:1 2",
                        "3:2 2");
    }

    @Test
    void pathsThatJoinWhenNoneIsThereAreAnnouncedToo() {
        Rounds rounds = rounds(Distribution.EXACT, 1, 1);
        place(rounds, 1);
        rounds.weight(0, Rounds.ABSENT);
        assertThat(rounds.next(0)).isEqualTo(-1);

        rounds.weight(0, 1);

        assertThat(place(rounds, 1)).containsExactly("2:0 marker 9", "3:0 2");
    }

    /** Nobody waits for it. */
    @Test
    void aPathThatLeavesBeforeItWasAnnouncedGetsNoMarker() {
        Rounds rounds = rounds(Distribution.EXACT, 1, 1);
        place(rounds, 1);
        rounds.weight(0, Rounds.LEAVING);
        assertThat(rounds.next(0)).isNegative();
        assertThat(sent).containsExactly("2:0 marker 7");
        rounds.weight(0, 0);
        assertThat(rounds.next(0)).isNegative();

        rounds.weight(0, Rounds.LEAVING);
        assertThat(rounds.next(0)).isNegative();

        assertThat(sent).containsExactly("2:0 marker 7");
    }

    @Test
    void withoutAPathThereIsNoRound() {
        Rounds rounds = rounds(Distribution.EXACT, 1, 0, 0);
        assertThat(rounds.next(0)).isEqualTo(-1);

        rounds.weight(1, 1);

        assertThat(place(rounds, 1)).containsExactly("1:0 marker 19", "1:1 18");
    }

    @Test
    void roundsBeginAnewAboveWhatWasHeard() {
        Rounds rounds = rounds(Distribution.EXACT, 1, 1, 1);
        place(rounds, 3);
        long heard = Beginning.at(1_800_000_000_000L) + 1_000;
        long first = Beginning.above(heard);
        assertThat(Beginning.isAnother(heard, first)).isTrue();

        rounds.beginAnew(first);

        assertThat(place(rounds, 3))
                .containsExactly("2:1 marker 3", first + ":0 18", first + ":1 18", first + 1 + ":0 2");
    }

    @Test
    void aRoundThatEndsEarlyHasMarkersForWhatIsMissing() {
        Rounds rounds = rounds(Distribution.ROUND_ROBIN, 1, 1, 1, 1);
        place(rounds, 1);

        rounds.weight(1, Rounds.LEAVING);
        rounds.endRound();

        assertThat(place(rounds, 2)).containsExactly("1:1 marker 3", "1:2 marker 3", "2:1 marker 7", "2:0 2", "2:2 2");
    }

    @Test
    void aPathThatIsGoneWithoutAWordGetsNoMarker() {
        Rounds rounds = rounds(Distribution.WEIGHTED, 2, 1, 1);
        place(rounds, 2);

        rounds.weight(1, Rounds.ABSENT);

        assertThat(place(rounds, 2)).containsExactly("2:0", "2:0 2");
    }
}
