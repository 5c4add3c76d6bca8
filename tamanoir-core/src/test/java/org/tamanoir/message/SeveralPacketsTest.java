package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class SeveralPacketsTest extends MessageTesting {
    private static final byte[] RECORD = Flights.flight(1, 25, "a hub of twenty bytes");
    private static final Duration LONG = Duration.ofSeconds(3);

    private final TestHandler handler = new TestHandler();

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aRecordInTwoPacketsIsSeenWholeWhereverItIsCut(Transport transport) {
        ServiceHarness harness = start(handler, transport);
        for (int cut = 0; cut <= RECORD.length; cut++) {
            harness.send(Flights.packets(Flights.FLIGHT.id(), RECORD, Flights.STREAM, 2 * cut, cut));
        }

        assertThat(harness.count("messages.in")).isEqualTo(RECORD.length + 1);
        assertThat(handler.seen).hasSize(RECORD.length + 1).allMatch(r -> Arrays.equals(r, RECORD));
        assertThat(Flights.records(harness.packets()))
                .hasSize(RECORD.length + 1)
                .allMatch(r -> Arrays.equals(r, RECORD));
    }

    @Test
    void aRecordInThreePacketsIsSeenWholeWhereverItIsCut() {
        ServiceHarness harness = start(handler, Transport.TCP);
        int sent = 0;
        for (int first = 1; first < RECORD.length; first++) {
            for (int second = first + 1; second < RECORD.length; second++) {
                harness.send(Flights.packets(Flights.FLIGHT.id(), RECORD, Flights.STREAM, 3L * sent++, first, second));
            }
        }

        assertThat(handler.seen).hasSize(sent).allMatch(r -> Arrays.equals(r, RECORD));
        assertThat(Flights.records(harness.packets())).hasSize(sent).allMatch(r -> Arrays.equals(r, RECORD));
    }

    @Test
    void datagramsOfAMessageMayComeInAnyOrder() {
        ServiceHarness harness = start(handler, Transport.UDP);
        List<List<Integer>> orders = orders(List.of(0, 1, 2, 3));
        for (int i = 0; i < orders.size(); i++) {
            List<Packet> packets = Flights.packets(Flights.FLIGHT.id(), RECORD, Flights.STREAM, 4L * i, 10, 30, 50);
            harness.send(orders.get(i).stream().map(packets::get).toList());
        }

        assertThat(handler.seen).hasSize(24).allMatch(r -> Arrays.equals(r, RECORD));
        assertThat(harness.drops()).isEmpty();
    }

    private static List<List<Integer>> orders(List<Integer> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Integer>> orders = new ArrayList<>();
        for (Integer first : of) {
            List<Integer> rest = new ArrayList<>(of);
            rest.remove(first);
            for (List<Integer> behind : orders(rest)) {
                List<Integer> order = new ArrayList<>(List.of(first));
                order.addAll(behind);
                orders.add(order);
            }
        }
        return orders;
    }

    @Test
    void messagesOfSeveralStreamsAndSourcesMayMix() {
        ServiceHarness harness = start(handler, Transport.UDP);
        List<Packet> all = new ArrayList<>();
        for (int stream = 1; stream <= 20; stream++) {
            all.addAll(Flights.packets(
                    Flights.FLIGHT.id(), Flights.flight(stream, 0, "hub " + stream), stream, 5, 20, 45));
        }
        Collections.shuffle(all, new Random(1));
        harness.send(all);

        assertThat(Flights.records(harness.packets()))
                .containsExactlyInAnyOrderElementsOf(java.util.stream.IntStream.rangeClosed(1, 20)
                        .mapToObj(s -> Flights.flight(s, 0, "hub " + s))
                        .toList());
    }

    @Test
    void packetsThatComeTwiceCountOnce() {
        ServiceHarness harness = start(handler, Transport.UDP);
        List<Packet> packets = Flights.packets(RECORD, 20, 40);
        for (Packet packet : packets) {
            harness.send(packet).send(packet);
        }
        harness.send(packets);

        assertThat(handler.seen).containsExactly(RECORD);
        assertThat(harness.drops()).hasSize(6).containsOnly("DUPLICATE");
    }

    @Test
    void aPacketThatComesTwiceBeforeItsTurnCountsOnce() {
        ServiceHarness harness = start(handler, Transport.UDP);
        List<Packet> packets = Flights.packets(RECORD, 20, 40);
        harness.send(List.of(packets.get(2), packets.get(2), packets.get(0), packets.get(1)));

        assertThat(handler.seen).containsExactly(RECORD);
        assertThat(harness.drops()).containsExactly("DUPLICATE");
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aMessageThatLacksAPacketEndsByTime(Transport transport) {
        ServiceHarness harness = start(handler, transport, "other=drop");
        List<Packet> packets = Flights.packets(RECORD, 20, 40);
        harness.send(List.of(packets.get(0), packets.get(2)));
        assertThat(harness.count("messages.held")).isEqualTo(1);
        harness.advance(LONG);

        assertThat(dropped(harness, MessageReason.INCOMPLETE)).isEqualTo(1);
        assertThat(handler.seen).isEmpty();
    }

    @Test
    void aDatagramWhoseBeginningNeverComesPassesByTime() {
        Packet stray = Flights.packets(RECORD, 20).get(1);
        ServiceHarness harness = start(handler, Transport.UDP, "strays=pass").send(stray);
        assertThat(harness.packets()).isEmpty();
        harness.advance(LONG);

        assertThat(leave(harness)).containsExactly(Flights.bytes(stray));
        assertThat(harness.count("packets.other")).isEqualTo(1);
    }

    @Test
    void overTcpAPacketWithoutABeginningPassesAtOnce() {
        Packet stray = Flights.packets(RECORD, 20).get(1);
        ServiceHarness harness = start(handler, Transport.TCP, "strays=pass").send(stray);

        assertThat(leave(harness)).containsExactly(Flights.bytes(stray));
    }

    @Test
    void theRestOfAMessageWhoseBeginningIsLostDoesNotPassUnseen() {
        List<Packet> packets = Flights.packets(RECORD, 20);
        ServiceHarness harness = start(handler, Transport.UDP).send(packets.subList(1, packets.size()));
        harness.advance(LONG);
        harness.send(packets.get(packets.size() - 1));
        harness.advance(LONG);

        assertThat(harness.packets()).isEmpty();
        assertThat(harness.count("packets.stray")).isEqualTo(packets.size());
    }

    @Test
    void whatLacksAtTheEndOfTheStreamNeverComes() {
        ServiceHarness harness = start(handler, Transport.TCP)
                .send(Flights.packets(RECORD, 20).get(0))
                .endOfStream();

        assertThat(dropped(harness, MessageReason.INCOMPLETE)).isEqualTo(1);
    }

    @Test
    void packetsThatHoldMoreThanTheMessageEndIt() {
        List<Packet> packets = Flights.packets(RECORD, 20, 40);
        Packet longer =
                Flights.header().stream(Flights.STREAM).nextSequence(1).build(ByteBuffer.allocate(RECORD.length));
        ServiceHarness harness = start(handler, Transport.TCP).send(List.of(packets.get(0), longer, packets.get(2)));

        assertThat(dropped(harness, MessageReason.OVERLAP)).isEqualTo(1);
        assertThat(harness.packets()).isEmpty();
    }

    @Test
    void aBeginningWhereAMessageHasToGoOnEndsThatMessage() {
        byte[] second = Flights.flight(2, 0, "behind");
        ServiceHarness harness = start(handler, Transport.TCP)
                .send(Flights.packets(Flights.FLIGHT.id(), RECORD, Flights.STREAM, 0, 20)
                        .get(0))
                .send(Flights.packets(Flights.FLIGHT.id(), second, Flights.STREAM, 1, 20));

        assertThat(dropped(harness, MessageReason.OVERLAP)).isEqualTo(1);
        assertThat(handler.seen).containsExactly(second);
    }

    @Test
    void aMessageMayNotBeLongerThanTheSetting() {
        byte[] record = Flights.flight(1, 1, "x".repeat(2_000));
        ServiceHarness harness =
                start(handler, Transport.TCP, "message-bytes=1000").send(Flights.packets(record, 500, 1_500));

        assertThat(dropped(harness, MessageReason.TOO_LONG)).isEqualTo(1);
        assertThat(harness.drops()).containsExactly("TOO_LONG", "INCOMPLETE", "INCOMPLETE");
    }

    @Test
    void aLengthThatLiesTakesNoMoreMemoryThanHasCome() {
        byte[] lying = Arrays.copyOf(RECORD, RECORD.length);
        ByteBuffer.wrap(lying).order(ByteOrder.LITTLE_ENDIAN).putLong(12, 900_000);
        ServiceHarness harness = start(handler, Transport.UDP, "reassembly-bytes=1048576");
        for (int i = 0; i < 100; i++) {
            harness.send(Flights.packets(Flights.FLIGHT.id(), lying, i + 1, 0).get(0));
        }
        long[] waiting = new long[1];
        harness.onServiceThread(() -> waiting[0] = handler.waitingBytes());

        assertThat(harness.count("messages.held")).isEqualTo(100);
        assertThat(waiting[0]).isLessThanOrEqualTo(100 * Blocks.LEAST);
    }

    @Test
    void messagesThatAreBeingPutTogetherAreBounded() {
        ServiceHarness harness = start(handler, Transport.UDP, "reassembly-messages=10");
        for (int i = 0; i < 15; i++) {
            harness.send(
                    Flights.packets(Flights.FLIGHT.id(), RECORD, i + 1, 0, 20).get(0));
        }
        assertThat(harness.count("messages.held")).isEqualTo(10);
        assertThat(dropped(harness, MessageReason.REASSEMBLY_FULL)).isEqualTo(5);
        harness.advance(LONG).send(Flights.packets(RECORD, 20));

        assertThat(handler.seen).containsExactly(RECORD);
    }

    @Test
    void bytesThatAreBeingPutTogetherAreBounded() {
        byte[] record = Flights.flight(1, 1, "x".repeat(100_000));
        ServiceHarness harness = start(handler, Transport.UDP, "reassembly-bytes=300000");
        for (int i = 0; i < 5; i++) {
            harness.send(Flights.packets(Flights.FLIGHT.id(), record, i + 1, 0, 60_000)
                    .get(0));
        }

        assertThat(harness.count("messages.held")).isEqualTo(2);
        assertThat(dropped(harness, MessageReason.REASSEMBLY_FULL)).isEqualTo(3);
    }

    @Test
    void packetsThatCameBeforeARefusedBeginningEndWithIt() {
        byte[] record = Flights.flight(1, 1, "x".repeat(2_000));
        List<Packet> packets = Flights.packets(record, 500, 1_500);
        ServiceHarness harness = start(handler, Transport.UDP, "message-bytes=1000")
                .send(List.of(packets.get(1), packets.get(2), packets.get(0)))
                .advance(LONG);

        assertThat(dropped(harness, MessageReason.TOO_LONG)).isEqualTo(1);
        assertThat(harness.packets()).isEmpty();
    }

    @Test
    void packetsThatWaitForTheirBeginningAreBounded() {
        ServiceHarness harness = start(handler, Transport.UDP, "reassembly-messages=1", "strays=pass");
        for (int i = 1; i <= 10; i++) {
            harness.send(Flights.packets(Flights.FLIGHT.id(), RECORD, i, 0, 20).get(1));
        }

        assertThat(harness.packets()).hasSize(6);
        assertThat(harness.consumed()).isEqualTo(4);
    }

    @Test
    void sequenceNumbersMayBeginAnew() {
        ServiceHarness harness = start(handler, Transport.UDP);
        harness.send(Flights.packets(Flights.FLIGHT.id(), RECORD, Flights.STREAM, -1, 20, 40));

        assertThat(handler.seen).containsExactly(RECORD);
    }

    @Test
    void messagesOfSeveralPacketsAreHandledAsAllOthers() {
        Message replacement = new Message();
        byte[] record = Flights.small(1, 2);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            if (TestHandler.is(message, "delay", 0L)) {
                                return outlet.drop("in time");
                            }
                            outlet.replace(replacement.wrapLike(
                                    message, Flights.SHORT, ByteBuffer.wrap(record), 0, record.length));
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.packets(RECORD, 20))
                .send(Flights.packets(Flights.FLIGHT.id(), Flights.flight(2, 0, ""), Flights.STREAM, 2, 20));

        assertThat(only(harness)).isEqualTo(record);
        assertThat(harness.count("messages.dropped.in time")).isEqualTo(1);
        assertThat(harness.packets().get(0).hopBudget()).isEqualTo(16);
    }

    @Test
    void aLongHeaderLeavesNoRoomForMessages() {
        Packet packet = Flights.header().option(0x0777, new byte[5_000]).stream(1)
                .option(Option.FORMAT.wireType(), Flights.FLIGHT.id().toBytes())
                .build(ByteBuffer.wrap(RECORD, 0, 20));
        ServiceHarness harness = start(handler, Transport.TCP).send(packet);

        assertThat(dropped(harness, MessageReason.NO_ROOM)).isEqualTo(1);
    }
}
