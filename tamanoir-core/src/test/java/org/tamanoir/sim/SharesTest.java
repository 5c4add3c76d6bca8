package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/**
 * Shares of processors and links that a whole environment gives, and the limits to which it holds services, in virtual
 * time: a service uses of its processor what the test says, so that nothing else on the host changes what is measured.
 */
@Tag("once")
class SharesTest {
    private static final long SEED = Seeds.ofCommit(SharesTest.class);
    private static final Duration QUANTUM = Duration.ofMillis(1);
    private static final int PAYLOAD_BYTES = 1300;

    // ---- services and configurations -------------------------------------------------------------------------------

    /** Uses as much of a processor for each packet as its class says. */
    private static final class Costly extends Service {
        private final Simulation simulation;
        private final List<Integer> order;
        private final long[] costNs;

        /** @param order to which the class of each packet is added */
        Costly(Simulation simulation, List<Integer> order, long... costNs) {
            this.simulation = simulation;
            this.order = order;
            this.costNs = costNs;
        }

        @Override
        public Verdict process(Packet packet) {
            simulation.work(costNs[packet.classOfService()]);
            order.add(packet.classOfService());
            return Verdict.FORWARD;
        }
    }

    /** Uses a processor for two seconds before it returns. */
    private static final class Endless extends Service {
        private final Simulation simulation;

        Endless(Simulation simulation) {
            this.simulation = simulation;
        }

        @Override
        public Verdict process(Packet packet) {
            for (int i = 0; i < 2000; i++) {
                simulation.work(1_000_000);
            }
            return Verdict.FORWARD;
        }
    }

    /** Passes packets on, and costs next to nothing. */
    private static final class Pass extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private static TrafficClass trafficClass(int index, long weight) {
        return new TrafficClass("c" + index, Set.of(index), weight);
    }

    private static QosConfig qos(long low, long high, PreProcessing pre, Link... links) {
        return new QosConfig(
                List.of(trafficClass(0, low), trafficClass(1, high)), "c0", List.of(), pre, List.of(links));
    }

    private static PreProcessing turns(String discipline, Duration quantum) {
        return new PreProcessing(discipline, Map.of(), 1, quantum);
    }

    private static QosConfig link(String discipline, long rate, long burst, long low, long high) {
        return qos(low, high, null, out(discipline, rate, burst));
    }

    private static Link out(String discipline, long rate, long burst) {
        return new Link("out", List.of(Prefix.parse("0.0.0.0/0")), rate, burst, false, discipline, Map.of());
    }

    // ---- processors ------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(strings = {"wfq", "stfq", "scfq", "wf2q+"})
    void weightsShareProcessorTimeWhateverPacketsCost(String discipline) throws Exception {
        CalmNode.play(SEED, node -> {
            List<Integer> order = new ArrayList<>();
            node.service("burn", () -> new Costly(node.simulation, order, 70_000, 190_000));
            QosConfig shares = qos(30, 70, turns(discipline, QUANTUM));
            node.environment.qos(shares);
            node.environment.start();
            node.endlessStream(1, "burn", 0, 100);
            node.endlessStream(2, "burn", 1, 100);
            node.await(() -> order.contains(0) && order.contains(1));
            node.environment.qos(qos(30, 70, turns(discipline, QUANTUM))); // Shares count from here.
            long beforeNs = processorNs(node);
            node.await(() -> processorNs(node) - beforeNs >= 1_000_000_000);
            assertThat(node.status(0, 0).share()).as(discipline).isBetween(0.297, 0.303);
            node.environment.qos(QosConfig.OFF);
            node.endWriting();
            assertThat(node.settle()).isEmpty();
        });
    }

    private static long processorNs(CalmNode node) {
        return node.status(0, 0)
                .processorTime()
                .plus(node.status(0, 1).processorTime())
                .toNanos();
    }

    @Test
    void strictPriorityReallyStarves() throws Exception {
        CalmNode.play(SEED, node -> {
            List<Integer> order = new ArrayList<>();
            node.service("burn", () -> new Costly(node.simulation, order, 200_000, 0));
            node.environment.qos(qos(1, 1, turns("pq", Duration.ofSeconds(1))));
            node.environment.start();
            // While one of the two reads, the other has packets.
            node.endlessStream(1, "burn", 0, 100);
            node.endlessStream(2, "burn", 0, 100);
            node.await(() -> !order.isEmpty());
            node.stream(3, "burn", 1, 100, 100);
            node.await(() -> order.size() >= 3000);
            assertThat(order.subList(0, 3000)).containsOnly(0);
            assertThat(node.status(0, 1).waitingTurns()).isEqualTo(1);
            node.endWriting();
            assertThat(node.settle()).isEmpty();
            assertThat(node.status(0, 0).servedPackets()).isEqualTo(order.size() - 100);
            assertThat(node.status(0, 1).servedPackets()).isEqualTo(100);
        });
    }

