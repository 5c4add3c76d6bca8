package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The order and the times of fair queueing disciplines for given arrivals, and the exact fluid model's for the same. */
class FairVectorTest {
    private static final Drops NONE = (item, reason) -> {
        throw new AssertionError("dropped: " + reason);
    };

    /** Rate 1; weights 1/2, 1/4, 1/4; tags below are those of these weights. */
    private static Trace threeFlows() {
        return new Trace(1, 2, 1, 1)
                .add(0, 0, 4)
                .add(0, 0, 4)
                .add(0, 1, 2)
                .add(Trace.NS, 1, 2)
                .add(2 * Trace.NS, 2, 8);
    }

    /** A flow of half of the link sends 11 unit packets, ten of a twentieth one each. */
    private static Trace burst() {
        long[] weights = new long[11];
        java.util.Arrays.fill(weights, 1);
        weights[0] = 10;
        Trace trace = new Trace(1, weights);
        for (int i = 0; i < 11; i++) {
            trace.add(0, 0, 1);
        }
        for (int flow = 1; flow <= 10; flow++) {
            trace.add(0, flow, 1);
        }
        return trace;
    }

    /** Flow (A, B, …), number, start and end in seconds. */
    private static String served(Trace trace, String name) {
        return trace.serve(Disciplines.create(name, trace.config(), NONE)).stream()
                .map(packet -> (char) ('A' + packet.flow()) + "" + packet.number + " " + packet.departsNs / Trace.NS
                        + "-" + packet.finishNs / Trace.NS)
                .collect(Collectors.joining(", "));
    }

    private static List<Integer> flowsServed(Trace trace, String name) {
        return trace.serve(Disciplines.create(name, trace.config(), NONE)).stream()
                .map(packet -> packet.flow() + 1)
                .toList();
    }

    @Test
    void theFluidModelHasTheTagsAndTimesOfTheTable() {
        Trace trace = threeFlows();
        FluidModel fluid = new FluidModel(trace);
        // The model's weights are 2, 1, 1 in place of 1/2, 1/4, 1/4: its tags are a quarter.
        Rational four = Rational.of(4);
        Map<String, String> table = trace.packets.stream()
                .collect(Collectors.toMap(
                        packet -> (char) ('A' + packet.flow()) + "" + packet.number,
                        packet -> fluid.of(packet).start().times(four) + " "
                                + fluid.of(packet).finish().times(four) + " "
                                + fluid.of(packet).finishTime()));
        assertThat(table)
                .containsOnly(
                        Map.entry("A1", "0 8 22/3"),
                        Map.entry("A2", "8 16 46/3"),
                        Map.entry("B1", "0 8 22/3"),
                        Map.entry("B2", "8 16 46/3"),
                        Map.entry("C1", "8/3 104/3 20"));
    }

    @Test
    void wfqServesInTheOrderOfTheFluidDepartures() {
        assertThat(served(threeFlows(), "wfq")).isEqualTo("A1 0-4, B1 4-6, A2 6-10, B2 10-12, C1 12-20");
    }

    @Test
    void wfqHasTheTagsOfTheTable() {
        Trace trace = threeFlows();
        trace.serve(Disciplines.create("wfq", trace.config(), NONE));
        // In units of a 2^16th of half a byte; the finish of C1 is rounded down.
        assertThat(trace.packets.stream().map(packet -> packet.finish * 2).toList())
                .containsExactly(8L << 16, 16L << 16, 8L << 16, 16L << 16, (104L << 16) / 3 / 2 * 2);
    }

    @Test
    void scfqServesInTheSameOrder() {
        Trace trace = threeFlows();
        assertThat(served(trace, "scfq")).isEqualTo("A1 0-4, B1 4-6, A2 6-10, B2 10-12, C1 12-20");
        Trace.Packet last = trace.packets.get(4);
        assertThat(last.start * 5).isEqualTo(last.finish);
    }

    @Test
    void stfqServesWhatStartsFirst() {
        assertThat(served(threeFlows(), "stfq")).isEqualTo("A1 0-4, B1 4-6, C1 6-14, A2 14-18, B2 18-20");
    }

    @Test
    void wf2qPlusHoldsBackWhatIsAhead() {
        assertThat(served(threeFlows(), "wf2q+")).isEqualTo("A1 0-4, B1 4-6, C1 6-14, A2 14-18, B2 18-20");
    }

    @Test
    void wfqLetsABurstRunAhead() {
        assertThat(flowsServed(burst(), "wfq"))
                .containsExactly(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1);
    }

    @Test
    void wf2qPlusInterleavesABurst() {
        assertThat(flowsServed(burst(), "wf2q+"))
                .containsExactly(1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1, 7, 1, 8, 1, 9, 1, 10, 1, 11, 1);
    }

    @Test
    void fqIsWfqWithEqualWeights() {
        Trace trace = new Trace(1, 1000, 1);
        for (int i = 0; i < 3; i++) {
            trace.add(0, 0, 10).add(0, 1, 10);
        }
        assertThat(flowsServed(trace, "fq")).containsExactly(1, 2, 1, 2, 1, 2);
    }

    @Test
    void tiesGoToTheSmallerIndexThenTheEarlierArrival() {
        for (String name : List.of("wfq", "fq", "scfq", "stfq", "wf2q+")) {
            Trace trace = new Trace(1, 3, 3, 3);
            for (int flow = 2; flow >= 0; flow--) {
                trace.add(0, flow, 7).add(0, flow, 7);
            }
            assertThat(served(trace, name))
                    .as(name)
                    .isEqualTo("A1 0-7, B1 7-14, C1 14-21, A2 21-28, B2 28-35, C2 35-42");
        }
    }
}
