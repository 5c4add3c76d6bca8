package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.services.extra.multicast.Multicast;
import org.tamanoir.traffic.TrafficSnapshot;
import tools.jackson.databind.JsonNode;

/**
 * 16 receivers behind a tree of real nodes and sockets: a root, 3 nodes below it, and 6, 5 and 5 below these. Each link
 * loses 5 % of its datagrams each way.
 */
@Tag("once")
@Timeout(180)
class MulticastTreeTest {
    private static final String NAME = Multicast.class.getName();
    private static final double LOSS = 0.05;
    private static final int PACKETS = 1500;
    /** So many are under way, so that no socket's buffer overflows. */
    private static final int UNDER_WAY = 128;

    @TempDir
    Path folder;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final List<LiveNode> nodes = new ArrayList<>();
    private final List<List<String>> received = new ArrayList<>();
    private final Random seeds = new Random(21);

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** Stream, number, length and CRC of a packet's payload. */
    private static String text(Packet packet) {
        ByteBuffer whole = packet.look();
        CRC32 crc = new CRC32();
        crc.update(whole.position(whole.position() + packet.headerLength()));
        return packet.streamId() + " " + packet.sequence() + " " + packet.payloadLength() + " "
                + Long.toHexString(crc.getValue());
    }

    private LossyLink link() throws Exception {
        LossyLink link = new LossyLink(LOSS, seeds.nextLong());
        open.push(link);
        return link;
    }

    private InetSocketAddress receiver() throws Exception {
        List<String> texts = Collections.synchronizedList(new ArrayList<>());
        AnepReceiver receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                .udp()
                .start(() -> (packet, peer) -> texts.add(text(packet)));
        open.push(receiver);
        received.add(texts);
        return receiver.address();
    }

    private LiveNode node(String config) throws Exception {
        LiveNode node = LiveNode.start(
                folder.resolve("node" + nodes.size()),
                "routes: [{to: 127.0.0.0/8, via: destination}]\n"
                        + "limits: {udp-amplifiers: {" + NAME + ": 16}}\n"
                        + "services: [{name: " + NAME + ", config: {" + config + "}}]\n");
        open.push(node);
        nodes.add(node);
        return node;
    }

    /** A node of the tree below another. */
    private interface Subtree {
        LiveNode start(String upstream) throws Exception;
    }

    private LiveNode leaf(String upstream) throws Exception {
        return node("upstream: \"" + upstream + "\", deliver: \"127.0.0.1:"
                + receiver().getPort() + "\"");
    }

    private LiveNode inner(String upstream, int leaves) throws Exception {
        return above("upstream: \"" + upstream + "\", ", Collections.nCopies(leaves, this::leaf), new ArrayList<>());
    }

    /** Starts a node with these below it, each by links of its own. */
    private LiveNode above(String config, List<Subtree> below, List<LossyLink> down) throws Exception {
        List<LossyLink> up = new ArrayList<>();
        List<String> branches = new ArrayList<>();
        for (Subtree each : below) {
            LossyLink to = link();
            LossyLink back = link();
            down.add(to);
            up.add(back);
            branches.add(to.address());
            to.to(each.start(back.address()).udp());
        }
        LiveNode node = node(config + "branches: \"" + String.join(" ", branches) + "\"");
        up.forEach(link -> link.to(node.udp()));
        return node;
    }

    private static long count(LiveNode node, String counter) {
        for (JsonNode service : node.get("/v1/services").get("services")) {
            if (service.get("name").asString().equals(NAME)) {
                return service.get("counters").get(counter).asLong();
            }
        }
        throw new AssertionError("no service " + NAME);
    }

    @Test
    void allReceiversGetAllOctetsInOrderAndTheRootSendsLittleAgain() throws Exception {
        List<LossyLink> firstHop = new ArrayList<>();
        List<Subtree> below = List.of(up -> inner(up, 6), up -> inner(up, 5), up -> inner(up, 5));
        LiveNode root = above("", below, firstHop);
        assertThat(received).hasSize(16);
        Random random = new Random(5);
        PacketBuilder builder = LiveSink.packets(NAME).timestamps();
        List<String> sent = new ArrayList<>();
        try (AnepSender sender = AnepSender.udp(root.udp())) {
            for (int i = 0; i < PACKETS; i++) {
                byte[] payload = new byte[random.nextInt(1200)];
                random.nextBytes(payload);
                Packet packet = builder.build(ByteBuffer.wrap(payload));
                sent.add(text(packet));
                sender.send(packet);
                sender.flush();
                int least = sent.size() - UNDER_WAY;
                eventually().until(() -> received.stream().allMatch(texts -> texts.size() >= least));
            }
        }
        eventually().untilAsserted(() -> assertThat(received).allMatch(texts -> texts.size() == sent.size()));
        assertThat(received).allMatch(sent::equals);
        Set<Long> union = new HashSet<>();
        firstHop.forEach(link -> union.addAll(link.lost()));
        assertThat((double) count(root, "repairs"))
                .as("repairs that leave the root; %d packets were lost by a link of the first hop", union.size())
                .isLessThanOrEqualTo(1.2 * union.size());
        for (LiveNode node : nodes) {
            eventually().untilAsserted(() -> {
                TrafficSnapshot traffic = node.node.environment().traffic();
                assertThat(traffic.packetsIn() + traffic.packetsMade())
                        .isEqualTo(traffic.packetsOut() + traffic.dropped() + traffic.held());
            });
        }
    }
}