    /** A packet that is never returned has the only processor until its service is given up. */
    @Test
    void whatWaitsForAServiceThatIsGivenUpIsCounted() throws Exception {
        CalmNode.play(SEED, node -> {
            List<Integer> order = new ArrayList<>();
            node.service("stuck", () -> new Costly(node.simulation, order, 10_000_000_000L, 1_000));
            node.service("other", () -> new Costly(node.simulation, order, 30_000_000, 1_000));
            node.environment.stuckAfter(Duration.ofMillis(300));
            node.environment.qos(qos(1, 1, turns("pq", Duration.ofSeconds(1))));
            node.environment.start();
            node.datagram(1, 0, "other", 1, 100); // Its instance is there when the others come.
            node.datagram(2, 0, "stuck", 1, 100);
            node.await(() -> node.arrived(1) == 1 && node.arrived(2) == 1);
            order.clear();
            node.datagram(1, 1, "other", 0, 100);
            for (int i = 1; i <= 20; i++) {
                node.datagram(2, i, "stuck", i + 1 & 1, 100);
            }
            node.await(() -> node.environment.traffic().packetsIn() == 23);
            Map<DropReason, Long> drops = node.settle();
            assertThat(drops).isEqualTo(Map.of(DropReason.SERVICE_FAILURE, 20L));
            assertThat(order).containsExactly(0);
        });
    }

    // ---- limits of services ----------------------------------------------------------------------------------------

    private static final double PROCESSORS = 0.05;
    private static final Duration COST = Duration.ofMillis(16);

    private static ServiceHealth limited(CalmNode node, List<Integer> order) {
        return node.service(
                "greedy",
                new ServiceHealth(PROCESSORS, 0, node.simulation::nanoTime),
                () -> new Costly(node.simulation, order, COST.toNanos()));
    }

    /**
     * Asserts that the limit was used up and kept. Beyond what it grants in the time, a second's worth is there at the
     * beginning, a tenth of a second goes by between two measurements, and a batch that has begun goes on.
     */
    private static void assertHeld(ServiceHealth health, int packets, int batch, long tookNs) {
        long usedNs = packets * COST.toNanos();
        assertThat(health.throttles()).isPositive();
        assertThat(health.quarantines()).isZero();
        assertThat(health.processorNs()).isBetween(usedNs, usedNs + usedNs / 50);
        assertThat((double) usedNs)
                .as("in %s ns", tookNs)
                .isBetween(PROCESSORS * tookNs * 0.95, PROCESSORS * (tookNs + 1e9) + 1e8 + batch * COST.toNanos());
    }

