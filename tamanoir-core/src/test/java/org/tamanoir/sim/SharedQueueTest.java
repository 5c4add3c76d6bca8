package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/**
 * Classes that are apart before processing and share the queue of one class at the link behind it, since their service
 * marks their packets. What each gets of a link that is the bottleneck is compared with {@link FluidShares}.
 */
@Tag("once")
class SharedQueueTest {
    private static final long SEED = Seeds.ofCommit(SharedQueueTest.class);
    private static final Duration NO_STALL = Duration.ofSeconds(60);
    private static final long SECOND_NS = 1_000_000_000;
    private static final int MEASURED_S = 3;
    /** Disciplines whose shares are by weight; {@code fq} takes all weights as equal. */
    private static final List<String> OF_TURNS = List.of("wfq", "fq", "stfq", "scfq", "wf2q+", "drr");

    private static final List<String> OF_LINKS = List.of("wfq", "fq", "stfq", "scfq", "wf2q+", "drr");

    /** Gives packets the class of a queue, and uses so much of a processor for each. */
    private static final class Marks extends Service {
        private final Simulation simulation;
        private final int[] queue;
        private final long[] costNs;

        Marks(Simulation simulation, int[] queue, long[] costNs) {
            this.simulation = simulation;
            this.queue = queue;
            this.costNs = costNs;
        }

        @Override
        public Verdict process(Packet packet) {
            int from = packet.classOfService();
            simulation.work(costNs[from]);
            packet.setClassOfService(queue[from]);
            return Verdict.FORWARD;
        }
    }

    /** Traffic of one class: streams that always have something, or datagrams at a steady rate. */
    private record Sender(String service, int streams, int perMillisecond, int payloadBytes) {
        double demand() {
            return streams > 0 ? Double.POSITIVE_INFINITY : 1000.0 * perMillisecond * packetBytes();
        }

        int packetBytes() {
            return CalmNode.packetBytes(service, payloadBytes);
        }

        void begin(CalmNode node, int trafficClass, int first) {
            for (int i = 0; i < streams; i++) {
                node.endlessStream(first + i, service, trafficClass, payloadBytes);
            }
            if (streams == 0) {
                node.endlessDatagrams(first, service, trafficClass, payloadBytes, perMillisecond);
            }
        }

        long arrivedBytes(CalmNode node, int trafficClass) {
            return IntStream.range(0, Math.max(1, streams))
                    .mapToLong(i -> node.arrivedBytes(first(trafficClass) + i))
                    .sum();
        }

        private static int first(int trafficClass) {
            return 1 + 20 * trafficClass;
        }
    }

