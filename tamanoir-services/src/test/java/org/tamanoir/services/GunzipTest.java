package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.support.Seeds;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

class GunzipTest {
    private static final String NAME = "org.tamanoir.services.Gunzip";
    private static final byte[] SENTENCE =
            "a stream of packets crosses an active node, and a node, and a node".getBytes(StandardCharsets.UTF_8);

    private static ServiceHarness gunzip(Transport transport, Map<String, String> config, List<Packet> packets) {
        return ServiceHarness.run(new Gunzip(), transport, config, packets);
    }

    private static ServiceHarness tcp(byte[] stream, int payloadBytes) {
        return gunzip(Transport.TCP, Map.of(), Packets.cut(Packets.full(NAME), stream, payloadBytes));
    }

    private static ServiceHarness udp(byte[]... payloads) {
        PacketBuilder builder = Packets.full(NAME);
        return gunzip(
                Transport.UDP,
                Map.of(),
                Arrays.stream(payloads)
                        .map(p -> builder.build(ByteBuffer.wrap(p)))
                        .toList());
    }

    static long[] seeds() {
        return Seeds.ofCommit(GunzipTest.class, 6);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void invertsGzipHoweverTheStreamIsCutAgain(long seed) {
        Random random = new Random(seed);
        byte[] data = seed % 2 == 0 ? Packets.text(random, 700_000) : Packets.noise(random, 700_000);
        String flush = random.nextBoolean() ? "packet" : "stream";
        ServiceHarness gzip = ServiceHarness.run(
                new Gzip(),
                Transport.TCP,
                Map.of("flush", flush),
                Packets.cut(Packets.full(NAME), data, random, 65_000));
        for (int maxPayloadOctets : new int[] {10, 1000, 65_000}) {
            List<Packet> packets = Packets.cut(Packets.full(NAME), gzip.payloads(), random, maxPayloadOctets);
            ServiceHarness host = gunzip(Transport.TCP, Map.of(), packets);
            Packets.assertBytes(host.payloads(), data, "seed " + seed);
            assertThat(host.outputs().size() - host.emitted().size()).isEqualTo(packets.size());
            assertThat(host.count("members")).isEqualTo(1);
            assertThat(host.count("truncated")).isZero();
            assertThat(host.count("bytes-out")).isEqualTo(data.length);
            assertThat(host.packets()).allMatch(p -> p.serviceKey() == ServiceKey.NONE);
            Packets.assertWellFormed(host.packets());
        }
    }

    @Test
    void givesBackTheLargestPacketsAsTheyWere() {
        PacketBuilder builder = Packets.full(NAME);
        int payloadBytes = Anep.MAX_PACKET_OCTETS - builder.headerLength();
        byte[] data = Packets.text(new Random(1), 5 * payloadBytes);
        ServiceHarness gzip = ServiceHarness.run(
                new Gzip(), Transport.TCP, Map.of("next", NAME), Packets.cut(builder, data, payloadBytes));
        ServiceHarness host = gunzip(Transport.TCP, Map.of(), gzip.packets());
        Packets.assertBytes(host.payloads(), data, "data");
        assertThat(host.outputs()).hasSize(6).noneMatch(Output::emitted);
        assertThat(host.outputs().get(5).payload()).isEmpty();
    }

    @Test
    void readsStreamsThatFollowEachOther() {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        for (int bytes : new int[] {0, 1, 1000, 100_000}) {
            byte[] part = Packets.text(new Random(bytes), bytes);
            data.writeBytes(part);
            stream.writeBytes(Packets.gzip(part));
        }
        for (int payloadBytes : new int[] {1, 17, 60_000}) {
            ServiceHarness host = tcp(stream.toByteArray(), payloadBytes);
            Packets.assertBytes(host.payloads(), data.toByteArray(), "data");
            assertThat(host.count("members")).isEqualTo(4);
        }
        Packets.assertBytes(udp(stream.toByteArray()).payloads(), data.toByteArray(), "data");
    }

    @Test
    void readsHeadersWithAllTheirFields() {
        byte[] plain = Packets.gzip(SENTENCE);
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        header.writeBytes(new byte[] {0x1F, (byte) 0x8B, 8, 2 | 4 | 8 | 16, 1, 2, 3, 4, 0, 3, 3, 0, 'a', 0, 'b'});
        header.writeBytes("name\0comment\0".getBytes(StandardCharsets.US_ASCII));
        CRC32 crc = new CRC32();
        crc.update(header.toByteArray());
        header.write((int) crc.getValue());
        header.write((int) crc.getValue() >>> 8);
        int headerBytes = header.size();
        header.write(plain, 10, plain.length - 10);
        byte[] stream = header.toByteArray();
        assertThat(tcp(stream, 1).payloads()).isEqualTo(SENTENCE);
        assertThat(udp(stream).payloads()).isEqualTo(SENTENCE);

        stream[headerBytes - 4] ^= 1;
        assertThat(udp(stream).drops()).containsExactly("wrong gzip checksum");
    }

    @Test
    void datagramsStandAloneUnderLossAndReordering() {
        long seed = Seeds.ofCommit(GunzipTest.class);
        Random random = new Random(seed);
        PacketBuilder builder = Packets.full(NAME);
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            packets.add(builder.build(ByteBuffer.wrap(Packets.text(random, random.nextInt(3000)))));
        }
        List<Packet> compressed = new ArrayList<>(
                ServiceHarness.run(new Gzip(), Transport.UDP, Map.of(), packets).packets());
        compressed.removeIf(p -> random.nextInt(4) == 0);
        Collections.shuffle(compressed, random);
        ServiceHarness host = gunzip(Transport.UDP, Map.of(), compressed);
        assertThat(host.outputs()).hasSize(compressed.size());
        for (Output out : host.outputs()) {
            assertThat(out.payload())
                    .as("seed " + seed)
                    .isEqualTo(Packets.bytes(
                            packets.get((int) out.packet().sequence()).payload()));
        }
    }

