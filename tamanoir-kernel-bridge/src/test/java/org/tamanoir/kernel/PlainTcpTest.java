package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.kernel.TransitNode.at;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;

/** Connections of others through a router with a node: by ordinary sockets of a client and of a server. */
@Tag("namespace")
class PlainTcpTest {
    private static final String NAME = "org.example.Web";
    private static final int PORT = 8080;
    private static final int TIMEOUT_MS = (int) Waiting.PATIENCE.toMillis();
    /** Of a socket that listens at loopback, in /proc/net/tcp. */
    private static final String LISTENS = "(0100007F|0{24}01000000):\\w+ \\S+ 0A ";

    private static final List<String> BOTH = List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE);

    private static PlainBed bed;

    @BeforeAll
    static void makeNet() throws Exception {
        bed = new PlainBed("plaint");
    }

    @AfterAll
    static void removeNet() {
        if (bed != null) {
            bed.close();
        }
    }

    @AfterEach
    void stop() {
        bed.stop();
    }

    private static PlainConfig config(List<String> interfaces, FailurePolicy onFailure) {
        PlainRule rule = new PlainRule(
                new PlainMatch(PlainMatch.Protocol.TCP, null, null, PORT, PORT, PlainMatch.ANY, PlainMatch.ANY, null),
                NAME,
                ServiceKey.of(NAME),
                3,
                onFailure);
        return new PlainConfig(new PlainRules(List.of(rule)), interfaces, PlainConfig.DEFAULT_ALERTS);
    }

    private void start(List<String> interfaces, FailurePolicy onFailure) throws Exception {
        bed.start(config(interfaces, onFailure));
    }

    private void serve(Function<Packet, Verdict> step) {
        bed.services().add(TransitNode.definition(NAME, FailurePolicy.DROP, step));
    }

    /** Adds one to every octet. */
    private static Verdict shift(Packet packet) {
        byte[] payload = new byte[packet.payloadLength()];
        packet.payload().get(payload);
        packet.setPayload(ByteBuffer.wrap(shifted(payload)));
        return Verdict.FORWARD;
    }

    private static byte[] shifted(byte[] octets) {
        byte[] shifted = octets.clone();
        for (int i = 0; i < shifted.length; i++) {
            shifted[i]++;
        }
        return shifted;
    }

    private static ServerSocket listen(String address, int port) throws Exception {
        return listen(bed.net().server(), address, port);
    }

    private static ServerSocket listen(String namespace, String address, int port) throws Exception {
        return bed.net().namespaces().in(namespace, () -> {
            ServerSocket server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(at(address, port));
            server.setSoTimeout(TIMEOUT_MS);
            return server;
        });
    }

    private static Socket connect(InetSocketAddress to) throws Exception {
        return connect(bed.net().client(), to);
    }

    private static Socket connect(String namespace, InetSocketAddress to) throws Exception {
        return bed.net().namespaces().in(namespace, () -> {
            Socket client = new Socket();
            client.connect(to, TIMEOUT_MS);
            client.setSoTimeout(TIMEOUT_MS);
            return client;
        });
    }

    private static Socket accept(ServerSocket server) throws IOException {
        Socket accepted = server.accept();
        accepted.setSoTimeout(TIMEOUT_MS);
        return accepted;
    }

    private static byte[] random(int octets) {
        byte[] random = new byte[octets];
        new Random(octets).nextBytes(random);
        return random;
    }

    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void aConnectionGoesThroughItsServiceAndKeepsItsAddresses(String address) throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.PASS);
        byte[] forth = random(3_000_000);
        byte[] back = random(2_000_000);
        try (ServerSocket server = listen(address, PORT);
                Socket client = connect(at(address, PORT));
                Socket accepted = accept(server)) {
            assertThat(accepted.getRemoteSocketAddress()).isEqualTo(client.getLocalSocketAddress());
            CompletableFuture<byte[]> arrived =
                    Waiting.async(() -> accepted.getInputStream().readAllBytes());
            client.getOutputStream().write(forth);
            client.shutdownOutput(); // Half: the other half goes on.
            assertSame(arrived.join(), shifted(forth));
            CompletableFuture<byte[]> answer =
                    Waiting.async(() -> client.getInputStream().readAllBytes());
            accepted.getOutputStream().write(back);
            accepted.shutdownOutput();
            assertSame(answer.join(), back);
        }
        assertThat(bed.plain().status().rules()).containsExactly(new PlainTraffic.RuleCount(1, 1));
        eventually().untilAsserted(() -> {
            TrafficSnapshot now = bed.environment().traffic();
            assertThat(now.held()).isZero();
            assertThat(now.packetsOut() + now.dropped()).isEqualTo(now.packetsIn() + now.packetsMade());
            assertThat(now.dropped()).isZero();
        });
    }

    /**
     * A host behind the server, by a link that takes less of what comes from there than all others, and says nothing of it
     * itself: its MTU is that of the server's end alone.
     */
    private static String behind() {
        String behind = bed.net().namespaces().add("behind");
        bed.net().namespaces().link(bed.net().server(), "s1", behind, "b0");
        bed.net().namespaces().run(bed.net().server(), "ip link set s1 mtu 1300");
        for (String prefix : List.of("10.71.3.", "fd71:3::")) {
            String length = prefix.contains(":") ? "/64" : "/24";
            bed.net().namespaces().address(bed.net().server(), "s1", prefix + "1" + length);
            bed.net().namespaces().address(behind, "b0", prefix + "2" + length);
            bed.net().namespaces().route(behind, "default", prefix + "1");
        }
        bed.net().namespaces().route(bed.net().router(), "10.71.3.0/24", TestNet.SERVER4);
        bed.net().namespaces().route(bed.net().router(), "fd71:3::/64", TestNet.SERVER6);
        return behind;
    }

    @Test
    void aNarrowerLinkBehindIsFound() throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.PASS);
        String behind = behind();
        byte[] octets = random(300_000);
        for (String address : List.of("10.71.3.2", "fd71:3::2")) {
            try (ServerSocket server = listen(behind, address, PORT);
                    Socket client = connect(at(address, PORT));
                    Socket accepted = accept(server)) {
                CompletableFuture<byte[]> arrived =
                        Waiting.async(() -> accepted.getInputStream().readAllBytes());
                client.getOutputStream().write(octets);
                client.shutdownOutput();
                assertThat(Arrays.equals(arrived.join(), shifted(octets)))
                        .as("to %s", address)
                        .isTrue();
            }
        }
        for (String address : List.of(TestNet.CLIENT4, TestNet.CLIENT6)) {
            try (ServerSocket server = listen(bed.net().client(), address, PORT);
                    Socket client = connect(behind, at(address, PORT));
                    Socket accepted = accept(server)) {
                CompletableFuture<byte[]> arrived =
                        Waiting.async(() -> client.getInputStream().readAllBytes());
                accepted.getOutputStream().write(octets);
                accepted.shutdownOutput();
                assertThat(Arrays.equals(arrived.join(), octets))
                        .as("back from %s", address)
                        .isTrue();
            }
        }
    }

    @Test
    void whoDoesNotReadHoldsUpHisPeerNotTheNode() throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.PASS);
        byte[] octets = random(50_000_000);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT);
                Socket client = connect(at(TestNet.SERVER4, PORT));
                Socket accepted = accept(server)) {
            CompletableFuture<Void> sent = Waiting.async(() -> {
                client.getOutputStream().write(octets);
                client.shutdownOutput();
            });
            try (Socket other = connect(at(TestNet.SERVER4, PORT));
                    Socket otherAccepted = accept(server)) {
                other.getOutputStream().write(7);
                assertThat(otherAccepted.getInputStream().read()).isEqualTo(8);
            }
            assertThat(sent).isNotDone(); // More than all buffers on the way hold, and nobody has read.
            assertThat(Arrays.equals(accepted.getInputStream().readAllBytes(), shifted(octets)))
                    .isTrue();
            sent.join();
        }
    }

    @Test
    void aResetReachesTheOtherSide() throws Exception {
        serve(packet -> Verdict.FORWARD);
        start(BOTH, FailurePolicy.PASS);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT)) {
            Socket client = connect(at(TestNet.SERVER4, PORT));
            try (Socket accepted = accept(server)) {
                client.getOutputStream().write(1);
                assertThat(accepted.getInputStream().read()).isEqualTo(1);
                client.setSoLinger(true, 0);
                client.close();
                assertThatThrownBy(() -> accepted.getInputStream().read()).hasMessageContaining("reset");
            }
        }
    }

    @Test
    void withoutItsServiceAConnectionIsRelayed() throws Exception {
        start(BOTH, FailurePolicy.PASS);
        arrivesAsItIs();
    }

    @Test
    void withoutItsServiceAConnectionIsBrokenWhereTheRuleSaysSo() throws Exception {
        start(BOTH, FailurePolicy.DROP);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT)) {
            assertThat(server.isBound()).isTrue();
            assertThatThrownBy(() -> {
                        try (Socket client = connect(at(TestNet.SERVER4, PORT))) {
                            client.getInputStream().read();
                        }
                    })
                    .hasMessageContaining("reset");
        }
    }

    private static void arrivesAsItIs() throws Exception {
        byte[] octets = random(300_000);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT);
                Socket client = connect(at(TestNet.SERVER4, PORT));
                Socket accepted = accept(server)) {
            CompletableFuture<byte[]> arrived =
                    Waiting.async(() -> accepted.getInputStream().readAllBytes());
            client.getOutputStream().write(octets);
            client.shutdownOutput();
            assertSame(arrived.join(), octets);
        }
    }

    @Test
    void aServiceThatFailsLetsTheOctetsGoOnAsTheyCame() throws Exception {
        serve(packet -> {
            if (packet.payloadLength() > 0) {
                packet.payload().put(0, (byte) 99);
            }
            throw new IllegalStateException("as the test says");
        });
        start(BOTH, FailurePolicy.PASS);
        arrivesAsItIs();
    }

    @Test
    void whatAServiceSpoilsGoesOnAsItCame() throws Exception {
        serve(PlainTcpTest::spoil);
        start(BOTH, FailurePolicy.PASS);
        arrivesAsItIs();
    }

    @Test
    void whatAServiceSpoilsBreaksTheConnectionWhereTheRuleSaysSo() throws Exception {
        serve(PlainTcpTest::spoil);
        start(BOTH, FailurePolicy.DROP);
        isBroken();
    }

    private static Verdict spoil(Packet packet) {
        packet.buffer().put(packet.offset(), (byte) 9);
        return Verdict.FORWARD;
    }

    /** Octets behind those that it held would come in order behind a hole. */
    @ParameterizedTest
    @EnumSource(names = {"PASS", "DROP"})
    void whatAServiceForgetsThatItHoldsBreaksTheConnection(FailurePolicy onFailure) throws Exception {
        bed.services().add(new ServiceDefinition(NAME, Forgetful::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        start(BOTH, onFailure);
        isBroken();
        eventually()
                .untilAsserted(
                        () -> assertThat(bed.environment().traffic().drops().get(DropReason.HOLD_EXPIRED))
                                .isEqualTo(1));
    }

    private static final class Forgetful extends Service {
        @Override
        public Verdict process(Packet packet) {
            if (packet.payloadLength() > 0) {
                hold(packet, Duration.ofMillis(1));
                return Verdict.HELD;
            }
            return Verdict.FORWARD;
        }
    }

    /** Sends an octet, and sees its connection end without it. */
    private static void isBroken() throws Exception {
        try (ServerSocket server = listen(TestNet.SERVER4, PORT)) {
            assertThat(server.isBound()).isTrue();
            assertThatThrownBy(() -> {
                        try (Socket client = connect(at(TestNet.SERVER4, PORT))) {
                            client.getOutputStream().write(1);
                            client.getInputStream().read();
                        }
                    })
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void whereItCannotBeAttachedNothingListens() throws Exception {
        PlainConfig config = config(List.of("nowhere0"), FailurePolicy.PASS);
        bed.begin(config);
        assertThat(bed.plain().status().isThere()).isFalse();
        eventually()
                .untilAsserted(() -> assertThat(
                                bed.net().namespaces().run(bed.net().router(), "cat /proc/net/tcp /proc/net/tcp6"))
                        .doesNotContainPattern(LISTENS));
    }

    /** As under a flood of beginnings: the kernel keeps nothing of one, and knows it again by the number in its last segment. */
    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void aConnectionBeginsThoughTooManyHaveBegun(String address) throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.PASS);
        bed.net()
                .namespaces()
                .run(bed.net().router(), "sysctl -qw net.ipv4.tcp_syncookies=2"); // always, not only when full
        try (ServerSocket server = listen(address, PORT);
                Socket client = connect(at(address, PORT));
                Socket accepted = accept(server)) {
            client.getOutputStream().write(7);
            assertThat(accepted.getInputStream().read()).isEqualTo(8);
            accepted.getOutputStream().write(9);
            assertThat(client.getInputStream().read()).isEqualTo(9);
        } finally {
            bed.net().namespaces().run(bed.net().router(), "sysctl -qw net.ipv4.tcp_syncookies=1");
        }
    }

    /** Says where octets differ, and not all of them. */
    private static void assertSame(byte[] arrived, byte[] sent) {
        assertThat(Arrays.mismatch(arrived, sent))
                .as("first of %s that differs from the %s sent", arrived.length, sent.length)
                .isEqualTo(-1);
    }

    @Test
    void whatBeganInTheKernelStaysThere() throws Exception {
        serve(PlainTcpTest::shift);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT);
                Socket client = connect(at(TestNet.SERVER4, PORT));
                Socket accepted = accept(server)) {
            start(BOTH, FailurePolicy.PASS);
            goesOnAsItIs(client, accepted);
            assertThat(bed.met("begun")).isPositive();
            assertThat(bed.met("up")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void aConnectionOutlivesItsRule(String address) throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.DROP);
        byte[] octets = random(2_000_000);
        try (ServerSocket server = listen(address, PORT);
                Socket before = connect(at(address, PORT));
                Socket accepted = accept(server)) {
            CompletableFuture<byte[]> arrived =
                    Waiting.async(() -> accepted.getInputStream().readAllBytes());
            before.getOutputStream().write(octets, 0, octets.length / 2);
            bed.change();
            try (Socket after = connect(at(address, PORT));
                    Socket acceptedAfter = accept(server)) {
                goesOnAsItIs(after, acceptedAfter);
                bed.change(config(BOTH, FailurePolicy.DROP).rules().rules().get(0));
                goesOnAsItIs(after, acceptedAfter); // What began in the kernel stays there.
            }
            bed.change();
            before.getOutputStream().write(octets, octets.length / 2, octets.length / 2);
            before.shutdownOutput();
            assertSame(arrived.join(), shifted(octets));
            accepted.getOutputStream().write(9);
            assertThat(before.getInputStream().read()).isEqualTo(9);
        }
        assertThat(bed.environment().traffic().dropped()).isZero();
    }

    @Test
    void withoutAHeartbeatNewConnectionsGoOnAndOthersStay() throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.DROP);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT);
                Socket before = connect(at(TestNet.SERVER4, PORT));
                Socket acceptedBefore = accept(server)) {
            bed.plain().release(); // as a node that does not come round any more
            try (Socket client = connect(at(TestNet.SERVER4, PORT));
                    Socket accepted = accept(server)) {
                goesOnAsItIs(client, accepted);
            }
            before.getOutputStream().write(7);
            assertThat(acceptedBefore.getInputStream().read()).isEqualTo(8);
            assertThat(bed.met("stale")).isEqualTo(1);
        }
    }

    @Test
    void whatWouldNotComeBackByANamedInterfaceGoesOn() throws Exception {
        serve(PlainTcpTest::shift);
        start(List.of(TestNet.ROUTER_CLIENT_DEVICE), FailurePolicy.DROP);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT);
                Socket client = connect(at(TestNet.SERVER4, PORT));
                Socket accepted = accept(server)) {
            goesOnAsItIs(client, accepted);
        }
        assertThat(bed.met("one-way")).isEqualTo(1);
    }

    @Test
    void otherPortsAndTheRoutersOwnAreNotTouched() throws Exception {
        serve(PlainTcpTest::shift);
        start(BOTH, FailurePolicy.DROP);
        try (ServerSocket server = listen(TestNet.SERVER4, PORT + 1);
                Socket client = connect(at(TestNet.SERVER4, PORT + 1));
                Socket accepted = accept(server)) {
            goesOnAsItIs(client, accepted);
        }
        assertThatThrownBy(() -> connect(at(TestNet.ROUTER4, PORT))).hasMessageContaining("refused");
        assertThat(bed.met("local")).isEqualTo(1);
        try (ServerSocket server = listen(bed.net().router(), TestNet.ROUTER4, PORT);
                Socket client = connect(at(TestNet.ROUTER4, PORT));
                Socket accepted = accept(server)) {
            goesOnAsItIs(client, accepted);
        }
        assertThat(bed.met("local")).as("with all its segments").isGreaterThan(4);
        assertThat(bed.met("up")).isZero();
    }

    @Test
    void whereSourcesAreLookedUpByTheMarkNothingIsAttached() throws Exception {
        bed.net().namespaces().run(bed.net().router(), "sysctl -qw net.ipv4.conf.all.src_valid_mark=1");
        try {
            PlainConfig config = config(BOTH, FailurePolicy.PASS);
            bed.begin(config);
            assertThat(bed.plain().status().isThere()).isFalse();
            assertThat(bed.plain().status().detail()).contains("sysctl -w net.ipv4.conf.all.src_valid_mark=0");
        } finally {
            bed.net().namespaces().run(bed.net().router(), "sysctl -qw net.ipv4.conf.all.src_valid_mark=0");
        }
    }

    private static void goesOnAsItIs(Socket client, Socket accepted) throws IOException {
        byte[] octets = random(1000);
        client.getOutputStream().write(octets);
        InputStream arriving = accepted.getInputStream();
        assertThat(arriving.readNBytes(octets.length)).isEqualTo(octets);
        accepted.getOutputStream().write(octets);
        assertThat(client.getInputStream().readNBytes(octets.length)).isEqualTo(octets);
    }
}
