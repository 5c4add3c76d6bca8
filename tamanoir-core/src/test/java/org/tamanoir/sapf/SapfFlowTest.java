package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.support.Ports;

/** Flows between two ends: how they get selectors, and lose them. */
class SapfFlowTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int LIFETIME_S = 60;

    private final AtomicLong clockNs = new AtomicLong(1);
    private SapfEnd node;
    private SapfEnd sender;

    @BeforeEach
    void open() throws IOException {
        node = SapfEnd.issuing(clockNs, Ports.free());
        sender = SapfEnd.asking(clockNs, node.address());
    }

    @AfterEach
    void close() {
        node.close();
        sender.close();
    }

    private void assertGoesBySelector(byte[]... packets) throws IOException {
        long before = node.sapf.statistics().packetsIn();
        sender.send(node, packets);
        assertThat(node.exchange(sender, packets.length)).containsExactly(packets);
        assertThat(node.sapf.statistics().packetsIn()).as("with a selector").isEqualTo(before + packets.length);
    }

    private void assertGoesAsAnep(byte[]... packets) throws IOException {
        long before = node.sapf.statistics().packetsIn();
        sender.send(node, packets);
        assertThat(node.exchange(sender, packets.length)).containsExactly(packets);
        assertThat(node.sapf.statistics().packetsIn()).as("with a selector").isEqualTo(before);
    }

    @Test
    void bindsTheSecondPacketOfAFlowAndCarriesEveryOctet() throws IOException {
        assertGoesAsAnep(SapfEnd.packet(1, "a"));
        assertThat(node.sapf.statistics().issued()).isZero();
        assertGoesAsAnep(SapfEnd.packet(1, "b"));
        assertThat(node.sapf.statistics().issued()).isOne();
        assertThat(sender.sapf.statistics().asked()).isOne();
        assertGoesBySelector(SapfEnd.packet(1, "c"), SapfEnd.packet(1, ""), SapfEnd.packet(1, "x".repeat(900)));
        assertThat(sender.sapf.statistics().packetsOut()).isEqualTo(3);
    }

    @Test
    void asksAnotherNeighbourAtOnceWhenItsRouteChanges() throws IOException {
        try (SapfEnd other = SapfEnd.issuing(clockNs);
                SapfEnd both = SapfEnd.asking(clockNs, node.address(), other.address())) {
            byte[] packet = SapfEnd.packet(1, "a");
            both.bind(node, packet);
            both.bind(other, packet);
            assertThat(other.sapf.statistics().issued()).isOne();
            both.send(other, packet);
            both.send(node, packet);
            assertThat(other.exchange(both, 1)).containsExactly(packet);
            assertThat(node.exchange(both, 1)).containsExactly(packet);
            assertThat(both.sapf.statistics().packetsOut())
                    .as("either by its selector")
                    .isEqualTo(2);
        }
    }

    @Test
    void keepsTheOrderOfFlowsThatTakeTurns() throws IOException {
        sender.bind(node, SapfEnd.packet(1, "a"));
        sender.bind(node, SapfEnd.packet(2, "a"));
        byte[][] packets = new byte[90][];
        for (int i = 0; i < packets.length; i++) {
            packets[i] = SapfEnd.packet(i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 100 + i, "number " + i);
        }
        sender.send(node, packets);
        assertThat(node.exchange(sender, packets.length)).containsExactly(packets);
        assertThat(node.sapf.statistics().packetsIn()).isEqualTo(60);
    }

    @Test
    void flowsWhoseHashesMeetGetSelectorsThoughTheyTakeTurns() throws IOException {
        SeenHeaders sets = new SeenHeaders(1_024);
        byte[][] packets = IntStream.range(1, 1_000_000)
                .mapToObj(flow -> SapfEnd.packet(flow, ""))
                .filter(packet -> sets.set(HeaderTemplate.hash(ByteBuffer.wrap(packet), 0, packet.length)) == 0)
                .limit(SeenHeaders.WAYS)
                .toArray(byte[][]::new);
        assertThat(packets).hasNumberOfRows(SeenHeaders.WAYS);
        assertGoesAsAnep(packets);
        assertGoesAsAnep(packets);
        assertGoesBySelector(packets);
        assertThat(node.sapf.statistics().issued()).isEqualTo(SeenHeaders.WAYS);
    }

    @Test
    void asksForNoFlowWhoseHeadersDiffer() throws IOException {
        PacketBuilder builder = SapfEnd.builder(1).stream(7);
        for (int i = 0; i < 20; i++) {
            assertGoesAsAnep(SapfEnd.packet(builder, "a"));
        }
        assertThat(node.sapf.statistics()).isEqualTo(new SapfStatistics(0, 0, 0, 0, 0, 0, 0, 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"checksum", "stream", "timestamps"})
    void isAnsweredWithoutASelectorWhereEachPacketHasAMark(String mark) throws IOException {
        PacketBuilder builder = switch (mark) {
            case "checksum" -> SapfEnd.builder(1).checksum();
            case "stream" -> SapfEnd.builder(1).stream(7);
            default -> SapfEnd.builder(1).timestamps();
        };
        byte[] packet = SapfEnd.packet(builder, "always the same");
        for (int i = 0; i < 4; i++) {
            assertGoesAsAnep(packet);
        }
        assertThat(node.sapf.statistics().issued()).isZero();
        assertThat(node.sapf.statistics().refused()).isZero();
    }

    @Test
    void staysAnepWhereTheAnswerIsLostAndAsksAnew() throws IOException {
        byte[] packet = SapfEnd.packet(1, "a");
        int port = node.address().getPort();
        node.close();
        try (SapfEnd deaf = SapfEnd.issuing(clockNs, port)) {
            sender.send(deaf, packet);
            sender.send(deaf, packet); // And a request, which nobody reads.
        }
        node = SapfEnd.issuing(clockNs, port);
        clockNs.addAndGet(SECOND_NS - 1);
        assertGoesAsAnep(packet);
        assertThat(node.sapf.statistics().issued())
                .as("asked again before a second is over")
                .isZero();
        clockNs.addAndGet(1);
        assertGoesAsAnep(packet);
        assertGoesBySelector(packet);
    }

    @Test
    void getsTheSameSelectorForTheSameRequest() {
        IssuedSelectors table = new IssuedSelectors(new SplittableRandom(1)::nextInt);
        HeaderTemplate header = header(1);
        Binding first = table.bind(5, header, 0, 1, 2, 0, SECOND_NS).binding();
        assertThat(table.bind(5, header, 0, 1, 2, 1, SECOND_NS).binding()).isSameAs(first);
        assertThat(table.bind(5, header, 0, 1, 3, 1, SECOND_NS).binding()).isNotSameAs(first);
    }

    @Test
    void goesBackToAnepWhenTheNodeHasBegunAnew() throws IOException {
        sender.bind(node, SapfEnd.packet(1, "a"));
        sender.bind(node, SapfEnd.packet(2, "a"));
        assertGoesBySelector(SapfEnd.packet(1, "b"), SapfEnd.packet(2, "b"));
        int port = node.address().getPort();
        node.close();
        node = SapfEnd.issuing(clockNs, port);
        sender.send(node, SapfEnd.packet(1, "the one that tells the node's new epoch"));
        assertThat(node.receive()).isEmpty();
        assertThat(node.dropped(DropReason.MISS)).isOne();
        sender.receive();
        clockNs.addAndGet(SECOND_NS);
        assertGoesAsAnep(SapfEnd.packet(2, "c"), SapfEnd.packet(1, "c"));
        assertGoesBySelector(SapfEnd.packet(2, "d"), SapfEnd.packet(1, "d"));
    }

    @Test
    void isRefreshedFromHalfOfItsLifetimeOn() throws IOException {
        sender.bind(node, SapfEnd.packet(1, "a"));
        for (int i = 0; i < 6; i++) {
            clockNs.addAndGet(LIFETIME_S / 2 * SECOND_NS);
            assertGoesBySelector(SapfEnd.packet(1, "after " + i));
        }
        assertThat(node.sapf.statistics().issued()).isOne();
    }

    @Test
    void isUsedForThreeQuartersOfItsLifetimeAndThenAskedForAnew() throws IOException {
        sender.bind(node, SapfEnd.packet(1, "a"));
        clockNs.addAndGet(LIFETIME_S * SECOND_NS * 3 / 4);
        assertGoesAsAnep(SapfEnd.packet(1, "b"));
        assertGoesBySelector(SapfEnd.packet(1, "c"));
    }

    @Test
    void dropsWhatComesAfterItsLifetime() throws IOException {
        byte[] bound = boundBy(sender);
        clockNs.addAndGet(LIFETIME_S * SECOND_NS);
        sender.send(node, bound);
        assertThat(node.receive()).isEmpty();
        assertThat(node.dropped(DropReason.EXPIRED)).isOne();
    }

    @Test
    void takesASelectorFromWhoAskedForItAlone() throws IOException {
        byte[] bound = boundBy(sender);
        try (SapfEnd other = SapfEnd.plain()) {
            other.send(node, bound);
            assertThat(node.receive()).isEmpty();
            assertThat(node.dropped(DropReason.SOURCE)).isOne();
            assertThat(other.receiveNow()).isEmpty();
            byte[] release = SapfEnd.octets("0000 0000 0000 0001 0005 0003"
                    + HexFormat.of().formatHex(bound).substring(0, 16));
            other.send(node, release);
            node.receive();
        }
        assertGoesBySelector(SapfEnd.packet(77, "still bound"));
    }

    @Test
    void believesNoAnswerFromElsewhereAndNoneToWhatItDidNotAsk() throws IOException {
        byte[] packet = SapfEnd.packet(1, "a");
        sender.bind(node, packet);
        try (SapfEnd liar = SapfEnd.plain()) {
            String bound = "0000 0000 0000 0001 0002 0006 0000 0000 0000 0007 8001 0000 0000 002a 0000 003c";
            byte[] selector = boundBy(sender);
            String unknown = "0000 0000 0000 0001 0006 0003"
                    + HexFormat.of().formatHex(selector).substring(0, 16);
            liar.send(sender, SapfEnd.octets(bound), SapfEnd.octets(unknown));
            sender.receive();
        }
        assertGoesBySelector(packet);
    }

    @Test
    void staysAnepAfterARefusal() throws IOException {
        try (SapfEnd refusing = SapfEnd.asking(clockNs, sender.address());
                SapfEnd asking = SapfEnd.asking(clockNs, refusing.address())) {
            byte[] packet = SapfEnd.packet(1, "a");
            asking.bind(refusing, packet);
            assertThat(refusing.sapf.statistics().refused()).isOne();
            for (int i = 0; i < 3; i++) {
                clockNs.addAndGet(19 * SECOND_NS);
                asking.send(refusing, packet);
                assertThat(refusing.exchange(asking, 1)).containsExactly(packet);
            }
            assertThat(refusing.sapf.statistics().refused())
                    .as("before a minute is over")
                    .isOne();
        }
    }

    /** Binds a flow, and returns a datagram of it as it is on the wire. */
    private byte[] boundBy(SapfEnd asking) throws IOException {
        List<Binding> before = bindings();
        asking.bind(node, SapfEnd.packet(77, "a"));
        Binding made = bindings().stream()
                .filter(each -> !before.contains(each))
                .findFirst()
                .orElseThrow();
        return ByteBuffer.allocate(10)
                .putLong(made.selector)
                .put(8, new byte[] {'h', 'i'})
                .array();
    }

    private List<Binding> bindings() {
        return node.sapf.issued().all();
    }

    private static HeaderTemplate header(int flow) {
        byte[] packet = SapfEnd.packet(flow, "");
        return Objects.requireNonNull(HeaderTemplate.of(ByteBuffer.wrap(packet), 0, packet.length));
    }
}
