package org.tamanoir.services.extra.multicast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.services.extra.multicast.VirtualNetwork.VirtualNode;
import org.tamanoir.testkit.ServiceHarness;

/** One node, and what strangers can send to it. */
class MulticastTest {
    private static final String NAME = Multicast.class.getName();
    private static final String ROOT = "10.0.0.1:3322";
    private static final String LEAF = "10.0.0.2:3322";

    private final VirtualNetwork network = new VirtualNetwork(1, 0);
    /** What the node says to the leaf, which is no node here. */
    private final List<Packet> said = network.receiver(LEAF);

    private static Packet control(int kind, int depth, long session, long token, long sequence, int more) {
        ByteBuffer octets = ByteBuffer.allocate(MulticastHeader.BYTES + more);
        MulticastHeader.write(octets, kind, depth, session, token, sequence);
        return Packets.full(NAME).build(octets.rewind());
    }

    private static Packet control(int kind, int depth, long session, long token, long sequence) {
        return control(kind, depth, session, token, sequence, 0);
    }

    private static Packet report(MulticastHeader of, long sequence, int... ranges) {
        ByteBuffer octets = ByteBuffer.allocate(MulticastHeader.BYTES + ranges.length * 4);
        MulticastHeader.write(octets, MulticastHeader.REPORT, ranges.length / 2, of.session(), of.token(), sequence);
        for (int each : ranges) {
            octets.putInt(each);
        }
        return Packets.full(NAME).build(octets.rewind());
    }

    private static Packet join(long nonce, long token, String address) {
        Peer peer = Peer.parse("address", address);
        ByteBuffer octets = ByteBuffer.allocate(MulticastHeader.JOIN_BYTES);
        MulticastHeader.write(octets, MulticastHeader.JOIN, 0, nonce, token, 0);
        octets.putLong(peer.high()).putLong(peer.low()).putShort((short) peer.port());
        return Packets.full(NAME).build(octets.rewind());
    }

    private static MulticastHeader head(Packet packet) {
        MulticastHeader head = new MulticastHeader();
        head.read(packet);
        return head;
    }

    private List<Packet> said(int kind) {
        return said.stream().filter(packet -> head(packet).kind() == kind).toList();
    }

    private static void give(VirtualNode node, int packets, int bytes) {
        for (int i = 0; i < packets; i++) {
            node.give(Packets.full(NAME).build(ByteBuffer.allocate(bytes)));
        }
    }

    @Test
    void amplifiesAndSaysSo() {
        assertThat(new Multicast()).isInstanceOf(Amplifier.class);
    }

