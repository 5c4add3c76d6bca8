package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/** Changing packets where they lie, and moving them when they grow. */
class PacketTest {
    /** An output buffer as a node has it: always the same object, packets one behind the other. */
    private static final class Output implements PacketSpace {
        final ByteBuffer buffer = ByteBuffer.allocateDirect(400_000).position(100);
        int reserved;

        @Override
        public ByteBuffer reserve(int octets) {
            assertThat(buffer.remaining()).isGreaterThanOrEqualTo(octets);
            reserved = octets;
            return buffer;
        }

        @Override
        public void commit(int octets) {
            assertThat(octets).isLessThanOrEqualTo(reserved);
            reserved = 0;
            buffer.position(buffer.position() + octets);
        }
    }

    private static final int PLACE = 37;
    private final Output output = new Output();

    private static PacketBuilder full() throws Exception {
        return new PacketBuilder()
                        .source(InetAddress.getByName("10.0.1.2"))
                        .destination(InetAddress.getByName("10.0.2.7"))
                        .checksum()
                        .classOfService(1, 2)
                        .stream(5)
                        .nextSequence(6)
                        .hopBudget(8);
    }

    /** A view of a packet in the middle of a buffer with other octets around. */
    private Packet view(PacketBuilder builder, String payload, boolean direct) {
        ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(70_000) : ByteBuffer.allocate(70_000);
        for (int i = 0; i < 1000; i++) {
            buffer.put(i, (byte) 0xA5);
        }
        buffer.position(PLACE);
        int length = builder.write(buffer, Octets.text(payload));
        buffer.clear();
        Packet packet = new Packet(Anep.DEFAULT_TYPE_ID, output);
        assertThat(packet.parse(buffer, PLACE, length)).isNull();
        return packet;
    }

