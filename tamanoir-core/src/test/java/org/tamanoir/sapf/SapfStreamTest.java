package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.support.Seeds;

/** One connection in SAPF without its socket: what stands on the wire, and what is made of it. */
class SapfStreamTest {
    private static final long SEED = Seeds.ofCommit(SapfStreamTest.class);
    private static final byte[] OPENING = {'S', 'A', 'P', '1'};
    /** Source 10.0.1.2, destination 10.0.2.7, payload "hello". */
    private static final String V3 =
            "0100 4a4e 0008 0025 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207 6865 6c6c 6f";

    private final AtomicLong clockNs = new AtomicLong(1);
    private final Sapf accepting = SapfStreamEnd.accepting(clockNs);
    private final Sapf asking = SapfStreamEnd.asking(clockNs);
    private final SapfStreamEnd from = SapfStreamEnd.connected(asking);
    private final SapfStreamEnd to = SapfStreamEnd.accepted(accepting);

    /** A packet in SAPF, behind its length. */
    private static byte[] unit(String packet) {
        byte[] octets = SapfEnd.octets(packet);
        return ByteBuffer.allocate(4 + octets.length)
                .putInt(octets.length)
                .put(octets)
                .array();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] each : parts) {
            all.writeBytes(each);
        }
        return all.toByteArray();
    }

    /** Has both ends open. */
    private void open() throws IOException {
        to.receive(from.said());
        from.receive(to.said());
    }

    /** Has a flow be bound to a selector. */
    private void bind(byte[] packet) throws IOException {
        assertThat(to.receive(from.send(packet, packet))).containsExactly(packet, packet);
        from.receive(to.said());
    }

    @Test
    void opensOnBothWays() throws IOException {
        byte[] opening = from.said();
        assertThat(opening)
                .containsExactly(
                        joined(OPENING, unit("0000 0000 0000 0001 0005 0003 0000 0000 0000 0000"))); // releases none
        assertThat(from.codec.isEstablished()).isFalse();
        assertThat(to.receive(opening)).isEmpty();
        assertThat(to.said()).containsExactly(OPENING);
        from.receive(Arrays.copyOf(OPENING, 3));
        assertThat(from.codec.isEstablished()).as("with part of the opening").isFalse();
        from.receive(Arrays.copyOfRange(OPENING, 3, 4));
        assertThat(from.codec.isEstablished()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"01", "5341 5032", "0100 544d 0002 0008", "5353"})
    void takesNoOtherOpening(String answer) {
        assertThatThrownBy(() -> from.receive(SapfEnd.octets(answer)))
                .isInstanceOf(IOException.class)
                .hasMessage("no SAP1 in answer: it does not speak SAPF");
    }

    @Test
    void asksWithTheSecondPacketAndLeavesTheHeaderOutOnceItIsBound() throws IOException {
        byte[] packet = SapfEnd.packet(1, "payload");
        open();
        assertThat(from.send(packet))
                .containsExactly(unit("0000 0000 0000 0002" + HexFormat.of().formatHex(packet)));
        assertThat(to.receive(from.send(packet))).containsExactly(packet);
        byte[] bound = to.said();
        assertThat(bound).hasSize(4 + Control.BOUND_OCTETS);
        from.receive(bound);
        byte[] unit = from.send(packet);
        assertThat(unit).hasSize(4 + 8 + "payload".length());
        assertThat(to.receive(unit)).containsExactly(packet);
        to.codec.saidOctets();
        from.codec.saidOctets();
        assertThat(accepting.statistics().packetsIn()).isOne();
        assertThat(asking.statistics().packetsOut()).isOne();
        assertThat(accepting.statistics().issued()).isOne();
        assertThat(asking.statistics().asked()).isOne();
    }

    @Test
    void givesSelectorsBackWithTheConnection() throws IOException {
        open();
        bind(SapfEnd.packet(1, "payload"));
        to.codec.closed();
        to.codec.closed();
        from.codec.closed();
        assertThat(accepting.statistics().issued()).isZero();
        assertThat(asking.statistics().asked()).isZero();
    }

    @Test
    void readsTheSameWhereverItIsSplit() throws IOException {
        byte[] first = SapfEnd.packet(1, "payload");
        byte[] second = SapfEnd.packet(2, "");
        open();
        bind(first);
        byte[] units = joined(from.send(first, second, first, second), unit("00"), from.send(first));
        for (int split = 0; split <= units.length; split++) {
            List<byte[]> packets = new ArrayList<>(to.receive(Arrays.copyOf(units, split)));
            packets.addAll(to.receive(Arrays.copyOfRange(units, split, units.length)));
            assertThat(packets).as("split at %s", split).containsExactly(first, second, first, second, first);
            assertThat(to.waiting()).isZero();
        }
        for (byte octet : units) {
            to.receive(new byte[] {octet});
        }
        assertThat(to.waiting()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "0000 0000 0000 0000 41, SELECTOR",
        "0000 0000 0000 0004 41, SELECTOR",
        "0000 0000 0000 00ff, SELECTOR",
        "0000 0000 0000 0100, SELECTOR",
        "0100 0000 0000 0000, SELECTOR",
        "0000 0000 0000 0003 4500 0014, RAW_IP",
        "8001 0000 0000 002a 6869, MISS",
        "ffff ffff ffff ffff, MISS",
        "8001 0000, SHORT",
        "00, SHORT",
        "'', SHORT",
        "0000 0000 0000 00, SHORT"
    })
    void dropsWhatHasNoBindingAndGoesOn(String packet, DropReason reason) throws IOException {
        SapfStreamEnd end = SapfStreamEnd.open(clockNs);
        byte[] v3 = SapfEnd.octets(V3);
        assertThat(end.receive(joined(unit(packet), unit("0000 0000 0000 0002" + V3))))
                .containsExactly(v3);
        assertThat(end.dropped(reason)).isOne();
    }

    @Test
    void missesSelectorsOfAnotherConnectionAndStart() throws IOException {
        byte[] packet = SapfEnd.packet(1, "payload");
        open();
        bind(packet);
        byte[] unit = from.send(packet);
        SapfStreamEnd another = SapfStreamEnd.accepted(accepting);
        another.receive(OPENING);
        assertThat(another.receive(unit)).isEmpty();
        assertThat(another.dropped(DropReason.MISS)).isOne();
        SapfStreamEnd anew = SapfStreamEnd.open(clockNs);
        assertThat(anew.receive(unit)).isEmpty();
        assertThat(anew.dropped(DropReason.MISS)).isOne();
    }

    @Test
    void saysOnceASecondThatItDoesNotKnowSelectorsAndTheirFlowsStayAnep() throws IOException {
        byte[] packet = SapfEnd.packet(1, "payload");
        open();
        bind(packet);
        byte[] unit = from.send(packet);
        SapfStreamEnd anew = SapfStreamEnd.open(clockNs);
        anew.receive(joined(unit, unit));
        byte[] unknown = anew.said();
        assertThat(unknown).hasSize(4 + Control.SELECTOR_OCTETS);
        clockNs.addAndGet(999_999_999);
        anew.receive(unit);
        assertThat(anew.said()).as("before a second is over").isEmpty();
        clockNs.addAndGet(1);
        anew.receive(unit);
        assertThat(anew.said()).isEqualTo(unknown);
        from.receive(unknown);
        assertThat(from.send(packet))
                .containsExactly(unit("0000 0000 0000 0002" + HexFormat.of().formatHex(packet)));
        assertThat(asking.statistics().asked()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0001 0008", // one more than the longest packet behind its selector
                "7fff ffff",
                "ffff ffff",
                "0100 544d" // ANEP
            })
    void endsTheStreamAtALengthBeyondTheLongestPacket(String length) throws IOException {
        byte[] packet = SapfEnd.packet(1, "before");
        open();
        byte[] units = joined(from.send(packet), SapfEnd.octets(length), new byte[100]);
        List<byte[]> packets = to.receive(units);
        assertThat(packets).hasSize(2).startsWith(packet);
        assertThat(Framing.fault(ByteBuffer.wrap(packets.get(1)), 0)).isEqualTo(ParseFault.HEADER_LENGTH);
        assertThat(to.receive(from.send(packet))).as("behind it").isEmpty();
        assertThat(to.waiting()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "'', HEADER_LENGTH",
        "0100 544d 0002 00, HEADER_LENGTH",
        "0100 544d 0002 0009, HEADER_LENGTH",
        "0100 544d 0002 0008 41, HEADER_LENGTH",
        "0100 544d 0001 0008, HEADER_LENGTH",
        "0200 544d 0002 0008, VERSION"
    })
    void endsTheStreamAtATunnelThatIsNotOnePacket(String payload, ParseFault fault) throws IOException {
        SapfStreamEnd end = SapfStreamEnd.open(clockNs);
        List<byte[]> packets = end.receive(unit("0000 0000 0000 0002" + payload));
        assertThat(packets).hasSize(1);
        assertThat(Framing.fault(ByteBuffer.wrap(packets.get(0)), 0)).isEqualTo(fault);
    }

    @ParameterizedTest
    @ValueSource(strings = {"7fff ffff", "0000 0008 0000 0000 0000 0002"})
    void endsTheStreamWhenThereIsRoomToSaySo(String broken) throws IOException {
        SapfStreamEnd end = SapfStreamEnd.open(clockNs);
        ByteBuffer units = ByteBuffer.wrap(SapfEnd.octets(broken));
        for (int asked = 0; asked < 2; asked++) {
            assertThat(end.codec.decodedOctets(units, 0, units.limit())).isEqualTo(Anep.BASIC_HEADER_OCTETS);
        }
        assertThat(end.codec.decode(units, 0, units.limit(), ByteBuffer.allocate(8), 0))
                .isEqualTo(units.limit());
        assertThat(end.receive(unit("0000 0000 0000 0002" + V3)))
                .as("behind it")
                .isEmpty();
    }

    @Test
    void tunnelsTheLongestPacket() throws IOException {
        byte[] longest = new byte[Anep.MAX_PACKET_OCTETS];
        ByteBuffer.wrap(longest).putLong(0x0100_544D_0002_FFFFL);
        open();
        assertThat(to.receive(from.send(longest))).containsExactly(longest);
    }

    @Test
    void dropsWhatIsTooLongBehindItsHeader() throws IOException {
        byte[] packet = SapfEnd.packet(1, "payload");
        open();
        bind(packet);
        byte[] selector = Arrays.copyOfRange(from.send(packet), 4, 12);
        byte[] unit = ByteBuffer.allocate(4 + 8 + Anep.MAX_PACKET_OCTETS)
                .putInt(8 + Anep.MAX_PACKET_OCTETS)
                .put(selector)
                .array();
        assertThat(to.receive(joined(unit, from.send(packet)))).containsExactly(packet);
        assertThat(to.dropped(DropReason.PACKET_TOO_LONG)).isOne();
    }

    @Test
    void isPartOfAPacketWhereItEndsInOne() throws IOException {
        byte[] packet = SapfEnd.packet(1, "payload");
        open();
        byte[] unit = from.send(packet);
        for (int octets = 1; octets < unit.length; octets++) {
            SapfStreamEnd end = SapfStreamEnd.open(clockNs);
            assertThat(end.receive(Arrays.copyOf(unit, octets))).isEmpty();
            List<byte[]> rest = end.receiveEnd();
            assertThat(rest).as("of %s octets", octets).hasSize(1);
            ByteBuffer part = ByteBuffer.wrap(rest.get(0));
            assertThat(part.limit()).isBetween(1, 7);
            assertThat(Framing.next(part, 0, part.limit())).isEqualTo(Framing.MORE);
            assertThat(end.waiting()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 4_544", "8, 1_514"})
    void endsTheStreamWhereNoPacketComes(int octets, int units) throws IOException {
        SapfStreamEnd end = SapfStreamEnd.open(clockNs);
        byte[] unit = ByteBuffer.allocate(4 + octets).putInt(octets).array();
        for (int i = 0; i < units; i++) {
            assertThat(end.receive(unit)).isEmpty();
        }
        assertThat(end.receive(joined(unit, new byte[64])))
                .hasSize(1)
                .allMatch(each -> Framing.fault(ByteBuffer.wrap(each), 0) == ParseFault.HEADER_LENGTH);
        assertThat(end.sapf.traffic().packetsIn()).isEqualTo(units + 1L);
        SapfStreamEnd begun = SapfStreamEnd.open(clockNs);
        begun.receive(unit("0000 0000 0000 0002" + V3));
        for (int i = 0; i < 2 * units; i++) {
            assertThat(begun.receive(unit)).isEmpty();
        }
        assertThat(begun.receive(unit("0000 0000 0000 0002" + V3))).containsExactly(SapfEnd.octets(V3));
    }

    @Test
    void bindsNoMoreThanItsShareAndAnswersNoMoreThanIsRead() throws IOException {
        open();
        to.receive(from.send(SapfEnd.packet(0, "")));
        for (int flow = 0; flow < 10_000; flow++) {
            byte[] bind = bind(flow);
            to.receive(bind);
        }
        assertThat(accepting.statistics().issued()).isEqualTo(StreamSelectors.MOST);
        assertThat(to.codec.saidOctets()).isLessThanOrEqualTo(4_096);
        to.said();
        to.receive(bind(10_000));
        byte[] refused = to.said();
        assertThat(refused).hasSize(4 + Control.REFUSED_OCTETS);
        assertThat(ByteBuffer.wrap(refused).getInt(4 + Control.CONTENT + 8)).isEqualTo(Refused.SOURCE_FULL.number());
    }

    private static byte[] bind(int flow) {
        byte[] packet = SapfEnd.packet(flow, "");
        ByteBuffer unit = ByteBuffer.allocate(4 + Control.BIND_HEADER + packet.length);
        unit.putInt(unit.capacity() - 4);
        Control.putHead(unit, 4, Control.BIND, unit.capacity() - 4);
        return unit.put(4 + Control.BIND_HEADER, packet).array();
    }

    @Test
    void bindsNoMoreThanAllConnectionsMayHave() throws IOException {
        List<SapfStreamEnd> ends = new ArrayList<>();
        for (int i = 0; i <= Selector.SLOTS / StreamSelectors.MOST; i++) {
            SapfStreamEnd end = SapfStreamEnd.accepted(accepting);
            ends.add(end);
            end.receive(OPENING);
            for (int flow = 0; flow < StreamSelectors.MOST; flow++) {
                end.receive(bind(flow));
                end.said();
            }
        }
        assertThat(accepting.statistics().issued()).isEqualTo(Selector.SLOTS);
        ends.forEach(each -> each.codec.closed());
        assertThat(accepting.statistics().issued()).isZero();
    }

    @Test
    void issuesNoSelectorsWhereItConnected() throws IOException {
        open();
        from.receive(bind(1));
        byte[] refused = from.said();
        assertThat(ByteBuffer.wrap(refused).getInt(4 + Control.CONTENT + 8)).isEqualTo(Refused.NOT_ACCEPTED.number());
    }

    @Test
    void leavesAnepWhatChangesFromPacketToPacket() throws IOException {
        byte[] packet = SapfEnd.packet(SapfEnd.builder(1).checksum(), "payload");
        open();
        bind(packet);
        byte[] tunnelled = unit("0000 0000 0000 0002" + HexFormat.of().formatHex(packet));
        assertThat(from.send(packet, packet)).containsExactly(joined(tunnelled, tunnelled));
    }

    @Test
    void carriesMoreFlowsThanThereAreSelectors() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        open();
        for (int i = 0; i < 20_000; i++) {
            int flow = i < 10_000 ? random.nextInt(500) : 10_000 + random.nextInt(20);
            byte[] packet = SapfEnd.packet(flow, "x".repeat(random.nextInt(40)));
            assertThat(to.receive(from.send(packet)))
                    .as("seed %s, packet %s", SEED, i)
                    .containsExactly(packet);
            from.receive(to.said());
        }
        assertThat(accepting.statistics().issued()).isBetween(1, StreamSelectors.MOST);
        assertThat(asking.statistics().asked()).isEqualTo(accepting.statistics().issued());
        from.codec.saidOctets();
        assertThat(asking.statistics().packetsOut())
                .as("flows of now have pushed those of before out")
                .isGreaterThan(8_000);
        assertThat(to.sapf.traffic().packetsIn()).as("dropped").isZero();
    }

    @Test
    void makesOfHostileOctetsPacketsOrAnEndAndNothingElse() throws IOException {
        long seed = Seeds.ofCommit(SapfStreamTest.class);
        SplittableRandom random = new SplittableRandom(seed);
        byte[] packet = SapfEnd.packet(1, "payload");
        for (int i = 0; i < Seeds.scaled(1_000); i++) {
            SapfStreamEnd end = SapfStreamEnd.accepted(accepting);
            SapfStreamEnd sender = SapfStreamEnd.connected(asking);
            end.receive(sender.said());
            sender.receive(end.said());
            end.receive(sender.send(packet, packet));
            sender.receive(end.said());
            byte[] units = joined(
                    sender.send(packet, SapfEnd.packet(2, "a"), SapfEnd.packet(2, "b")),
                    bind(3),
                    unit("00"),
                    unit("0000 0000 0000 0002" + V3));
            for (int changed = random.nextInt(1, 4); changed > 0; changed--) {
                units[random.nextInt(units.length)] = (byte) random.nextInt(256);
            }
            int split = random.nextInt(units.length + 1);
            List<byte[]> packets = new ArrayList<>(end.receive(Arrays.copyOf(units, split)));
            packets.addAll(end.receive(Arrays.copyOfRange(units, split, units.length)));
            packets.addAll(end.receiveEnd());
            for (int p = 0; p < packets.size(); p++) {
                ByteBuffer each = ByteBuffer.wrap(packets.get(p));
                boolean isWhole = Framing.next(each, 0, each.limit()) == each.limit();
                assertThat(isWhole || p == packets.size() - 1)
                        .as("seed %s, run %s, packet %s of %s", seed, i, p, packets.size())
                        .isTrue();
            }
            assertThat(end.waiting()).isZero();
            end.codec.closed();
            sender.codec.closed();
        }
        assertThat(accepting.statistics().issued()).isZero();
    }

    @Test
    void leavesANeighbourAnepForAWhileThatDoesNotAnswer() {
        from.said();
        from.codec.failed("as a test wants it");
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING)).isNull();
        clockNs.addAndGet(Sapf.STREAM_REST.toNanos() - 1);
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING)).isNull();
        clockNs.addAndGet(1);
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING)).isNotNull();
    }

    @Test
    void holdsNothingAgainstANeighbourThatWasNotReachedOrHasAnswered() throws IOException {
        from.codec.failed("as a test wants it");
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING)).as("not reached").isNotNull();
        open();
        from.codec.failed("as a test wants it");
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING)).as("lost later").isNotNull();
        SapfStreamEnd another = SapfStreamEnd.connected(asking);
        another.said();
        another.codec.closed();
        another.codec.failed("as a test wants it");
        assertThat(asking.streamTo(SapfStreamEnd.ACCEPTING))
                .as("closed by this end")
                .isNotNull();
    }
}
