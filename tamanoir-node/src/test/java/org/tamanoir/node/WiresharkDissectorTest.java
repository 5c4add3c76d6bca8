package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.node.admin.RawCapture;
import org.tamanoir.node.admin.Tshark;
import org.tamanoir.support.Seeds;

/** Holds docs/wireshark/anep.lua against tshark and against the node's own reading of packets. */
@Tag("once")
@Tag("process")
@Timeout(120)
class WiresharkDissectorTest {
    private static final List<String> NO_OPTIONS = List.of();
    private static final String V4 = "0100 4a4e 000a 002d 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207"
            + "0003 0002 598f 0000 6865 6c6c";

    /** The test vectors of the wire specification, and what tshark shows of each as a datagram. */
    private static final Map<String, String> VECTORS = new LinkedHashMap<>();

    private static final String[] VECTOR_FIELDS = {
        "anep.type_id",
        "anep.flags.discard",
        "anep.header_octets",
        "anep.length",
        "anep.source.ipv4",
        "anep.destination.ipv4",
        "anep.source.ipv6",
        "anep.destination.ipv6",
        "anep.source.ether",
        "anep.authentication.scheme",
        "anep.authentication.data",
        "anep.checksum",
        "anep.checksum.status",
        "anep.option.type",
        "anep.payload",
        "anep.trailer",
        "anep.drop_reason"
    };

    static {
        VECTORS.put("0100 0012 0002 0008", "0x0012|0|8|8|||||||||||||");
        VECTORS.put("0180 4a4e 0002 000c 5049 4e47", "0x4a4e|1|8|12|||||||||||50494e47||");
        VECTORS.put(
                "0100 4a4e 0008 0025 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207 6865 6c6c 6f",
                "0x4a4e|0|32|37|10.0.1.2|10.0.2.7||||||||1,2|68656c6c6f||");
        VECTORS.put(V4 + "6f", "0x4a4e|0|40|45|10.0.1.2|10.0.2.7||||||0x598f|good|1,2,3|68656c6c6f||");
        VECTORS.put(
                "0100 000f 0010 0044 0001 0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0001 0002 0006 0000 0002"
                        + "2001 0db8 0000 0000 0000 0000 0000 0002 0003 0002 a10b 0000 0001 0203",
                "0x000f|0|64|68|||2001:db8::1|2001:db8::2||||0xa10b|good|1,2,3|00010203||");
        VECTORS.put(
                "0100 4a4e 0006 0018 0001 0004 0000 0003 0200 c0ff ee01 0000",
                "0x4a4e|0|24|24|||||02:00:c0:ff:ee:01|||||1|||");
        VECTORS.put(
                "0100 4a4e 0007 001d 9234 0002 dead beef 0002 0003 0000 0001 0a00 0207 78",
                "0x4a4e|0|28|29||10.0.2.7||||||||4660,2|78||");
        VECTORS.put("0100 4a4e 0003 0010 4777 0001 6461 7461", "0x4a4e|0|12|16||||||||||1911|64617461||OPTION");
        VECTORS.put(
                "0100 4a4e 0006 0018 0004 0004 0000 0001 2863 6572 7429 2e2e",
                "0x4a4e|0|24|24||||||1|28636572 74292e2e|||4|||".replace(" ", ""));
        VECTORS.put("0200 4a4e 0002 0008", "0x4a4e|0|8|8|||||||||||||VERSION");
        VECTORS.put("0100 4a4e 0002 00", "||||||||||||||||SHORT");
        VECTORS.put("0100 4a4e 0001 0008", "0x4a4e|0|4|8|||||||||||||HEADER_LENGTH");
        VECTORS.put("0100 4a4e 0002 0007 6162 6364", "0x4a4e|0|8|7|||||||||||||HEADER_LENGTH");
        VECTORS.put("0100 4a4e 0002 0040 6162 6364", "0x4a4e|0|8|64|||||||||||||TRUNCATED");
        VECTORS.put("0100 4a4e 0003 000c 0001 0000", "0x4a4e|0|12|12|||||||||||||OPTION_LENGTH");
        VECTORS.put("0100 4a4e 0005 0014 0001 0004 0000 0001 0a00 0102", "0x4a4e|0|20|20|||||||||||||OPTION_LENGTH");
        VECTORS.put(V4 + "6e", "0x4a4e|0|40|45|10.0.1.2|10.0.2.7||||||0x598f|bad|1,2,3|68656c6c6e||CHECKSUM");
        VECTORS.put("0100 4a4e 0004 0010 0001 0002 0000 0001", "0x4a4e|0|16|16||||||||||1|||OPTION_FORMAT");
        VECTORS.put("0100 4a4e 0002 000a 6162 6364", "0x4a4e|0|8|10|||||||||||6162|6364|");
        VECTORS.put("0100 4a4e 0002 000a 4142 0100 0012 0002 0008", "0x4a4e|0|8|10|||||||||||4142|0100001200020008|");
    }

