package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.services.morph.handler.Run.SECOND;

import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;
import org.tamanoir.message.Outcome;
import org.tamanoir.support.Seeds;

@Tag("once")
class MergeTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("hub", "string")
            .build();
    private static final Format ADVERT = Format.builder(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN))
            .structure("advert")
            .field("text", "string")
            .field("id", "integer", 4)
            .field("n", "integer", 4)
            .field("sizes", "integer[n]", 2)
            .build();
    private static final Format OFFER = Format.builder(Layout.X86_64)
            .structure("offer")
            .field("id", "integer", 8)
            .field("hub", "string")
            .field("advice", "string")
            .field("n", "integer", 4)
            .field("sizes", "integer[n]", 4)
            .build();
    private static final Map<String, Object> PAIRS = Map.of(
            "key", List.of("id"),
            "from", List.of("flight", "advert"),
            "output", "offer",
            "fields", Map.of("advice", "advert.text"),
            "window", "5s");

    private static Run run(Map<String, Object> changes) {
        Map<String, Object> settings = new HashMap<>(PAIRS);
        changes.forEach((key, value) -> {
            settings.remove(key);
            if (!value.equals("")) {
                settings.put(key, value);
            }
        });
        return Run.of("merge", settings, FLIGHT, ADVERT, OFFER);
    }

    private static Map<String, Object> flight(long id) {
        return Map.of("id", id, "hub", "ATL");
    }

    private static Map<String, Object> advert(long id) {
        return Map.of("id", id, "text", "buy", "n", 2, "sizes", List.of(3, -4));
    }

    @Test
    void partnersOfOneKeyBecomeOne() {
        Run run = run(Map.of());

        assertThat(run.give(FLIGHT, 1, flight(7))).isEqualTo(Outcome.HOLD);
        assertThat(run.give(FLIGHT, 1, flight(8))).isEqualTo(Outcome.HOLD);
        assertThat(run.give(ADVERT, 2, advert(7))).isEqualTo(Outcome.MERGE);

        assertThat(run.out).containsExactly("0: id=7 hub=ATL advice=buy n=2 sizes=[3, -4]");
        assertThat(run.held).isOne();
        assertThat(run.merged).isEqualTo(2);
    }

    @Test
    void whatIsMergedTravelsUnderTheFirstPartsHeaderWhicheverComesLast() {
        InetSocketAddress client = InetSocketAddress.createUnresolved("client", 1);
        Run run = run(Map.of());

        run.give(FLIGHT, 1, flight(7), client);
        run.give(ADVERT, 2, advert(7));
        run.give(ADVERT, 2, advert(8));
        run.give(FLIGHT, 1, flight(8), client);

        assertThat(run.streams).containsExactly(1, 1);
        assertThat(run.destinations).containsExactly(client, client);
    }

    @Test
    void aPartnerThatDoesNotComeEndsTheWaitAfterTheWindowExactly() {
        Run run = run(Map.of());
        run.give(FLIGHT, 1, flight(7));

        run.nowNs += 5 * SECOND - 1;
        assertThat(run.expire()).isEqualTo(run.nowNs + 1);
        assertThat(run.held).isOne();
        run.nowNs += 1;
        assertThat(run.expire()).isEqualTo(Long.MAX_VALUE);

        assertThat(run.drops).containsOnly(Map.entry(Merge.NO_PARTNER, 1L));
    }

    @Test
    void aLatePartnerFindsNobody() {
        Run run = run(Map.of());
        run.give(FLIGHT, 1, flight(7));
        run.nowNs += 5 * SECOND;

        assertThat(run.give(ADVERT, 2, advert(7))).isEqualTo(Outcome.HOLD);
        run.finish();

        assertThat(run.drops).containsOnly(Map.entry(Merge.NO_PARTNER, 2L));
        assertThat(run.out).isEmpty();
    }

    @Test
    void aDuplicateIsDropped() {
        Run run = run(Map.of());
        run.give(FLIGHT, 1, flight(7));

        assertThat(run.give(FLIGHT, 1, flight(7))).isEqualTo(Outcome.DROP);

        assertThat(run.drops).containsOnly(Map.entry(Merge.DUPLICATE, 1L));
        assertThat(run.held).isOne();
    }

    @Test
    void aDuplicateTakesThePlaceOfTheOneBeforeIfItShall() {
        Run run = run(Map.of("duplicate", "replace"));
        run.give(FLIGHT, 1, flight(7));
        run.give(FLIGHT, 1, Map.of("id", 7, "hub", "DFW"));
        run.give(ADVERT, 2, advert(7));

        assertThat(run.out).containsExactly("0: id=7 hub=DFW advice=buy n=2 sizes=[3, -4]");
        assertThat(run.drops).containsOnly(Map.entry(Merge.REPLACED, 1L));
    }

    @Test
    void withoutItsPartnerARecordLeavesAloneIfItShall() {
        Run run = run(Map.of("missing", "empty"));
        run.give(ADVERT, 2, advert(7));
        run.nowNs += 5 * SECOND;
        run.expire();

        assertThat(run.out).containsExactly("0: id=0 hub=null advice=buy n=2 sizes=[3, -4]");
        assertThat(run.streams).containsExactly(2);
        assertThat(run.merged).isOne();
    }

    @Test
    void aWindowOfTimeMergesTheLastOfEachPart() {
        Run run = run(Map.of("key", "", "window", "5s"));
        run.give(FLIGHT, 1, flight(1));
        run.give(ADVERT, 2, advert(2));
        run.nowNs += 4 * SECOND;
        run.give(FLIGHT, 1, flight(3));
        assertThat(run.out).isEmpty();
        run.nowNs += SECOND;
        run.expire();

        assertThat(run.out).containsExactly("0: id=3 hub=ATL advice=buy n=2 sizes=[3, -4]");
        assertThat(run.drops).containsOnly(Map.entry(Merge.REPLACED, 1L));
        assertThat(run.held).isZero();
    }

    @Test
    void aWindowWithoutOneOfThePartsGivesNothing() {
        Run run = run(Map.of("key", "", "window", "5s"));
        run.give(FLIGHT, 1, flight(1));
        run.nowNs += 5 * SECOND;
        run.give(FLIGHT, 1, flight(2));

        assertThat(run.out).isEmpty();
        assertThat(run.drops).containsOnly(Map.entry(Merge.NO_PARTNER, 1L));
    }

    @Test
    void aWindowByCountEndsWithItsLastMessage() {
        Run run = run(Map.of("key", "", "window", "", "count", 3));
        run.give(FLIGHT, 1, flight(1));
        run.give(ADVERT, 2, advert(2));
        assertThat(run.out).isEmpty();
        run.give(FLIGHT, 1, flight(3));

        assertThat(run.out).containsExactly("0: id=3 hub=ATL advice=buy n=2 sizes=[3, -4]");
    }

    @Test
    void whatIsNotTheOutputsFieldIsRefused() {
        assertThatThrownBy(() -> run(Map.of("fields", Map.of("advise", "advert.text"))))
                .hasMessageStartingWith("handlers.it.merge.fields: format offer has no field 'advise'; it has: ");
    }

    @Test
    void anOutputsFieldThatNoPartHasIsRefused() {
        assertThatThrownBy(() -> run(Map.of("fields", "")))
                .hasMessage("handlers.it.merge.fields: from flight: field 'advice' of 'offer' is missing in format"
                        + " 'flight' and has no default");
    }

    @Test
    void keysOfDifferentKindsAreRefused() {
        assertThatThrownBy(() -> run(Map.of("key", Map.of("flight", "id", "advert", "text"))))
                .hasMessage("handlers.it.merge.key: key id of flight is integer, text of advert is string: translate"
                        + " one of them before");
    }

    @Test
    void aFormatThatIsNoPartIsRefused() {
        assertThatThrownBy(() -> run(Map.of()).bound(OFFER))
                .isInstanceOf(FormatException.class)
                .hasMessage("merge takes flight, advert, not offer");
    }

    @Test
    void itsInputsAreItsParts() {
        assertThat(run(Map.of()).handler.inputs()).containsExactly(Target.of(FLIGHT), Target.of(ADVERT));
    }

    @Test
    void partnersMayBeOfOneFormat() {
        Run run = run(Map.of(
                "from", List.of("flight", "flight", "advert"),
                "fields", Map.of("hub", "flight_2.hub", "advice", "flight.hub")));
        run.give(FLIGHT, 1, Map.of("id", 7, "hub", "first"));
        run.give(FLIGHT, 1, Map.of("id", 7, "hub", "second"));
        run.give(ADVERT, 1, advert(7));

        assertThat(run.out).containsExactly("0: id=7 hub=second advice=first n=2 sizes=[3, -4]");
    }

    /** Compares with a model that knows nothing of memory: same pairs, same ends, in the same order. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void randomPartnersAreMergedAsAModelDoes(int fanIn) {
        long seed = Seeds.ofCommit(MergeTest.class);
        Random random = new Random(seed);
        Format[] parts = new Format[fanIn];
        List<String> from = new ArrayList<>();
        Map<String, String> fields = new TreeMap<>();
        var output = Format.builder(Layout.X86_64).structure("all");
        for (int i = 0; i < fanIn; i++) {
            Layout layout = i % 2 == 0 ? Layout.X86_64 : Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN);
            parts[i] = Format.builder(layout)
                    .structure("p" + i)
                    .field("key", "string")
                    .field("v", "integer")
                    .build();
            from.add("p" + i);
            output.field("v" + i, "integer");
            fields.put("v" + i, "p" + i + ".v");
        }
        Format all = output.build();
        List<Format> formats = new ArrayList<>(List.of(parts));
        formats.add(all);
        Run run = Run.of(
                "merge",
                Map.of("from", from, "key", "key", "output", "all", "fields", fields, "window", "10ms"),
                formats.toArray(Format[]::new));
        Map<String, long[]> model = new TreeMap<>();
        List<String> expected = new ArrayList<>();
        long unmatched = 0;
        long duplicates = 0;
        for (int step = 0; step < 20_000; step++) {
            run.nowNs += random.nextInt(100_000);
            int part = random.nextInt(fanIn);
            String key = "key" + random.nextInt(200);
            long[] since = model.computeIfAbsent(key, k -> empty(fanIn));
            for (long[] one : model.values()) {
                for (int i = 0; i < fanIn; i++) {
                    if (one[2 * i] != Long.MIN_VALUE && run.nowNs - one[2 * i] >= 10_000_000) {
                        one[2 * i] = Long.MIN_VALUE;
                        unmatched++;
                    }
                }
            }
            if (since[2 * part] != Long.MIN_VALUE) {
                duplicates++;
            } else {
                since[2 * part] = run.nowNs;
                since[2 * part + 1] = step;
                if (isWhole(since)) {
                    StringBuilder text = new StringBuilder("0:");
                    for (int i = 0; i < fanIn; i++) {
                        text.append(" v").append(i).append('=').append(since[2 * i + 1]);
                    }
                    expected.add(text.toString());
                    model.put(key, empty(fanIn));
                }
            }
            run.give(parts[part], 1, Map.of("key", key, "v", step));
        }

        assertThat(run.out).as("seed %d", seed).isEqualTo(expected).isNotEmpty();
        assertThat(run.drops)
                .as("seed %d", seed)
                .isEqualTo(Map.of(Merge.NO_PARTNER, unmatched, Merge.DUPLICATE, duplicates));
        run.finish();
        assertThat(run.handler.heldBytes()).isZero();
    }

    private static long[] empty(int fanIn) {
        long[] empty = new long[2 * fanIn];
        java.util.Arrays.fill(empty, Long.MIN_VALUE);
        return empty;
    }

    private static boolean isWhole(long[] since) {
        for (int i = 0; i < since.length; i += 2) {
            if (since[i] == Long.MIN_VALUE) {
                return false;
            }
        }
        return true;
    }

    @Test
    void memoryHoldsForKeysByTheMillion() {
        Run run = run(Map.of("state", "64KiB", "window", "1h"));
        run.quiet = true;
        long mostBytes = 0;
        for (int i = 0; i < 1_000_000; i++) {
            run.give(FLIGHT, 1, flight(i));
            mostBytes = Math.max(mostBytes, run.handler.heldBytes());
        }

        assertThat(mostBytes).isLessThanOrEqualTo(run.handler.needs().stateBytes());
        assertThat(run.drops).containsOnlyKeys(Merge.MEMORY);
        assertThat(run.held).isPositive();
    }

    @Test
    void theNumberOfRecordsIsBounded() {
        Run run = run(Map.of("messages", 10));
        for (int i = 0; i < 25; i++) {
            run.give(FLIGHT, 1, flight(i));
        }
        run.give(ADVERT, 2, advert(15));
        run.give(ADVERT, 2, advert(14));

        assertThat(run.out).as("the ten last wait").hasSize(1);
        assertThat(run.drops).containsOnly(Map.entry(Merge.MEMORY, 15L));
    }

    @Test
    void aRecordLargerThanTheStateIsDropped() {
        Run run = run(Map.of("state", "4KiB"));

        assertThat(run.give(FLIGHT, 1, Map.of("id", 1, "hub", "x".repeat(5_000))))
                .isEqualTo(Outcome.DROP);

        assertThat(run.drops).containsOnly(Map.entry(Merge.TOO_LARGE, 1L));
    }

    /** Fan-in 2 fits a memory that fan-in 4 overflows, as in figure 4 of the morphing paper. */
    @Test
    void aMemoryThatServesTwoPartsOverflowsWithFour() {
        Set<Integer> whole = new HashSet<>();
        for (int fanIn = 2; fanIn <= 4; fanIn++) {
            Map<String, Object> settings = new HashMap<>(Map.of(
                    "from",
                    java.util.Collections.nCopies(fanIn, "flight"),
                    "key",
                    "id",
                    "output",
                    "flight",
                    "state",
                    "24KiB",
                    "window",
                    "1h"));
            Run run = Run.of("merge", settings, FLIGHT);
            for (int part = 0; part < fanIn; part++) {
                for (int id = 0; id < 100; id++) {
                    run.give(FLIGHT, part, flight(id));
                }
            }
            if (run.drops.isEmpty()) {
                whole.add(fanIn);
                assertThat(run.out).hasSize(100);
            } else {
                assertThat(run.drops).containsKey(Merge.MEMORY);
            }
        }

        assertThat(whole).contains(2).doesNotContain(4);
    }

    @Test
    void recordsOfOneWindowAreNotMergedWithThoseOfTheNextWhenManyAreLate() {
        Run run = run(Map.of());
        for (int i = 0; i < 1_500; i++) {
            run.give(FLIGHT, 1, flight(i));
        }
        run.nowNs += 6 * SECOND;
        run.give(ADVERT, 2, advert(1_499));
        while (run.expire() <= run.nowNs) {
            // As many as one call may end.
        }
        assertThat(run.out).isEmpty();
        assertThat(run.held).isOne();
    }
}
