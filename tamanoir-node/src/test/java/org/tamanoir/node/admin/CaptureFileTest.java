package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.StreamInfo.Transport;

@Tag("process")
class CaptureFileTest {
    private static final byte[] PING = HexFormat.of().parseHex("01804a4e0002000c50494e47");
    private static final InetSocketAddress IPV4 = new InetSocketAddress("10.0.1.2", 50_000);
    private static final InetSocketAddress OWN = new InetSocketAddress("10.0.2.7", 9_999);
    private static final InetSocketAddress IPV6 = new InetSocketAddress("2001:db8::1", 3_322);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    @Test
    void writesWhatTheFormatSays() throws IOException {
        try (CaptureFile file = new CaptureFile(bytes)) {
            file.write(1_700_000_000_000_000_042L, Transport.UDP, IPV4, OWN, PING);
            file.write(0, Transport.TCP, IPV6, OWN, new byte[0]);
        }
        String expected = """
                a1b23c4d 00020004 00000000 00000000 0001004f 000000fc
                6553f100 0000002a 00000040 00000040
                000c0004 616e6570
                00140004 0a000102 00150004 0a000207
                00180004 00000003 00190004 0000c350 001a0004 0000270f 00000000
                01804a4e 0002000c 50494e47
                00000000 00000000 00000040 00000040
                000c0004 616e6570
                00160010 20010db8 00000000 00000000 00000001 00150004 0a000207
                00180004 00000002 00190004 00000cfa 001a0004 0000270f 00000000
                """;
        assertThat(HexFormat.of().formatHex(bytes.toByteArray())).isEqualTo(expected.replaceAll("\\s", ""));
    }

    @Test
    void refusesWhatNoPacketCanBe() throws IOException {
        try (CaptureFile file = new CaptureFile(bytes)) {
            assertThatThrownBy(() -> file.write(0, Transport.TCP, IPV4, OWN, new byte[65_536]))
                    .hasMessage("packet of 65536 bytes: at most 65535 are one of ANEP");
            InetSocketAddress name = InetSocketAddress.createUnresolved("node.example", 3322);
            assertThatThrownBy(() -> file.write(0, Transport.TCP, name, OWN, PING))
                    .hasMessageContaining("look it up first");
            file.write(0, Transport.TCP, IPV4, OWN, PING);
        }
        assertThat(bytes.size()).isEqualTo(24 + 16 + 64);
    }

    @Test
    void wiresharkReadsItOnAnyPort() throws Exception {
        Tshark.require();
        byte[] largest = new byte[65_535];
        PacketBuilder builder = new PacketBuilder().stream(5).checksum();
        builder.write(ByteBuffer.wrap(largest), ByteBuffer.allocate(largest.length - builder.headerLength()));
        Path capture = folder.resolve("f.pcap");
        try (CaptureFile file = new CaptureFile(Files.newOutputStream(capture))) {
            file.write(1_700_000_000_000_000_042L, Transport.UDP, IPV4, OWN, PING);
            file.write(1_700_000_001_000_000_000L, Transport.TCP, IPV6, IPV6, largest);
            file.write(1_700_000_002_000_000_000L, Transport.TCP, OWN, IPV4, new byte[] {2, 0, 0, 1, 0, 2, 0, 8});
        }
        assertThat(Tshark.fields(
                        capture,
                        List.of(),
                        "frame.time_epoch",
                        "_ws.col.Source",
                        "_ws.col.Destination",
                        "_ws.col.Protocol",
                        "exported_pdu.port_type",
                        "exported_pdu.src_port",
                        "exported_pdu.dst_port",
                        "anep.length",
                        "anep.checksum.status",
                        "anep.drop_reason"))
                .containsExactly(
                        "1700000000.000000042|10.0.1.2|10.0.2.7|ANEP|3|50000|9999|12||",
                        "1700000001.000000000|2001:db8::1|2001:db8::1|ANEP|2|3322|3322|65535|good|",
                        "1700000002.000000000|10.0.2.7|10.0.1.2|ANEP|2|9999|50000|8||VERSION");
    }
}