    /** A node, and what is sent to it; by class. */
    private record Setting(
            String turns,
            int processors,
            String link,
            long rate,
            int limitPackets,
            long[] weights,
            int[] queue,
            long[] costNs,
            List<Sender> senders) {
        static Setting random(Random random) {
            int classes = 2 + random.nextInt(3);
            int queues = 1 + random.nextInt(2);
            List<Sender> senders = new ArrayList<>();
            for (int i = 0; i < classes; i++) {
                int payloadBytes = 200 + random.nextInt(1101);
                int streams = 1 + random.nextInt(random.nextBoolean() ? 2 : 8);
                senders.add(
                        random.nextBoolean()
                                ? new Sender("mark", streams, 0, payloadBytes)
                                : new Sender("mark", 0, 1 + random.nextInt(4), payloadBytes));
            }
            return new Setting(
                    OF_TURNS.get(random.nextInt(OF_TURNS.size())),
                    1 + random.nextInt(2),
                    OF_LINKS.get(random.nextInt(OF_LINKS.size())),
                    2_000_000 + random.nextInt(2_000_000),
                    random.nextBoolean() ? 60 + random.nextInt(400) : TrafficClass.DEFAULT_LIMIT_PACKETS,
                    LongStream.generate(() -> 1 + random.nextInt(9))
                            .limit(classes)
                            .toArray(),
                    IntStream.generate(() -> random.nextInt(queues))
                            .limit(classes)
                            .toArray(),
                    LongStream.generate(() -> 1_000 + random.nextInt(20_000))
                            .limit(classes)
                            .toArray(),
                    senders);
        }

        QosConfig qos() {
            List<TrafficClass> classes = IntStream.range(0, weights.length)
                    .mapToObj(i -> new TrafficClass("c" + i, Set.of(i), weights[i], limitPackets, 1 << 20))
                    .toList();
            Link out = new Link("out", List.of(Prefix.parse("0.0.0.0/0")), rate, 20_000, false, link, Map.of());
            return new QosConfig(classes, "c0", List.of(), new PreProcessing(turns, processors), List.of(out));
        }

        double[] fluid() {
            double[] ofTurns = weightsOf(turns);
            double[] demands = senders.stream().mapToDouble(Sender::demand).toArray();
            return new FluidShares(rate, weightsOf(link), queue, ofTurns, demands).rates();
        }

        private double[] weightsOf(String discipline) {
            return Arrays.stream(weights)
                    .mapToDouble(weight -> discipline.equals("fq") ? 1 : weight)
                    .toArray();
        }

        @Override
        public String toString() {
            return turns + " × " + processors + ", " + link + " at " + rate + ", limit " + limitPackets + ", weights "
                    + Arrays.toString(weights) + ", queues " + Arrays.toString(queue) + ", costs "
                    + Arrays.toString(costNs) + ", " + senders;
        }

        /** Plays it, and returns the bytes of each class a second. */
        double[] play(long seed) throws Exception {
            return play(seed, node -> {});
        }

        /** Plays it while others send, too. */
        double[] play(long seed, Consumer<CalmNode> others) throws Exception {
            double[] got = new double[weights.length];
            CalmNode.play(seed, NO_STALL, node -> {
                node.service("mark", () -> new Marks(node.simulation, queue, costNs));
                node.environment.qos(qos());
                node.environment.start();
                for (int i = 0; i < got.length; i++) {
                    senders.get(i).begin(node, i, Sender.first(i));
                }
                others.accept(node);
                node.simulation.sleep(SECOND_NS, false);
                for (int i = 0; i < got.length; i++) {
                    got[i] = -senders.get(i).arrivedBytes(node, i);
                }
                node.simulation.sleep(MEASURED_S * SECOND_NS, false);
                for (int i = 0; i < got.length; i++) {
                    got[i] = (got[i] + senders.get(i).arrivedBytes(node, i)) / MEASURED_S;
                }
                node.environment.qos(QosConfig.OFF);
                node.endWriting();
                assertThat(node.settle().keySet()).isSubsetOf(DropReason.TURN_QUEUE_FULL, DropReason.QUEUE_FULL);
            });
            return got;
        }
    }

