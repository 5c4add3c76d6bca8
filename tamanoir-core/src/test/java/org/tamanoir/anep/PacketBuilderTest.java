package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.InetAddress;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PacketBuilderTest {
    private static final InetAddress IPV4 = address("10.0.2.7");
    private static final InetAddress IPV6 = address("2001:db8::7");

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (java.net.UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void buildsTheVectorsOfTheSpecification() {
        assertThat(Octets.of(new PacketBuilder().typeId(18).build(Octets.text(""))))
                .isEqualTo(Octets.hex("0100 0012 0002 0008"));
        assertThat(Octets.of(new PacketBuilder()
                        .typeId(0x4A4E)
                        .discardIfUnknownType(true)
                        .build(Octets.text("PING"))))
                .isEqualTo(Octets.hex("0180 4a4e 0002 000c 5049 4e47"));
        assertThat(Octets.of(new PacketBuilder()
                        .typeId(0x4A4E)
                        .source(address("10.0.1.2"))
                        .destination(IPV4)
                        .checksum()
                        .build(Octets.text("hello"))))
                .isEqualTo(Octets.hex("0100 4a4e 000a 002d 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207"
                        + "0003 0002 598f 0000 6865 6c6c 6f"));
        assertThat(Octets.of(new PacketBuilder()
                        .typeId(15)
                        .source(address("2001:db8::1"))
                        .destination(address("2001:db8::2"))
                        .checksum()
                        .build(ByteBuffer.wrap(new byte[] {0, 1, 2, 3}))))
                .isEqualTo(Octets.hex("0100 000f 0010 0044 0001 0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0001"
                        + "0002 0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0002 0003 0002 a10b 0000 0001 0203"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.2.7", "2001:db8::7"})
    void whatIsSetIsRead(String ends) {
        long before = System.nanoTime();
        PacketBuilder builder = new PacketBuilder()
                        .source(address(ends))
                        .destination(address(ends))
                        .destinationPort(65_535)
                        .service("org.example.Monitor")
                        .classOfService(255, 254)
                        .stream(-5)
                        .nextSequence(1L << 40)
                        .hopBudget(65_534)
                        .timestamps()
                        .checksum()
                        .option(Option.FORMAT.wireType(), Octets.hex("000102030405060708090a0b"))
                        .option(0x1234, new byte[] {1, 2, 3, 4, 5});
        Packet packet = builder.build(Octets.text("payload"));

        assertThat(packet.typeId()).isEqualTo(Anep.DEFAULT_TYPE_ID);
        assertThat(packet.discardIfUnknownType()).isFalse();
        assertThat(packet.headerLength()).isEqualTo(builder.headerLength());
        assertThat(packet.source()).isEqualTo(address(ends));
        assertThat(packet.destination()).isEqualTo(address(ends));
        assertThat(packet.destinationPort()).isEqualTo(65_535);
        assertThat(packet.serviceKey()).isEqualTo(ServiceKey.of("org.example.Monitor"));
        assertThat(packet.classOfService()).isEqualTo(255);
        assertThat(packet.dropPrecedence()).isEqualTo(254);
        assertThat(packet.streamId()).isEqualTo(-5);
        assertThat(packet.sequence()).isEqualTo(1L << 40);
        assertThat(packet.hopBudget()).isEqualTo(65_534);
        assertThat(packet.originTimeNs() - before).isNotNegative();
        assertThat(packet.has(Option.CHECKSUM)).isTrue();
        assertThat(Octets.copy(packet.buffer(), packet.optionOffset(Option.FORMAT), 12))
                .isEqualTo(Octets.hex("000102030405060708090a0b"));
        assertThat(Octets.copy(packet.buffer(), packet.payloadOffset() - 12, 12))
                .isEqualTo(Octets.hex("1234 0003 0102 0304 0500 0000"));
        assertThat(Octets.payload(packet)).isEqualTo("payload");
        assertThat(packet.hasRepeatedOption()).isFalse();
    }

    @Test
    void eachPacketHasTheNextSequenceNumberAndItsOwnChecksum() {
        PacketBuilder builder = new PacketBuilder().stream(1).checksum();
        ByteBuffer batch = ByteBuffer.allocateDirect(200);
        ByteBuffer payload = Octets.text("hello").position(1);
        batch.position(3);
        int length = builder.write(batch, payload);
        assertThat(builder.write(batch, Octets.text(""))).isEqualTo(length - 4);

        assertThat(batch.position()).isEqualTo(3 + 2 * length - 4);
        assertThat(payload.remaining()).isEqualTo(4);
        Packet packet = new Packet();
        assertThat(packet.parse(batch, 3, length)).isNull();
        assertThat(packet.sequence()).isZero();
        assertThat(Octets.payload(packet)).isEqualTo("ello");
        assertThat(packet.parse(batch, 3 + length, length - 4)).isNull();
        assertThat(packet.sequence()).isEqualTo(1);
    }

    @Test
    void aFullTargetStaysUntouched() {
        PacketBuilder builder = new PacketBuilder().stream(1);
        ByteBuffer payload = Octets.text("hello");
        ByteBuffer target = ByteBuffer.allocate(100);
        target.position(10).limit(10 + builder.headerLength() + 4);

        assertThatExceptionOfType(BufferOverflowException.class).isThrownBy(() -> builder.write(target, payload));
        assertThat(target.position()).isEqualTo(10);
        assertThat(target.array()).containsOnly(0);
        assertThat(payload.remaining()).isEqualTo(5);
        target.limit(100);
        builder.write(target, payload);
        Packet packet = new Packet();
        assertThat(packet.parse(target, 10, 90)).isNull();
        assertThat(packet.sequence()).as("the attempt used no number").isZero();
    }

    @Test
    void anOptionThatIsSetAgainIsReplaced() {
        PacketBuilder builder = new PacketBuilder()
                .timestamps().destination(IPV4).checksum().stream(1)
                        .hopBudget(3)
                        .destination(IPV6)
                        .hopBudget(4)
                        .checksum()
                        .timestamps()
                        .stream(2);
        Packet packet = builder.build(Octets.text("x"));

        assertThat(packet.hasRepeatedOption()).isFalse();
        assertThat(packet.headerLength()).isEqualTo(8 + 24 + 8 + 8 + 20 + 16);
        assertThat(packet.destination()).isEqualTo(IPV6);
        assertThat(packet.hopBudget()).isEqualTo(4);
        assertThat(packet.streamId()).isEqualTo(2);
        assertThat(packet.originTimeNs()).isNotZero();
        assertThat(builder.build(Octets.text("x")).sequence()).isEqualTo(1);
    }

    @Test
    void fieldsBehindAReplacedOptionAreStillFilledIn() {
        PacketBuilder builder = new PacketBuilder()
                .destination(IPV6).stream(1).timestamps().checksum().destination(IPV4);
        builder.build(Octets.text("x"));
        Packet packet = builder.build(Octets.text("x"));

        assertThat(packet.destination()).isEqualTo(IPV4);
        assertThat(packet.sequence()).isEqualTo(1);
        assertThat(packet.originTimeNs()).isNotZero();
        assertThat(packet.has(Option.CHECKSUM)).isTrue();
    }

    @Test
    void likeCopiesHeaderAndOptionsAsTheyAre() {
        Packet template = new PacketBuilder()
                .typeId(0x4A4E).discardIfUnknownType(true).destination(IPV4).stream(7)
                        .nextSequence(99)
                        .timestamps()
                        .checksum()
                        .option(0x1234, new byte[8])
                        .build(Octets.text("template"));
        PacketBuilder builder = PacketBuilder.like(template);
        Packet packet = builder.build(Octets.text("another payload"));

        assertThat(packet.typeId()).isEqualTo(0x4A4E);
        assertThat(packet.discardIfUnknownType()).isTrue();
        assertThat(packet.destination()).isEqualTo(IPV4);
        assertThat(packet.headerLength()).isEqualTo(template.headerLength());
        assertThat(packet.streamId()).isEqualTo(7);
        assertThat(packet.sequence()).isEqualTo(99);
        assertThat(packet.originTimeNs()).isEqualTo(template.originTimeNs());
        assertThat(Octets.payload(packet)).isEqualTo("another payload");
        assertThat(builder.build(Octets.text("")).sequence()).isEqualTo(99);
        assertThat(Octets.payload(template)).isEqualTo("template");
    }

    @Test
    void likeCanBeChanged() {
        byte[] stream = new byte[300];
        Packet first = new PacketBuilder().destination(IPV4).checksum().build(Octets.text("hi"));
        ByteBuffer buffer = ByteBuffer.wrap(stream).put(50, Octets.of(first));
        Packet template = new Packet();
        assertThat(template.parse(buffer, 50, 250)).isNull();

        Packet packet = PacketBuilder.like(template).destination(IPV6).serviceKey(5).stream(3)
                .build(Octets.text("ho"));

        assertThat(packet.destination()).isEqualTo(IPV6);
        assertThat(packet.serviceKey()).isEqualTo(5);
        assertThat(packet.sequence()).isZero();
        assertThat(packet.hasRepeatedOption()).isFalse();
        assertThat(Octets.payload(packet)).isEqualTo("ho");
    }

    @Test
    void theLargestPacketHas65535Octets() {
        PacketBuilder builder = new PacketBuilder().checksum();
        int most = Anep.MAX_PACKET_OCTETS - builder.headerLength();
        Packet packet = builder.build(ByteBuffer.allocateDirect(most));
        assertThat(packet.length()).isEqualTo(65_535);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.build(ByteBuffer.allocate(most + 1)))
                .withMessage("packet length 65536: must be at most 65535 octets: send several packets");
    }

    @Test
    void theLargestHeaderHas65532Octets() {
        PacketBuilder builder = new PacketBuilder().option(0x1234, new byte[65_520]);
        assertThat(builder.headerLength()).isEqualTo(65_532);
        assertThat(builder.build(Octets.text("abc")).length()).isEqualTo(65_535);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.hopBudget(1))
                .withMessageStartingWith("header length 65540: must be at most 65535 octets");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.option(1, new byte[1 << 20]));
        assertThat(builder.headerLength()).isEqualTo(65_532);
        assertThat(builder.build(Octets.text("abc")).length()).isEqualTo(65_535);
    }

    @Test
    void refusesValuesOutOfRange() {
        PacketBuilder builder = new PacketBuilder();
        refused(() -> builder.typeId(0), "Type ID 0: must be 1 to 65535");
        refused(() -> builder.typeId(65_536), "Type ID 65536: must be 1 to 65535");
        refused(() -> builder.destinationPort(-1), "port -1: must be 0 to 65535");
        refused(() -> builder.destinationPort(65_536), "port 65536: must be 0 to 65535");
        refused(() -> builder.classOfService(256, 0), "class of service 256: must be 0 to 255");
        refused(() -> builder.classOfService(0, -1), "drop precedence -1: must be 0 to 255");
        refused(() -> builder.hopBudget(65_536), "hop budget 65536: must be 0 to 65535");
        refused(() -> builder.option(65_536, new byte[0]), "option type 65536: must be 0 to 65535");
        assertThat(builder.headerLength()).isEqualTo(8);
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessage(message);
    }

    @ParameterizedTest
    @CsvSource({"4777, OPTION", "0001, OPTION_FORMAT", "0003, CHECKSUM"})
    void doesNotBuildWhatANodeWouldDrop(String type, ParseFault reason) {
        PacketBuilder builder = new PacketBuilder().option(Integer.parseInt(type, 16), new byte[0]);

        assertThatIllegalStateException()
                .isThrownBy(() -> builder.build(Octets.text("")))
                .withMessageContaining(reason.name());
    }

    @Test
    void aRoundIsWrittenWithItsPathAndFlagsAndCanBeSetInPlace() {
        PacketBuilder builder = new PacketBuilder()
                .round(0x0102_0304_0506_0708L, 9, Anep.ROUND_LAST)
                .checksum();
        Packet packet = builder.build(Octets.text("x"));
        assertThat(packet.round()).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(packet.pathOfRound()).isEqualTo(9);
        assertThat(packet.roundFlags()).isEqualTo(Anep.ROUND_LAST);

        NodeOptions.setRound(packet, -2, 65_535, 255);

        Packet again = new Packet();
        assertThat(again.parse(packet.buffer(), packet.offset(), packet.length()))
                .isNull();
        assertThat(again.round()).isEqualTo(-2);
        assertThat(again.pathOfRound()).isEqualTo(65_535);
        assertThat(again.roundFlags()).isEqualTo(255);
        assertThatIllegalArgumentException().isThrownBy(() -> NodeOptions.setRound(packet, 1, 65_536, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.round(1, 0, 256));
    }
}
