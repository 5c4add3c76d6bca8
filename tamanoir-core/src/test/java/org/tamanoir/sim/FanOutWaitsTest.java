package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/** Receivers of copies of a TCP stream that take nothing, and what they cost the others, in virtual time. */
@Tag("once")
class FanOutWaitsTest {
    private static final long SEED = Seeds.ofCommit(FanOutWaitsTest.class);
    private static final int PATIENCE_MS = 5000;
    private static final Duration LONG = Duration.ofSeconds(100);
    private static final int PAYLOAD_BYTES = 1300;
    /** Some four of which fill the way to a receiver. */
    private static final int LONG_PAYLOAD_BYTES = 16_000;

    private static final InetSocketAddress WELL = SimNet.at("10.0.3.1", 4000);
    private static final InetSocketAddress BAD = SimNet.at("10.0.3.2", 4000);

    /** The longest time that one receiver is waited for: its patience, and a quarter until that is seen. */
    private static final long WAIT_NS = PATIENCE_MS * 1_000_000L * 5 / 4;

    /** A pause in what comes to a receiver, far longer than what sends and the network make. */
    private static final long PAUSE_NS = PATIENCE_MS * 1_000_000L / 2;

    /** Sends each packet to all of these. */
    @FanOut(patienceMs = PATIENCE_MS)
    private static final class Copies extends Service {
        private final List<InetSocketAddress> receivers;

        Copies(InetSocketAddress... receivers) {
            this.receivers = List.of(receivers);
        }

        @Override
        public Verdict process(Packet packet) {
            for (InetSocketAddress each : receivers.subList(1, receivers.size())) {
                emitTo(each.getAddress(), each.getPort(), packet);
            }
            return forwardTo(receivers.get(0).getAddress(), receivers.get(0).getPort());
        }
    }

    private enum Ailment {
        NEVER_READS,
        NEVER_ANSWERS;

        void befall(CalmNode node, InetSocketAddress address) {
            if (this == NEVER_READS) {
                node.deafReceiver(address);
            } else {
                node.blackHole(address);
            }
        }
    }

    /** When packets came to a receiver, and which. */
    private static final class Arrivals {
        final List<Integer> sequence = new ArrayList<>();
        long pausedNs;
        int pauses;
        private long lastNs;

        static Arrivals of(CalmNode node, InetSocketAddress address) {
            Arrivals arrivals = new Arrivals();
            node.receiver(address, packet -> {
                long nowNs = node.simulation.nanoTime();
                if (arrivals.lastNs > 0 && nowNs - arrivals.lastNs >= PAUSE_NS) {
                    arrivals.pausedNs += nowNs - arrivals.lastNs;
                    arrivals.pauses++;
                }
                arrivals.lastNs = nowNs;
                arrivals.sequence.add(Content.read(packet.payload()).sequence());
            });
            return arrivals;
        }
    }

    private static void pass(CalmNode node, Duration time) {
        node.simulation.sleep(time.toNanos(), false);
    }

    @ParameterizedTest
    @EnumSource(Ailment.class)
    void whatOneCostsTheOthersFalls(Ailment ailment) throws Exception {
        CalmNode.play(SEED, LONG, node -> {
            Arrivals well = Arrivals.of(node, WELL);
            ailment.befall(node, BAD);
            node.service("copies", Copies.class, () -> new Copies(WELL, BAD));
            node.environment.start();
            node.slowStream(1, "copies", 0, LONG_PAYLOAD_BYTES, 200);
            pass(node, Duration.ofSeconds(200));
            int pausesAtFirst = well.pauses;
            long pausedNs = well.pausedNs;
            // Rests of 1, 2, 4, 8, 16, 32, 64 s and then 100 s, and as many waits of 5 s to 6.25 s.
            assertThat(pausesAtFirst).isBetween(7, 9);
            Duration later = Duration.ofSeconds(600);
            pass(node, later);
            assertThat(well.pauses - pausesAtFirst).isBetween(5, 6);
            assertThat(well.pausedNs - pausedNs).isLessThan(later.toNanos() / 17 + WAIT_NS);
            node.endWriting();
            Map<DropReason, Long> drops = node.settle();
            assertThat(drops.keySet())
                    .contains(
                            ailment == Ailment.NEVER_READS
                                    ? DropReason.NEXT_HOP_STALLED
                                    : DropReason.NEXT_HOP_UNREACHABLE)
                    .isSubsetOf(DropReason.NEXT_HOP_STALLED, DropReason.NEXT_HOP_UNREACHABLE);
            assertThat(well.sequence).isSorted().doesNotHaveDuplicates();
            assertThat(node.ends).containsExactly("finished");
        });
    }

