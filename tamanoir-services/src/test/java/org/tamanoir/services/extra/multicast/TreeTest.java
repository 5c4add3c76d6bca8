package org.tamanoir.services.extra.multicast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.services.extra.multicast.VirtualNetwork.address;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.services.Packets;
import org.tamanoir.services.extra.multicast.VirtualNetwork.VirtualNode;
import org.tamanoir.support.Seeds;

/** Trees in virtual time, from a seed: a root, 4 nodes below it, and 4 below each of them, which have a receiver each. */
@Tag("once")
class TreeTest {
    private static final String NAME = Multicast.class.getName();
    private static final long INTERVAL_NS = 1_000_000;
    private static final int COUNT = 2000;
    /** Seeds with which repairs stay below their bounds. */
    private static final int SEEDS = 5;
    /** Of these, how many are played with each rate of loss: other ones with each commit. */
    private static final int RUNS = Math.min(SEEDS, Seeds.scaled(2));

    private static final Duration LONG = Duration.ofSeconds(20);

    private final Map<String, VirtualNode> nodes = new HashMap<>();
    private final Map<String, List<Packet>> receivers = new HashMap<>();

    private static String node(int first, int leaf) {
        return "10.0." + first + "." + leaf + ":3322";
    }

    private static String receiver(int first, int leaf) {
        return "10.1." + first + "." + leaf + ":4000";
    }

    /** With the more settings for all nodes. Returns the root. */
    private VirtualNode tree(VirtualNetwork network, Map<String, String> more) {
        nodes.clear();
        receivers.clear();
        for (int first = 1; first <= 4; first++) {
            for (int leaf = 1; leaf <= 4; leaf++) {
                leaf(network, first, leaf, more);
            }
            String branches = node(first, 1) + " " + node(first, 2) + " " + node(first, 3) + " " + node(first, 4);
            add(network, node(first, 0), more, Map.of("upstream", node(0, 0), "branches", branches));
        }
        String branches = node(1, 0) + " " + node(2, 0) + " " + node(3, 0) + " " + node(4, 0);
        return add(network, node(0, 0), more, Map.of("branches", branches));
    }

    private VirtualNode leaf(VirtualNetwork network, int first, int leaf, Map<String, String> more) {
        receivers.put(receiver(first, leaf), network.receiver(receiver(first, leaf)));
        Map<String, String> own = Map.of("upstream", node(first, 0), "deliver", receiver(first, leaf));
        return add(network, node(first, leaf), more, own);
    }

    private VirtualNode add(VirtualNetwork network, String address, Map<String, String> more, Map<String, String> own) {
        Map<String, String> config = new HashMap<>(more);
        config.putAll(own);
        VirtualNode node = network.node(address, config);
        nodes.put(address, node);
        return node;
    }

    private VirtualNode at(int first, int leaf) {
        VirtualNode node = nodes.get(node(first, leaf));
        if (node == null) {
            throw new AssertionError("no node " + node(first, leaf));
        }
        return node;
    }

