package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Target;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class MessageServiceTest extends MessageTesting {
    private static final byte[] RECORD = Flights.flight(1, 25, "ATL");
    private static final byte[] OTHER = Flights.flight(2, 5, "a hub with a name that is longer");

    private static Message made(Message like, byte[] record) {
        return new Message().wrapLike(like, Flights.FLIGHT, ByteBuffer.wrap(record), 0, record.length);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aMessageThatGoesOnLeavesInThePacketItCameInByteForByte(Transport transport) {
        Packet packet = Flights.packet(Flights.FLIGHT, RECORD);
        TestHandler handler = new TestHandler();
        ServiceHarness harness = start(handler, transport).send(packet);

        assertThat(handler.seen).containsExactly(RECORD);
        assertThat(leave(harness)).containsExactly(Flights.bytes(packet));
        assertThat(harness.emitted()).isEmpty();
        assertThat(harness.count("messages.out")).isEqualTo(1);
    }

    @Test
    void aRecordInPlaceOfAnotherLeavesInThePacketInHandUnderItsOwnFormat() {
        byte[] record = Flights.small(3, 4);
        Message replacement = new Message();
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.replace(replacement.wrapLike(
                                    message, Flights.SHORT, ByteBuffer.wrap(record), 0, record.length));
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(harness.emitted()).isEmpty();
        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.packet(Flights.SHORT, record)));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aRecordLongerThanAPacketLeavesAsSeveralOfTheTransportsSize(Transport transport) {
        byte[] record = Flights.flight(1, 2, "x".repeat(200_000));
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.replace(made(message, record));
                            return Outcome.FORWARD;
                        }),
                        transport)
                .send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(only(harness)).isEqualTo(record);
        assertThat(harness.emitted()).hasSize(4);
        assertThat(harness.emitted().get(0).length())
                .isEqualTo((transport == Transport.TCP ? 65_535 : 65_507) - Option.HOP_BUDGET.words() * 4);
        assertThat(harness.emitted().get(0).has(Option.FORMAT)).isTrue();
        assertThat(harness.emitted()).allMatch(p -> p.hopBudget() == 16 && p.has(Option.STREAM));
        assertThat(harness.consumed()).isEqualTo(1);
        assertThat(harness.count("messages.made")).isZero();
    }

    @Test
    void anEmptyFormatOptionIsFilledIn() {
        Packet packet =
                Flights.header().option(Option.FORMAT.wireType(), new byte[12]).build(ByteBuffer.wrap(RECORD));
        ServiceHarness harness = start(new TestHandler(), Transport.UDP).send(packet);

        assertThat(leave(harness)).containsExactly(Flights.bytes(Flights.packet(Flights.FLIGHT, RECORD)));
    }

    @Test
    void aPayloadThatDoesNotBeginWithTheNamedFormatIsDropped() {
        ServiceHarness harness = start(new TestHandler(), Transport.TCP).send(Flights.packet(Flights.SHORT, RECORD));

        assertThat(harness.drops()).containsExactly("FORMAT_ID");
        assertThat(dropped(harness, MessageReason.FORMAT_ID)).isEqualTo(1);
    }

    @Test
    void aRecordThatEndsBeforeItsPacketIsDropped() {
        ServiceHarness harness = start(new TestHandler(), Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, Arrays.copyOf(RECORD, RECORD.length + 1)));

        assertThat(dropped(harness, MessageReason.RECORD)).isEqualTo(1);
    }

    @Test
    void aRecordThatEndsBehindItsPacketNeedsAStream() {
        ServiceHarness harness = start(new TestHandler(), Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, Arrays.copyOf(RECORD, RECORD.length - 1)));

        assertThat(dropped(harness, MessageReason.NO_STREAM)).isEqualTo(1);
    }

    @Test
    void aDamagedFieldDropsTheMessageAndIsNoFailureOfTheService() {
        byte[] damaged = RECORD.clone();
        ByteBuffer.wrap(damaged).order(java.nio.ByteOrder.LITTLE_ENDIAN).putLong(24 + 16, 1_000_000);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            TestHandler.value(message, "hub");
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, damaged))
                .advance(Duration.ZERO);

        assertThat(dropped(harness, MessageReason.RECORD)).isEqualTo(1);
        assertThat(harness.failures()).isEmpty();
    }

    @Test
    void reasonsOfTheHandlerAreCountedUpToABound() {
        ServiceHarness harness = start(
                new TestHandler((message, outlet) -> outlet.drop("reason " + TestHandler.value(message, "id"))),
                Transport.TCP);
        for (int i = 0; i < 100; i++) {
            harness.send(Flights.packet(Flights.FLIGHT, Flights.flight(i, 0, "")));
        }

        assertThat(harness.count("messages.dropped.reason 3")).isEqualTo(1);
        assertThat(harness.count("messages.dropped.others")).isEqualTo(100 - MessageCounts.REASONS);
        assertThat(harness.counters()).hasSizeLessThanOrEqualTo(64);
    }

    @Test
    void severalPortsGetCopies() {
        Packet packet = Flights.packet(Flights.FLIGHT, RECORD);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.to(0b111);
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(packet);

        assertThat(Flights.records(harness.packets())).hasSize(3).allMatch(r -> Arrays.equals(r, RECORD));
        assertThat(harness.count("messages.made")).isEqualTo(2);
        assertThat(harness.count("messages.out")).isEqualTo(3);
    }

    @Test
    void noPortDropsTheMessage() {
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.to(0);
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(dropped(harness, MessageReason.NO_PORT)).isEqualTo(1);
    }

    @Test
    void aMessageGoesWhereItsHandlerSends() {
        InetSocketAddress there = new InetSocketAddress("10.0.0.9", 4000);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            message.setDestination(there);
                            outlet.emit(0, message);
                            return Outcome.FORWARD;
                        }),
                        Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(harness.outputs()).hasSize(2).allMatch(o -> there.equals(o.elsewhere()));
    }

    @Test
    void aMadeMessageHasAStreamOfTheInstancesOwn() {
        Packet packet = Flights.packets(RECORD).get(0);
        ServiceHarness harness = start(
                new TestHandler((message, outlet) -> {
                    outlet.emit(0, made(message, OTHER));
                    return outlet.drop("replaced");
                }),
                Transport.UDP);
        harness.send(packet).send(packet);

        assertThat(Flights.records(harness.packets())).containsExactly(OTHER, OTHER);
        assertThat(harness.packets().get(0).streamId()).isNotZero().isNotEqualTo(Flights.STREAM);
        assertThat(harness.packets().stream().map(Packet::sequence)).containsExactly(0L, 1L);
    }

    @Test
    void heldMessagesCountUntilTheyAreReleased() {
        ServiceHarness harness = start(
                new TestHandler((message, outlet) -> {
                    if (TestHandler.is(message, "id", 3L)) {
                        outlet.emit(0, message);
                        outlet.release(1, null);
                        outlet.release(1, "no partner");
                        return Outcome.MERGE;
                    }
                    return Outcome.HOLD;
                }),
                Transport.TCP);
        for (int i = 0; i < 3; i++) {
            harness.send(Flights.packet(Flights.FLIGHT, Flights.flight(i, 0, "")));
        }
        assertThat(harness.count("messages.held")).isEqualTo(3);
        harness.send(Flights.packet(Flights.FLIGHT, Flights.flight(3, 0, "")));

        assertThat(harness.count("messages.held")).isEqualTo(1);
        assertThat(harness.count("messages.merged")).isEqualTo(2);
        assertThat(harness.count("messages.dropped.no partner")).isEqualTo(1);
    }

    @Test
    void whatIsStillHeldAtTheEndIsDropped() {
        ServiceHarness harness = start(new TestHandler((message, outlet) -> Outcome.HOLD), Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, RECORD))
                .endOfStream();
        harness.close();

        assertThat(dropped(harness, MessageReason.ENDED)).isEqualTo(1);
    }

    @Test
    void aHandlerThatThrowsLosesTheMessageAndIsReported() {
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            throw new IllegalStateException("broken");
                        }),
                        Transport.TCP)
                .send(Flights.packet(Flights.FLIGHT, RECORD))
                .advance(Duration.ZERO);

        assertThat(harness.drops()).containsExactly("FAILED");
        assertThat(harness.failures()).singleElement().matches(e -> "broken".equals(e.getMessage()));
    }

    @Test
    void aHandlerThatThrowsLetsTheMessagePassWhereTheSettingSaysSo() {
        Packet packet = Flights.packet(Flights.FLIGHT, RECORD);
        ServiceHarness harness = start(
                        new TestHandler((message, outlet) -> {
                            outlet.to(0);
                            throw new IllegalStateException("broken");
                        }),
                        Transport.TCP,
                        "failure=pass")
                .send(packet)
                .advance(Duration.ZERO);

        assertThat(leave(harness)).containsExactly(Flights.bytes(packet));
        assertThat(harness.failures()).hasSize(1);
    }

    @Test
    void recordsAreConvertedIntoWhatTheHandlerWants() {
        TestHandler handler = new TestHandler();
        handler.inputs = List.of(Target.of(org.tamanoir.format.Format.builder(org.tamanoir.format.Layout.X86_64)
                .structure("flight")
                .field("delay", "integer", 8)
                .build()));
        ServiceHarness harness = start(handler, Transport.TCP).send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(ByteBuffer.wrap(handler.seen.get(0))
                        .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                        .getLong(16))
                .isEqualTo(25);
        assertThat(only(harness)).isEqualTo(handler.seen.get(0));
    }

    @Test
    void formatsThatTheHandlerDoesNotTakePassOrAreDropped() {
        for (String setting : List.of("other=pass", "other=drop")) {
            TestHandler handler = new TestHandler();
            handler.inputs = List.of(Target.of(Flights.FLIGHT));
            ServiceHarness harness =
                    start(handler, Transport.TCP, setting).send(Flights.packet(Flights.SHORT, Flights.small(1, 2)));

            assertThat(handler.seen).isEmpty();
            assertThat(harness.drops()).isEqualTo(setting.equals("other=drop") ? List.of("UNFIT") : List.of());
        }
    }

    @Test
    void packetsThatAreNoMessagesPassOrAreDropped() {
        Packet text =
                Flights.header().build(ByteBuffer.wrap("hello".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        Packet empty = Flights.header().build(ByteBuffer.allocate(0));
        Packet foreign = new PacketBuilder().typeId(18).build(ByteBuffer.wrap(RECORD));
        ServiceHarness passing = start(new TestHandler(), Transport.TCP).send(List.of(text, empty, foreign));
        ServiceHarness dropping =
                start(new TestHandler(), Transport.TCP, "other=drop").send(List.of(text, empty, foreign));

        assertThat(leave(passing)).containsExactlyElementsOf(bytes(List.of(text, empty, foreign)));
        assertThat(dropping.drops()).containsExactly("OTHER", "OTHER", "OTHER");
        assertThat(passing.count("messages.in")).isZero();
    }

    @Test
    void formatsAreBoundOnceUntilTheServiceAsksAnew() {
        TestHandler handler = new TestHandler();
        ServiceHarness harness = start(handler, Transport.TCP);
        for (int i = 0; i < 3; i++) {
            harness.send(Flights.packet(Flights.FLIGHT, RECORD))
                    .send(Flights.packet(Flights.SHORT, Flights.small(1, 2)));
        }
        assertThat(handler.bound).isEqualTo(2);
        harness.onServiceThread(handler::rebind).send(Flights.packet(Flights.FLIGHT, RECORD));

        assertThat(handler.bound).isEqualTo(3);
    }

    @Test
    void windowsEndByTime() {
        List<Long> calls = new ArrayList<>();
        MessageService service = new MessageService() {
            @Override
            protected Outcome handle(Message message, Outlet outlet) {
                calls.clear();
                return Outcome.HOLD;
            }

            @Override
            public long expire(long nowNs, Outlet outlet) {
                if (messageCounts().held() == 0) {
                    return Long.MAX_VALUE;
                }
                calls.add(nowNs);
                long due = calls.get(0) + 5_000_000_000L;
                if (nowNs - due < 0) {
                    return due;
                }
                outlet.release(1, "window over");
                return Long.MAX_VALUE;
            }
        };
        try (ServiceHarness harness = ServiceHarness.start(service, Transport.TCP, java.util.Map.of(), formats)) {
            harness.send(Flights.packet(Flights.FLIGHT, RECORD)).advance(Duration.ofMillis(4_900));
            assertThat(harness.count("messages.held")).isEqualTo(1);
            harness.advance(Duration.ofMillis(200));
            assertThat(harness.count("messages.dropped.window over")).isEqualTo(1);
        }
    }

    @Test
    void anIdentifierThatAServerIssuedNamesAFormatToo() {
        FormatId issued = FormatId.parse("0100112233445566ffee");
        formats.known().add(org.tamanoir.format.Format.of(issued, Flights.SHORT.description()));
        byte[] record = new byte[16 + 16];
        System.arraycopy(issued.toBytes(), 0, record, 0, 10);
        Packet packet = Flights.packet(issued, record);
        ServiceHarness harness = start(new TestHandler(), Transport.TCP).send(packet);

        assertThat(leave(harness)).containsExactly(Flights.bytes(packet));
    }
}
