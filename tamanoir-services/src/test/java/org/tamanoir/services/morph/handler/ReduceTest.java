package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.services.morph.handler.Run.SECOND;

import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Layout;
import org.tamanoir.message.Outcome;
import org.tamanoir.support.Seeds;

@Tag("once")
class ReduceTest {
    private static Format flight(Layout layout) {
        return Format.builder(layout)
                .structure("flight")
                .field("hub", "string")
                .field("delay", "integer", 4)
                .field("fuel", "double")
                .field("seats", "unsigned", 8)
                .build();
    }

    private static final Format FLIGHT = flight(Layout.X86_64);
    private static final BigInteger LARGEST = new BigInteger("18446744073709551615");
    private static final Map<String, Object> ALL = new LinkedHashMap<>();

    static {
        ALL.put("n", "count");
        ALL.put("sum", "sum(delay)");
        ALL.put("mean", "avg(delay)");
        ALL.put("least", "min(delay)");
        ALL.put("most", "max(delay)");
        ALL.put("first_delay", "first(delay)");
        ALL.put("last_delay", "last(delay)");
    }

    private static Run run(Map<String, Object> fields, Object... settings) {
        Map<String, Object> all = new HashMap<>(Map.of("key", "hub", "fields", fields));
        for (int i = 0; i < settings.length; i += 2) {
            all.put((String) settings[i], settings[i + 1]);
        }
        return Run.of("reduce", all, FLIGHT);
    }

    private static Map<String, Object> flight(String hub, int delay) {
        return Map.of("hub", hub, "delay", delay, "fuel", delay / 2.0, "seats", 100);
    }

    @Test
    void eachGroupOfAWindowGivesOneSummaryInTheOrderInWhichTheyBegan() {
        Run run = run(ALL, "window", "10s");
        run.give(FLIGHT, 1, flight("DFW", 4));
        run.give(FLIGHT, 2, flight("ATL", -7));
        run.give(FLIGHT, 3, flight("DFW", 1));
        run.give(FLIGHT, 4, flight("DFW", 9));
        run.nowNs += 10 * SECOND;
        run.expire();

        assertThat(run.out)
                .containsExactly(
                        "0: hub=DFW n=3 sum=14 mean=4.666666666666667 least=1 most=9 first_delay=4 last_delay=9",
                        "0: hub=ATL n=1 sum=-7 mean=-7.0 least=-7 most=-7 first_delay=-7 last_delay=-7");
        assertThat(run.streams).as("headers of the groups' first messages").containsExactly(1, 2);
        assertThat(run.merged).isEqualTo(4);
        assertThat(run.made).isEqualTo(2);
    }

    @Test
    void windowsOfTimeLieOnAGridFromTheFirstMessageOn() {
        Run run = run(Map.of("n", "count"), "window", "10s");
        run.give(FLIGHT, 1, flight("ATL", 1));
        run.nowNs += 10 * SECOND - 1;
        run.give(FLIGHT, 1, flight("ATL", 1));
        assertThat(run.out).isEmpty();
        run.nowNs += 1;
        run.give(FLIGHT, 1, flight("ATL", 1));
        assertThat(run.out).containsExactly("0: hub=ATL n=2");
        run.nowNs += 34 * SECOND;
        run.give(FLIGHT, 1, flight("ATL", 1));
        assertThat(run.expire()).isEqualTo(run.nowNs + 6 * SECOND);
        run.nowNs += 6 * SECOND;
        assertThat(run.expire()).isEqualTo(Long.MAX_VALUE);

        assertThat(run.out).containsExactly("0: hub=ATL n=2", "0: hub=ATL n=1", "0: hub=ATL n=1");
    }

    @Test
    void windowsByCountEndWithTheirLastMessage() {
        Run run = run(Map.of("n", "count"), "count", 3);
        for (String hub : List.of("ATL", "DFW", "ATL", "DFW")) {
            run.give(FLIGHT, 1, flight(hub, 1));
        }

        assertThat(run.out).containsExactly("0: hub=ATL n=2", "0: hub=DFW n=1");
        run.finish();
        assertThat(run.out).endsWith("0: hub=DFW n=1").hasSize(3);
    }