    @TempDir
    Path folder;

    private static byte[] hex(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @BeforeEach
    void requireTshark() {
        Tshark.require();
    }

    @Test
    void showsTheTestVectorsAsTheyAreSpecified() throws Exception {
        RawCapture capture = new RawCapture(3322);
        VECTORS.keySet().forEach(vector -> capture.datagram(hex(vector)));
        assertThat(Tshark.fields(capture.writeTo(folder.resolve("v.pcap")), NO_OPTIONS, VECTOR_FIELDS))
                .containsExactlyElementsOf(VECTORS.values());
    }

    @Test
    void namesTheSameDropReasonAsTheNodeForMutatedPackets() throws Exception {
        long seed = Seeds.ofCommit(WiresharkDissectorTest.class);
        Random random = new Random(seed);
        byte[] good = packet(tamanoirPacket().build(ByteBuffer.allocate(9)));
        RawCapture capture = new RawCapture(3325);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = Arrays.copyOf(good, i % 10 == 0 ? random.nextInt(1, good.length) : good.length);
            for (int change = random.nextInt(3); change >= 0; change--) {
                bytes[random.nextInt(Math.min(bytes.length, 120))] = (byte) random.nextInt(i % 2 == 0 ? 256 : 4);
            }
            capture.datagram(bytes);
            ParseFault reason =
                    new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP).parse(ByteBuffer.wrap(bytes), 0, bytes.length);
            expected.add(reason == null ? "" : reason.name());
        }
        assertThat(Tshark.fields(capture.writeTo(folder.resolve("m.pcap")), NO_OPTIONS, "anep.drop_reason"))
                .as("seed " + seed)
                .containsExactlyElementsOf(expected);
        assertThat(expected).contains("", "VERSION", "SHORT", "TRUNCATED", "OPTION_LENGTH", "HEADER_LENGTH");
    }

    private static byte[] packet(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        return bytes;
    }

    private static PacketBuilder tamanoirPacket() throws IOException {
        ByteBuffer previousNode =
                ByteBuffer.allocate(12).putInt(1).putInt(0x0A000101).putShort((short) 3325);
        ByteBuffer round =
                ByteBuffer.allocate(12).putLong(77).putShort((short) 2).put((byte) 3);
        ByteBuffer signature = ByteBuffer.allocate(40).putInt(0xCAFE).putInt(1).put(39, (byte) 9);
        return new PacketBuilder()
                        .source(InetAddress.getByName("10.0.1.2"))
                        .destination(InetAddress.getByName("10.0.2.7"))
                        .service("org.tamanoir.services.Monitor")
                        .classOfService(46, 2)
                        .option(0x8003, previousNode.array())
                        .stream(0xFFFF_FFFF)
                        .nextSequence(-1)
                        .option(0xC005, round.array())
                        .option(0x8006, hex("000102030405060708090a0b"))
                        .hopBudget(17)
                        .option(
                                0x8008,
                                ByteBuffer.allocate(16).putLong(5).putLong(6).array())
                        .option(0xC009, signature.array())
                        .destinationPort(4000);
    }

    @Test
    void showsTamanoirsOptionsUnderItsTypeIdAlone() throws Exception {
        byte[] tamanoir = packet(tamanoirPacket().build(ByteBuffer.allocate(0)));
        byte[] other = packet(tamanoirPacket().typeId(0x4A4E).build(ByteBuffer.allocate(0)));
        Path capture = new RawCapture(3324).datagram(tamanoir).datagram(other).writeTo(folder.resolve("t.pcap"));
        String[] fields = {
            "anep.tamanoir.service_key",
            "anep.tamanoir.service",
            "anep.tamanoir.class",
            "anep.tamanoir.drop_precedence",
            "anep.tamanoir.previous_node.ipv4",
            "anep.tamanoir.previous_node.port",
            "anep.tamanoir.stream_id",
            "anep.tamanoir.sequence",
            "anep.tamanoir.round",
            "anep.tamanoir.path",
            "anep.tamanoir.round_flags.empty",
            "anep.tamanoir.round_flags.last",
            "anep.tamanoir.format",
            "anep.tamanoir.hops",
            "anep.tamanoir.origin_time",
            "anep.tamanoir.egress_time",
            "anep.tamanoir.authentication.key_id",
            "anep.tamanoir.authentication.algorithm",
            "anep.tamanoir.authentication.hmac",
            "anep.tamanoir.destination_port",
            "anep.drop_reason"
        };
        String shown = "0xcd5ea5671e5f4c26|org.tamanoir.services.Monitor|46|2|10.0.1.1|3325|4294967295|"
                + "18446744073709551615|77|2|1|1|000102030405060708090a0b|17|5|6|0x0000cafe|1|" + "00".repeat(31)
                + "09|4000|";
        assertThat(Tshark.fields(capture, NO_OPTIONS, fields)).containsExactly(shown, "|".repeat(20));
        assertThat(Tshark.fields(capture, List.of("-o", "anep.type_id:19022"), fields))
                .containsExactly("|".repeat(20), shown);
    }

    @Test
    void summarisesEachPacketInOneLine() throws Exception {
        byte[] tamanoir = packet(tamanoirPacket().nextSequence(3).build(ByteBuffer.allocate(5)));
        Path capture = new RawCapture(3322).datagram(tamanoir).writeTo(folder.resolve("s.pcap"));
        assertThat(Tshark.fields(capture, NO_OPTIONS, "_ws.col.Protocol", "_ws.col.Info"))
                .containsExactly("ANEP|Tamanoir, 10.0.1.2 -> 10.0.2.7, org.tamanoir.services.Monitor, "
                        + "stream 4294967295, number 3, 5 octets");
    }

    @Test
    void putsTcpStreamsTogetherHoweverTheyAreCut() throws Exception {
        PacketBuilder builder = new PacketBuilder().stream(7).checksum();
        ByteBuffer stream = ByteBuffer.allocate(200_000);
        for (int bytes : new int[] {0, 1, 300, 5000, 65_000, 10}) {
            builder.write(stream, ByteBuffer.allocate(bytes));
        }
        byte[] bytes = Arrays.copyOf(stream.array(), stream.position());
        RawCapture capture = new RawCapture(3323);
        int streams = 0;
        for (int segmentBytes : new int[] {17, 1460, 60_000}) {
            capture.connection();
            streams++;
            for (int at = 0; at < bytes.length; at += segmentBytes) {
                capture.segment(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + segmentBytes)));
            }
        }
        List<String> frames = Tshark.fields(
                capture.writeTo(folder.resolve("c.pcap")),
                List.of("-Y", "anep"),
                "anep.tamanoir.sequence",
                "anep.checksum.status",
                "anep.drop_reason");
        List<String> sequences = frames.stream()
                .flatMap(line -> Arrays.stream(line.split("\\|")[0].split(",")))
                .toList();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            expected.addAll(List.of("0", "1", "2", "3", "4", "5"));
        }
        assertThat(sequences).isEqualTo(expected);
        assertThat(frames).allMatch(line -> line.matches("[^|]*\\|good(,good)*\\|"));
    }

    @Test
    void readsTheVectorsOfStreamsAsANodeDoes() throws Exception {
        RawCapture capture = new RawCapture(3322);
        // S1 byte by byte, M10 and M5, which wait for more, and M1, where a node closes.
        capture.connection();
        for (byte octet : hex("0100 4a4e 0002 000a 4142 0100 0012 0002 0008")) {
            capture.segment(new byte[] {octet});
        }
        capture.connection().segment(hex("0100 4a4e 0002 000a 6162 6364"));
        capture.connection().segment(hex("0100 4a4e 0002 0040 6162 6364"));
        capture.connection().segment(hex("0200 4a4e 0002 0008 0100 0012 0002 0008"));
        assertThat(Tshark.fields(
                        capture.writeTo(folder.resolve("w.pcap")),
                        List.of("-Y", "anep"),
                        "tcp.stream",
                        "anep.type_id",
                        "anep.payload",
                        "anep.drop_reason"))
                .containsExactly("0|0x4a4e|4142|", "0|0x0012||", "1|0x4a4e|6162|", "3|0x4a4e||VERSION");
    }

    @Test
    void otherPortsAreReadWhenASettingSaysSo() throws Exception {
        byte[] bytes = packet(new PacketBuilder().build(ByteBuffer.allocate(3)));
        Path capture = new RawCapture(9999)
                .datagram(bytes)
                .datagram("no packet at all".getBytes(StandardCharsets.US_ASCII))
                .connection()
                .segment(bytes)
                .writeTo(folder.resolve("p.pcap"));
        String[] fields = {"frame.number", "anep.length"};
        List<String> shown = List.of("-Y", "anep");
        assertThat(Tshark.fields(capture, shown, fields)).isEmpty();
        assertThat(Tshark.fields(capture, List.of("-Y", "anep", "-o", "anep.heuristic:TRUE"), fields))
                .containsExactly("1|11", "4|11");
        assertThat(Tshark.fields(capture, List.of("-Y", "anep.version == 1", "-o", "anep.ports:9000-9999"), fields))
                .containsExactly("1|11", "4|11");
    }

    @Test
    void knowsTheServicesThatShip() throws Exception {
        String script = Files.readString(Path.of("..", "docs", "wireshark", "anep.lua"));
        Matcher names = Pattern.compile("\\[\"([0-9a-f]{16})\"] = \"(org\\.tamanoir\\.services\\.\\w+)\"")
                .matcher(script);
        int found = 0;
        while (names.find()) {
            found++;
            assertThat(names.group(1)).isEqualTo(ServiceKey.toString(ServiceKey.of(names.group(2))));
        }
        assertThat(found).isEqualTo(7);
    }
}
