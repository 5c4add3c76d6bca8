package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.cluster.element.ExactMerge.Ending;
import org.tamanoir.support.Seeds;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("once")
class ExactMergeTest {
    private static final long DEADLINE = 1_000;
    private static final int DEPTH = 8;

    /** A merge of packets that are numbered as they are offered, with what became of each. */
    private static final class Trial implements ExactMerge.Output {
        final List<Integer> emitted = new ArrayList<>();
        final Map<Ending, Integer> drops = new EnumMap<>(Ending.class);
        final List<Integer> ended = new ArrayList<>();
        final ExactMerge merge;
        long now;
        int next;

        Trial(int paths, int depth) {
            merge = new ExactMerge(paths, depth, DEADLINE, this);
        }

        Trial offer(int path, long... rounds) {
            for (long round : rounds) {
                merge.offer(path, round, 0, next++, now);
            }
            return this;
        }

        Trial first(int path, long round) {
            merge.offer(path, round, Anep.ROUND_FIRST | Anep.ROUND_LAST, next++, now);
            return this;
        }

        Trial marker(int path, long round, int flags) {
            merge.offer(path, round, Anep.ROUND_EMPTY | flags, next++, now);
            return this;
        }

        /** Lets the deadline pass of what is waited for. */
        Trial pass() {
            now += DEADLINE;
            merge.expire(now);
            return this;
        }

        Trial passAll() {
            while (merge.held() > 0) {
                pass();
            }
            return this;
        }

        Trial passAll(int deadlines) {
            for (int i = 0; i < deadlines; i++) {
                pass();
            }
            return this;
        }

        @Override
        public void emit(int packet) {
            emitted.add(packet);
            ended.add(packet);
        }

        @Override
        public void drop(int packet, Ending ending) {
            drops.merge(ending, 1, Integer::sum);
            ended.add(packet);
        }
    }

    static Stream<String> scenarios() {
        return Vectors.read("exact.json").get("scenarios").valueStream().map(JsonNode::toString);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void emitsAsTheVectorsSay(String text) {
        JsonNode scenario = JsonMapper.shared().readTree(text);
        Trial trial = new Trial(scenario.get("n").asInt(), DEPTH);
        List<List<Integer>> emits = new ArrayList<>();
        List<Integer> sequences = new ArrayList<>();
        for (JsonNode item : scenario.get("items")) {
            int before = trial.emitted.size();
            boolean isMarker = item.get(2).isNull();
            sequences.add(isMarker ? null : item.get(2).asInt());
            int path = item.get(0).asInt();
            long round = item.get(1).asLong();
            if (isMarker) {
                trial.marker(path, round, 0);
            } else {
                trial.offer(path, round);
            }
            emits.add(sequences(trial, before, sequences));
        }
        int before = trial.emitted.size();
        trial.passAll();
        emits.add(sequences(trial, before, sequences));

        assertThat(emits.toString()).as(scenario.get("why").asString()).isEqualTo(lists(scenario.get("emits")));
        assertThat(sequences(trial, 0, sequences).toString()).isEqualTo(list(scenario.get("order")));
        Map<String, Long> counts = new TreeMap<>();
        trial.drops.forEach((ending, count) -> counts.put(ending.name(), (long) count));
        counts.put("GAP", trial.merge.gaps());
        counts.put("TIMEOUT", trial.merge.timeouts());
        counts.values().removeIf(count -> count == 0);
        Map<String, Long> expected = new TreeMap<>();
        scenario.get("counts")
                .properties()
                .forEach(entry -> expected.put(entry.getKey(), entry.getValue().asLong()));
        assertThat(counts).isEqualTo(expected);
    }

    private static List<Integer> sequences(Trial trial, int from, List<Integer> sequences) {
        return trial.emitted.subList(from, trial.emitted.size()).stream()
                .map(sequences::get)
                .toList();
    }

    private static String list(JsonNode numbers) {
        return numbers.valueStream().map(JsonNode::asInt).toList().toString();
    }

    private static String lists(JsonNode lists) {
        return lists.valueStream().map(ExactMergeTest::list).toList().toString();
    }

    @Test
    void aStreamThatPausesMissesNoDeadline() {
        Trial trial = new Trial(3, DEPTH).offer(0, 1).offer(1, 1);

        trial.pass().pass().offer(2, 1).offer(0, 2);

        assertThat(trial.emitted).containsExactly(0, 1, 2, 3);
        assertThat(trial.merge.timeouts()).isZero();
    }

    /** As after a pause of the aggregator, when packets of all paths wait in its socket. */
    @Test
    void deadlinesPassOnlyWhenAllThatHasComeWasOffered() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1, 2);

