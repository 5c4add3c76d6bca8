package org.tamanoir.benchmarks.emulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces of hand-made bytes: what is read of them, and what is refused in one line. */
class TraceTest {
    private static final int PCAP = 0xA1B2C3D4;
    private static final int PCAP_NS = 0xA1B23C4D;
    private static final int ETHERNET = 1;

    @TempDir
    private Path folder;

    private List<String> read(String name, byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve(name), bytes);
        List<String> all = new ArrayList<>();
        Arrival arrival = new Arrival();
        try (Trace trace = Trace.open(file, List.of("short", "long"))) {
            while (trace.next(arrival)) {
                all.add("%d %d %x %x %d %d"
                        .formatted(
                                arrival.ns,
                                arrival.bytes,
                                arrival.high,
                                arrival.low,
                                arrival.trafficClass,
                                arrival.service));
            }
        }
        return all;
    }

    private void refused(String name, byte[] bytes, String... says) {
        assertThatThrownBy(() -> read(name, bytes))
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(e.getMessage())
                        .contains(says)
                        .startsWith(name)
                        .doesNotContain("\n"));
    }

    private static ByteBuffer room(ByteOrder order) {
        return ByteBuffer.allocate(4096).order(order);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        return Arrays.copyOf(buffer.array(), buffer.position());
    }

    private static ByteBuffer pcap(ByteOrder order, int magic, int link) {
        return room(order)
                .putInt(magic)
                .putShort((short) 2)
                .putShort((short) 4)
                .putInt(0)
                .putInt(0)
                .putInt(65_535)
                .putInt(link);
    }

    private static void record(ByteBuffer file, int seconds, int fraction, int length, byte[] frame) {
        file.putInt(seconds)
                .putInt(fraction)
                .putInt(frame.length)
                .putInt(length)
                .put(frame);
    }

    /** An Ethernet frame cut behind the header of IPv4. */
    private static byte[] ipv4(int destination, int tos) {
        ByteBuffer frame = ByteBuffer.allocate(34);
        frame.putShort(12, (short) 0x0800)
                .put(14, (byte) 0x45)
                .put(15, (byte) tos)
                .putInt(30, destination);
        return frame.array();
    }

    private static byte[] ipv6InVlan(long high, long low, int trafficClass) {
        ByteBuffer frame = ByteBuffer.allocate(58);
        frame.putShort(12, (short) 0x8100).putShort(16, (short) 0x86DD);
        frame.putInt(18, 6 << 28 | trafficClass << 20).putLong(42, high).putLong(50, low);
        return frame.array();
    }

    @ParameterizedTest
    @CsvSource({"BIG_ENDIAN,false", "LITTLE_ENDIAN,false", "BIG_ENDIAN,true", "LITTLE_ENDIAN,true"})
    void pcapOfEitherOrderAndUnitIsRead(String order, boolean isNs) throws IOException {
        ByteBuffer file = pcap(
                order.startsWith("B") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN,
                isNs ? PCAP_NS : PCAP,
                ETHERNET);
        record(file, 7, 5, 1500, ipv4(0x0A000203, 46));
        record(file, 8, 6, 90, ipv6InVlan(0x20010DB8L << 32, 9, 3));

        assertThat(read("a.pcap", bytes(file)))
                .containsExactly(
                        "0 1500 0 ffff0a000203 46 0",
                        (isNs ? 1_000_000_001L : 1_000_001_000L) + " 90 20010db800000000 9 3 0");
    }

    @Test
    void rawFramesAndThoseOfTheAnyDeviceAreRead() throws IOException {
        byte[] ip = Arrays.copyOfRange(ipv4(0x0A000203, 0), 14, 34);
        ByteBuffer raw = pcap(ByteOrder.BIG_ENDIAN, PCAP, 101);
        record(raw, 0, 0, 20, ip);
        ByteBuffer cooked = pcap(ByteOrder.BIG_ENDIAN, PCAP, 113);
        ByteBuffer frame = ByteBuffer.allocate(36).putShort(14, (short) 0x0800);
        record(cooked, 0, 0, 36, frame.put(16, ip).array());
        ByteBuffer second = pcap(ByteOrder.LITTLE_ENDIAN, PCAP, 276);
        frame = ByteBuffer.allocate(40).putShort(0, (short) 0x0800);
        record(second, 0, 0, 40, frame.put(20, ip).array());
        frame = ByteBuffer.allocate(44).putShort(0, (short) 0x8100).putShort(22, (short) 0x0800);
        record(second, 0, 0, 44, frame.put(24, ip).array());

        assertThat(read("raw", bytes(raw))).containsExactly("0 20 0 ffff0a000203 0 0");
        assertThat(read("cooked", bytes(cooked))).containsExactly("0 36 0 ffff0a000203 0 0");
        assertThat(read("cooked2", bytes(second)))
                .containsExactly("0 40 0 ffff0a000203 0 0", "0 44 0 ffff0a000203 0 0");
    }

    private long leftOut(byte[] bytes, int arrivals) throws IOException {
        Path path = Files.write(folder.resolve("left"), bytes);
        try (CaptureTrace trace = (CaptureTrace) Trace.open(path, List.of())) {
            for (int i = 0; i < arrivals; i++) {
                assertThat(trace.next(new Arrival())).isTrue();
            }
            assertThat(trace.next(new Arrival())).isFalse();
            return trace.leftOut();
        }
    }

    /** BIG TCP: a host hands itself on what no packet can be; frames shorter than a header came so. */
    @Test
    void framesThatNoPacketOfIpHasAreLeftOutAndCounted() throws IOException {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        record(file, 1, 0, 65_535, ipv4(1, 0));
        record(file, 2, 0, 65_536, ipv4(2, 0));
        record(file, 3, 0, 185_000, ipv4(3, 0));
        record(file, 4, 0, 20, Arrays.copyOf(ipv4(4, 0), 20));
        record(file, 5, 0, 6, new byte[6]);
        record(file, 6, 0, 0, new byte[0]);
        record(file, 7, 0, 64, ipv4(7, 0));
        assertThat(leftOut(bytes(file), 2)).isEqualTo(5);
    }

    @Test
    void framesOfAnotherLinkTypeAreLeftOutAndCountedWhereOthersAreNot() throws IOException {
        ByteBuffer file = room(ByteOrder.LITTLE_ENDIAN);
        section(file);
        device(file, ETHERNET, 6);
        device(file, 220, 6);
        device(file, 276, 6);
        packet(file, 0, 1, 60, ipv4(1, 0));
        packet(file, 1, 2, 64, new byte[64]);
        packet(file, 1, 3, 0, new byte[0]);
        ByteBuffer cooked = ByteBuffer.allocate(40).putShort(0, (short) 0x0800);
        packet(file, 2, 4, 40, cooked.put(20, ipv4(2, 0), 14, 20).array());
        assertThat(leftOut(bytes(file), 2)).isEqualTo(2);
        assertThat(read("all", bytes(file))).containsExactly("0 60 0 ffff00000001 0 0", "3000 40 0 ffff00000002 0 0");

        ByteBuffer foreign = room(ByteOrder.BIG_ENDIAN);
        section(foreign);
        device(foreign, 220, 6);
        packet(foreign, 0, 2, 64, new byte[64]);
        assertThat(leftOut(bytes(foreign), 0)).isOne();
    }

    /** In units of 10^-127 s; times that go back, more captured than may be, a packet without a time. */
    @Test
    void whatFramesOfAnotherLinkTypeSayDoesNotCount() throws IOException {
        ByteBuffer file = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        section(file);
        device(file, 220, 127);
        device(file, ETHERNET, 6);
        packet(file, 0, Long.MAX_VALUE, 64, new byte[64]);
        packet(file, 1, 5, 60, ipv4(1, 0));
        packet(file, 0, 0, 64, new byte[64]);
        packet(file, 0, -1, 64, new byte[64]);
        ByteBuffer body = ByteBuffer.allocate(300_020).order(file.order());
        block(file, 6, body.putInt(12, 300_000).putInt(16, 300_000).array());
        block(file, 3, new byte[] {8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
        packet(file, 1, 7, 60, ipv4(2, 0));
        assertThat(leftOut(bytes(file), 2)).isEqualTo(5);
        assertThat(read("all", bytes(file))).containsExactly("0 60 0 ffff00000001 0 0", "2000 60 0 ffff00000002 0 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"BIG_ENDIAN", "LITTLE_ENDIAN"})
    void pcapngBlocksOfTheOldKindAreRead(String order) throws IOException {
        ByteBuffer file = room(order.startsWith("B") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        section(file);
        device(file, 220, 6);
        device(file, ETHERNET, 6);
        byte[] frame = ipv4(9, 0);
        ByteBuffer body = room(file.order())
                .putShort((short) 1)
                .putShort((short) 7)
                .putInt(0)
                .putInt(5);
        block(file, 2, bytes(body.putInt(frame.length).putInt(60).put(frame)));
        assertThat(read("old.pcapng", bytes(file))).containsExactly("0 60 0 ffff00000009 0 0");
    }

    @Test
    void whatIsNotIpIsLeftOutAndCounted() throws IOException {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        byte[] arp = new byte[42];
        arp[12] = 8;
        arp[13] = 6;
        record(file, 1, 0, 42, arp);
        record(file, 2, 0, 64, ipv4(0x01020304, 0));
        Path path = Files.write(folder.resolve("arp"), bytes(file));

        try (CaptureTrace trace = (CaptureTrace) Trace.open(path, List.of())) {
            Arrival arrival = new Arrival();
            assertThat(trace.next(arrival)).isTrue();
            assertThat(arrival.ns).isEqualTo(1_000_000_000);
            assertThat(trace.next(arrival)).isFalse();
            assertThat(trace.leftOut()).isOne();
        }
    }

    @Test
    void everyCutOfACaptureIsRefusedOrEndsBetweenPackets() throws IOException {
        ByteBuffer file = pcap(ByteOrder.LITTLE_ENDIAN, PCAP, ETHERNET);
        record(file, 1, 0, 64, ipv4(1, 0));
        record(file, 2, 0, 64, ipv4(2, 0));
        byte[] whole = bytes(file);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            if (length == 24 || length == 24 + 50) {
                assertThat(read("whole", cut)).hasSize((length - 24) / 50);
            } else {
                refused("cut.pcap", cut, "it was cut");
            }
        }
    }

    @Test
    void timeThatGoesBackIsRefused() {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        record(file, 2, 0, 64, ipv4(1, 0));
        record(file, 1, 999_999, 64, ipv4(1, 0));
        refused("back.pcap", bytes(file), "packet 2", "1000 ns before", "reordercap");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 105, 147, 65_535})
    void otherLinkTypesAreRefused(int link) {
        refused("link.pcap", bytes(pcap(ByteOrder.BIG_ENDIAN, PCAP, link)), "link type " + link, "Ethernet (1)");
    }

    @Test
    void otherFilesAreRefused() {
        refused("other", "GIF89a is no capture".getBytes(StandardCharsets.US_ASCII), "47494638", "pcap or pcapng");
    }

    @Test
    void recordWithMoreBytesThanAnyHasIsRefusedUnread() {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        file.putInt(1).putInt(0).putInt(-1).putInt(64);
        refused("long.pcap", bytes(file), "packet 1", "4294967295", "at most 262144");
    }

    @Test
    void frameCapturedWithoutItsDestinationIsRefused() {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        record(file, 1, 0, 1500, Arrays.copyOf(ipv4(1, 0), 20));
        refused("snap.pcap", bytes(file), "packet 1", "of its 1500 bytes 20", "tcpdump -s");
    }

    @Test
    void partsOfASecondBeyondItAreRefused() {
        ByteBuffer file = pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET);
        record(file, 1, 1_000_000, 64, ipv4(1, 0));
        refused("parts.pcap", bytes(file), "packet 1", "1000000");
    }

    private static void block(ByteBuffer file, int type, byte[] body) {
        int length = (body.length + 3) / 4 * 4 + 12;
        file.putInt(type).putInt(length).put(body).position(file.position() + length - 12 - body.length);
        file.putInt(length);
    }

    private static void section(ByteBuffer file) {
        ByteBuffer body =
                room(file.order()).putInt(0x1A2B3C4D).putShort((short) 1).putShort((short) 0);
        block(file, 0x0A0D0D0A, bytes(body.putLong(-1)));
    }

    private static void device(ByteBuffer file, int link, int resolution) {
        ByteBuffer body =
                room(file.order()).putShort((short) link).putShort((short) 0).putInt(0);
        body.putShort((short) 9).putShort((short) 1).put((byte) resolution).put(new byte[3]);
        block(file, 1, bytes(body.putInt(0)));
    }

    private static void packet(ByteBuffer file, int device, long time, int length, byte[] frame) {
        ByteBuffer body =
                room(file.order()).putInt(device).putInt((int) (time >>> 32)).putInt((int) time);
        block(file, 6, bytes(body.putInt(frame.length).putInt(length).put(frame)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"BIG_ENDIAN", "LITTLE_ENDIAN"})
    void pcapngWithSeveralDevicesUnitsAndSectionsIsRead(String order) throws IOException {
        ByteBuffer file = room(order.startsWith("B") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        section(file);
        device(file, ETHERNET, 6);
        device(file, 101, 9);
        device(file, ETHERNET, 0x80 | 10);
        block(file, 4, new byte[12]);
        packet(file, 0, 1_000_000, 60, ipv4(1, 0));
        packet(file, 1, 1_000_000_500, 61, Arrays.copyOfRange(ipv4(2, 0), 14, 34));
        packet(file, 2, 1024 + 512, 62, ipv4(3, 0));
        section(file);
        device(file, ETHERNET, 3);
        packet(file, 0, 2000, 63, ipv4(4, 0));

        assertThat(read("a.pcapng", bytes(file)))
                .containsExactly(
                        "0 60 0 ffff00000001 0 0",
                        "500 61 0 ffff00000002 0 0",
                        "500000000 62 0 ffff00000003 0 0",
                        "1000000000 63 0 ffff00000004 0 0");
    }

    @Test
    void pcapngPacketsOfUnknownDevicesWithoutTimesAndBeyond64BitsAreRefused() {
        ByteBuffer unknown = room(ByteOrder.BIG_ENDIAN);
        section(unknown);
        packet(unknown, 0, 0, 60, ipv4(1, 0));
        refused("unknown.pcapng", bytes(unknown), "packet 1", "interface 0 of 0");

        ByteBuffer simple = room(ByteOrder.BIG_ENDIAN);
        section(simple);
        device(simple, ETHERNET, 6);
        block(simple, 3, new byte[40]);
        refused("simple.pcapng", bytes(simple), "packet 1", "without a time", "editcap");

        ByteBuffer late = room(ByteOrder.BIG_ENDIAN);
        section(late);
        device(late, ETHERNET, 0);
        packet(late, 0, Long.MAX_VALUE, 60, ipv4(1, 0));
        refused("late.pcapng", bytes(late), "packet 1", "64 bits");

        ByteBuffer last = room(ByteOrder.BIG_ENDIAN);
        section(last);
        device(last, ETHERNET, 9);
        packet(last, 0, -1, 60, ipv4(1, 0));
        refused("last.pcapng", bytes(last), "packet 1", "18446744073709551615 units");
    }

    @Test
    void pcapngBlocksOfOtherLengthsAreRefused() {
        ByteBuffer file = room(ByteOrder.BIG_ENDIAN);
        section(file);
        refused("zero.pcapng", bytes(file.putInt(1).putInt(0)), "0 bytes", "multiple of 4");

        ByteBuffer other = room(ByteOrder.BIG_ENDIAN);
        section(other);
        device(other, ETHERNET, 6);
        other.putInt(other.position() - 4, 24);
        refused("other.pcapng", bytes(other), "32 bytes", "at its end, 24");
    }

    @Test
    void pcapngUnitOfTimeInAnotherNumberOfBytesThanOneIsRefused() {
        ByteBuffer file = room(ByteOrder.BIG_ENDIAN);
        section(file);
        device(file, ETHERNET, 6);
        file.putShort(file.position() - 14, (short) 60_000);
        refused("option.pcapng", bytes(file), "option 9 has 60000 bytes: must be 1");
    }

    @Test
    void pcapOfAnotherVersionIsRefused() {
        byte[] file = bytes(pcap(ByteOrder.BIG_ENDIAN, PCAP, ETHERNET));
        file[5] = 9;
        refused("nine.pcap", file, "version is 9: must be 2");
    }

    @Test
    void csvMayBeginWithAByteOrderMark() throws IOException {
        String text = "\uFEFFns,bytes,destination,class,service\n5,64,10.0.2.3,1,short";
        assertThat(read("mark.csv", text.getBytes(StandardCharsets.UTF_8))).hasSize(1);
    }

    /** Whatever the bytes, it ends, with arrivals or with one line. */
    @Test
    void changedCapturesEndWithArrivalsOrOneLine() throws IOException {
        ByteBuffer file = room(ByteOrder.LITTLE_ENDIAN);
        section(file);
        device(file, ETHERNET, 9);
        for (int i = 0; i < 8; i++) {
            packet(file, 0, i, 60, i % 2 == 0 ? ipv4(i, 0) : ipv6InVlan(1, i, 0));
        }
        byte[] whole = bytes(file);
        Random random = new Random(19);
        for (int round = 0; round < 2000; round++) {
            byte[] changed = whole.clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            }
            try {
                assertThat(read("fuzz", changed)).hasSizeLessThanOrEqualTo(8);
            } catch (IOException e) {
                assertThat(e.getMessage()).startsWith("fuzz").doesNotContain("\n");
            }
        }
    }

    @Test
    void csvIsRead() throws IOException {
        String text = "ns,bytes,destination,class,service\n5,64,10.0.2.3,1,short\r\n\n7,65535,2001:db8::9,255,long";
        assertThat(read("a.csv", text.getBytes(StandardCharsets.UTF_8)))
                .containsExactly("0 64 0 ffff0a000203 1 0", "2 65535 20010db800000000 9 255 1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x,64,10.0.0.1,0,short | time 'x'",
                "-1,64,10.0.0.1,0,short | time '-1'",
                "9,6\u0663,10.0.0.1,0,short | bytes '6\u0663'",
                "1000000000000000010,64,10.0.0.1,0,short | 1000000000 s after that of the first",
                "9,0,10.0.0.1,0,short | bytes '0': must be a number from 1 to 65535",
                "9,65536,10.0.0.1,0,short | bytes '65536'",
                "9,64,localhost,0,short | destination 'localhost'",
                "9,64,10.0.0.1,256,short | class '256'",
                "9,64,10.0.0.1,0,other | service 'other': must be of short, long",
                "9,64,10.0.0.1,0 | 4 columns",
                "8,64,10.0.0.1,0,short | 1 ns before"
            })
    void csvLinesThatSaySomethingElseAreRefused(String line, String says) {
        String text = "9,64,10.0.0.1,0,short\n" + line + "\n";
        refused("b.csv", text.getBytes(StandardCharsets.UTF_8), "packet 2", says);
    }

    @Test
    void csvLineWithoutEndIsRefusedUnread() {
        refused("long.csv", new byte[1 << 20], "packet 1", "longer than 256 bytes");
    }
}