    @Test
    void refusesTcp() {
        assertThatThrownBy(() -> ServiceHarness.start(new Multicast(), Transport.TCP))
                .hasMessageContaining("Multicast runs over UDP alone; send datagrams");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "branches | 10.0.0.1 | branches: '10.0.0.1' must be an address and a port",
                "branches | host:1 | branches: 'host' is no address",
                "branches | 10.0.0.1:0 | branches: 10.0.0.1:0: the port must be 1 to 65535",
                "branches | 10.0.0.1:1 10.0.0.1:1 | branches: 10.0.0.1:1 stands there twice",
                "address | 10.0.0.1:1 | address: 10.0.0.1:1 is where the node above reaches this one",
                "join | 10.0.0.0/33 | join: prefix length 33 is not 0 to 32",
                "window | 63 | window: 63 must be a whole number from 64 to 65536",
                "late | never | late: never must be one of now, window",
                "brances | 10.0.0.1:1 | brances: no such setting",
            })
    void refusesSettingsInOneLine(String setting, String value, String said) {
        assertThatThrownBy(() -> MulticastConfig.of(new ServiceConfig(Map.of(setting, value))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(said);
    }

    @Test
    void reportsOfOthersThanBranchesAreDropped() {
        VirtualNode root = network.node(ROOT, Map.of("branches", LEAF));
        give(root, 100, 10);
        MulticastHeader data = head(said.get(0));
        root.give(control(MulticastHeader.REPORT, 0, data.session(), data.token() + 1, 1));
        root.give(control(MulticastHeader.REPORT, 0, data.session() + 1, data.token(), 1));
        network.run(Duration.ofMillis(20));
        assertThat(root.drops).containsExactly(Map.entry("report of no branch", 2L));
        assertThat(root.count("repairs")).isZero();
    }

    @Test
    void aReportThatAsksForAllThereCanBeGetsWhatThereIsAndTwiceThatAtMostInAll() {
        VirtualNode root = network.node(ROOT, Map.of("branches", LEAF, "window", "128"));
        give(root, 100, 10);
        MulticastHeader data = head(said.get(0));
        int all = Integer.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            root.give(report(data, 1, 0, all, 0, all, -1, -1, all, all, Integer.MIN_VALUE, Integer.MIN_VALUE));
            root.give(report(data, MulticastHeader.MAX_SEQUENCE, 0, all));
            network.run(Duration.ofMillis(20));
        }
        assertThat(root.count("repairs")).isEqualTo(128);
        assertThat(root.count("repairs-over")).isPositive();
        give(root, 10, 10);
        root.give(report(data, 1, 50, 50));
        network.run(Duration.ofMillis(20));
        assertThat(root.count("repairs")).as("one more for each packet").isEqualTo(128 + 10);
        network.run(Duration.ofSeconds(1));
        root.give(report(data, 1, 50, 50));
        network.run(Duration.ofMillis(20));
        assertThat(root.count("repairs"))
                .as("a sixteenth of the window more each second")
                .isEqualTo(128 + 10 + 8);
    }

    @Test
    void aRepairIsTheSamePacketAndMarkedAsOne() {
        VirtualNode root = network.node(ROOT, Map.of("branches", LEAF));
        give(root, 3, 10);
        root.give(report(head(said.get(0)), 2, 0, 1));
        network.run(Duration.ofMillis(20));
        Packet repair = said(MulticastHeader.REPAIR).get(0);
        assertThat(head(repair).sequence()).isEqualTo(2);
        assertThat(repair.sequence()).isEqualTo(said.get(1).sequence());
        assertThat(repair.payload().position(repair.payload().position() + MulticastHeader.BYTES))
                .isEqualTo(said.get(1).payload().position(said.get(1).payload().position() + MulticastHeader.BYTES));
    }

    @Test
    void whoWantsToJoinIsSentNoMoreThanOneSmallAnswerUntilItHasShownIt() {
        VirtualNode root = network.node(ROOT, Map.of("join", "10.0.0.0/24"));
        give(root, 1, 1000);
        for (long token = 0; token < 100; token++) {
            Packet wish = join(token, token, LEAF);
            root.give(wish);
            assertThat(said.get(said.size() - 1).length()).isLessThan(wish.length());
        }
        give(root, 10, 1000);
        network.run(Duration.ofSeconds(1));
        assertThat(said).hasSize(100).allMatch(packet -> head(packet).kind() == MulticastHeader.OFFER);
        root.give(join(7, head(said.get(0)).token(), LEAF));
        give(root, 10, 1000);
        assertThat(said(MulticastHeader.DATA)).hasSize(10);
    }

    @Test
    void nobodyJoinsFromElsewhereOrBeyondTheBound() {
        VirtualNode root = network.node(ROOT, Map.of("join", "10.0.0.0/24", "max-branches", "1"));
        root.give(join(1, 0, "10.0.1.2:3322"));
        root.give(control(MulticastHeader.JOIN, 0, 1, 1, 0, 20));
        root.give(join(1, 0, LEAF));
        root.give(join(1, head(said.get(0)).token(), LEAF));
        List<Packet> other = network.receiver("10.0.0.3:3322");
        root.give(join(1, 0, "10.0.0.3:3322"));
        root.give(join(1, head(other.get(0)).token(), "10.0.0.3:3322"));
        root.give(join(1, head(said.get(0)).token(), "10.0.0.3:3322"));
        assertThat(root.drops).isEqualTo(Map.of("join not allowed", 1L, "bad join", 1L, "too many branches", 1L));
        assertThat(root.count("branches")).isEqualTo(1);
    }

    @Test
    void aTokenIsNoProofAfterTwoMinutes() {
        VirtualNode root = network.node(ROOT, Map.of("join", "10.0.0.0/24"));
        root.give(join(1, 0, LEAF));
        network.run(Duration.ofMinutes(2));
        root.give(join(1, head(said.get(0)).token(), LEAF));
        assertThat(root.count("joined")).isZero();
    }

    /** What it wished for, and what the node above answers. */
    private long joined(VirtualNode leaf, List<Packet> above) {
        network.run(Duration.ofMillis(10));
        leaf.give(control(MulticastHeader.OFFER, 0, head(above.get(0)).session(), 77, 0));
        network.run(Duration.ofMillis(10));
        assertThat(head(above.get(1)).token()).isEqualTo(77);
        return 77;
    }

    @Test
    void aNodeThatHasJoinedTakesNothingWithoutItsToken() {
        List<Packet> above = network.receiver(ROOT);
        List<Packet> plain = network.receiver("10.0.0.9:4000");
        VirtualNode leaf = network.node(
                "10.0.0.4:3322", Map.of("upstream", ROOT, "address", "10.0.0.4:3322", "deliver", "10.0.0.9:4000"));
        long token = joined(leaf, above);
        leaf.give(control(MulticastHeader.DATA, 0, 5, token + 1, 1, 8));
        leaf.give(control(MulticastHeader.HEARTBEAT, 0, 5, 0, 1));
        leaf.give(control(MulticastHeader.LEAVE, 0, 5, 1, 0));
        leaf.give(control(MulticastHeader.OFFER, 0, 99, 1, 0));
        leaf.give(Packets.full(NAME).build(ByteBuffer.allocate(100)));
        assertThat(leaf.drops)
                .isEqualTo(Map.of("not from the node above", 3L, "offer not asked for", 1L, "no multicast header", 1L));
        leaf.give(control(MulticastHeader.DATA, 0, 5, token, 1, 8));
        assertThat(plain).hasSize(1);
        assertThat(plain.get(0).payloadLength()).isEqualTo(8);
    }

    @Test
    void headersThatCannotBeAreNone() {
        VirtualNode leaf = network.node(LEAF, Map.of("upstream", ROOT));
        List<Packet> bad = List.of(
                control(MulticastHeader.DATA, 0, 5, 1, 0),
                control(MulticastHeader.DATA, 0, 5, 1, -1),
                control(MulticastHeader.DATA, 0, 5, 1, MulticastHeader.MAX_SEQUENCE),
                control(MulticastHeader.DATA, 1, 5, 1, 1),
                control(MulticastHeader.DATA, -1, 5, 1, 1),
                control(MulticastHeader.DATA, 65_536, 5, 1, 100_000),
                control(MulticastHeader.HEARTBEAT, 0, 5, 1, 1, 1),
                control(MulticastHeader.REPORT, 33, 5, 1, 1, 33 * 8),
                control(MulticastHeader.REPORT, 2, 5, 1, 1, 8),
                control(MulticastHeader.JOIN, 0, 5, 1, 0, 19),
                control(0, 0, 5, 1, 1),
                control(8, 0, 5, 1, 1));
        bad.forEach(leaf::give);
        assertThat(leaf.drops).isEqualTo(Map.of("no multicast header", (long) bad.size()));
        assertThat(leaf.count("flows")).isZero();
    }

    /** A stranger's flows, one that jumps as far as numbers go, and ends that are forged. */
    @Test
    void whatStrangersBeginIsBoundedAndAskedForWithinBounds() {
        List<Packet> above = network.receiver(ROOT);
        VirtualNode leaf = network.node(LEAF, Map.of("upstream", ROOT, "flows", "4", "window", "65536"));
        Random random = new Random(2);
        for (int i = 0; i < 50; i++) {
            leaf.give(control(MulticastHeader.DATA, 0, i, 1, 1, 20));
            leaf.give(control(
                    MulticastHeader.HEARTBEAT, 0, i, 1, MulticastHeader.MAX_SEQUENCE - 1 - random.nextInt(100)));
            leaf.give(control(MulticastHeader.DATA, 60_000, i, 1, MulticastHeader.MAX_SEQUENCE - 1, 20));
        }
        network.run(Duration.ofMinutes(2));
        assertThat(leaf.count("flows")).isZero();
        assertThat(leaf.in + leaf.made)
                .isEqualTo(leaf.out
                        + leaf.consumed
                        + leaf.drops.values().stream().mapToLong(each -> each).sum());
        assertThat(above.size()).as("reports for 4 flows").isBetween(4, 4 * 1000);
    }

    @Test
    void memoryStaysBelowItsBoundAndTheFlowThatWasSilentForLongestEnds() {
        VirtualNode root = network.node(ROOT, Map.of("branches", LEAF, "memory", "8388608", "window", "256"));
        for (int stream = 0; stream < 5; stream++) {
            for (int i = 0; i < 60; i++) {
                root.give(Packets.full(NAME).stream(stream).build(ByteBuffer.allocate(60_000)));
            }
        }
        assertThat(root.count("flows")).isEqualTo(2);
        Packet last = said.get(said.size() - 1);
        Map<Long, Integer> kept = new HashMap<>();
        said.forEach(packet -> kept.merge(head(packet).session(), 1, Integer::sum));
        assertThat(kept).hasSize(5);
        for (int i = 0; i < 200; i++) {
            root.give(Packets.full(NAME).stream(4).build(ByteBuffer.allocate(60_000)));
            root.give(report(head(last), 60 + i));
        }
        assertThat(root.count("flows")).isEqualTo(1);
        root.give(report(head(last), 200, 0, 61));
        network.run(Duration.ofMillis(100));
        assertThat(said(MulticastHeader.REPAIR)).hasSizeBetween(55, 61);
    }

    @Test
    void aPacketWithoutRoomForTheHeaderIsDroppedAndTheLongestThatHasPasses() {
        VirtualNode root = network.node(ROOT, Map.of("branches", LEAF));
        int longest = 65_507 - Packets.full(NAME).headerLength() - MulticastHeader.BYTES;
        give(root, 1, longest / 4 * 4 + 4);
        give(root, 1, longest / 4 * 4);
        assertThat(root.drops).isEqualTo(Map.of("header leaves no room for multicast", 1L));
        assertThat(said).hasSize(1);
    }

    @Test
    void packetsThatComeTwiceOrLateAreDroppedAndOrderIsKept() {
        List<Packet> plain = network.receiver("10.0.0.9:4000");
        VirtualNode leaf = network.node(LEAF, Map.of("upstream", ROOT, "deliver", "10.0.0.9:4000"));
        Consumer<Integer> give =
                sequence -> leaf.give(control(MulticastHeader.DATA, sequence - 1, 5, 1, sequence, 4 * sequence));
        List<Integer> order = new ArrayList<>(List.of(2, 4, 3, 3, 1, 1, 6, 5, 4));
        order.forEach(give);
        network.run(Duration.ofMillis(10));
        assertThat(plain.stream().map(packet -> packet.payloadLength() / 4)).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(leaf.drops).isEqualTo(Map.of("came before", 3L));
    }
}
