package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class UnknownFormatTest extends MessageTesting {
    private final TestFormats asked = new TestFormats(Flights.SHORT);
    private final TestHandler handler = new TestHandler();

    private static Packet flight(int id) {
        return Flights.packet(Flights.FLIGHT, Flights.flight(id, 0, "hub"));
    }

    /** Answers, and waits until the service has gone on. */
    private void answer(ServiceHarness harness, Format format) {
        asked.answer(format);
        harness.advance(Duration.ZERO);
    }

    private void refuse(ServiceHarness harness, Format format) {
        asked.refuse(format);
        harness.advance(Duration.ZERO);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aMessageWaitsForItsFormat(Transport transport) {
        ServiceHarness harness = start(handler, transport, asked).send(flight(1));
        assertThat(harness.packets()).isEmpty();
        assertThat(harness.count("messages.held")).isEqualTo(1);
        answer(harness, Flights.FLIGHT);

        assertThat(handler.seen).hasSize(1);
        assertThat(leave(harness)).containsExactly(Flights.bytes(flight(1)));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void theAnswerMayComeOnAnyThread(Transport transport) throws InterruptedException {
        ServiceHarness harness = start(handler, transport, asked).send(flight(1));
        Thread other = new Thread(() -> asked.answer(Flights.FLIGHT));
        other.start();
        other.join();

        eventually().untilAsserted(() -> assertThat(harness.packets()).hasSize(1));
    }

    @Test
    void whatIsBehindInATcpStreamKeepsItsOrder() {
        List<Packet> packets = new ArrayList<>(List.of(
                flight(1),
                Flights.packet(Flights.SHORT, Flights.small(2, 0)),
                Flights.run(Flights.dataItem(Flights.small(3, 0)), Flights.dataItem(Flights.small(4, 0))),
                Flights.header().build(ByteBuffer.wrap(new byte[] {'t'})),
                flight(5)));
        ServiceHarness harness = start(handler, Transport.TCP, asked).send(packets);
        assertThat(harness.count("messages.held")).isEqualTo(5);
        answer(harness, Flights.FLIGHT);
        Packet last = Flights.packet(Flights.SHORT, Flights.small(6, 0));
        harness.send(last);
        packets.add(last);

        assertThat(leave(harness)).containsExactlyElementsOf(bytes(packets));
        assertThat(harness.count("messages.in")).isEqualTo(6);
        assertThat(harness.count("messages.out")).isEqualTo(6);
    }

    @Test
    void overUdpOtherStreamsGoOn() {
        byte[] record = Flights.flight(1, 2, "hub");
        Packet one = Flights.packets(Flights.FLIGHT.id(), record, 1, 0).get(0);
        Packet behind =
                Flights.packets(Flights.SHORT.id(), Flights.small(1, 1), 1, 1).get(0);
        Packet beside =
                Flights.packets(Flights.SHORT.id(), Flights.small(2, 2), 2, 0).get(0);
        ServiceHarness harness = start(handler, Transport.UDP, asked).send(List.of(one, behind, beside));
        assertThat(leave(harness)).containsExactly(Flights.bytes(beside));
        answer(harness, Flights.FLIGHT);

        assertThat(leave(harness)).containsExactlyElementsOf(bytes(List.of(beside, one, behind)));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aMessageOfSeveralPacketsWaitsToo(Transport transport) {
        byte[] record = Flights.flight(1, 2, "hub");
        ServiceHarness harness = start(handler, transport, asked).send(Flights.packets(record, 10, 40));
        assertThat(harness.count("messages.held")).isEqualTo(1);
        answer(harness, Flights.FLIGHT);

        assertThat(handler.seen).containsExactly(record);
        assertThat(only(harness)).isEqualTo(record);
    }

    @Test
    void twoFormatsAreWaitedForOneBehindTheOther() {
        TestFormats none = new TestFormats();
        ServiceHarness harness = start(handler, Transport.TCP, none)
                .send(flight(1))
                .send(Flights.packet(Flights.SHORT, Flights.small(2, 0)));
        none.answer(Flights.FLIGHT);
        harness.advance(Duration.ZERO);
        assertThat(harness.packets()).hasSize(1);
        none.answer(Flights.SHORT);
        harness.advance(Duration.ZERO);

        assertThat(harness.packets()).hasSize(2);
    }

    @Test
    void aFormatThatNobodyHasDropsItsMessages() {
        ServiceHarness harness = start(handler, Transport.TCP, asked)
                .send(List.of(flight(1), Flights.packet(Flights.SHORT, Flights.small(2, 0))));
        refuse(harness, Flights.FLIGHT);
        harness.send(flight(3));

        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(2);
        assertThat(harness.drops()).containsExactly("FORMAT");
        assertThat(Flights.records(harness.packets())).containsExactly(Flights.small(2, 0));
    }

    @Test
    void aFormatThatNobodyHasLetsItsMessagesPassWhereTheSettingSaysSo() {
        byte[] record = Flights.flight(1, 2, "hub");
        List<Packet> packets = new ArrayList<>(Flights.packets(record, 10, 40));
        packets.add(Flights.run(Flights.dataItem(record)));
        ServiceHarness harness =
                start(handler, Transport.TCP, asked, "failure=pass").send(packets);
        refuse(harness, Flights.FLIGHT);

        assertThat(leave(harness)).containsExactlyElementsOf(bytes(packets));
        assertThat(harness.count("messages.out")).isEqualTo(2);
        assertThat(handler.seen).isEmpty();
    }

    @Test
    void allPacketsOfAMessageWithoutFormatAreDropped() {
        ServiceHarness harness =
                start(handler, Transport.TCP, asked).send(Flights.packets(Flights.flight(1, 2, "hub"), 10, 40));
        refuse(harness, Flights.FLIGHT);

        assertThat(harness.packets()).isEmpty();
        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(1);
    }

    @Test
    void nobodyIsAskedAgainAtOnce() {
        ServiceHarness harness = start(handler, Transport.TCP, asked).send(flight(1));
        refuse(harness, Flights.FLIGHT);
        harness.send(flight(2));
        assertThat(asked.requests).isEmpty();
        harness.advance(Duration.ofSeconds(2)).send(flight(3));

        assertThat(asked.requests).hasSize(1);
    }

    @Test
    void noAnswerIsARefusalByTime() {
        ServiceHarness harness = start(handler, Transport.TCP, asked, "hold-time=1000")
                .send(flight(1))
                .advance(Duration.ofSeconds(2));

        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(1);
    }

    @Test
    void whatWaitsIsBoundedInPackets() {
        ServiceHarness harness = start(handler, Transport.UDP, asked, "hold-packets=3");
        for (int i = 0; i < 5; i++) {
            harness.send(flight(i));
        }
        answer(harness, Flights.FLIGHT);

        assertThat(dropped(harness, MessageReason.HOLD_FULL)).isEqualTo(2);
        assertThat(harness.packets()).hasSize(3);
    }

    @Test
    void whatWaitsIsBoundedInBytes() {
        ServiceHarness harness = start(
                handler, Transport.UDP, asked, "hold-bytes=" + 2 * flight(1).length());
        for (int i = 0; i < 5; i++) {
            harness.send(flight(i));
        }

        assertThat(dropped(harness, MessageReason.HOLD_FULL)).isEqualTo(3);
    }

    @Test
    void overTcpTheStreamWaitsWhereNoMoreMayBeHeld() {
        ServiceHarness harness = start(handler, Transport.TCP, asked, "hold-packets=1", "hold-time=1")
                .send(List.of(flight(1), Flights.packet(Flights.SHORT, Flights.small(2, 0)), flight(3)));

        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(2);
        assertThat(Flights.records(harness.packets())).containsExactly(Flights.small(2, 0));
    }

    @Test
    void anErrorAtAMessageThatWaitedDoesNotKeepThoseBehindIt() {
        TestHandler broken = new TestHandler((message, outlet) -> {
            if (TestHandler.is(message, "id", 1)) {
                throw new NoClassDefFoundError("a class that is missing");
            }
            return Outcome.FORWARD;
        });
        ServiceHarness harness = start(broken, Transport.TCP, asked).send(List.of(flight(1), flight(2)));
        answer(harness, Flights.FLIGHT);
        harness.send(flight(3));

        assertThat(leave(harness)).containsExactlyElementsOf(bytes(List.of(flight(2), flight(3))));
        assertThat(dropped(harness, MessageReason.FAILED)).isEqualTo(1);
        assertThat(harness.failures()).hasSize(1);
    }

    @Test
    void formatsThatAreAskedForAreBounded() {
        ServiceHarness harness = start(handler, Transport.UDP, asked, "hold-formats=8");
        for (int i = 0; i < 100; i++) {
            FormatId id = FormatId.parse(String.format("02000010%016x", 0x1234567800000000L + i));
            byte[] record = Arrays.copyOf(id.toBytes(), 40);
            harness.send(Flights.packets(id, record, i + 1, 0).get(0));
        }

        assertThat(asked.requests).hasSize(8);
        assertThat(harness.count("messages.held")).isEqualTo(8);
        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(92);
    }

    @Test
    void aFormatThatComesInAPacketEndsTheWait() {
        Packet waiting = Flights.packets(Flights.FLIGHT.id(), Flights.flight(1, 2, "hub"), 1, 0)
                .get(0);
        ServiceHarness harness = start(handler, Transport.UDP, asked)
                .send(waiting)
                .send(Flights.run(Flights.formatItem(Flights.FLIGHT)));

        assertThat(handler.seen).hasSize(1);
    }

    @Test
    void theEndOfTheStreamWaitsForTheAnswer() throws InterruptedException {
        ServiceHarness harness = start(handler, Transport.TCP, asked).send(flight(1));
        Thread answer = new Thread(() -> asked.answer(Flights.FLIGHT));
        answer.start();
        harness.endOfStream();
        answer.join();

        assertThat(leave(harness)).containsExactly(Flights.bytes(flight(1)));
    }

    @Test
    void atTheEndAnAnswerThatDoesNotComeIsARefusal() {
        ServiceHarness harness = start(handler, Transport.TCP, asked, "hold-time=1")
                .send(flight(1))
                .endOfStream();

        assertThat(dropped(harness, MessageReason.FORMAT)).isEqualTo(1);
    }

    @Test
    void theNodeBeforeIsAskedWhereItServesCode() {
        Packet packet = Flights.header()
                .previousNode(false)
                .option(
                        org.tamanoir.anep.Option.FORMAT.wireType(),
                        Flights.FLIGHT.id().toBytes())
                .build(ByteBuffer.wrap(Flights.flight(1, 1, "")));
        int at = packet.optionOffset(org.tamanoir.anep.Option.PREVIOUS_NODE);
        packet.buffer().putInt(at, 1).putShort(at + 8, (short) 3323);
        packet.payload();
        ServiceHarness harness = start(handler, Transport.TCP, asked).send(packet);

        assertThat(asked.askedAt).isEqualTo(new java.net.InetSocketAddress("127.0.0.1", 3323));
        answer(harness, Flights.FLIGHT);
    }
}