    private static Packet reparsed(Packet packet) {
        Packet again = new Packet();
        assertThat(again.parse(packet.buffer(), packet.offset(), packet.length()))
                .isNull();
        return again;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void marksInPlaceAndKeepsTheChecksumRight(boolean direct) throws Exception {
        Packet packet = view(full().serviceKey(1), "hello", direct);
        ByteBuffer place = packet.buffer();

        assertThat(packet.setClassOfService(200)).isTrue();
        NodeOptions.setHopBudget(packet, 65_535);
        packet.setServiceKey(-2);
        assertThat(packet.swapEnds()).isTrue();

        Packet again = reparsed(packet);
        assertThat(again.classOfService()).isEqualTo(200);
        assertThat(again.dropPrecedence()).isEqualTo(2);
        assertThat(again.hopBudget()).isEqualTo(65_535);
        assertThat(again.serviceKey()).isEqualTo(-2);
        assertThat(again.source()).hasToString("/10.0.2.7");
        assertThat(again.destination()).hasToString("/10.0.1.2");
        assertThat(again.sequence()).isEqualTo(6);
        assertThat(Octets.payload(again)).isEqualTo("hello");
        assertThat(packet.buffer()).isSameAs(place);
        assertThat(place.get(PLACE - 1)).isEqualTo((byte) 0xA5);
        assertThat(place.get(PLACE + packet.length())).isEqualTo((byte) 0xA5);
    }

    @Test
    void tellsTheRoundThatItCameIn() throws Exception {
        byte[] round = Octets.hex("fedcba9876543210fffe0500");
        Packet packet =
                new PacketBuilder().option(Option.ROUND.wireType(), round).build(Octets.text("x"));

        assertThat(packet.round()).isEqualTo(0xfedcba9876543210L);
        assertThat(packet.pathOfRound()).isEqualTo(65_534);
        assertThat(packet.roundFlags()).isEqualTo(Anep.ROUND_EMPTY | Anep.ROUND_PATH_ENDS);
    }

    @Test
    void hasNoRoundWithoutItsOption() throws Exception {
        Packet packet = new PacketBuilder().build(Octets.text("x"));

        assertThat(packet.round()).isZero();
        assertThat(packet.pathOfRound()).isEqualTo(-1);
        assertThat(packet.roundFlags()).isZero();
    }

    @Test
    void marksRandomPacketsAndKeepsTheChecksumRight() throws Exception {
        long seed = Seeds.ofCommit(PacketTest.class);
        Random random = new Random(seed);
        PacketBuilder builder = full().serviceKey(0);
        for (int round = 0; round < Seeds.scaled(2000); round++) {
            Packet packet = view(builder, "x".repeat(random.nextInt(8)), false);
            for (int change = random.nextInt(6); change >= 0; change--) {
                switch (random.nextInt(5)) {
                    case 0 -> packet.setClassOfService(random.nextInt(256));
                    case 1 -> NodeOptions.setHopBudget(packet, random.nextInt(65_536));
                    case 2 -> packet.setServiceKey(random.nextBoolean() ? random.nextLong() : -1);
                    case 3 -> packet.swapEnds();
                    default -> packet.setServiceKey(0);
                }
                assertThat(Checksum.sum(packet.buffer(), packet.offset(), packet.length()))
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo(0xFFFF);
            }
        }
    }

    @Test
    void marksThatHaveNoPlaceAreRefused() {
        Packet packet = view(new PacketBuilder(), "hello", false);
        byte[] before = Octets.of(packet);

        assertThat(packet.setClassOfService(1)).isFalse();
        assertThat(packet.swapEnds()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> NodeOptions.setHopBudget(packet, 1))
                .withMessageContaining("HOP_BUDGET");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> packet.setClassOfService(256))
                .withMessage("class of service 256: must be 0 to 255");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NodeOptions.setHopBudget(packet, -1))
                .withMessage("hop budget -1: must be 0 to 65535");
        assertThat(Octets.of(packet)).isEqualTo(before);
    }

    @Test
    void endsOfDifferentLengthAreNotSwapped() throws Exception {
        Packet packet = view(full().destination(InetAddress.getByName("2001:db8::1")), "hello", false);
        byte[] before = Octets.of(packet);

        assertThat(packet.swapEnds()).isFalse();
        assertThat(Octets.of(packet)).isEqualTo(before);
    }

    @Test
    void aPayloadChangedInPlaceGetsItsChecksumWhenSealed() throws Exception {
        Packet packet = view(full(), "hello", true);
        ByteBuffer payload = packet.payload();
        assertThat(payload.remaining()).isEqualTo(5);
        payload.put(payload.position(), (byte) 'j');
        NodeOptions.setHopBudget(packet, 3);
        packet.seal();

        assertThat(Octets.payload(reparsed(packet))).isEqualTo("jello");
        assertThat(reparsed(packet).hopBudget()).isEqualTo(3);
    }

    @Test
    void thePayloadViewIsFreshEachTime() {
        Packet packet = view(new PacketBuilder(), "hello", false);
        ByteBuffer view = packet.payload();
        view.order(ByteOrder.LITTLE_ENDIAN).position(view.limit());

        assertThat(packet.payload()).isSameAs(view);
        assertThat(view.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        assertThat(view.remaining()).isEqualTo(5);
        assertThat(packet.buffer().limit()).isEqualTo(70_000);
        assertThat(packet.buffer().position()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "hi", "howdy"})
    void aPayloadThatFitsIsReplacedInPlace(String replacement) throws Exception {
        Packet packet = view(full(), "hello", true);
        ByteBuffer place = packet.buffer();
        ByteBuffer source = Octets.text(">" + replacement).position(1);
        packet.setPayload(source);
        packet.seal();

        assertThat(source.hasRemaining()).isFalse();
        assertThat(packet.buffer()).isSameAs(place);
        assertThat(output.buffer.position()).isEqualTo(100);
        assertThat(Octets.payload(reparsed(packet))).isEqualTo(replacement);
        assertThat(packet.payload().remaining()).isEqualTo(replacement.length());
    }

    @Test
    void aPartOfThePayloadCanBecomeThePayload() throws Exception {
        for (boolean direct : new boolean[] {false, true}) {
            Packet packet = view(full(), "0123456789", direct);
            ByteBuffer payload = packet.payload();
            packet.setPayload(payload.position(payload.position() + 3));
            packet.seal();
            assertThat(Octets.payload(reparsed(packet))).isEqualTo("3456789");

            packet.setPayload(packet.payload().slice().position(1).limit(4));
            packet.seal();
            assertThat(Octets.payload(reparsed(packet))).isEqualTo("456");
        }
    }

    @Test
    void aLongerPayloadMovesThePacketIntoThePacketSpace() throws Exception {
        Packet packet = view(full(), "hello", false);
        ByteBuffer before = packet.buffer();
        byte[] old = Octets.of(packet);
        packet.setPayload(Octets.text("a longer payload"));
        NodeOptions.setHopBudget(packet, 77);
        packet.seal();

        assertThat(packet.offset()).isEqualTo(100);
        assertThat(output.buffer.position()).isEqualTo(100 + packet.length());
        assertThat(output.buffer.limit()).isEqualTo(output.buffer.capacity());
        Packet again = reparsed(packet);
        assertThat(Octets.payload(again)).isEqualTo("a longer payload");
        assertThat(again.hopBudget()).isEqualTo(77);
        assertThat(again.sequence()).isEqualTo(6);
        assertThat(again.destination()).hasToString("/10.0.2.7");
        assertThat(packet.payload().remaining()).isEqualTo(16);
        assertThat(Octets.copy(before, PLACE, old.length)).isEqualTo(old);
    }

    @Test
    void theOldPayloadIsReadWhileTheNewOneIsWritten() throws Exception {
        Packet packet = view(full(), "hello", true);
        ByteBuffer from = packet.payload();
        ByteBuffer to = packet.newPayload(100);
        assertThat(to.remaining()).isEqualTo(100);
        while (from.hasRemaining()) {
            byte octet = from.get();
            to.put(octet).put(octet);
        }
        // What is set meanwhile is kept.
        packet.setClassOfService(9);
        NodeOptions.setHopBudget(packet, 1);
        packet.swapEnds();
        packet.commitPayload(10);
        packet.seal();

        Packet again = reparsed(packet);
        assertThat(Octets.payload(again)).isEqualTo("hheelllloo");
        assertThat(again.classOfService()).isEqualTo(9);
        assertThat(again.hopBudget()).isEqualTo(1);
        assertThat(again.source()).hasToString("/10.0.2.7");
        assertThat(output.buffer.position()).isEqualTo(100 + packet.length());
    }

    @Test
    void aNewPayloadThatIsNotCommittedLeavesTheOldOne() throws Exception {
        Packet packet = view(full(), "hello", false);
        byte[] before = Octets.of(packet);
        packet.newPayload(1000).put(new byte[1000]);

        assertThat(Octets.of(packet)).isEqualTo(before);
        assertThat(output.buffer.position()).isEqualTo(100);
        packet.setPayload(Octets.text("another, longer"));
        assertThat(packet.offset()).isEqualTo(100);
        assertThat(Octets.payload(packet)).isEqualTo("another, longer");
    }

    @Test
    void payloadsAreCommittedOnceAndWithinWhatWasAskedFor() {
        Packet packet = view(new PacketBuilder(), "hello", false);
        assertThatIllegalStateException().isThrownBy(() -> packet.commitPayload(0));

        packet.newPayload(10);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> packet.commitPayload(11))
                .withMessage("payload of 11 octets: 10 were asked for");
        assertThatIllegalArgumentException().isThrownBy(() -> packet.commitPayload(-1));
        packet.commitPayload(0);
        assertThat(packet.payloadLength()).isZero();
        assertThatIllegalStateException().isThrownBy(() -> packet.commitPayload(0));
    }

    @Test
    void memoryForAPayloadEndsWithThePacketOrItsMove() {
        Packet packet = view(new PacketBuilder(), "hello", false);
        packet.newPayload(10);
        assertThat(packet.addOption(Option.HOP_BUDGET)).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> packet.commitPayload(10));

        packet.newPayload(10);
        assertThat(packet.parse(Octets.buffer("01"), 0, 1)).isEqualTo(ParseFault.SHORT);
        assertThatIllegalStateException().isThrownBy(() -> packet.commitPayload(10));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anOptionIsAddedBehindTheOthers(boolean checksum) throws Exception {
        PacketBuilder builder = new PacketBuilder().destination(InetAddress.getByName("2001:db8::7"));
        Packet packet = view(checksum ? builder.checksum() : builder, "hello", true);
        int header = packet.headerLength();
        // What was in the packet space before must not shine through.
        for (int i = 100; i < 300; i++) {
            output.buffer.put(i, (byte) 0xEE);
        }

        assertThat(packet.addOption(Option.TIMESTAMPS)).isTrue();
        packet.setServiceKey(0x0102_0304_0506_0708L);
        packet.seal();

        Packet again = reparsed(packet);
        assertThat(again.headerLength()).isEqualTo(header + 20 + 12);
        assertThat(again.has(Option.TIMESTAMPS)).isTrue();
        assertThat(again.originTimeNs()).isZero();
        assertThat(again.serviceKey()).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(again.destination()).isEqualTo(InetAddress.getByName("2001:db8::7"));
        assertThat(Octets.payload(again)).isEqualTo("hello");
        assertThat(packet.payload().remaining()).isEqualTo(5);
        packet.setServiceKey(5);
        packet.seal();
        assertThat(reparsed(packet).serviceKey()).isEqualTo(5);
    }

    @Test
    void everyOptionOfFixedLengthCanBeAdded() {
        for (Option option : Option.values()) {
            Packet packet = view(new PacketBuilder(), "hello", false);
            if (option.words() == 0) {
                assertThatIllegalArgumentException().isThrownBy(() -> packet.addOption(option));
                continue;
            }
            assertThat(packet.addOption(option)).isTrue();
            packet.seal();
            assertThat(reparsed(packet).has(option)).as(option.name()).isTrue();
            assertThatIllegalArgumentException().isThrownBy(() -> packet.addOption(option));
        }
    }

    @Test
    void privateOptionsAreNotAddedUnderAForeignType() {
        Packet packet = view(new PacketBuilder().typeId(0x4A4E), "hello", false);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> packet.addOption(Option.HOP_BUDGET))
                .withMessage("HOP_BUDGET cannot be added: it is private to Type ID 0x544d, the packet has 0x4a4e");
        assertThat(packet.addOption(Option.CHECKSUM)).isTrue();
        packet.seal();
        assertThat(Octets.payload(reparsed(packet))).isEqualTo("hello");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theLargestPacketTakesNoMore(boolean direct) {
        String most = "x".repeat(65_535 - 8);
        Packet packet = view(new PacketBuilder(), most, direct);
        byte[] before = Octets.of(packet);

        assertThat(packet.payload().remaining()).isEqualTo(65_527);
        assertThat(packet.maxPayloadOctets()).isEqualTo(65_527);
        assertThat(packet.addOption(Option.HOP_BUDGET)).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> packet.setServiceKey(1))
                .withMessageContaining("no room for a service key (limit 65535)");
        assertThatIllegalArgumentException().isThrownBy(() -> packet.newPayload(65_528));
        assertThatIllegalArgumentException().isThrownBy(() -> packet.newPayload(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> packet.setPayload(ByteBuffer.allocate(65_528)));
        assertThat(Octets.of(packet)).isEqualTo(before);
        packet.setPayload(Octets.text("y".repeat(65_527)));
        assertThat(Octets.payload(reparsed(packet))).isEqualTo("y".repeat(65_527));
    }

    @Test
    void aSmallPacketGrowsToTheLargest() {
        Packet packet = view(new PacketBuilder().checksum(), "", true);
        packet.setPayload(ByteBuffer.allocate(packet.maxPayloadOctets()));
        packet.seal();

        assertThat(packet.length()).isEqualTo(65_535);
        assertThat(reparsed(packet).payloadLength()).isEqualTo(65_519);
    }

    @Test
    void aCopyIsOnItsOwn() throws Exception {
        Packet packet = view(full(), "hello", true);
        ByteBuffer payload = packet.payload();
        Packet copy = packet.copy();
        payload.put(payload.position(), (byte) 'j');
        NodeOptions.setHopBudget(packet, 1);
        packet.seal();

        assertThat(copy.buffer().hasArray()).isTrue();
        assertThat(Octets.payload(reparsed(copy))).isEqualTo("hello");
        assertThat(copy.hopBudget()).isEqualTo(8);
        assertThat(Octets.payload(reparsed(packet))).isEqualTo("jello");
        copy.setPayload(Octets.text("a payload of its own"));
        copy.seal();
        assertThat(Octets.payload(reparsed(copy))).isEqualTo("a payload of its own");
        assertThat(output.buffer.position()).isEqualTo(100);
    }

    @Test
    void sealingAnUnchangedPacketChangesNothing() throws Exception {
        Packet packet = view(full(), "hello", false);
        byte[] before = Octets.of(packet);
        packet.seal();
        assertThat(Octets.of(packet)).isEqualTo(before);
        packet.payload();
        packet.seal();
        packet.seal();
        assertThat(Octets.of(packet)).isEqualTo(before);
    }

    @Test
    void oneViewServesPacketsInDifferentBuffers() {
        Packet packet = new Packet(Anep.DEFAULT_TYPE_ID, output);
        ByteBuffer batch = ByteBuffer.allocate(100);
        PacketBuilder builder = new PacketBuilder().serviceKey(1);
        int length = builder.write(batch, Octets.text("one"));
        builder.write(batch, Octets.text("two"));

        assertThat(packet.parse(batch, 0, length)).isNull();
        packet.setPayload(Octets.text("grown"));
        assertThat(packet.parse(batch, length, length)).isNull();
        ByteBuffer payload = packet.payload();
        assertThat((char) payload.get()).isEqualTo('t');
        packet.setPayload(Octets.text("grown, too"));
        assertThat(Octets.payload(packet)).isEqualTo("grown, too");
        assertThat(packet.parse(output.buffer, 100, length + 2)).isNull();
        assertThat(Octets.payload(packet)).isEqualTo("grown");
    }

    @Test
    void saysWhatItIsInOneLine() {
        assertThat(view(new PacketBuilder().serviceKey(0xAB), "hello", false))
                .hasToString("ANEP type 0x544d, header 20, packet 25 octets, service key 00000000000000ab");
    }
}
