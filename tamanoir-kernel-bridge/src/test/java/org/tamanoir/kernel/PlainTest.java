package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.PlainPackets.udp;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;

/**
 * Plain datagrams through a router with a node: octets are compared as they are on the wire, in front of the router and
 * behind it.
 */
@Tag("namespace")
class PlainTest {
    private static final String V4 = TestNet.CLIENT4 + ", " + TestNet.SERVER4;
    private static final String V6 = TestNet.CLIENT6 + ", " + TestNet.SERVER6;
    private static final String NAME = "org.example.Voice";
    private static final byte[] NOTHING = {};
    private static final int TOS = 46 << 2;
    private static final int ALERTS = 10;

    private static PlainBed bed;

    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void makeNet() throws Exception {
        bed = new PlainBed("plain");
    }

    @AfterAll
    static void removeNet() {
        if (bed != null) {
            bed.close();
        }
    }

    @BeforeEach
    void forget() {
        bed.forget();
    }

    @AfterEach
    void stop() {
        bed.stop();
    }

    private static PlainMatch match(
            @Nullable String destination, int firstPort, int lastPort, int dscp, @Nullable Boolean alert) {
        return new PlainMatch(
                PlainMatch.Protocol.UDP,
                null,
                destination == null ? null : Prefix.parse(destination),
                firstPort,
                lastPort,
                dscp,
                -1,
                alert);
    }

    private static PlainRule rule(PlainMatch match, FailurePolicy onFailure) {
        return new PlainRule(match, NAME, ServiceKey.of(NAME), 3, onFailure);
    }

    private static PlainRule voice(FailurePolicy onFailure) {
        return rule(match(null, 5004, 5010, 46, null), onFailure);
    }

    private void start(PlainRule... rules) throws Exception {
        PlainConfig config =
                new PlainConfig(new PlainRules(List.of(rules)), List.of(TestNet.ROUTER_CLIENT_DEVICE), ALERTS);
        bed.start(config);
    }

    private void serve(Function<Packet, Verdict> step) {
        bed.services().add(TransitNode.definition(NAME, FailurePolicy.DROP, packet -> {
            seen.add(text(packet.source()) + " "
                    + text(packet.destination()) + ":" + packet.destinationPort() + " class "
                    + packet.classOfService());
            return step.apply(packet);
        }));
    }

    private static String text(@Nullable InetAddress address) {
        return address == null ? "" : address.getHostAddress();
    }

    private static Function<Packet, Verdict> rewriting(Consumer<byte[]> change) {
        return packet -> {
            byte[] payload = new byte[packet.payloadLength()];
            packet.payload().get(payload);
            change.accept(payload);
            packet.setPayload(java.nio.ByteBuffer.wrap(payload));
            return Verdict.FORWARD;
        };
    }

    private static boolean isFrom(byte[] packet, String address) {
        byte[] bytes = PlainPackets.address(address);
        int at = bytes.length == 4 ? 12 : 8;
        return packet[0] >>> 4 == (bytes.length == 4 ? 4 : 6)
                && java.util.Arrays.equals(packet, at, at + bytes.length, bytes, 0, bytes.length);
    }

    private static List<byte[]> arrive(int count, String from) {
        return bed.server().packets(count, packet -> isFrom(packet, from) && !isUnreachable(packet));
    }

    /** Returns whether a host says by it that nobody listens there, which is not what these tests are about. */
    private static boolean isUnreachable(byte[] packet) {
        return packet[0] >>> 4 == 4 ? packet[9] == 1 && packet[20] == 3 : packet[6] == 58 && packet[40] == 1;
    }

    private static byte[] payload(int number, int bytes) {
        byte[] payload = new byte[bytes];
        java.util.Arrays.fill(payload, (byte) number);
        return payload;
    }

