package org.tamanoir.services.extra.fec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.support.Seeds;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

/** Both services, one behind the other, with what is lost in between. */
@Tag("once")
class FecTest {
    private static final String FEC = "org.tamanoir.services.extra.fec.Fec";

    private static List<Packet> flow(int stream, Random random, int packets, int maxPayload) {
        PacketBuilder builder = Packets.full(FEC).timestamps().stream(stream);
        List<Packet> made = new ArrayList<>();
        for (int i = 0; i < packets; i++) {
            made.add(builder.build(ByteBuffer.wrap(Packets.noise(random, random.nextInt(maxPayload + 1)))));
        }
        return made;
    }

    /** What leaves Fec, all blocks ended by the clock. */
    private static List<Packet> encoded(Map<String, String> config, List<Packet> packets) {
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, config)) {
            return fec.send(packets).advance(Duration.ofSeconds(1)).packets();
        }
    }

    private static int block(Packet packet) {
        return packet.look().getInt(packet.look().position() + packet.headerLength() + 4);
    }

    private static boolean isRepair(Packet packet) {
        return FecHeader.kind(packet) != FecHeader.DATA;
    }

    /** Octets as they shall be at the end: what has passed both names no service any more. */
    private static byte[] octets(Packet packet) {
        Packet own = packet.copy();
        if (own.serviceKey() != ServiceKey.NONE) {
            own.setServiceKey(ServiceKey.NONE);
        }
        own.seal();
        byte[] octets = new byte[own.length()];
        own.copyTo(ByteBuffer.wrap(octets), 0);
        return octets;
    }

    /** Number and CRC, which are short where they differ. */
    private static String digest(Packet packet) {
        CRC32 crc = new CRC32();
        crc.update(octets(packet));
        return packet.streamId() + "." + packet.sequence() + " " + Long.toHexString(crc.getValue());
    }

    private static List<String> digests(List<Packet> packets) {
        return packets.stream().map(FecTest::digest).toList();
    }

    private static void assertSame(List<Packet> actual, List<Packet> expected) {
        assertThat(digests(actual)).isEqualTo(digests(expected));
    }

    private static void assertSameInSomeOrder(List<Packet> actual, List<Packet> expected) {
        assertThat(digests(actual)).containsExactlyInAnyOrderElementsOf(digests(expected));
    }

    @ParameterizedTest
    @ValueSource(strings = {"UDP", "TCP"})
    void withoutLossEachPacketGoesOnAtOnceAndEndsAsItBegan(Transport transport) {
        List<Packet> sent = flow(7, new Random(1), 100, 1400);
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), transport, Map.of());
                ServiceHarness defec = ServiceHarness.start(new Defec(), transport, Map.of())) {
            int taken = 0;
            for (int i = 0; i < sent.size(); i++) {
                fec.send(sent.get(i));
                List<Packet> left = fec.packets();
                for (Packet packet : left.subList(taken, left.size())) {
                    defec.send(packet);
                }
                taken = left.size();
                assertThat(defec.packets()).hasSize(i + 1);
            }
            assertSame(defec.packets(), sent);
            assertThat(fec.count("repairs")).isEqualTo(30);
            assertThat(defec.consumed()).isEqualTo(30);
            assertThat(defec.count("recovered")).isZero();
            assertThat(fec.count("packets")).isEqualTo(100);
        }
    }

    @ParameterizedTest
    @CsvSource({"10,3", "10,1", "64,32", "1,2", "5,9", "64,1"})
    void anyMOfABlockThatAreLostComeBack(int k, int m) {
        for (long seed : Seeds.ofCommit(FecTest.class, 8)) {
            Random random = new Random(seed);
            List<Packet> sent = flow(7, random, 2 * k, 200);
            List<Packet> onTheWay = new ArrayList<>(encoded(Map.of("data", "" + k, "repair", "" + m), sent));
            for (int block = 0; block < 2; block++) {
                int number = block;
                List<Packet> ofBlock = new ArrayList<>(onTheWay.stream()
                        .filter(packet -> block(packet) == number)
                        .toList());
                assertThat(ofBlock).hasSize(k + m);
                Collections.shuffle(ofBlock, random);
                onTheWay.removeAll(ofBlock.subList(0, m));
            }
            ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
            assertSameInSomeOrder(defec.packets(), sent);
            assertThat(defec.drops()).as("seed %d", seed).isEmpty();
            assertThat(defec.count("unrecovered")).isZero();
            Packets.assertWellFormed(defec.packets());
        }
    }

    @Test
    void whatIsNotLostKeepsItsOrderAndWhatComesBackHasItsOwn() {
        List<Packet> sent = flow(7, new Random(1), 10, 100);
        List<Packet> onTheWay = new ArrayList<>(encoded(Map.of(), sent));
        onTheWay.removeAll(List.of(onTheWay.get(2), onTheWay.get(5), onTheWay.get(8)));
        ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
        assertThat(defec.packets().stream().map(Packet::sequence))
                .containsExactly(0L, 1L, 3L, 4L, 6L, 7L, 9L, 2L, 5L, 8L);
    }

    @Test
    void moreThanMLostStayLostAndTheOthersPass() {
        List<Packet> sent = flow(7, new Random(1), 10, 100);
        List<Packet> onTheWay = encoded(Map.of(), sent).subList(4, 13);
        ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
        assertSame(defec.packets(), sent.subList(4, 10));
        assertThat(defec.count("unrecovered")).isEqualTo(4);
    }

    @Test
    void aBlockThatDoesNotFillEndsByTheClock() {
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, Map.of("max-delay-ms", "20"))) {
            fec.send(flow(1, new Random(1), 4, 100));
            fec.advance(Duration.ofMillis(19));
            assertThat(fec.packets()).hasSize(4);
            fec.advance(Duration.ofMillis(1));
            assertThat(fec.packets()).hasSize(7);
            assertThat(fec.packets().get(6).payloadOctet(FecHeader.BYTES))
                    .as("k")
                    .isEqualTo(4);
            fec.advance(Duration.ofSeconds(1));
            assertThat(fec.packets()).hasSize(7);
        }
    }

    @Test
    void flowsHaveBlocksOfTheirOwn() {
        List<Packet> sent = new ArrayList<>();
        List<Packet> first = flow(1, new Random(1), 10, 100);
        List<Packet> second = flow(2, new Random(2), 10, 100);
        for (int i = 0; i < 10; i++) {
            sent.add(first.get(i));
            sent.add(second.get(i));
        }
        List<Packet> onTheWay = new ArrayList<>(encoded(Map.of(), sent));
        onTheWay.removeIf(packet -> !isRepair(packet) && packet.sequence() >= 3 && packet.sequence() < 6);
        ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
        assertSameInSomeOrder(defec.packets(), sent);
    }

    @Test
    void flowsBeyondTheLimitEndTheBlockOfTheOneThatWasSilentForLongest() {
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, Map.of("flows", "2"))) {
            for (int stream = 0; stream < 3; stream++) {
                fec.send(flow(stream, new Random(1), 1, 100));
            }
            assertThat(fec.count("flows-ended")).isEqualTo(1);
            assertThat(fec.emitted().stream().map(Packet::streamId)).containsExactly(0, 0, 0);
        }
    }

    /** Sums take 64 KiB eight times: 8 flows have room in 4 MiB. */
    @Test
    void flowsEndForWantOfMemoryToo() {
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, Map.of("memory", "4194304"))) {
            for (int stream = 0; stream < 10; stream++) {
                fec.send(Packets.full(FEC).stream(stream).build(ByteBuffer.allocate(60_000)));
            }
            assertThat(fec.count("flows-ended")).isEqualTo(2);
        }
    }

    @Test
    void blocksOnTheWayTakeNoMoreMemoryThanTheyMay() {
        Random random = new Random(1);
        long maxBytes = 8 << 20;
        Blocks blocks = new Blocks(1000, maxBytes, 1000, block -> {});
        for (int i = 0; i < 20_000; i++) {
            Block block = blocks.of(random.nextInt(40), i / 2000, i);
            int data = random.nextInt(64);
            int bytes = random.nextInt(65_000);
            if (!block.has(data)) {
                blocks.reserve(block, bytes + FecHeader.OWN_BYTES);
                block.add(data, ByteBuffer.allocate(bytes), 0, 0);
            }
            assertThat(blocks.keptBytes()).isLessThanOrEqualTo(maxBytes);
        }
        assertThat(blocks.keptBytes()).isGreaterThan(maxBytes / 2);
    }

    @Test
    void aPacketThatComesTwiceOrAfterItWasGotBackIsDropped() {
        List<Packet> sent = flow(7, new Random(1), 10, 100);
        List<Packet> onTheWay = new ArrayList<>(encoded(Map.of(), sent));
        Packet late = onTheWay.remove(4);
        onTheWay.add(late);
        onTheWay.add(onTheWay.get(0));
        onTheWay.add(onTheWay.get(11));
        ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
        assertSameInSomeOrder(defec.packets(), sent);
        assertThat(defec.drops()).containsExactly("duplicate", "duplicate", "duplicate");
    }

    /** Nothing is sent twice after its block has ended; what comes for the first time goes on, however late. */
    @ParameterizedTest
    @CsvSource({"10,3", "10,1", "1,2"})
    void whatComesAgainWhenItsBlockHasEndedIsDropped(int k, int m) {
        List<Packet> sent = flow(7, new Random(1), 3 * k, 100);
        List<Packet> onTheWay = new ArrayList<>(encoded(Map.of("data", "" + k, "repair", "" + m), sent));
        onTheWay.sort(Comparator.comparing(FecTest::block)); // Those of a block keep their order.
        try (ServiceHarness defec = ServiceHarness.start(new Defec(), Transport.UDP, Map.of("block-ms", "100"))) {
            Packet lost = onTheWay.get(0);
            defec.send(onTheWay.subList(1, 2 * (k + m) + 1));
            assertThat(defec.packets()).hasSize(2 * k + 1);
            for (int round = 1; round <= 2; round++) {
                defec.advance(Duration.ofSeconds(10));
                defec.send(onTheWay);
                defec.send(lost);
                assertThat(defec.packets()).hasSize(3 * k);
                assertThat(defec.drops()).hasSize(2 * k + 2 + (round - 1) * (3 * k + 1));
            }
            assertThat(defec.drops()).containsOnly("duplicate");
            assertSameInSomeOrder(defec.packets(), sent);
            assertThat(defec.count("corrupt")).isZero();
        }
    }

    @Test
    void aPacketThatHasNoRoomForTheHeaderIsDroppedAndTheLongestThatHasPasses() {
        PacketBuilder builder = Packets.full(FEC);
        int longest = 65_507 - builder.headerLength() - FecHeader.REPAIR_BYTES - FecHeader.OWN_BYTES;
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, Map.of("data", "1"))) {
            fec.send(builder.build(ByteBuffer.allocate(longest + 1)));
            fec.send(builder.build(ByteBuffer.allocate(longest)));
            assertThat(fec.drops()).containsExactly("header leaves no room for FEC");
            assertThat(fec.packets()).hasSize(4).allMatch(packet -> packet.length() <= 65_507);
        }
    }

    /** 60 s of 500 packets a second, of which every tenth is lost from 10 s to 40 s. */
    @Test
    void repairsFollowTheLossThatReceiversReport() {
        Random random = new Random(3);
        Map<String, String> config = Map.of("repair", "1", "max-repair", "8");
        try (ServiceHarness fec = ServiceHarness.start(new Fec(), Transport.UDP, config);
                ServiceHarness defec = ServiceHarness.start(new Defec(), Transport.UDP, Map.of())) {
            PacketBuilder builder = Packets.full(FEC).stream(1);
            long[] repairs = new long[61];
            int left = 0;
            int received = 0;
            for (int tenth = 0; tenth < 600; tenth++) {
                boolean loses = tenth >= 100 && tenth < 400;
                List<Packet> sent = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    sent.add(builder.build(ByteBuffer.allocate(20)));
                }
                List<Packet> onTheWay = fec.send(sent).packets();
                defec.send(onTheWay.subList(left, onTheWay.size()).stream()
                        .filter(packet -> !loses || random.nextInt(10) > 0)
                        .toList());
                left = onTheWay.size();
                fec.advance(Duration.ofMillis(100));
                defec.advance(Duration.ofMillis(100));
                List<Packet> atTheEnd = defec.packets();
                fec.send(atTheEnd.subList(received, atTheEnd.size()).stream()
                        .filter(packet -> packet.serviceKey() == ServiceKey.of(FEC))
                        .toList());
                received = atTheEnd.size();
                repairs[(tenth + 1) / 10] = fec.count("repairs");
            }
            assertThat(fec.drops()).isEmpty();
            assertThat(fec.count("reports")).isGreaterThan(50);
            assertThat(repairs[10] - repairs[8]).as("before, of 100 blocks").isEqualTo(100);
            assertThat(repairs[40] - repairs[38]).as("while packets are lost").isBetween(400L, 800L);
            assertThat(repairs[60] - repairs[58]).as("long after").isLessThan(200);
        }
    }

    @Test
    void aReportThatNoFlowIsKnownForIsDropped() {
        ByteBuffer report = ByteBuffer.allocate(FecHeader.REPORT_BYTES);
        FecHeader.write(report, FecHeader.REPORT, 0, 0, 42);
        Packet forged = Packets.full(FEC).build(report.putLong(100).putLong(1).flip());
        ServiceHarness fec = ServiceHarness.run(new Fec(), Transport.UDP, Map.of("max-repair", "32"), List.of(forged));
        assertThat(fec.drops()).containsExactly("report for no flow of this node");
    }

    private static Packet with(Packet packet, int at, int octet) {
        Packet copy = packet.copy();
        copy.payload().put(copy.payload().position() + at, (byte) octet);
        return copy;
    }

    @Test
    void aRepairThatLiesIsRefused() {
        List<Packet> onTheWay = encoded(Map.of(), flow(7, new Random(1), 10, 100));
        Packet data = onTheWay.get(9);
        Packet repair = onTheWay.get(10);
        List<Packet> lies = List.of(
                with(data, 3, 64), // An index beyond any block.
                with(repair, 3, 3), // A fourth repair of three.
                with(repair, FecHeader.BYTES, 0), // No data.
                with(repair, FecHeader.BYTES, 65),
                with(repair, FecHeader.BYTES + 1, 0),
                with(repair, FecHeader.BYTES + 1, 33),
                with(repair, FecHeader.BYTES, 9), // Fewer than have come.
                with(repair, 2, 9)); // A kind that there is not.
        try (ServiceHarness defec = ServiceHarness.start(new Defec(), Transport.UDP, Map.of())) {
            defec.send(data).send(lies);
            assertThat(defec.packets()).hasSize(1);
            assertThat(defec.drops())
                    .containsExactly(
                            "bad FEC header",
                            "bad FEC header",
                            "bad FEC header",
                            "bad FEC header",
                            "bad FEC header",
                            "bad FEC header",
                            "contradicts its block",
                            "bad FEC header");
            defec.send(repair).send(with(onTheWay.get(11), FecHeader.BYTES, 11)); // k is 10, says the other.
            assertThat(defec.drops()).last().isEqualTo("contradicts its block");
        }
    }

    /** One bit of one repair is wrong: what comes back of it is not what was sent, and the CRC says so. */
    @Test
    void whatComesBackWrongIsNotSent() {
        List<Packet> onTheWay = new ArrayList<>(encoded(Map.of(), flow(7, new Random(1), 10, 100)));
        Packet repair = onTheWay.remove(10);
        onTheWay.remove(4);
        onTheWay.add(9, with(repair, 60, repair.payloadOctet(60) ^ 1));
        ServiceHarness defec = ServiceHarness.run(new Defec(), Transport.UDP, Map.of(), onTheWay);
        assertThat(defec.packets()).hasSize(9);
        assertThat(defec.count("corrupt")).isEqualTo(1);
    }

    /** 20,000 packets with some octets replaced: none throws, and only what was sent comes back. */
    @Test
    void damagedPacketsEndByNameAndNothingFalseIsGotBack() {
        Random random = new Random(11);
        try (ServiceHarness defec =
                ServiceHarness.start(new Defec(), Transport.UDP, Map.of("blocks", "50", "memory", "8388608"))) {
            long given = 0;
            for (int round = 0; round < 40; round++) {
                List<Packet> sent = flow(round, random, 300, 60);
                List<Packet> onTheWay = encoded(Map.of("data", "" + (1 + random.nextInt(64))), sent);
                List<Packet> damaged = new ArrayList<>();
                for (Packet packet : onTheWay) {
                    if (random.nextInt(3) > 0) {
                        damaged.add(
                                random.nextInt(8) > 0
                                        ? packet
                                        : with(
                                                packet,
                                                random.nextInt(Math.min(36, packet.payloadLength())),
                                                random.nextInt(random.nextBoolean() ? 256 : 4)));
                    }
                }
                given += damaged.size();
                List<Output> before = defec.outputs();
                defec.send(damaged);
                List<String> allowed = digests(sent);
                assertThat(defec
                                .outputs()
                                .subList(before.size(), defec.outputs().size())
                                .stream()
                                .filter(Output::emitted)
                                .map(output -> digest(output.packet())))
                        .as("round %d", round)
                        .isSubsetOf(allowed);
            }
            defec.endOfStream();
            Predicate<Output> own = Output::emitted;
            long passed = defec.outputs().stream().filter(own.negate()).count();
            assertThat(passed + defec.drops().size() + defec.consumed()).isEqualTo(given);
            assertThat(defec.count("recovered")).isPositive();
        }
    }

    @Test
    void bothRunWithWhatANodeShowsToThem() {
        List<Packet> sent = flow(7, new Random(1), 10, 100);
        try (ServiceHarness fec = ServiceHarness.startAsDeployed(Fec.class, Transport.UDP, Map.of());
                ServiceHarness defec = ServiceHarness.startAsDeployed(Defec.class, Transport.UDP, Map.of())) {
            List<Packet> onTheWay = fec.send(sent).packets();
            defec.send(onTheWay.subList(3, 13));
            assertSameInSomeOrder(defec.packets(), sent);
        }
    }
}
