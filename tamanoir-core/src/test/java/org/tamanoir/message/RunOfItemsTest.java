package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class RunOfItemsTest extends MessageTesting {
    private static final byte[] COMMENT = {1, 0, 0, 2, 'x', 0};

    private static byte[] item(int id) {
        return Flights.dataItem(Flights.flight(id, id, "hub " + id));
    }

    @Test
    void aRunWhoseMessagesAllGoOnLeavesAsItCame() {
        Packet run = Flights.run(COMMENT, Flights.formatItem(Flights.FLIGHT), item(1), item(2), item(3));
        TestHandler handler = new TestHandler();
        ServiceHarness harness = start(handler, Transport.UDP).send(run);

        assertThat(handler.seen).hasSize(3);
        assertThat(leave(harness)).containsExactly(Flights.bytes(run));
        assertThat(harness.emitted()).isEmpty();
        assertThat(harness.count("messages.in")).isEqualTo(3);
    }

    @Test
    void messagesLeaveTheirRun() {
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) ->
                                TestHandler.is(message, "id", 2L) ? outlet.drop("second") : Outcome.FORWARD),
                        Transport.UDP)
                .send(Flights.run(COMMENT, item(1), item(2), item(3)));

        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.run(COMMENT, item(1), item(3))));
        assertThat(harness.emitted()).isEmpty();
    }

    @Test
    void recordsAreReplacedInTheirRun() {
        Message replacement = new Message();
        byte[] record = Flights.small(7, 8);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            if (TestHandler.is(message, "id", 2L)) {
                                outlet.replace(replacement.wrapLike(
                                        message, Flights.SHORT, ByteBuffer.wrap(record), 0, record.length));
                            }
                            return Outcome.FORWARD;
                        }),
                        Transport.UDP)
                .send(Flights.run(item(1), item(2), item(3)));

        assertThat(leave(harness))
                .containsExactly(Flights.bytes(Flights.run(item(1), Flights.dataItem(record), item(3))));
    }

    @Test
    void aRunThatOutgrowsItsPacketLeavesAsSeveral() {
        Message replacement = new Message();
        byte[] record = Flights.flight(9, 9, "y".repeat(20_000));
        byte[][] items = new byte[10][];
        Arrays.setAll(items, RunOfItemsTest::item);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.replace(replacement.wrapLike(
                                    message, Flights.FLIGHT, ByteBuffer.wrap(record), 0, record.length));
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.run(items));

        assertThat(harness.packets()).hasSize(4);
        assertThat(harness.payloads())
                .isEqualTo(Flights.join(java.util.Collections.nCopies(10, Flights.dataItem(record))
                        .toArray(byte[][]::new)));
    }

    @Test
    void aRecordTooLongForARunLeavesByItself() {
        Message replacement = new Message();
        byte[] record = Flights.flight(9, 9, "y".repeat(100_000));
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            if (TestHandler.is(message, "id", 2L)) {
                                outlet.replace(replacement.wrapLike(
                                        message, Flights.FLIGHT, ByteBuffer.wrap(record), 0, record.length));
                            }
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.run(item(1), item(2), item(3)));

        assertThat(only(harness)).isEqualTo(record);
    }

    @Test
    void messagesForElsewhereLeaveTheirRun() {
        InetSocketAddress there = new InetSocketAddress("10.0.0.9", 4000);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            if (TestHandler.is(message, "id", 1L)) {
                                message.setDestination(there);
                            }
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.run(item(1), item(2)));

        assertThat(harness.outputs()).hasSize(2);
        assertThat(harness.outputs().get(0).elsewhere()).isEqualTo(there);
        assertThat(harness.outputs().get(1).payload()).isEqualTo(item(2));
    }

    @Test
    void aRunOfWhichNothingIsLeftEnds() {
        ServiceHarness harness = start(new TestHandler((message, outlet) -> outlet.drop("all")), Transport.TCP)
                .send(Flights.run(item(1), item(2)));

        assertThat(harness.drops()).containsExactly("all");
        assertThat(harness.count("messages.dropped.all")).isEqualTo(2);
    }

    @Test
    void aFormatMayComeWithItsRecords() {
        TestHandler handler = new TestHandler();
        Packet run = Flights.run(Flights.formatItem(Flights.FLIGHT), item(1));
        ServiceHarness harness =
                start(handler, Transport.UDP, new TestFormats()).send(run);

        assertThat(handler.seen).hasSize(1);
        assertThat(leave(harness)).containsExactly(Flights.bytes(run));
        assertThat(harness.count("formats.introduced")).isEqualTo(1);
    }

    @Test
    void aDescriptionUnderAnotherIdentifierIsNotTakenAndNotPassedOn() {
        FormatId other = FormatId.parse("02000092aaaaaaaabbbbbbbb");
        TestFormats none = new TestFormats();
        ServiceHarness harness = start(new TestHandler(), Transport.UDP, none)
                .send(Flights.run(COMMENT, Flights.formatItem(other, Flights.FLIGHT.description())));

        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.run(COMMENT)));
        assertThat(harness.count("formats.refused")).isEqualTo(1);
        assertThat(none.known().size()).isZero();
    }

    @Test
    void aSourceMayIntroduceSoManyFormats() {
        List<byte[]> items = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            items.add(Flights.formatItem(Format.builder(Layout.X86_64)
                    .structure("s" + i)
                    .field("a", "integer")
                    .build()));
        }
        TestFormats none = new TestFormats();
        ServiceHarness harness = start(new TestHandler(), Transport.UDP, none, "introduced-formats=3")
                .send(Flights.run(items.toArray(byte[][]::new)));

        assertThat(none.known().size()).isEqualTo(3);
        assertThat(harness.count("formats.refused")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aRunMayHaveTheNumbersOfAStream(Transport transport) {
        Packet message =
                Flights.packets(Flights.SHORT.id(), Flights.small(1, 0), 9, 0).get(0);
        Packet run = Flights.header().stream(9).nextSequence(1).build(ByteBuffer.wrap(Flights.join(item(2), item(3))));
        TestHandler handler = new TestHandler();
        ServiceHarness harness = start(handler, transport).send(List.of(message, run));

        assertThat(handler.seen).hasSize(3);
        assertThat(leave(harness)).containsExactly(Flights.bytes(message), Flights.bytes(run));
    }

    @Test
    void aRunBehindAMessageThatWasDroppedIsNoneOfItsPackets() {
        byte[] damaged = Flights.small(1, 0);
        Packet dropped = Flights.packets(Flights.SHORT.id(), Arrays.copyOf(damaged, damaged.length + 4), 9, 0)
                .get(0);
        Packet run = Flights.header().stream(9).nextSequence(1).build(ByteBuffer.wrap(item(2)));
        ServiceHarness harness = start(new TestHandler(), Transport.TCP).send(List.of(dropped, run));

        assertThat(leave(harness)).containsExactly(Flights.bytes(run));
        assertThat(harness.count("messages.out")).isEqualTo(1);
    }

    @Test
    void whereFormatsHaveToBeSignedPacketsIntroduceNone() {
        TestFormats none = new TestFormats();
        none.takesDescriptions = false;
        ServiceHarness harness =
                start(new TestHandler(), Transport.UDP, none).send(Flights.run(Flights.formatItem(Flights.FLIGHT)));

        assertThat(none.known().size()).isZero();
        assertThat(harness.count("formats.refused")).isEqualTo(1);
    }

    @Test
    void aRecordThatDoesNotFillItsItemIsDropped() {
        byte[] record = Flights.flight(1, 1, "");
        ServiceHarness harness = start(new TestHandler(), Transport.UDP)
                .send(Flights.run(Flights.dataItem(Arrays.copyOf(record, record.length + 4)), item(2)));

        assertThat(dropped(harness, MessageReason.RECORD)).isEqualTo(1);
        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.run(item(2))));
    }

    @Test
    void aDamagedRunIsNoMessage() {
        byte[] run = Flights.join(item(1), item(2));
        Packet cut = Flights.header().build(ByteBuffer.wrap(run, 0, run.length - 1));
        ServiceHarness harness = start(new TestHandler(), Transport.UDP).send(cut);

        assertThat(leave(harness)).containsExactly(Flights.bytes(cut));
        assertThat(harness.count("messages.in")).isZero();
    }

    @Test
    void aHandlerThatThrowsAtOneMessageLosesThatOneOfItsRun() {
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            if (TestHandler.is(message, "id", 2L)) {
                                throw new IllegalStateException("second");
                            }
                            return Outcome.FORWARD;
                        }),
                        Transport.UDP)
                .send(Flights.run(item(1), item(2), item(3)))
                .advance(java.time.Duration.ZERO);

        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.run(item(1), item(3))));
        assertThat(harness.failures()).hasSize(1);
    }

    @Test
    void recordsOfVersionZeroAndOneAreRead() {
        Format old = Format.builder(Layout.X86_64.withVersion(1))
                .structure("old")
                .field("a", "integer")
                .field("s", "string")
                .build();
        TestFormats known = new TestFormats(old);
        byte[] record = new RecordEncoder(old).encode(java.util.Map.of("a", 1, "s", "x"));
        TestHandler handler = new TestHandler();
        start(handler, Transport.UDP, known).send(Flights.run(Flights.dataItem(record)));

        assertThat(handler.seen).containsExactly(record);
    }
}