    static List<String> rounds() {
        return IntStream.range(0, Seeds.scaled(3)).mapToObj(i -> "" + i).toList();
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void classesShareAQueueByTheirWeightsWhateverTheyAre(String round) throws Exception {
        long seed = SEED + Long.parseLong(round) * 1_000_003;
        Setting setting = Setting.random(new Random(seed));
        assertShares(setting, seed, "-Dtamanoir.seed=" + SEED + " round " + round);
    }

    private static void assertShares(Setting setting, long seed, String what) throws Exception {
        double[] got = setting.play(seed);
        double[] fluid = setting.fluid();
        for (int i = 0; i < got.length; i++) {
            assertThat(Math.abs(got[i] - fluid[i]))
                    .describedAs(
                            "%s: %s: class %d of %s, not %s",
                            what, setting, i, Arrays.toString(got), Arrays.toString(fluid))
                    .isLessThan(0.01 * fluid[i] + 5_000);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aClassOfDatagramsIsServedBesideStreamsThatFillTheQueueOfItsClass(int processors) throws Exception {
        Setting setting = new Setting(
                "wfq",
                processors,
                "wfq",
                5_000_000,
                TrafficClass.DEFAULT_LIMIT_PACKETS,
                new long[] {70, 30},
                new int[] {1, 1},
                new long[] {1_000, 6_000},
                List.of(new Sender("mark", 8, 0, 1300), new Sender("mark", 0, 1, 600)));
        double[] got = setting.play(SEED);
        assertThat(got[1])
                .as("%s", Arrays.toString(got))
                .isBetween(0.99 * setting.fluid()[1], 1.01 * setting.fluid()[1]);
        assertThat(got[0] + got[1]).isGreaterThan(4_950_000);
    }

    /**
     * A class of one stream, one of six and one of datagrams, all of which lead to the queue of the second. That holds
     * more than one stream may have waiting.
     */
    private static Setting three(String turns, String link, int processors) {
        return new Setting(
                turns,
                processors,
                link,
                3_000_000,
                TrafficClass.DEFAULT_LIMIT_PACKETS,
                new long[] {5, 3, 2},
                new int[] {1, 1, 1},
                new long[] {20_000, 5_000, 10_000},
                List.of(new Sender("mark", 1, 0, 1300), new Sender("mark", 6, 0, 300), new Sender("mark", 0, 1, 1000)));
    }

    /**
     * Some of the pairs of a discipline of turns and one of links, others with each commit. CoDel is not among them: where
     * streams fill a queue it drops datagrams, whatever their share is.
     */
    static List<Arguments> pairs() {
        List<Arguments> all = new ArrayList<>();
        for (String turns : OF_TURNS) {
            Stream.concat(OF_LINKS.stream(), Stream.of("fifo", "pq"))
                    .forEach(link -> all.add(Arguments.of(turns, link)));
        }
        Collections.shuffle(all, new Random(SEED));
        return all.subList(0, Math.min(all.size(), Seeds.scaled(3)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void eachPairOfDisciplinesSharesAQueueByWeight(String turns, String link) throws Exception {
        assertShares(three(turns, link, 1), SEED, "-Dtamanoir.seed=" + SEED);
    }

    @Test
    void inTheOrderOfTurnsNoClassStarves() throws Exception {
        Setting setting = three("fifo", "wfq", 1);
        double[] got = setting.play(SEED);
        assertThat(got[0]).isGreaterThan(0.05 * setting.rate());
        assertThat(got[1]).isGreaterThan(0.05 * setting.rate());
        assertThat(got[2]).isGreaterThan(0.05 * setting.rate());
    }

    @Test
    void byPriorityTheFirstClassComesFirstInASharedQueueToo() throws Exception {
        Setting setting = new Setting(
                "pq",
                1,
                "wfq",
                3_000_000,
                200,
                new long[] {1, 1},
                new int[] {1, 1},
                new long[] {10_000, 10_000},
                List.of(new Sender("mark", 0, 2, 1000), new Sender("mark", 4, 0, 1300)));
        double[] got = setting.play(SEED);
        assertThat(got[0]).isGreaterThan(0.99 * setting.senders().get(0).demand());
        assertThat(got[0] + got[1]).isGreaterThan(0.99 * setting.rate());
    }

    /** Packets that ask for no service need no turn; they have the part of a class of the queue's weight. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 12})
    void packetsThatNeedNoTurnLeaveTheOthersTheirParts(int streams) throws Exception {
        Setting setting = new Setting(
                "wfq",
                1,
                "wfq",
                3_000_000,
                100,
                new long[] {2, 3},
                new int[] {1, 1},
                new long[] {10_000, 10_000},
                List.of(new Sender("mark", 4, 0, 1300), new Sender("mark", 0, 2, 1000)));
        Sender straight = new Sender("", streams, 4, 1300);
        double[] got = setting.play(SEED, node -> straight.begin(node, 1, 100));
        assertThat(got[0]).isBetween(0.95 * 3_000_000 * 2 / 8, 1.05 * 3_000_000 * 2 / 8);
        assertThat(got[1]).isBetween(0.95 * 3_000_000 * 3 / 8, 1.05 * 3_000_000 * 3 / 8);
    }
}