        trial.now += 10 * DEADLINE;
        trial.offer(0, 3).offer(1, 1, 2, 3).pass();

        assertThat(trial.emitted).containsExactly(0, 3, 1, 4, 2, 5);
        assertThat(trial.merge.timeouts()).isZero();
    }

    @Test
    void aPathThatIsSilentForThreeDeadlinesIsNotWaitedFor() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1, 2, 3, 4, 5);
        assertThat(trial.emitted).containsExactly(0);

        trial.pass().pass();
        assertThat(trial.emitted).containsExactly(0, 1, 2);

        trial.pass();
        assertThat(trial.emitted).containsExactly(0, 1, 2, 3, 4);
        trial.offer(0, 6, 7);
        assertThat(trial.emitted).hasSize(7);
        assertThat(trial.merge.timeouts()).isEqualTo(3);
    }

    @Test
    void aPathThatComesBackInTimeIsWaitedForAgain() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1, 2, 3, 4).pass().pass().pass();

        trial.offer(1, 6).offer(0, 5, 6, 7);
        assertThat(trial.emitted).containsExactly(0, 1, 2, 3, 5, 6, 4, 7);

        trial.offer(1, 7);
        assertThat(trial.emitted).endsWith(4, 7, 8);
        assertThat(trial.merge.gaps()).isEqualTo(5);
    }

    @Test
    void aPathThatComesBackLateIsWaitedForOnceMore() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1, 2, 3, 4).pass().pass().pass();

        trial.offer(1, 3).offer(0, 5, 6).offer(1, 5, 6);

        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 1));
        assertThat(trial.emitted).containsExactly(0, 1, 2, 3, 5, 7, 6, 8);
    }

    /** Each late packet would else cost a deadline. */
    @Test
    void aPathThatStaysLateIsWaitedForLessAndLess() {
        Trial trial = new Trial(2, DEPTH);
        trial.offer(0, 1, 2, 3).pass().pass().pass();
        for (long round = 4; round < 1_000; round++) {
            trial.offer(0, round).passAll().offer(1, round - 3);
        }

        assertThat(trial.merge.timeouts()).isEqualTo(3 + 9); // after 1, 2, 4 … 256 late packets
    }

    @Test
    void aPathThatEndsIsNotWaitedFor() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);

        trial.marker(1, 2, Anep.ROUND_PATH_ENDS).offer(0, 2, 3, 4);

        assertThat(trial.emitted).containsExactly(0, 1, 3, 4, 5);
        assertThat(trial.merge.held()).isZero();
    }

    /** Its first packets come far behind those of the others, which it makes wait. */
    @Test
    void aPathThatWasAnnouncedIsWaitedFor() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1).marker(1, 2, Anep.ROUND_PATH_ENDS);

        trial.offer(0, 2, 3).marker(1, 4, Anep.ROUND_PATH_BEGINS).offer(0, 4, 5, 6, 7);
        assertThat(trial.emitted).containsExactly(0, 1, 3, 4, 6, 7);

        trial.offer(1, 5, 6, 7);
        assertThat(trial.emitted).endsWith(7, 10, 8, 11, 9, 12);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.MARKER, 2));
    }

    @Test
    void aPathThatWasAnnouncedTooLateIsWaitedForFromThenOn() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1).marker(1, 2, Anep.ROUND_PATH_ENDS);
        trial.offer(0, 2, 3, 4, 5);

        trial.marker(1, 3, Anep.ROUND_PATH_BEGINS).offer(0, 6, 7).offer(1, 6, 7);

        assertThat(trial.emitted).endsWith(8, 10, 9, 11);
    }

    @Test
    void aPathThatWasAnnouncedAndStaysSilentIsGivenUp() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1).marker(1, 2, Anep.ROUND_PATH_ENDS);

        trial.offer(0, 2)
                .marker(1, 2, Anep.ROUND_PATH_BEGINS)
                .offer(0, 3, 4, 5, 6, 7)
                .passAll()
                .offer(0, 8);

        assertThat(trial.merge.held()).isZero();
        assertThat(trial.merge.timeouts()).isEqualTo(3);
    }

    @Test
    void aPathThatIsAnnouncedAgainIsStillWaitedForWithWhatItHadBefore() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1).marker(1, 2, Anep.ROUND_PATH_ENDS);
        trial.offer(0, 2).marker(1, 3, Anep.ROUND_PATH_BEGINS).offer(0, 3, 4, 5, 6);

        trial.marker(1, 6, Anep.ROUND_PATH_BEGINS).offer(0, 7);
        trial.offer(1, 4).marker(1, 5, Anep.ROUND_PATH_ENDS).offer(1, 7);

        assertThat(trial.emitted).containsExactly(0, 1, 3, 5, 6, 11, 7, 8, 10, 13);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.MARKER, 4));
    }

    /** It was announced on its own way alone. */
    @Test
    void aPathThatCameWhenNoOtherWasThereIsWaitedForWhenALaterOneShowsFirst() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.marker(0, 2, Anep.ROUND_PATH_ENDS).marker(1, 2, Anep.ROUND_PATH_ENDS);

        trial.marker(0, 5, Anep.ROUND_PATH_BEGINS).offer(0, 6);
        trial.marker(1, 2, Anep.ROUND_PATH_BEGINS).offer(1, 3, 4, 5, 6);

        assertThat(trial.emitted).containsExactly(0, 1, 7, 8, 9, 5, 10);
        assertThat(trial.merge.timeouts() + trial.merge.gaps()).isZero();
    }

    @Test
    void aPathThatCameWhenNoOtherWasThereAndStaysSilentCostsADeadline() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.marker(0, 2, Anep.ROUND_PATH_ENDS).marker(1, 2, Anep.ROUND_PATH_ENDS);

        trial.marker(0, 5, Anep.ROUND_PATH_BEGINS).offer(0, 6, 7, 8).pass().offer(0, 9);

        assertThat(trial.emitted).containsExactly(0, 1, 5, 6, 7, 8);
        assertThat(trial.merge.timeouts()).isEqualTo(1);
    }

    /** As it does where it comes twice, or the path was not waited for. */
    @Test
    void aLastMarkerThatComesLateHasItsPathBeWaitedForNoMore() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1).marker(1, 2, Anep.ROUND_PATH_ENDS);
        trial.offer(0, 2, 3);

        trial.marker(1, 2, Anep.ROUND_PATH_ENDS).offer(0, 4, 5);

        assertThat(trial.emitted).containsExactly(0, 1, 3, 4, 6, 7);
        assertThat(trial.drops).containsEntry(Ending.LATE, 1);
    }

    /** Units that come and go, up to 40 packets behind, lose nothing: what one had before it went comes in turn. */
    @Test
    void pathsThatJoinAndLeaveLoseNothing() {
        for (long seed : Seeds.ofCommit(ExactMergeTest.class, 300)) {
            Random random = new Random(seed);
            int paths = 2 + random.nextInt(4);
            Trial trial = new Trial(paths, 2_000);
            List<Queue<long[]>> units = new ArrayList<>();
            int[] speeds = random.ints(paths, 5, 50).toArray();
            int[] settled = new int[paths];
            IntStream.range(0, paths).forEach(path -> units.add(new ArrayDeque<>()));
            Rounds rounds = new Rounds(
                    Distribution.EXACT,
                    1,
                    paths,
                    1,
                    (way, path, round, flags) -> units.get(way).add(new long[] {path, round, flags, -1}));
            IntStream.range(0, paths).forEach(path -> rounds.weight(path, 1 + random.nextInt(3)));
            int placed = 0;
            Map<Integer, Integer> numbers = new TreeMap<>();
            for (int step = 0; step < 4_000; step++) {
                if (step < 3_000) {
                    int path = rounds.next(0);
                    if (path >= 0) {
                        units.get(path).add(new long[] {path, rounds.round(), rounds.flags(), placed++});
                    }
                    int changed = random.nextInt(paths);
                    if (random.nextInt(50) == 0 && step >= settled[changed]) {
                        settled[changed] = step + 50; // So of two joins of a unit one is on its way at most.
                        rounds.weight(changed, random.nextBoolean() ? Rounds.LEAVING : random.nextInt(4));
                    }
                }
                for (int way = 0; way < paths; way++) {
                    boolean isQuick = random.nextInt(50) < speeds[way] || step >= 3_000;
                    while (!units.get(way).isEmpty()
                            && (isQuick || units.get(way).size() > 40)) {
                        long[] item = units.get(way).remove();
                        numbers.put(trial.next, (int) item[3]);
                        trial.merge.offer((int) item[0], item[1], (int) item[2], trial.next++, 0);
                    }
                }
            }

            List<Integer> left = trial.emitted.stream().map(numbers::get).toList();
            assertThat(left).as("seed %d", seed).isSorted();
            assertThat(placed - left.size()).as("lost, seed %d", seed).isZero();
        }
    }

    @Test
    void aFullQueueCostsThePathThatLagsAndNoOther() {
        Trial trial = new Trial(2, 4).offer(0, 1, 2, 3, 4, 5, 6, 7, 8);

        trial.offer(1, 1, 2, 3, 4, 5, 6, 7, 8);

        assertThat(trial.emitted).containsExactly(0, 1, 2, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 3));
        assertThat(trial.merge.overflows()).isEqualTo(3);
    }

    @Test
    void aSecondCopyIsDropped() {
        Trial trial = new Trial(2, DEPTH).offer(1, 1, 2, 1, 2, 1).offer(0, 1, 1, 2);

        assertThat(trial.emitted).containsExactly(5, 0, 7, 1);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 4));
    }

    @Test
    void aPathThatIsReorderedWhileItWaitsIsSorted() {
        Trial trial = new Trial(2, DEPTH).offer(1, 4, 2, 3, 1).offer(0, 1, 2, 3, 4);

        assertThat(trial.emitted).containsExactly(4, 3, 5, 1, 6, 2, 7, 0);
        assertThat(trial.merge.gaps()).isZero();
    }

    @Test
    void manyRoundsThatAreLostOnAllPathsAreSkippedAtOnceAndCounted() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);

        trial.offer(0, 60_000, 60_001).offer(1, 60_000, 60_001);

        assertThat(trial.emitted).containsExactly(0, 1, 2, 4, 3, 5);
        assertThat(trial.merge.gaps()).isEqualTo(2 * 59_998);
    }

    @Test
    void aRoundThatWasMadeUpFarAwayOnEachPathDisturbsNothing() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);

        trial.offer(0, 1L << 62).offer(0, 2).offer(1, 1L << 60).offer(1, 2).passAll(20);
        assertThat(trial.merge.dueNs()).as("nothing waits for time").isEqualTo(ExactMerge.NEVER);
        trial.offer(0, 3).offer(1, 3);

        assertThat(trial.emitted).containsExactly(0, 1, 3, 5, 6, 7);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 2));
        assertThat(trial.merge.gaps()).isZero();
    }

    @Test
    void aForgedRoundOfEachPathAheadWithinTheWindowDisturbsNothing() {
        Trial trial =
                new Trial(2, DEPTH).offer(0, 1).offer(1, 1).offer(0, 60_000).offer(1, 60_000);

        trial.offer(0, 2, 3).offer(1, 2, 3);

        assertThat(trial.emitted).containsExactly(0, 1, 4, 6, 5, 7);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 2));
    }

    @Test
    void aRoundFarAheadWithNothingBehindItIsWaitedForNoLongerThanDeadlines() {
        Trial trial =
                new Trial(2, DEPTH).offer(0, 1).offer(1, 1).offer(0, 60_000).offer(1, 60_000);

        trial.passAll();

        assertThat(trial.emitted).containsExactly(0, 1, 2, 3);
        assertThat(trial.merge.timeouts())
                .as("of each path, and of one that nobody knows")
                .isEqualTo(2 * 3 + 1);
    }

    @Test
    void whatComesFirstOfAllIsNotBelievedByItselfWhenItIsFarAhead() {
        long real = Beginning.at(1_800_000_000_000L);
        Trial trial = new Trial(2, DEPTH).offer(0, 1L << 62).passAll(5);
        assertThat(trial.merge.dueNs()).as("nothing waits for time").isEqualTo(ExactMerge.NEVER);

        trial.first(0, real).first(1, real).offer(0, real + 1).offer(1, real + 1);

        assertThat(trial.emitted).containsExactly(1, 2, 3, 4);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 1));
        assertThat(trial.merge.restarts() + trial.merge.timeouts() + trial.merge.gaps())
                .isZero();
    }

    @Test
    void aMarkerThatComesFirstOfAllBeginsNoOrder() {
        long real = Beginning.at(1_800_000_000_000L);
        Trial trial = new Trial(2, DEPTH).marker(1, 1L << 62, Anep.ROUND_PATH_BEGINS);

        trial.first(0, real).first(1, real).offer(0, real + 1).offer(1, real + 1);

        assertThat(trial.emitted).containsExactly(1, 2, 3, 4);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.MARKER, 1));
    }

    /** As behind a stream that goes on while the aggregator starts anew. */
    @Test
    void theOrderIsJoinedWithTheSecondPacketOfAPath() {
        long real = Beginning.at(1_800_000_000_000L) + 1_000_000;
        Trial trial = new Trial(2, DEPTH).offer(1, real).offer(0, real + 1);
        assertThat(trial.emitted).isEmpty();

        trial.offer(1, real + 1).passAll();

        assertThat(trial.emitted).containsExactly(0, 1, 2);
        assertThat(trial.merge.restarts()).isZero();
    }

    /** As damaged ones do, however long apart: their path goes on between them. */
    @ParameterizedTest
    @ValueSource(longs = {2_000, 60_000, 1L << 40, 1L << 60})
    void strayPacketsOfAPathEndNothingHoweverManyThereAre(long ahead) {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        List<Integer> strays = new ArrayList<>();
        for (long round = 2; round < 100; round++) {
            if (round % 7 == 0) {
                strays.add(trial.next);
                trial.offer(1, round + ahead);
            }
            trial.offer(0, round).offer(1, round).passAll(5);
        }

        assertThat(trial.emitted).hasSize(2 * 99).isSorted().doesNotContainAnyElementsOf(strays);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, strays.size()));
        assertThat(trial.merge.timeouts() + trial.merge.gaps() + trial.merge.restarts())
                .isZero();
    }

    /** Nothing tells them from a start whose first round was lost, until their path goes on. */
    @Test
    void twoStrayPacketsInARowEndTheWaitForTheirPathUntilItsNextPacket() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.offer(1, 1L << 40, (1L << 40) + 1).offer(0, 2, 3);
        assertThat(trial.emitted).as("2 and 3 of path 0").containsExactly(0, 1, 4, 5);

        trial.offer(1, 2, 3);
        assertThat(trial.drops).as("these two, and the strays").containsExactly(Map.entry(Ending.LATE, 2 + 2));
        for (long round = 4; round < 10; round++) {
            trial.offer(0, round).passAll(1).offer(1, round);
        }

        assertThat(trial.emitted).hasSize(4 + 2 * 6);
        assertThat(trial.merge.restarts()).isZero();
    }

    /** As one that the network has sent twice, behind so many lost rounds that what waits could be stray. */
    @ParameterizedTest
    @ValueSource(longs = {50, 7})
    void aPacketThatComesLateGivesNothingUp(long late) {
        Trial trial = new Trial(2, DEPTH);
        for (long round = 1; round <= 50; round++) {
            trial.offer(0, round).offer(1, round);
        }
        trial.offer(1, 2_051, 2_052, late, 2_053).offer(0, 2_051, 2_052, 2_053).passAll();

        assertThat(trial.drops).as("the late one").containsExactly(Map.entry(Ending.LATE, 1));
        assertThat(trial.emitted).hasSize(2 * 53);
    }

    @Test
    void twoStrayPacketsInARowThatAreFarFromEachOtherEndNothing() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.offer(1, 1L << 60, 1L << 40, 1L << 61).passAll(20);
        assertThat(trial.merge.dueNs()).as("nothing waits for time").isEqualTo(ExactMerge.NEVER);

        trial.offer(0, 2).offer(1, 2);

        assertThat(trial.emitted).containsExactly(0, 1, 5, 6);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 3));
    }

    /** As one of a start before that the network has sent a second time, or to another path's socket. */
    @Test
    void aPacketThatComesBehindALaterStartGivesUpNoStream() {
        long after = Beginning.at(1_800_000_000_000L);
        Trial trial = new Trial(2, DEPTH).offer(0, 1);
        trial.offer(0, after + 1, after + 2, after + 3).offer(0, 2);

        trial.offer(1, 1, 2).passAll();

        assertThat(trial.emitted).containsExactly(0, 5, 4, 6, 1, 2, 3);
    }

    @Test
    void aPacketThatComesBehindTheFirstOfALaterStartGivesNothingUp() {
        long after = Beginning.at(1_800_000_000_000L);
        Trial trial = new Trial(2, DEPTH).offer(0, 1);
        trial.first(0, after).offer(0, after + 1).offer(0, 2);

        trial.offer(1, 1, 2).passAll();

        assertThat(trial.emitted).containsExactly(0, 4, 3, 5, 1, 2);
    }

    @Test
    void aRoundFarAheadLeavesRoomInTheSmallestQueue() {
        Trial trial = new Trial(2, 2).offer(0, 1).offer(1, 1).offer(0, 1L << 62);

        trial.offer(0, 2).offer(1, 2).offer(0, 3).offer(1, 3);

        assertThat(trial.emitted).containsExactly(0, 1, 3, 4, 5, 6);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 1));
    }

    @Test
    void anAnnouncementFarAheadHasNoPacketThereBeBelieved() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);

        trial.marker(0, 1L << 62, Anep.ROUND_PATH_BEGINS)
                .marker(1, 1L << 62, Anep.ROUND_PATH_BEGINS)
                .offer(0, (1L << 62) + 1)
                .passAll(20);
        trial.offer(0, 2).offer(1, 2).passAll(20).offer(0, 3).offer(1, 3);

        assertThat(trial.emitted).containsExactly(0, 1, 5, 6, 7, 8);
    }

    /** What a stranger has the order skip is late: nothing tells it from a unit's backlog. */
    @Test
    void theOrderNeverGoesBack() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.offer(0, 60_000, 60_001).offer(1, 60_000, 60_001);
        int before = trial.emitted.size();

        for (long round = 2; round <= 20; round++) {
            trial.offer(0, round).offer(1, round);
        }

        assertThat(trial.merge.restarts()).isZero();
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 2 * 19));
        assertThat(trial.emitted).hasSize(before);
    }

    /** It is behind the others, not behind itself. */
    @Test
    void aPathThatComesVeryLateBeginsNoOrderAnew() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.offer(0, LongStream.rangeClosed(2, 5_000).toArray()).passAll();

        trial.offer(1, LongStream.rangeClosed(2, 3_000).toArray());

        assertThat(trial.merge.restarts()).isZero();
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 2_999));
    }

    @Test
    void aUnitThatStoodStillForMoreRoundsThanAnyWindowIsLate() {
        long last = 3 * ExactMerge.WINDOW;
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);
        trial.offer(0, LongStream.rangeClosed(2, last).toArray()).passAll();
        int before = trial.emitted.size();

        trial.offer(1, LongStream.range(2, last).toArray());

        assertThat(trial.emitted.size()).isEqualTo(before);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, (int) last - 2));
        assertThat(trial.merge.restarts()).isZero();
        assertThat(trial.merge.gaps()).isZero();
    }

    @Test
    void aStartOfTheDistributorIsFollowedAndWhatIsOlderIsLate() {
        long before = Beginning.at(1_800_000_000_000L);
        long after = Beginning.at(1_800_000_000_200L);
        Trial trial = new Trial(2, DEPTH).offer(0, before, before + 1).offer(1, before);
        trial.first(0, after).first(1, after);
        assertThat(trial.emitted).as("what waits leaves first").containsExactly(0, 2, 1, 3, 4);

        trial.offer(1, LongStream.range(before + 1, before + 30).toArray())
                .offer(0, after + 1)
                .offer(1, after + 1);

        assertThat(trial.emitted).hasSize(7).endsWith(34, 35);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 29));
        assertThat(trial.merge.restarts()).isEqualTo(1);
        assertThat(trial.merge.gaps()).isZero();
        assertThat(trial.merge.timeouts()).isZero();
    }

    @Test
    void aStartWhoseFirstRoundIsLostIsFollowedWithTheSecondPacketOfAPath() {
        long after = Beginning.at(1_800_000_000_000L);
        Trial trial = new Trial(2, DEPTH).offer(0, 1).offer(1, 1);

        trial.offer(0, after + 1).passAll(20);
        assertThat(trial.merge.held()).isEqualTo(1);
        trial.offer(0, after + 2).passAll();

        assertThat(trial.emitted).containsExactly(0, 1, 2, 3);
        assertThat(trial.merge.restarts()).isEqualTo(1);
    }

    /** Its clock may have been set back; nothing tells that from a backlog. */
    @Test
    void anEarlierStartIsNeverFollowed() {
        long later = Beginning.at(1_800_000_000_200L);
        Trial trial = new Trial(2, DEPTH).offer(0, later, later + 1).offer(1, later, later + 1);
        int before = trial.emitted.size();

        for (long round = 1; round <= 100; round++) {
            trial.offer(0, round).offer(1, round);
        }

        assertThat(trial.emitted).hasSize(before);
        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 200));
    }

    @Test
    void numbersThatRunOverAreNoOtherStart() {
        long last = Beginning.at(1_800_000_000_000L) + (1 << 27) - 1;
        Trial trial = new Trial(2, DEPTH).offer(0, last - 1, last, last + 1, last + 3);

        trial.offer(1, last - 1, last + 2, last + 3);

        assertThat(trial.emitted).hasSize(7);
        assertThat(trial.merge.restarts()).isZero();
        assertThat(trial.merge.gaps()).isEqualTo(3);
    }

    /** As in the socket of a unit that stood still, or with a unit that died and came back. */
    @Test
    void whatAPathLostWhileNobodyWaitedForItAreGaps() {
        Trial trial = new Trial(3, DEPTH);
        for (int path = 0; path < 3; path++) {
            trial.offer(path, 1);
        }
        for (long round = 2; round <= 19_732; round++) {
            trial.offer(0, round).offer(1, round).passAll();
        }
        assertThat(trial.merge.gaps()).as("not known yet").isZero();

        trial.offer(2, 19_733).offer(0, 19_733).offer(1, 19_733);

        assertThat(trial.merge.gaps()).isEqualTo(19_731);
        assertThat(trial.drops).isEmpty();
    }

    @Test
    void whatComesLateIsNoGap() {
        Trial trial = new Trial(2, DEPTH).offer(0, 1, 2, 3, 4, 5, 6).offer(1, 1).passAll();

        trial.offer(1, 2, 5, 3).passAll();

        assertThat(trial.drops).containsExactly(Map.entry(Ending.LATE, 3));
        assertThat(trial.merge.gaps()).isEqualTo(1);
    }

    @Test
    void whatWaitsLeavesInOrderAtTheEnd() {
        Trial trial = new Trial(3, DEPTH).offer(2, 1, 2, 5).offer(1, 4, 5);

        trial.merge.drain();

        assertThat(trial.emitted).containsExactly(0, 1, 3, 4, 2);
        assertThat(trial.merge.held()).isZero();
    }

    /** Paths that keep their order and lose nothing, each behind by what the queues hold. */
    @Test
    void withoutLossEveryPacketComesOutInOrder() {
        for (long seed : Seeds.ofCommit(ExactMergeTest.class, 300)) {
            Random random = new Random(seed);
            int paths = 1 + random.nextInt(6);
            int depth = 2 + random.nextInt(20);
            Trial trial = new Trial(paths, depth);
            long first = random.nextBoolean() ? 1 : 1_000_000_000L;
            List<Integer> wanted = new ArrayList<>();
            int[] sent = new int[paths];
            int rounds = 200;
            int[] packets = new int[paths * rounds];
            while (trial.next < packets.length) {
                int path = random.nextInt(paths);
                int least = Arrays.stream(sent).min().orElseThrow();
                if (sent[path] < Math.min(rounds, least + depth)) {
                    packets[sent[path] * paths + path] = trial.next;
                    trial.offer(path, first + sent[path]++);
                }
            }
            for (int packet : packets) {
                wanted.add(packet);
            }

            assertThat(trial.emitted).as("seed %d", seed).isEqualTo(wanted);
            assertThat(trial.merge.gaps() + trial.merge.timeouts() + trial.merge.overflows())
                    .as("seed %d", seed)
                    .isZero();
        }
    }

    @Test
    void whateverComesLeavesInOrderAndEachPacketEndsOnce() {
        for (long seed : Seeds.ofCommit(ExactMergeTest.class, 2_000)) {
            Random random = new Random(seed);
            int paths = 1 + random.nextInt(5);
            Trial trial = new Trial(paths, 2 + random.nextInt(12));
            List<Long> places = new ArrayList<>();
            long round = 1;
            for (int i = 0; i < 400; i++) {
                round = random.nextInt(100) == 0
                        ? 1 + random.nextInt(200_000) + ((long) random.nextInt(3) << 29)
                        : Math.max(1, round + random.nextInt(9) - 3);
                int path = random.nextInt(paths);
                places.add(round * Rounds.MAX_PATHS + path);
                if (random.nextInt(6) == 0) {
                    trial.marker(path, round, random.nextInt(50) == 0 ? Anep.ROUND_PATH_ENDS : 0);
                } else {
                    trial.offer(path, round);
                }
                if (random.nextInt(20) == 0) {
                    trial.pass();
                }
            }
            trial.merge.drain();

            List<Long> left = trial.emitted.stream().map(places::get).toList();
            long stepsBack = LongStream.range(1, left.size())
                    .filter(i -> left.get((int) i) <= left.get((int) i - 1))
                    .count();
            assertThat(stepsBack).as("seed %d", seed).isZero();
            assertThat(trial.ended).as("seed %d", seed).hasSize(400).doesNotHaveDuplicates();
            assertThat(trial.merge.held()).as("seed %d", seed).isZero();
        }
    }

    /** Packets of a path that loses some: what is lost costs no deadline, as soon as the path shows a later round. */
    @Test
    void lostPacketsAreGapsWhereTheirPathGoesOn() {
        for (long seed : Seeds.ofCommit(ExactMergeTest.class, 200)) {
            Random random = new Random(seed);
            Trial trial = new Trial(3, 64);
            int lost = 0;
            Queue<Integer> wanted = new ArrayDeque<>();
            for (long round = 1; round <= 100; round++) {
                for (int path = 0; path < 3; path++) {
                    if (round < 100 && round > 1 && random.nextInt(10) == 0) {
                        lost++;
                    } else {
                        wanted.add(trial.next);
                        trial.offer(path, round);
                    }
                }
            }

            assertThat(trial.emitted).as("seed %d", seed).containsExactlyElementsOf(wanted);
            assertThat(trial.merge.gaps()).as("seed %d", seed).isEqualTo(lost);
            assertThat(trial.merge.timeouts()).as("seed %d", seed).isZero();
        }
    }
}