    private static List<Packet> packets(Random random, int stream, int count) {
        PacketBuilder builder = Packets.full(NAME).timestamps().stream(stream);
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(builder.build(ByteBuffer.wrap(Packets.noise(random, random.nextInt(600)))));
        }
        return packets;
    }

    /** Has packets come to the root one a millisecond. */
    private static List<Packet> send(VirtualNetwork network, VirtualNode root, List<Packet> packets) {
        for (int i = 0; i < packets.size(); i++) {
            Packet packet = packets.get(i);
            network.at(i * INTERVAL_NS, () -> root.give(packet));
        }
        return packets;
    }

    /** Of stream, number and payload: short where it differs. */
    private static List<String> digests(List<Packet> packets) {
        return packets.stream()
                .map(packet -> {
                    CRC32 crc = new CRC32();
                    crc.update(packet.payload());
                    return packet.streamId() + "." + packet.sequence() + " " + Long.toHexString(crc.getValue());
                })
                .collect(Collectors.toList());
    }

    private List<Packet> received(int first, int leaf) {
        return receivers.getOrDefault(receiver(first, leaf), List.of());
    }

    /** Compares without printing all that is the same. */
    private static void assertSame(List<Packet> received, List<Packet> sent, String what) {
        List<String> expected = digests(sent);
        List<String> actual = digests(received);
        int same = 0;
        while (same < Math.min(actual.size(), expected.size())
                && actual.get(same).equals(expected.get(same))) {
            same++;
        }
        assertThat(same)
                .as("%s: %d packets of %d; the first so many are the same", what, actual.size(), expected.size())
                .isEqualTo(expected.size());
        assertThat(actual).as(what).hasSameSizeAs(expected);
    }

    private void assertAllGot(List<Packet> sent, long seed) {
        receivers.forEach((name, received) -> assertSame(received, sent, name + ", seed " + seed));
    }

    private void assertConserved() {
        for (VirtualNode node : nodes.values()) {
            long dropped = node.drops.values().stream().mapToLong(each -> each).sum();
            assertThat(node.in + node.made).isEqualTo(node.out + node.consumed + dropped);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1024", "0.01, 1024", "0.05, 1024", "0.1, 4096", "0.2, 4096"})
    void allReceiversGetAllOctetsInOrderAndEachRepairMendsOneLoss(double loss, String window) {
        long union = 0;
        long lostCopies = 0;
        long repairs = 0;
        long first = Seeds.ofCommit(TreeTest.class) % SEEDS;
        for (int run = 0; run < RUNS; run++) {
            long seed = (first + run) % SEEDS;
            VirtualNetwork network = new VirtualNetwork(seed, loss);
            VirtualNode root = tree(network, Map.of("window", window));
            List<Packet> sent = send(network, root, packets(new Random(seed), 7, COUNT));
            network.run(LONG);
            assertAllGot(sent, seed);
            assertConserved();
            assertThat(root.count("repairs")).as("of seed %d", seed).isLessThanOrEqualTo(root.lostCopies + 2);
            assertThat(root.count("repaired")).as("of seed %d", seed).isLessThanOrEqualTo(root.lost.size() + 2);
            if (loss == 0.05) {
                assertThat((double) root.count("repairs"))
                        .as("repairs that leave the root, of what any node below it lost, seed %d", seed)
                        .isLessThanOrEqualTo(1.2 * root.lost.size());
            }
            union += root.lost.size();
            lostCopies += root.lostCopies;
            repairs += root.count("repairs");
        }
        System.out.println("TreeTest: loss " + loss + ": of " + RUNS * COUNT + " packets " + union
                + " were lost below the root, in " + lostCopies + " copies; " + repairs + " repairs left it");
    }

    @Test
    void theSameSeedGivesTheSameRun() {
        List<Map<String, Long>> runs = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            VirtualNetwork network = new VirtualNetwork(11, 0.05);
            send(network, tree(network, Map.of()), packets(new Random(11), 7, 300));
            network.run(LONG);
            runs.add(at(1, 0).counts());
        }
        assertThat(runs.get(0)).isEqualTo(runs.get(1)).containsEntry("packets", 300L);
    }

    @Test
    void theLastPacketsComeBackThoughNothingFollowsThem() {
        VirtualNetwork network = new VirtualNetwork(1, 0);
        VirtualNode root = tree(network, Map.of());
        List<Packet> sent = send(network, root, packets(new Random(1), 7, 100));
        network.cut = (from, to) -> network.nowNs() > 89_500_000 && network.nowNs() < 99_500_000;
        network.run(LONG);
        assertAllGot(sent, 1);
        assertThat(root.count("heartbeats")).isPositive();
    }

    @Test
    void heartbeatsEndAlsoWhereNobodyAnswers() {
        VirtualNetwork network = new VirtualNetwork(1, 0);
        VirtualNode root = tree(network, Map.of());
        network.cut = (from, to) -> true;
        send(network, root, packets(new Random(1), 7, 1));
        network.run(Duration.ofMinutes(2));
        assertThat(root.count("heartbeats")).isEqualTo(4 * 10);
        assertThat(root.count("flows")).isZero();
    }

    @Test
    void aStalledReceiverCostsOthersNothingAndIsLetGo() {
        long[] copies = new long[2];
        for (int run = 0; run < 2; run++) {
            boolean stalls = run == 1;
            VirtualNetwork network = new VirtualNetwork(3, 0);
            VirtualNode root = tree(network, Map.of("window", "256"));
            InetSocketAddress stalled = address(node(2, 3));
            network.cut = (from, to) ->
                    stalls && network.nowNs() > 100_000_000 && (from.equals(stalled) || to.equals(stalled));
            List<Packet> sent = send(network, root, packets(new Random(3), 7, COUNT));
            network.run(LONG);
            receivers.remove(stalls ? receiver(2, 3) : "");
            assertAllGot(sent, 3);
            copies[run] = root.count("copies") + root.count("repairs");
            assertThat(at(2, 0).count("let-go")).isEqualTo(run);
            if (stalls) {
                assertThat(at(2, 0).count("copies"))
                        .as("three get all, one what came until then and a window")
                        .isBetween(3L * COUNT + 256, 3L * COUNT + 100 + 256 + 16 + 10);
                assertThat(at(2, 0).count("repairs")).isZero();
            }
        }
        assertThat(copies[1]).as("what leaves the root").isEqualTo(copies[0]);
    }

    @Test
    void oneThatLaggedIsToldAndGoesOnFromWhatIsThereWhenItHasJoinedAgain() {
        VirtualNetwork network = new VirtualNetwork(4, 0);
        add(network, node(0, 0), Map.of(), Map.of("branches", node(1, 1), "window", "64"));
        VirtualNode leaf = add(
                network,
                node(1, 1),
                Map.of(),
                Map.of("upstream", node(0, 0), "address", node(1, 1), "deliver", receiver(1, 1)));
        receivers.put(receiver(1, 1), network.receiver(receiver(1, 1)));
        network.run(Duration.ofSeconds(1));
        network.cut = (from, to) -> network.nowNs() > 2_000_000_000L && network.nowNs() < 4_000_000_000L;
        List<Packet> sent = send(network, at(0, 0), packets(new Random(4), 7, 10_000));
        network.run(LONG);
        List<Packet> received = received(1, 1);
        assertThat(at(0, 0).count("let-go")).isEqualTo(1);
        assertThat(leaf.count("lost")).isBetween(2000L, 4500L).isEqualTo(sent.size() - received.size());
        int before = 0;
        while (received.get(before).sequence() == before) {
            before++;
        }
        assertThat(before).isBetween(990, 1010);
        assertSame(received.subList(0, before), sent.subList(0, before), "before");
        List<Packet> after = received.subList(before, received.size());
        assertSame(after, sent.subList(sent.size() - after.size(), sent.size()), "after");
    }

    @ParameterizedTest
    @CsvSource({"window, 200", "now, 0"})
    void whoJoinsLateGetsWhatIsKeptOrWhatComes(String late, int kept) {
        VirtualNetwork network = new VirtualNetwork(5, 0.05);
        VirtualNode root = add(network, node(0, 0), Map.of(), Map.of("join", "10.0.0.0/16", "window", "200"));
        List<Packet> sent = send(network, root, packets(new Random(5), 7, 3000));
        network.at(
                1_000_500_000,
                () -> add(
                        network,
                        node(1, 1),
                        Map.of(),
                        Map.of(
                                "upstream",
                                node(0, 0),
                                "address",
                                node(1, 1),
                                "deliver",
                                receiver(1, 1),
                                "late",
                                late,
                                "window",
                                "1024")));
        receivers.put(receiver(1, 1), network.receiver(receiver(1, 1)));
        network.run(LONG);
        int got = received(1, 1).size();
        assertThat(got).isBetween(2000 + kept - 1100, 2000 + kept);
        assertSame(received(1, 1), sent.subList(3000 - got, 3000), "the rest");
        assertThat(root.count("joined")).isEqualTo(1);
    }

    @Test
    void aNodeThatComesBackInTheMidstGetsWhatTheOneAboveKeepsAndSoDoThoseBelow() {
        VirtualNetwork network = new VirtualNetwork(6, 0.02);
        VirtualNode root = tree(network, Map.of());
        List<Packet> sent = send(network, root, packets(new Random(6), 7, COUNT));
        network.run(Duration.ofMillis(700));
        at(3, 0).end();
        String branches = node(3, 1) + " " + node(3, 2) + " " + node(3, 3) + " " + node(3, 4);
        network.at(
                200_000_000,
                () -> add(network, node(3, 0), Map.of(), Map.of("upstream", node(0, 0), "branches", branches)));
        network.run(LONG);
        assertAllGot(sent, 6);
    }

    @Test
    void oneThatDoesNotWishToStayLeavesAndSoDoesOneThatEnds() {
        VirtualNetwork network = new VirtualNetwork(7, 0);
        VirtualNode root = add(network, node(0, 0), Map.of(), Map.of("join", "10.0.0.0/16"));
        VirtualNode one = add(network, node(1, 1), Map.of(), Map.of("upstream", node(0, 0), "address", node(1, 1)));
        add(network, node(1, 2), Map.of(), Map.of("upstream", node(0, 0), "address", node(1, 2)));
        root.give(packets(new Random(7), 7, 1).get(0));
        network.run(Duration.ofSeconds(72));
        assertThat(root.count("branches")).isEqualTo(2);
        one.end();
        network.run(Duration.ofMillis(100));
        assertThat(root.count("branches")).isEqualTo(1);
        network.cut = (from, to) -> from.equals(address(node(1, 2)));
        network.run(Duration.ofSeconds(40));
        assertThat(root.count("branches")).isZero();
        assertThat(root.count("left")).isEqualTo(2);
    }
}
