package org.tamanoir.services.extra.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.support.Seeds;
import org.tamanoir.testkit.ServiceHarness;

@Tag("once")
class AggregateTest {
    private static final String AGGREGATE = "org.tamanoir.services.extra.aggregate.Aggregate";

    private static PacketBuilder flow(int stream) {
        return Packets.full(AGGREGATE).timestamps().stream(stream);
    }

    private static List<Packet> packets(PacketBuilder builder, Random random, int count, int maxPayload) {
        List<Packet> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(builder.build(ByteBuffer.wrap(Packets.noise(random, random.nextInt(maxPayload + 1)))));
        }
        return made;
    }

    /** Number and CRC of all octets, as they shall be at the end: naming no service. */
    private static List<String> digests(List<Packet> packets) {
        return packets.stream()
                .map(packet -> {
                    Packet own = packet.copy();
                    if (own.serviceKey() != ServiceKey.NONE) {
                        own.setServiceKey(ServiceKey.NONE);
                    }
                    own.seal();
                    CRC32 crc = new CRC32();
                    crc.update(own.look());
                    return own.streamId() + "." + own.sequence() + " " + Long.toHexString(crc.getValue());
                })
                .toList();
    }

    private static List<Packet> aggregated(Map<String, String> config, Transport transport, List<Packet> packets) {
        return ServiceHarness.run(new Aggregate(), transport, config, packets).packets();
    }

    private static ServiceHarness split(List<Packet> packets) {
        return ServiceHarness.run(new Split(), Transport.UDP, Map.of(), packets);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void packetsEndAsTheyBeganInTheirOrder(Transport transport) {
        List<Packet> sent = packets(flow(7), new Random(1), 500, 300);
        List<Packet> onTheWay = aggregated(Map.of(), transport, sent);
        Packets.assertWellFormed(onTheWay);
        assertThat(onTheWay).hasSizeLessThan(150).allMatch(packet -> packet.payloadLength() <= 1404);
        ServiceHarness split = ServiceHarness.run(new Split(), transport, Map.of(), onTheWay);
        assertThat(digests(split.packets())).isEqualTo(digests(sent));
        assertThat(split.drops()).isEmpty();
        Packets.assertWellFormed(split.packets());
    }

    /** Packets of 64 bytes, 20,000 a second for a second: how many departures are left, and how long each waits. */
    @Test
    void departuresOfSmallPacketsAreFewerByFarAtAMillisecond() {
        PacketBuilder builder =
                new PacketBuilder().destination(Packets.address("10.0.2.7")).service(AGGREGATE).stream(7);
        ByteBuffer payload = ByteBuffer.allocate(64 - builder.headerLength());
        try (ServiceHarness aggregate = ServiceHarness.start(new Aggregate(), Transport.UDP, Map.of())) {
            for (int i = 0; i < Seeds.scaled(20_000); i++) {
                aggregate.send(builder.build(payload));
                if (i < 100) {
                    assertThat(aggregate.count("packets")
                                    - 20 * aggregate.outputs().size())
                            .as("packets that wait")
                            .isBetween(0L, 20L);
                }
                aggregate.advance(Duration.ofNanos(50_000));
            }
            aggregate.advance(Duration.ofMillis(1));
            assertThat(aggregate.outputs()).hasSize(1000);
            assertThat(aggregate.packets().get(0).length()).isEqualTo(builder.headerLength() + 4 + 20 * 64);
        }
    }

    @Test
    void aPacketWaitsForTheDelayAndNoLonger() {
        try (ServiceHarness aggregate = ServiceHarness.start(new Aggregate(), Transport.UDP, Map.of())) {
            aggregate.send(flow(1).build(ByteBuffer.allocate(10)));
            aggregate.advance(Duration.ofNanos(600_000));
            aggregate.send(flow(2).build(ByteBuffer.allocate(10)));
            aggregate.advance(Duration.ofNanos(399_999));
            assertThat(aggregate.packets()).isEmpty();
            aggregate.advance(Duration.ofNanos(1));
            assertThat(aggregate.packets()).hasSize(1);
            aggregate.advance(Duration.ofNanos(599_999));
            assertThat(aggregate.packets()).hasSize(1);
            aggregate.advance(Duration.ofNanos(1));
            assertThat(aggregate.packets().stream().map(Packet::streamId)).containsExactly(1, 2);
        }
    }

    @Test
    void aLargePacketGoesByItselfBehindThoseBeforeIt() {
        PacketBuilder builder = flow(7);
        List<Packet> sent = new ArrayList<>(packets(builder, new Random(1), 3, 100));
        sent.add(builder.build(ByteBuffer.wrap(Packets.noise(new Random(2), 60_000))));
        sent.addAll(packets(builder, new Random(3), 3, 100));
        List<Packet> onTheWay = aggregated(Map.of(), Transport.UDP, sent);
        assertThat(onTheWay).hasSize(3);
        assertThat(digests(split(onTheWay).packets())).isEqualTo(digests(sent));
    }

    @Test
    void aPacketWithoutRoomForTheHeaderIsDroppedAndTheLongestThatHasPasses() {
        PacketBuilder builder = flow(7);
        int longest = 65_507 - builder.headerLength() - 4;
        ServiceHarness aggregate = ServiceHarness.run(
                new Aggregate(),
                Transport.UDP,
                Map.of(),
                List.of(builder.build(ByteBuffer.allocate(longest)), builder.build(ByteBuffer.allocate(longest + 1))));
        assertThat(aggregate.packets()).hasSize(1);
        assertThat(aggregate.drops()).containsExactly("header leaves no room for the aggregate's");
    }

    @Test
    void flowsAreNotMixedAndBeyondTheLimitTheSilentOneLeaves() {
        try (ServiceHarness aggregate = ServiceHarness.start(new Aggregate(), Transport.UDP, Map.of("flows", "2"))) {
            for (int stream = 0; stream < 3; stream++) {
                aggregate.send(packets(flow(stream), new Random(1), 2, 10));
            }
            assertThat(aggregate.packets().stream().map(Packet::streamId)).containsExactly(0);
            aggregate.advance(Duration.ofMillis(1));
            assertThat(aggregate.packets().stream().map(Packet::streamId)).containsExactly(0, 1, 2);
        }
        assertThatThrownBy(() -> ServiceHarness.start(
                        new Aggregate(), Transport.UDP, Map.of("flows", "65536", "max-payload", "65000")))
                .hasRootCauseMessage(
                        "flows: 65536 of max-payload 65000 bytes take more than 268435456; lower one of them");
    }

    /** The packet around has 3 hops left, those inside have 16: as many as were left when they were put in. */
    @Test
    void noPacketHasMoreHopsLeftThanTheOneThatBroughtIt() {
        List<Packet> sent = packets(flow(7), new Random(1), 4, 10);
        Packet around = aggregated(Map.of(), Transport.UDP, sent).get(0);
        Packet later = PacketBuilder.like(around).hopBudget(3).build(around.payload());
        List<Packet> left = split(List.of(later)).packets();
        assertThat(left).hasSize(4).allMatch(packet -> packet.hopBudget() == 3);
        Packets.assertWellFormed(left);
    }

    private static Packet around(Packet like, ByteBuffer content) {
        return PacketBuilder.like(like).build(content);
    }

    private static ByteBuffer content(Packet around) {
        return ByteBuffer.wrap(Packets.bytes(around.payload()));
    }

    @Test
    void lengthsAndNumbersThatLieAreRefused() {
        List<Packet> sent = packets(flow(7), new Random(1), 4, 10);
        Packet good = aggregated(Map.of(), Transport.UDP, sent).get(0);
        int first = sent.get(0).length();
        List<Packet> lies = new ArrayList<>();
        for (int packets : new int[] {1, 3, 5, 65_535}) {
            lies.add(around(good, content(good).putShort(2, (short) packets)));
        }
        for (int length : new int[] {0, 7, first - 1, first + 1, 65_535}) {
            lies.add(around(good, content(good).putShort(4 + 6, (short) length)));
        }
        for (int words : new int[] {0, 1, 65_535}) {
            lies.add(around(good, content(good).putShort(4 + 4, (short) words)));
        }
        lies.add(around(good, content(good).limit(good.payloadLength() - 1)));
        lies.add(around(good, content(good).limit(4)));
        ServiceHarness split = split(lies);
        assertThat(split.packets()).isEmpty();
        assertThat(split.drops()).hasSize(lies.size()).containsOnly("bad aggregate");
        assertThat(split(List.of(
                                around(good, content(good).putShort(0, (short) 0)),
                                around(good, content(good).limit(3))))
                        .drops())
                .containsExactly("not aggregated", "not aggregated");
    }

    @ParameterizedTest
    @ValueSource(strings = {"source", "destination", "port", "class"})
    void whatIsOfAnotherFlowDoesNotGetThrough(String what) {
        Packet own = packets(flow(7), new Random(1), 1, 10).get(0);
        Packet good = aggregated(Map.of(), Transport.UDP, List.of(own)).get(0);
        PacketBuilder builder = PacketBuilder.like(own);
        switch (what) {
            case "source" -> builder.source(Packets.address("192.168.0.1"));
            case "destination" -> builder.destination(Packets.address("192.168.0.1"));
            case "port" -> builder.destinationPort(22);
            default -> builder.classOfService(255, 0);
        }
        Packet other = builder.build(ByteBuffer.allocate(5));
        ByteBuffer content = ByteBuffer.allocate(4 + own.length() + other.length());
        AggregateHeader.write(content, 2);
        own.copyTo(content, 4);
        other.copyTo(content, 4 + own.length());
        ServiceHarness split = split(List.of(around(good, content.clear())));
        assertThat(split.packets()).isEmpty();
        assertThat(split.drops()).containsExactly("packet of another flow inside");
    }

    @Test
    void damagedAggregatesEndByNameAndNothingThrows() {
        Random random = new Random(Seeds.ofCommit(AggregateTest.class));
        List<Packet> good = aggregated(Map.of(), Transport.UDP, packets(flow(7), random, 400, 100));
        List<Packet> damaged = new ArrayList<>();
        for (int i = 0; i < Seeds.scaled(20_000); i++) {
            Packet packet = good.get(random.nextInt(good.size()));
            ByteBuffer content = content(packet);
            for (int octets = random.nextInt(3); octets >= 0; octets--) {
                content.put(random.nextInt(content.limit()), (byte) random.nextInt(256));
            }
            damaged.add(around(packet, content));
        }
        ServiceHarness split = split(damaged);
        assertThat(split.consumed() + split.drops().size() + split.count("singles"))
                .isEqualTo(20_000);
        assertThat(split.packets()).hasSize((int) (split.count("packets") + split.count("singles")));
    }

    @Test
    void bothRunWithWhatANodeShowsToThem() {
        List<Packet> sent = packets(flow(7), new Random(1), 20, 100);
        try (ServiceHarness aggregate = ServiceHarness.startAsDeployed(Aggregate.class, Transport.UDP, Map.of());
                ServiceHarness split = ServiceHarness.startAsDeployed(Split.class, Transport.UDP, Map.of())) {
            split.send(aggregate.send(sent).advance(Duration.ofMillis(1)).packets());
            assertThat(digests(split.packets())).isEqualTo(digests(sent));
        }
    }
}