    @Test
    void saysThatItAmplifies() {
        assertThat(new Gunzip()).as("offered on UDP by default").isInstanceOf(Amplifier.class);
    }

    @Test
    void datagramsThatInflateToMoreThanOnePacketLeaveInOrder() {
        byte[] data = Packets.text(new Random(9), 400_000);
        ServiceHarness host = udp(Packets.gzip(data));
        assertThat(host.outputs())
                .hasSizeGreaterThan(6)
                .allMatch(o -> o.packet().length() <= Anep.MAX_DATAGRAM_OCTETS)
                .allMatch(o -> o.packet().sequence() == 0);
        Packets.assertBytes(host.payloads(), data, "data");
        assertThat(host.count("bytes-out")).isEqualTo(data.length);
        assertThat(host.count("extra-packets")).isEqualTo(host.outputs().size() - 1);
    }

    @Test
    void dropsWhatIsNotGzipAndOverTcpAllThatFollows() {
        byte[] good = Packets.gzip(SENTENCE);
        assertThat(udp(SENTENCE, good, new byte[0], good).drops()).containsExactly("not gzip", "not gzip");
        PacketBuilder builder = Packets.full(NAME);
        List<Packet> packets = List.of(
                builder.build(ByteBuffer.wrap(good)),
                builder.build(ByteBuffer.wrap(SENTENCE)),
                builder.build(ByteBuffer.wrap(good)));
        ServiceHarness host = gunzip(Transport.TCP, Map.of(), packets);
        assertThat(host.payloads()).isEqualTo(SENTENCE);
        assertThat(host.drops()).containsExactly("not gzip", "after a broken gzip stream");
    }

    @Test
    void noticesStreamsThatEndEarly() {
        byte[] good = Packets.gzip(SENTENCE);
        for (int bytes = 1; bytes < good.length; bytes++) {
            byte[] part = Arrays.copyOf(good, bytes);
            assertThat(udp(part).drops()).as("%d bytes", bytes).containsExactly("truncated gzip");
            assertThat(tcp(part, 1000).count("truncated")).as("%d bytes", bytes).isEqualTo(1);
        }
    }

    @Test
    void neverPassesCorruptDataForGood() {
        byte[] good = Packets.gzip(SENTENCE);
        int unharmed = 0;
        for (int at = 0; at < good.length; at++) {
            for (int flip : new int[] {0x01, 0x10, 0x80, 0xFF}) {
                byte[] bad = good.clone();
                bad[at] ^= (byte) flip;
                ServiceHarness datagram = udp(bad);
                ServiceHarness stream = tcp(bad, 16);
                String where = "byte " + at + " ^ " + flip;
                if (datagram.drops().isEmpty()) {
                    unharmed++;
                    assertThat(datagram.payloads()).as(where).isEqualTo(SENTENCE);
                }
                if (stream.drops().isEmpty() && stream.count("truncated") == 0) {
                    assertThat(stream.payloads()).as(where).isEqualTo(SENTENCE);
                    assertThat(stream.count("members")).as(where).isEqualTo(1);
                }
            }
        }
        // Time, extra flags and system, 6 bytes, and the flag that says text mean nothing to the data, nor does the
        // padding of the last byte that is deflated.
        assertThat(unharmed).isBetween(6 * 4 + 1, 6 * 4 + 1 + 4);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void stopsWhatInflatesPastTheBytesOfAPacket(Transport transport) {
        byte[] bomb = Packets.gzip(new byte[40 << 20]);
        List<Packet> packets = Packets.cut(Packets.full(NAME), bomb, 65_000);
        ServiceHarness host = gunzip(transport, Map.of(), List.of(packets.get(0)));
        assertThat(host.drops()).containsExactly("inflates past max-packet-bytes");
        assertThat(host.payloads().length).isLessThanOrEqualTo(transport == Transport.UDP ? 0 : 16 << 20);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void stopsWhatInflatesPastTheRatio(Transport transport) {
        List<Packet> packets = List.of(Packets.full(NAME).build(ByteBuffer.wrap(Packets.gzip(new byte[100_000]))));
        ServiceHarness host = gunzip(transport, Map.of("max-ratio", "100"), packets);
        assertThat(host.drops()).containsExactly("inflates past max-ratio");
        assertThat(gunzip(transport, Map.of("max-ratio", "1000"), packets).payloads())
                .isEqualTo(new byte[100_000]);
    }

    @Test
    void passesTheMostThatDeflateCanDo() {
        byte[] data = new byte[12 << 20];
        ServiceHarness host = tcp(Packets.gzip(data), 1);
        assertThat(host.drops()).isEmpty();
        assertThat(host.count("bytes-out")).isEqualTo(data.length);
    }

    @Test
    void namesTheNextService() {
        List<Packet> packets = List.of(Packets.full(NAME).build(ByteBuffer.wrap(Packets.gzip(new byte[200_000]))));
        ServiceHarness host = gunzip(Transport.TCP, Map.of("next", "org.example.Next"), packets);
        assertThat(host.packets()).hasSize(4).allMatch(p -> p.serviceKey() == ServiceKey.of("org.example.Next"));
    }
}