    @Test
    void withoutAKeyAllIsOneGroup() {
        Run run = Run.of("reduce", Map.of("fields", Map.of("n", "count"), "count", 2, "output", "hubs"), FLIGHT);
        run.give(FLIGHT, 1, flight("ATL", 1));
        run.give(FLIGHT, 1, flight("DFW", 1));

        assertThat(run.out).containsExactly("0: n=2");
        assertThat(run.formats.get(0).name()).isEqualTo("hubs");
    }

    @Test
    void sendersOfOtherLayoutsShareTheGroups() {
        Format foreign = flight(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN).withPointerBytes(4));
        Run run = run(ALL, "count", 2);
        run.give(FLIGHT, 1, flight("ATL", 1));
        run.give(foreign, 1, flight("ATL", 2));

        assertThat(run.out).containsExactly("0: hub=ATL n=2 sum=3 mean=1.5 least=1 most=2 first_delay=1 last_delay=2");
    }

    @Test
    void aSumThatOverflowsDropsTheRecordAndChangesNothing() {
        Run run = run(Map.of("sum", "sum(seats)", "n", "count"), "count", 10);
        run.give(FLIGHT, 1, Map.of("hub", "ATL", "seats", Long.MAX_VALUE - 1));
        assertThat(run.give(FLIGHT, 1, Map.of("hub", "ATL", "seats", 2))).isEqualTo(Outcome.DROP);
        assertThat(run.give(FLIGHT, 1, Map.of("hub", "DFW", "seats", LARGEST))).isEqualTo(Outcome.DROP);
        run.give(FLIGHT, 1, Map.of("hub", "ATL", "seats", 1));
        run.finish();

        assertThat(run.drops).containsOnly(Map.entry(Reduce.OVERFLOW, 2L));
        assertThat(run.out).hasSize(1);
        assertThat(run.out.get(0)).contains("sum=" + Long.MAX_VALUE).contains("n=2");
    }

    @Test
    void unsignedNumbersAreComparedAsSuch() {
        Run run = run(Map.of("most", "max(seats)"), "count", 2);
        run.give(FLIGHT, 1, Map.of("hub", "ATL", "seats", LARGEST));
        run.give(FLIGHT, 1, Map.of("hub", "ATL", "seats", 5));

        assertThat(run.out).containsExactly("0: hub=ATL most=18446744073709551615");
    }

    @Test
    void whatIsNoNumberIsPassedOverByTheLeastAndTheGreatest() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("least", "min(fuel)");
        fields.put("most", "max(fuel)");
        fields.put("sum", "sum(fuel)");
        Run run = run(fields, "count", 3);
        for (double fuel : new double[] {Double.NaN, 2, 3}) {
            run.give(FLIGHT, 1, Map.of("hub", "ATL", "fuel", fuel));
        }

        assertThat(run.out).containsExactly("0: hub=ATL least=2.0 most=3.0 sum=NaN");
    }

    @Test
    void numbersKeepTheirTypeAndSumsAreWide() {
        Format output = run(ALL, "count", 1).bound(FLIGHT).output(0);

        assertThat(output.name()).isEqualTo("flight_summary");
        assertThat(field(output, "most").size()).isEqualTo(4);
        assertThat(field(output, "sum").size()).isEqualTo(8);
        assertThat(field(output, "mean").type().kind()).isEqualTo(Kind.FLOAT);
    }

    @Test
    void aDeclaredOutputThatIsTooNarrowIsRefused() {
        Format narrow = Format.builder(Layout.X86_64)
                .structure("narrow")
                .field("hub", "string")
                .field("sum", "integer", 4)
                .build();
        Run run = Run.of(
                "reduce",
                Map.of("key", "hub", "fields", Map.of("sum", "sum(delay)"), "count", 1, "output", "narrow"),
                FLIGHT,
                narrow);

        assertThatThrownBy(() -> run.bound(FLIGHT))
                .isInstanceOf(FormatException.class)
                .hasMessage("field sum holds sum: a whole number of 8 bytes or more is wanted");
    }

    @Test
    void stringsHaveAFirstAndNoLast() {
        Run run = run(Map.of("any", "first(hub)"), "count", 1);
        run.give(FLIGHT, 1, flight("ATL", 1));

        assertThat(run.out).containsExactly("0: hub=ATL any=ATL");
        assertThatThrownBy(() -> run(Map.of("any", "last(hub)"), "count", 1).bound(FLIGHT))
                .hasMessage("last(hub): the field is string; numbers of up to 8 bytes have all functions, strings"
                        + " first alone");
    }

    @Test
    void anUnknownFunctionIsRefused() {
        assertThatThrownBy(() -> run(Map.of("x", "median(delay)"), "count", 1))
                .hasMessage("handlers.it.reduce.fields.x: 'median(delay)' is none of count, sum(f), avg(f), min(f),"
                        + " max(f), first(f), last(f)");
    }

    @Test
    void aWindowHasToBeGiven() {
        assertThatThrownBy(() -> run(ALL))
                .hasMessage("handlers.it.reduce.window: is missing: say how long, as in 5s, or how many messages by"
                        + " count");
    }

    @Test
    void groupsBeyondTheMemoryAreDropped() {
        Run run = run(Map.of("n", "count"), "window", "1h", "state", "64KiB");
        run.quiet = true;
        long mostBytes = 0;
        for (int i = 0; i < 1_000_000; i++) {
            run.give(FLIGHT, 1, Map.of("hub", "hub" + i));
            mostBytes = Math.max(mostBytes, run.handler.heldBytes());
        }

        assertThat(mostBytes).isLessThanOrEqualTo(run.handler.needs().stateBytes());
        assertThat(run.drops).containsOnlyKeys(Reduce.MEMORY);
        run.finish();
        assertThat(run.made + run.dropped()).isEqualTo(1_000_000);
        assertThat(run.handler.heldBytes()).isZero();
    }

    @Test
    void manyGroupsEndInSeveralCallsAndTheNextWindowsStayApart() {
        Run run = run(Map.of("n", "count"), "window", "10s");
        for (int i = 0; i < 2_500; i++) {
            run.give(FLIGHT, 1, flight("hub" + i, 1));
        }
        run.nowNs += 10 * SECOND;
        assertThat(run.expire()).as("at once again").isEqualTo(run.nowNs);
        assertThat(run.out).hasSize(1_000);
        run.give(FLIGHT, 1, flight("hub2499", 1));
        run.finish();

        assertThat(run.out).hasSize(2_501);
        assertThat(run.out)
                .filteredOn(text -> text.equals("0: hub=hub2499 n=1"))
                .hasSize(2);
    }

    /** Compares with the JDK's own statistics. */
    @Test
    void randomRecordsAreSummedUpAsAModelDoes() {
        long seed = Seeds.ofCommit(ReduceTest.class);
        Random random = new Random(seed);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("n", "count");
        fields.put("sum", "sum(delay)");
        fields.put("least", "min(delay)");
        fields.put("most", "max(delay)");
        Run run = run(fields, "window", "1s", "count", 500);
        Map<String, LongSummaryStatistics> model = new LinkedHashMap<>();
        List<String> expected = new ArrayList<>();
        long start = run.nowNs;
        long window = -1;
        int messages = 0;
        for (int i = 0; i < 30_000; i++) {
            run.nowNs += random.nextInt(8_000_000);
            long now = (run.nowNs - start) / SECOND;
            if (i == 0) {
                start = run.nowNs;
                now = 0;
            }
            if (now != window) {
                give(model, expected);
                window = now;
                messages = 0;
            }
            String hub = "h" + random.nextInt(50);
            int delay = random.nextInt();
            model.computeIfAbsent(hub, h -> new LongSummaryStatistics()).accept(delay);
            run.give(FLIGHT, 1, flight(hub, delay));
            if (++messages == 500) {
                give(model, expected);
                messages = 0;
            }
        }
        run.finish();
        give(model, expected);

        assertThat(run.out).as("seed %d", seed).isEqualTo(expected);
    }

    private static void give(Map<String, LongSummaryStatistics> model, List<String> expected) {
        model.forEach((hub, s) -> expected.add("0: hub=" + hub + " n=" + s.getCount() + " sum=" + s.getSum() + " least="
                + s.getMin() + " most=" + s.getMax()));
        model.clear();
    }

    private static Field field(Format format, String name) {
        return Objects.requireNonNull(format.top().field(name));
    }
}