    @ParameterizedTest
    @CsvSource({V4, V6})
    void datagramsGoThroughTheServiceAndOnAsFromARouter(String from, String to) throws Exception {
        serve(rewriting(payload -> payload[0] ^= 0x55));
        start(voice(FailurePolicy.PASS));
        List<byte[]> expected = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            byte[] payload = payload(i, 1 + 60 * i);
            bed.send(udp(from, to, 7000 + i, 5004 + i % 7, TOS, 64, NOTHING, payload));
            payload[0] ^= 0x55;
            expected.add(udp(from, to, 7000 + i, 5004 + i % 7, TOS, 63, NOTHING, payload));
        }
        List<byte[]> arrived = arrive(20, from);
        for (int i = 0; i < 20; i++) {
            assertThat(PlainPackets.comparable(arrived.get(i))).isEqualTo(PlainPackets.comparable(expected.get(i)));
        }
        assertThat(seen).hasSize(20);
        String host = InetAddress.getByName(from).getHostAddress();
        assertThat(seen).first().asString().startsWith(host + " ").endsWith(":5004 class 3");
        assertThat(bed.balanced(20).packetsOut()).isEqualTo(20);
        assertThat(bed.plain().status().rules()).containsExactly(new PlainTraffic.RuleCount(20, 20));
        assertThat(bed.met("up")).isEqualTo(20);
    }

    @Test
    void whatNoRuleIsForIsOctetIdentical() throws Exception {
        serve(rewriting(payload -> payload[0] ^= 0x55));
        start(voice(FailurePolicy.PASS), rule(match("10.99.0.0/16", 0, 65535, -1, null), FailurePolicy.PASS));
        String from = TestNet.CLIENT4;
        String to = TestNet.SERVER4;
        byte[] source = PlainPackets.address(from);
        byte[] destination = PlainPackets.address(to);
        byte[] payload = payload(7, 100);
        byte[] fragment = udp(from, to, 7000, 5004, TOS, 64, NOTHING, payload);
        fragment[6] = 0x20; // more fragments
        List<byte[]> sent = new ArrayList<>(List.of(
                udp(from, to, 7000, 5003, TOS, 64, NOTHING, payload), // port
                udp(from, to, 7000, 5011, TOS, 64, NOTHING, payload),
                udp(from, to, 7000, 5004, 0, 64, NOTHING, payload), // DSCP
                udp(from, to, 7000, 5004, TOS, 64, new byte[] {1, 1, 1, 0}, payload), // IP options
                PlainPackets.sealed(fragment),
                PlainPackets.ip(source, destination, 6, TOS, 64, NOTHING, payload), // TCP
                PlainPackets.ip(source, destination, 1, TOS, 64, NOTHING, new byte[] {8, 0, -9, -1, 0, 0, 0, 0})));
        sent.forEach(bed::send);
        List<byte[]> arrived = arrive(sent.size(), from);
        for (int i = 0; i < sent.size(); i++) {
            assertThat(arrived.get(i)).as("packet %s", i).isEqualTo(PlainPackets.routed(sent.get(i)));
        }
        byte[] odd = {17, 0, 1, 4, 0, 0, 0, 0}; // destination options that say nothing
        byte[] udp6 = udp(TestNet.CLIENT6, TestNet.SERVER6, 7000, 5004, TOS, 64, NOTHING, payload);
        byte[] extended = PlainPackets.ip(
                PlainPackets.address(TestNet.CLIENT6),
                PlainPackets.address(TestNet.SERVER6),
                60,
                TOS,
                64,
                odd,
                java.util.Arrays.copyOfRange(udp6, 40, udp6.length));
        byte[] other = udp(TestNet.CLIENT6, TestNet.SERVER6, 7000, 5003, TOS, 64, NOTHING, payload);
        bed.send(extended);
        bed.send(other);
        assertThat(arrive(2, TestNet.CLIENT6))
                .containsExactly(PlainPackets.routed(extended), PlainPackets.routed(other));
        assertThat(bed.environment().traffic().packetsIn()).isZero();
        assertThat(bed.plain().status().met())
                .containsEntry("up", 0L)
                .containsEntry("fragment", 1L)
                .containsEntry("options", 2L)
                .containsEntry("no-rule", 4L);
    }

    @Test
    void framesWithVlanTagsAreNotLookedAt() throws Exception {
        serve(packet -> Verdict.FORWARD);
        start(voice(FailurePolicy.PASS));
        byte[] packet = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 50));
        byte[] frame = bed.framed(packet);
        bed.client()
                .send(java.nio.ByteBuffer.allocate(frame.length + 4)
                        .put(frame, 0, 12)
                        .putInt(0x8100_0005) // 802.1Q, VLAN 5
                        .put(frame, 12, frame.length - 12)
                        .array());
        bed.client().send(frame);
        arrive(1, TestNet.CLIENT4);
        assertThat(bed.plain().status().rules()).containsExactly(new PlainTraffic.RuleCount(1, 1));
    }

    @Test
    void whatIsAddressedToTheRouterOrHasNoHopLeftPasses() throws Exception {
        serve(packet -> Verdict.FORWARD);
        start(voice(FailurePolicy.PASS));
        bed.send(udp(TestNet.CLIENT4, TestNet.ROUTER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 50)));
        bed.send(udp(TestNet.CLIENT4, "224.0.0.9", 7000, 5004, TOS, 64, NOTHING, payload(1, 50)));
        bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 1, NOTHING, payload(1, 50)));
        eventually()
                .untilAsserted(() -> assertThat(bed.plain().status().met())
                        .containsEntry("local", 2L)
                        .containsEntry("hops", 1L)
                        .containsEntry("up", 0L));
    }

    /** The kernel says so to the sender, or fragments it, as it would without the node. */
    @Test
    void whatIsLongerThanTheWayTakesStaysInTheKernel() throws Exception {
        serve(packet -> Verdict.FORWARD);
        start(rule(match(null, 5004, 5004, -1, null), FailurePolicy.PASS));
        bed.net().namespaces().run(bed.net().router(), "ip link set " + TestNet.ROUTER_SERVER_DEVICE + " mtu 1300");
        try {
            byte[] whole = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 1273));
            whole[6] = 0x40; // do not fragment
            bed.send(PlainPackets.sealed(whole));
            bed.send(udp(TestNet.CLIENT6, TestNet.SERVER6, 7000, 5004, TOS, 64, NOTHING, payload(1, 1253)));
            assertThat(bed.client()
                            .packets(
                                    1,
                                    packet ->
                                            packet[0] >>> 4 == 4 && packet[9] == 1 && isFrom(packet, TestNet.ROUTER4)))
                    .allMatch(packet -> packet[20] == 3 && packet[21] == 4 && packet[26] == 1300 >> 8);
            assertThat(bed.client().packets(1, packet -> packet[0] >>> 4 == 6 && packet[40] == 2))
                    .allMatch(packet -> isFrom(packet, TestNet.ROUTER6));
            bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 1273)));
            assertThat(arrive(2, TestNet.CLIENT4)).as("fragments").hasSize(2);
            bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(2, 1272)));
            bed.send(udp(TestNet.CLIENT6, TestNet.SERVER6, 7000, 5004, TOS, 64, NOTHING, payload(2, 1252)));
            assertThat(bed.balanced(2).packetsOut()).isEqualTo(2);
            assertThat(bed.met("way")).isEqualTo(3);
        } finally {
            bed.net().namespaces().run(bed.net().router(), "ip link set " + TestNet.ROUTER_SERVER_DEVICE + " mtu 1500");
        }
    }

    @ParameterizedTest
    @CsvSource({V4, V6})
    void routerAlertsComeUpAndLeaveWithTheirOption(String from, String to) throws Exception {
        serve(rewriting(payload -> payload[0]++));
        start(rule(match(null, 0, 65535, -1, true), FailurePolicy.PASS));
        byte[] alert = from.indexOf(':') < 0 ? PlainPackets.ALERT_V4 : PlainPackets.ALERT_V6;
        bed.send(udp(from, to, 7000, 9, 0, 64, alert, payload(1, 50)));
        byte[] expected = udp(from, to, 7000, 9, 0, 63, alert, changed(payload(1, 50)));
        assertThat(PlainPackets.comparable(arrive(1, from).get(0))).isEqualTo(PlainPackets.comparable(expected));
        byte[] without = udp(from, to, 7000, 9, 0, 64, NOTHING, payload(1, 50));
        bed.send(without);
        assertThat(arrive(1, from)).containsExactly(PlainPackets.routed(without));
        assertThat(seen).hasSize(1);
    }

    private static byte[] changed(byte[] payload) {
        payload[0]++;
        return payload;
    }

    @Test
    void aFloodOfRouterAlertsStaysInTheKernel() throws Exception {
        serve(packet -> Verdict.FORWARD);
        start(rule(match(null, 0, 65535, -1, true), FailurePolicy.PASS));
        long beganNs = System.nanoTime();
        for (int i = 0; i < 500; i++) {
            bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 9, 0, 64, PlainPackets.ALERT_V4, payload(i, 50)));
            arrive(1, TestNet.CLIENT4);
        }
        long seconds = 1 + (System.nanoTime() - beganNs) / 1_000_000_000;
        assertThat(bed.met("limited") + bed.met("up")).isEqualTo(500);
        assertThat(bed.met("up"))
                .isPositive()
                .isLessThanOrEqualTo(ALERTS * (1 + seconds)); // a second's at once, and so many each second
    }

    @Test
    void withoutAHeartbeatAllGoesOn() throws Exception {
        serve(packet -> Verdict.DROP);
        start(voice(FailurePolicy.DROP));
        bed.plain().release(); // as a node that does not come round any more
        byte[] packet = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 50));
        bed.send(packet);
        assertThat(arrive(1, TestNet.CLIENT4)).containsExactly(PlainPackets.routed(packet));
        assertThat(bed.met("stale")).isEqualTo(1);
    }

    @Test
    void aServiceThatTheNodeLacksIsPassedOrDropped() throws Exception {
        PlainRule other =
                new PlainRule(match(null, 6000, 6000, -1, null), "org.example.None", 99, -1, FailurePolicy.DROP);
        start(voice(FailurePolicy.PASS), other);
        byte[] passed = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 50));
        for (int i = 0; i < 10; i++) {
            bed.send(passed);
            bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 6000, TOS, 64, NOTHING, payload(2, 50)));
        }
        for (byte[] arrived : arrive(10, TestNet.CLIENT4)) {
            assertThat(PlainPackets.comparable(arrived))
                    .isEqualTo(PlainPackets.comparable(PlainPackets.routed(passed)));
        }
        assertThat(bed.balanced(20).drops()).isEqualTo(Map.of(DropReason.UNKNOWN_SERVICE, 10L));
    }

    @Test
    void aServiceThatFailsPassesDatagramsAsTheyCame() throws Exception {
        serve(packet -> {
            packet.payload().put(0, (byte) 99);
            throw new IllegalStateException("as the test says");
        });
        start(voice(FailurePolicy.PASS));
        byte[] packet = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 50));
        for (int i = 0; i < 100; i++) { // most of them after it was put into quarantine
            bed.send(packet);
        }
        for (byte[] arrived : arrive(100, TestNet.CLIENT4)) {
            assertThat(PlainPackets.comparable(arrived))
                    .isEqualTo(PlainPackets.comparable(PlainPackets.routed(packet)));
        }
        assertThat(bed.balanced(100).dropped()).isZero();
    }

    @Test
    void aPacketThatGrewBeyondTheLinkIsDroppedByName() throws Exception {
        serve(packet -> {
            packet.setPayload(java.nio.ByteBuffer.allocate(1473));
            return Verdict.FORWARD;
        });
        start(voice(FailurePolicy.PASS));
        bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload(1, 1472)));
        assertThat(bed.balanced(1).drops()).isEqualTo(Map.of(DropReason.PACKET_TOO_LONG, 1L));
    }

    @Test
    void anAnswerComesFromWhereTheDatagramWasSent() throws Exception {
        serve(packet -> Verdict.REPLY);
        start(voice(FailurePolicy.PASS));
        byte[] payload = payload(1, 50);
        bed.send(udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, 5004, TOS, 64, NOTHING, payload));
        byte[] answer = bed.client()
                .packets(1, packet -> isFrom(packet, TestNet.SERVER4) && !isUnreachable(packet))
                .get(0);
        byte[] expected = udp(TestNet.SERVER4, TestNet.CLIENT4, 5004, 7000, TOS, 64, NOTHING, payload);
        assertThat(PlainPackets.comparable(answer)).isEqualTo(PlainPackets.comparable(expected));
    }
}