    @Test
    void aStreamPausesSoThatItsServiceKeepsToItsProcessorTime() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = limited(node, new ArrayList<>());
            node.environment.start();
            long beganNs = node.simulation.nanoTime();
            node.stream(1, "greedy", 0, 150, 100);
            node.await(() -> node.arrived(1) == 150);
            long tookNs = node.simulation.nanoTime() - beganNs;
            assertThat(node.settle()).isEmpty();
            assertHeld(health, 150, 1, tookNs);
        });
    }

    @Test
    void datagramsWaitWhileTheirServicePauses() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = limited(node, new ArrayList<>());
            node.environment.start();
            long beganNs = node.simulation.nanoTime();
            for (int i = 0; i < 60; i++) { // More than the limit is for; no more wait than the port has room for.
                int sequence = i;
                node.simulation.at(i * 200_000_000L, () -> node.datagram(1, sequence, "greedy", 0, 100));
            }
            node.await(() -> node.arrived(1) == 60);
            long tookNs = node.simulation.nanoTime() - beganNs;
            assertThat(node.settle()).isEmpty();
            node.await(() -> health.processorNs() >= 60 * COST.toNanos());
            assertHeld(health, 60, 8, tookNs);
        });
    }

    /** A datagram of another service comes through at once, whatever stands in the port before it. */
    @Test
    void aServiceThatPausesHoldsUpNoDatagramOfAnother() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = limited(node, new ArrayList<>());
            node.service("pass", Pass::new);
            node.environment.start();
            int greedy = 0;
            while (!health.isPaused()) {
                node.datagram(1, greedy++, "greedy", 0, 100);
                int sent = greedy;
                node.await(() -> node.arrived(1) == sent || health.isPaused());
            }
            int before = node.arrived(1);
            for (int i = 0; i < 50; i++) {
                int others = i + 1;
                node.datagram(1, greedy++, "greedy", 0, 100);
                node.datagram(2, i, "pass", 0, 100);
                node.await(() -> node.arrived(2) == others);
            }
            assertThat(health.isPaused()).isTrue();
            assertThat(node.arrived(1) - before)
                    .as("on their way when the pause began")
                    .isLessThanOrEqualTo(1);
            int sent = greedy;
            node.await(() -> node.arrived(1) == sent);
            assertThat(node.settle()).isEmpty();
            assertThat(health.quarantines()).isZero();
        });
    }

    /** Allocates a mebibyte for each packet, which it takes a millisecond for. */
    private static final class Wasteful extends Service {
        private final Simulation simulation;

        Wasteful(Simulation simulation) {
            this.simulation = simulation;
        }

        @Override
        public Verdict process(Packet packet) {
            simulation.work(1_000_000);
            simulation.allocate(1 << 20);
            return Verdict.FORWARD;
        }
    }

    @Test
    void aStreamPausesSoThatItsServiceKeepsToItsAllocation() throws Exception {
        CalmNode.play(SEED, node -> {
            int packets = 1_000;
            long limitBytes = 32 << 20;
            ServiceHealth health = node.service(
                    "greedy",
                    new ServiceHealth(0, limitBytes, node.simulation::nanoTime),
                    () -> new Wasteful(node.simulation));
            node.environment.start();
            long beganNs = node.simulation.nanoTime();
            node.stream(1, "greedy", 0, packets, 100);
            node.await(() -> node.arrived(1) == packets);
            double seconds = (node.simulation.nanoTime() - beganNs) / 1e9;
            assertThat(node.settle()).isEmpty();
            assertThat(health.quarantines()).isZero();
            assertThat(health.allocatedBytes()).isEqualTo((long) packets << 20);
            // As of processors: a second's worth at the beginning, and what is used between two measurements.
            assertThat((double) health.allocatedBytes())
                    .as("in %s s", seconds)
                    .isBetween(0.95 * limitBytes * seconds, limitBytes * (seconds + 1) + (101 << 20));
        });
    }

    @Test
    void aServiceThatDoesNotPauseIsQuarantined() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = node.service(
                    "greedy",
                    new ServiceHealth(PROCESSORS, 0, node.simulation::nanoTime),
                    () -> new Endless(node.simulation));
            node.environment.start();
            node.stream(1, "greedy", 0, 1, 100);
            node.await(() -> health.quarantines() == 1);
            assertThat(health.quarantineReason()).isEqualTo("over its limits, and does not pause between packets");
            assertThat(health.throttles()).isEqualTo(1);
            // Four tenths beyond a second's worth: three looks go by, a tenth each, until it is known that it is over,
            // until it must have been told, and until it is known that it goes on.
            assertThat(health.processorNs()).isBetween(1_000_000_000L, 1_400_000_000L);
        });
    }

    // ---- links -----------------------------------------------------------------------------------------------------

    /** Has both senders wait for the link, and asserts that 30 and 70 % of the next bytes are theirs. */
    private static void assertShares(CalmNode node, int point, long bytes) {
        node.await(() -> node.status(point, 0).waitingPackets() > 20
                && node.status(point, 1).waitingPackets() > 20);
        long low = node.status(point, 0).servedBytes();
        long high = node.status(point, 1).servedBytes();
        node.await(() -> node.status(point, 1).servedBytes() - high >= bytes);
        double lowBytes = node.status(point, 0).servedBytes() - low;
        double highBytes = node.status(point, 1).servedBytes() - high;
        assertThat(lowBytes / (lowBytes + highBytes)).isBetween(0.297, 0.303);
        assertThat(node.status(point, 0).share() + node.status(point, 1).share())
                .isBetween(0.999, 1.001);
    }

    private static Map<DropReason, Long> end(CalmNode node) {
        node.environment.qos(QosConfig.OFF);
        node.endWriting();
        return node.settle();
    }

    @ParameterizedTest
    @ValueSource(strings = {"wfq", "stfq", "scfq", "wf2q+"})
    void streamsShareALinksBytesByWeight(String discipline) throws Exception {
        CalmNode.play(SEED, node -> {
            node.environment.qos(link(discipline, 4_000_000, 20_000, 30, 70));
            node.environment.start();
            node.endlessStream(1, "", 0, PAYLOAD_BYTES);
            node.endlessStream(2, "", 1, PAYLOAD_BYTES);
            assertShares(node, 0, 3_000_000);
            assertThat(end(node)).isEmpty();
        });
    }

    @Test
    void streamsShareALinksBytesWithTurnsBeforeProcessingToo() throws Exception {
        CalmNode.play(SEED, node -> {
            node.service("pass", Pass::new);
            node.environment.qos(qos(30, 70, turns("stfq", QUANTUM), out("wfq", 4_000_000, 20_000)));
            node.environment.start();
            node.endlessStream(1, "pass", 0, PAYLOAD_BYTES);
            node.endlessStream(2, "pass", 1, PAYLOAD_BYTES);
            assertShares(node, 1, 3_000_000);
            assertThat(end(node)).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"wfq", "stfq"})
    void datagramsOfTwoServicesShareALinksBytesByWeight(String discipline) throws Exception {
        CalmNode.play(SEED, node -> {
            node.service("one", Pass::new);
            node.service("two", Pass::new);
            node.environment.qos(link(discipline, 2_000_000, 20_000, 30, 70));
            node.environment.start();
            node.endlessDatagrams(1, "one", 0, PAYLOAD_BYTES, 4);
            node.endlessDatagrams(2, "two", 1, PAYLOAD_BYTES, 4);
            assertShares(node, 0, 1_500_000);
            assertThat(end(node).keySet()).isSubsetOf(DropReason.QUEUE_FULL, DropReason.INBOX_FULL);
        });
    }

    @Test
    void datagramsAndAStreamShareALinksBytesByWeight() throws Exception {
        CalmNode.play(SEED, node -> {
            node.service("pass", Pass::new);
            node.environment.qos(link("wfq", 2_000_000, 20_000, 30, 70));
            node.environment.start();
            node.endlessDatagrams(1, "pass", 0, PAYLOAD_BYTES, 4);
            node.endlessStream(2, "pass", 1, PAYLOAD_BYTES);
            assertShares(node, 0, 1_500_000);
            assertThat(end(node).keySet()).isSubsetOf(DropReason.QUEUE_FULL, DropReason.INBOX_FULL);
        });
    }

    @Test
    void strictPriorityStarvesTheLowClassAndItsStreamSurvives() throws Exception {
        CalmNode.play(SEED, Duration.ofSeconds(10), node -> {
            node.environment.qos(link("pq", 4_000_000, 65_536, 1, 1));
            node.environment.start();
            node.endlessStream(1, "", 0, PAYLOAD_BYTES);
            node.await(() -> node.status(0, 0).waitingPackets() > 20);
            node.endlessStream(2, "", 1, PAYLOAD_BYTES);
            node.await(() -> node.status(0, 1).waitingPackets() > 20);
            long before = node.status(0, 1).servedBytes();
            long high = node.status(0, 0).servedBytes();
            node.await(() -> node.status(0, 0).servedBytes() - high >= 4_000_000);
            assertThat(node.status(0, 1).servedBytes()).isEqualTo(before);
            assertThat(end(node)).isEmpty();
            assertThat(node.ends).hasSize(2).allMatch("finished"::equals);
            assertThat(node.arrived(2)).isPositive();
        });
    }

    @Test
    void aStreamThatALinkGivesNothingForTheStallTimeIsClosed() throws Exception {
        CalmNode.play(SEED, Duration.ofMillis(400), node -> {
            ExecutionEnvironment environment = node.environment;
            environment.qos(link("pq", 4_000_000, 65_536, 1, 1));
            environment.start();
            node.endlessStream(1, "", 0, PAYLOAD_BYTES);
            node.await(() -> node.status(0, 0).waitingPackets() > 20);
            long beganNs = node.simulation.nanoTime();
            node.stream(2, "", 1, 2, PAYLOAD_BYTES);
            node.await(() -> environment.traffic().drops().getOrDefault(DropReason.STARVED, 0L) > 0);
            assertThat(Duration.ofNanos(node.simulation.nanoTime() - beganNs))
                    .isBetween(Duration.ofMillis(400), Duration.ofMillis(1000));
            node.await(() -> environment.streams().open() == 1);
            assertThat(node.status(0, 1).waitingPackets()).isZero();
            assertThat(end(node)).isEqualTo(Map.of(DropReason.STARVED, 2L));
        });
    }
}