    /** Each of them costs what one does: of several that are tried one after another the times add up. */
    @ParameterizedTest
    @EnumSource(Ailment.class)
    void whatSeveralCostAddsUpAtMost(Ailment ailment) throws Exception {
        CalmNode.play(SEED, LONG, node -> {
            Arrivals well = Arrivals.of(node, WELL);
            InetSocketAddress[] all = IntStream.range(0, 5)
                    .mapToObj(i -> i == 0 ? WELL : SimNet.at("10.0.3." + (i + 1), 4000))
                    .toArray(InetSocketAddress[]::new);
            for (int i = 1; i < all.length; i++) {
                ailment.befall(node, all[i]);
            }
            node.service("copies", Copies.class, () -> new Copies(all));
            node.environment.start();
            node.slowStream(1, "copies", 0, LONG_PAYLOAD_BYTES, 200);
            pass(node, Duration.ofSeconds(200));
            long pausedNs = well.pausedNs;
            Duration later = Duration.ofSeconds(600);
            pass(node, later);
            assertThat(well.pausedNs - pausedNs).isLessThan(4 * (later.toNanos() / 17 + WAIT_NS));
            node.endWriting();
            node.settle();
            assertThat(node.ends).containsExactly("finished");
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void othersGetEverything(boolean isForPacketItself) throws Exception {
        CalmNode.play(SEED, LONG, node -> {
            int packets = 2000;
            Arrivals well = Arrivals.of(node, WELL);
            Ailment.NEVER_READS.befall(node, BAD);
            node.service(
                    "copies", Copies.class, () -> isForPacketItself ? new Copies(BAD, WELL) : new Copies(WELL, BAD));
            node.environment.start();
            node.stream(1, "copies", 0, packets, PAYLOAD_BYTES);
            node.await(() -> node.ends.size() == 1);
            Map<DropReason, Long> drops = node.settle();
            assertThat(well.sequence)
                    .isEqualTo(IntStream.range(0, packets).boxed().toList());
            assertThat(drops.keySet()).contains(DropReason.NEXT_HOP_STALLED);
            assertThat(node.ends).containsExactly("finished");
        });
    }

    // ---- links -----------------------------------------------------------------------------------------------------

    /** A slow link to {@link #BAD}, on which class 0 comes first. */
    private static QosConfig linkToBad() {
        List<TrafficClass> classes =
                List.of(new TrafficClass("c0", Set.of(0), 1), new TrafficClass("c1", Set.of(1), 1));
        Link link = new Link("out", List.of(Prefix.parse("10.0.3.2/32")), 4_000_000, 65_536, false, "pq", Map.of());
        return new QosConfig(classes, "c0", List.of(), null, List.of(link));
    }

    /** The copies of class 1 get nothing of the link while another stream fills it. */
    private static void starve(CalmNode node, int packets) throws Exception {
        node.receiver(BAD, packet -> {});
        node.service("copies", Copies.class, () -> new Copies(WELL, BAD));
        node.service("first", Copies.class, () -> new Copies(BAD));
        node.environment.qos(linkToBad());
        node.environment.start();
        node.endlessStream(2, "first", 0, PAYLOAD_BYTES);
        node.await(() -> node.status(0, 0).waitingPackets() > 20);
        node.stream(1, "copies", 1, packets, PAYLOAD_BYTES);
    }

    @Test
    void whatWaitsForItsLinkWaitsLongerThanItsPatience() throws Exception {
        CalmNode.play(SEED, LONG, node -> {
            int packets = 20;
            Arrivals well = Arrivals.of(node, WELL);
            starve(node, packets);
            pass(node, Duration.ofMillis(2 * PATIENCE_MS));
            assertThat(node.environment.traffic().drops()).isEmpty();
            node.endWriting();
            assertThat(node.settle()).isEmpty();
            assertThat(well.sequence)
                    .isEqualTo(IntStream.range(0, packets).boxed().toList());
            assertThat(node.ends).containsExactlyInAnyOrder("finished", "finished");
        });
    }

    @Test
    void oneThatItsLinkGivesNothingForTheStallTimeIsLetGoAlone() throws Exception {
        CalmNode.play(SEED, Duration.ofSeconds(4), node -> {
            int packets = 2000;
            Arrivals well = Arrivals.of(node, WELL);
            starve(node, packets);
            node.await(() -> well.sequence.size() == packets);
            node.endWriting();
            assertThat(node.settle()).containsKey(DropReason.STARVED);
            assertThat(node.ends).containsExactlyInAnyOrder("finished", "finished");
        });
    }
}
