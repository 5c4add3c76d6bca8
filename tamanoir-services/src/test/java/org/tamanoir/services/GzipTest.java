package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.support.Waiting;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

class GzipTest {
    private static final String NAME = "org.tamanoir.services.Gzip";

    private static ServiceHarness tcp(Map<String, String> config, List<Packet> packets) {
        return ServiceHarness.run(new Gzip(), Transport.TCP, config, packets);
    }

    private static ServiceHarness udp(List<Packet> packets) {
        return ServiceHarness.run(new Gzip(), Transport.UDP, Map.of(), packets);
    }

    @ParameterizedTest
    @CsvSource({
        "1,text,packet",
        "1,noise,stream",
        "7,noise,packet",
        "200,text,packet",
        "200,noise,stream",
        "200,text,stream",
        "1400,noise,packet",
        "32768,text,packet",
        "65000,text,packet",
        "65000,noise,packet",
        "65000,noise,stream",
        "65000,text,stream",
        "65200,noise,packet",
        "65435,noise,packet",
        "65435,noise,stream",
        "65435,text,packet"
    })
    void makesOneGzipStreamOfATcpStream(int payloadBytes, String kind, String flush) throws Exception {
        Random random = new Random(payloadBytes);
        int total = payloadBytes < 100 ? 1000 * payloadBytes : 1_000_000;
        byte[] data = kind.equals("text") ? Packets.text(random, total) : Packets.noise(random, total);
        List<Packet> packets = Packets.cut(Packets.full(NAME), data, payloadBytes);
        ServiceHarness host = tcp(Map.of("flush", flush), packets);

        byte[] compressed = host.payloads();
        Packets.assertBytes(Packets.gunzip(compressed), data, "data");
        assertThat(host.outputs().size() - host.emitted().size()).isEqualTo(packets.size());
        assertThat(host.count("packets")).isEqualTo(packets.size());
        assertThat(host.count("bytes-in")).isEqualTo(total);
        assertThat(host.count("bytes-out")).isEqualTo(compressed.length);
        assertThat(host.count("extra-packets")).isEqualTo(host.outputs().size() - packets.size());
        assertThat(host.packets()).allMatch(p -> p.serviceKey() == ServiceKey.NONE && p.streamId() == 7);
        Packets.assertWellFormed(host.packets());
        assertGzipCommandAccepts(compressed);
    }

    private static void assertGzipCommandAccepts(byte[] compressed) throws IOException, InterruptedException {
        Process gzip;
        try {
            gzip = new ProcessBuilder("gzip", "-t").redirectErrorStream(true).start();
        } catch (IOException e) {
            System.out.println("skipped: gzip -t, since no gzip command is there: " + e.getMessage());
            abort("no gzip command: " + e.getMessage());
            return;
        }
        try (OutputStream in = gzip.getOutputStream()) {
            in.write(compressed);
        }
        assertThat(gzip.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("gzip -t ended")
                .isTrue();
        assertThat(new String(gzip.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEmpty();
        assertThat(gzip.exitValue()).isZero();
    }

    private static Allotment contended(boolean isContended) {
        return (Allotment) Proxy.newProxyInstance(
                Allotment.class.getClassLoader(),
                new Class<?>[] {Allotment.class},
                (proxy, method, arguments) ->
                        method.getReturnType() == boolean.class ? (Object) isContended : (Object) 0L);
    }

    @ParameterizedTest
    @CsvSource({"TCP,packet", "TCP,stream", "UDP,packet"})
    void theLevelChangesInTheMidstOfDataWithoutAByteLost(Transport transport, String flush) throws Exception {
        byte[] data = Packets.text(new Random(5), 1_000_000);
        List<Packet> packets = Packets.cut(Packets.full(NAME), data, 1400);
        ServiceHarness host =
                ServiceHarness.start(new Gzip(), transport, Map.of("level", "9", "least-level", "1", "flush", flush));
        for (int i = 0; i < packets.size(); i++) {
            host.allotment(contended(i / 100 % 2 == 0)).send(packets.get(i));
        }
        host.endOfStream().close();
        assertThat(host.failures()).isEmpty();
        Packets.assertBytes(Packets.gunzip(host.payloads()), data, "data");
    }

    @Test
    void theLevelGoesDownWhileOthersWaitAndUpAgainAfterwards() {
        List<Packet> packets = Packets.cut(Packets.full(NAME), Packets.text(new Random(5), 1400), 1400);
        ServiceHarness host = ServiceHarness.start(new Gzip(), Transport.UDP, Map.of("level", "9", "least-level", "1"));
        host.allotment(contended(false)).send(packets);
        host.allotment(contended(true));
        for (int i = 0; i < 100; i++) {
            host.send(packets);
        }
        host.allotment(contended(false));
        for (int i = 0; i < 1000; i++) {
            host.send(packets);
        }
        host.close();
        List<Packet> out = host.packets();
        assertThat(out.get(100).payloadLength()).isGreaterThan(out.get(0).payloadLength());
        assertThat(out.get(1100).payloadLength()).isEqualTo(out.get(0).payloadLength());
    }

    @Test
    void theLevelStaysWhereNoLeastOneIsSet() {
        List<Packet> packets = Packets.cut(Packets.full(NAME), Packets.text(new Random(5), 1400), 1400);
        ServiceHarness host = ServiceHarness.start(new Gzip(), Transport.UDP, Map.of("level", "9"));
        host.allotment(contended(true));
        for (int i = 0; i < 100; i++) {
            host.send(packets);
        }
        host.close();
        assertThat(host.packets().get(99).payloadLength())
                .isEqualTo(host.packets().get(0).payloadLength());
    }

    @Test
    void aLeastLevelAboveTheLevelIsRefused() {
        assertThatThrownBy(
                        () -> ServiceHarness.start(new Gzip(), Transport.TCP, Map.of("level", "3", "least-level", "4")))
                .hasStackTraceContaining("least-level");
    }

    @Test
    void lettingDataWaitCompressesBetter() {
        List<Packet> packets = Packets.cut(Packets.full(NAME), Packets.text(new Random(1), 100_000), 100);
        assertThat(tcp(Map.of("flush", "stream"), packets).count("bytes-out"))
                .isLessThan(tcp(Map.of("flush", "packet"), packets).count("bytes-out"));
    }

    @Test
    void lettingNothingWaitMakesEveryPacketReadableAtOnce() {
        List<Packet> packets = Packets.cut(Packets.full(NAME), Packets.text(new Random(1), 1000), 100);
        ServiceHarness gzip = ServiceHarness.start(new Gzip(), Transport.TCP, Map.of());
        gzip.send(packets);
        gzip.endOfStream().close();
        // All but the trailer: Gunzip gives back each packet as it was before.
        ServiceHarness gunzip = ServiceHarness.run(
                new Gunzip(), Transport.TCP, Map.of(), gzip.packets().subList(0, packets.size()));
        assertThat(gunzip.packets()).hasSize(packets.size());
        for (int i = 0; i < packets.size(); i++) {
            assertThat(gunzip.outputs().get(i).payload())
                    .isEqualTo(Packets.bytes(packets.get(i).payload()));
        }
        assertThat(gunzip.count("truncated")).isEqualTo(1);
    }

    @Test
    void endsTheStreamInAPacketLikeTheLast() {
        PacketBuilder builder = Packets.full(NAME);
        ServiceHarness host =
                tcp(Map.of(), List.of(builder.build(ByteBuffer.allocate(50)), builder.build(ByteBuffer.allocate(60))));
        assertThat(host.outputs()).hasSize(3);
        Output trailer = host.outputs().get(2);
        assertThat(trailer.emitted()).isTrue();
        assertThat(trailer.packet().sequence()).isEqualTo(1);
        assertThat(trailer.packet().destination()).isEqualTo(Packets.address("10.0.2.7"));
        assertThat(trailer.packet().hopBudget()).isEqualTo(16);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void namesTheNextServiceInEveryPacket(boolean hasKeyOption) {
        String next = "org.tamanoir.services.Gunzip";
        PacketBuilder builder = hasKeyOption ? Packets.full(NAME) : new PacketBuilder().checksum();
        byte[] data = Packets.noise(new Random(3), 500_000);
        List<Packet> packets = Packets.cut(builder, data, Anep.MAX_PACKET_OCTETS - builder.headerLength());
        for (Transport transport : Transport.values()) {
            if (transport == Transport.UDP) {
                packets = Packets.cut(builder, data, Anep.MAX_DATAGRAM_OCTETS - builder.headerLength());
            }
            ServiceHarness host = ServiceHarness.run(new Gzip(), transport, Map.of("next", next), packets);
            assertThat(host.outputs().size()).isGreaterThan(packets.size() + 1);
            assertThat(host.packets()).allMatch(p -> p.serviceKey() == ServiceKey.of(next));
            Packets.assertWellFormed(host.packets());
            Packets.assertBytes(Packets.gunzip(host.payloads()), data, "data");
        }
    }

    @Test
    void anEmptyStreamStaysEmpty() {
        assertThat(tcp(Map.of(), List.of()).outputs()).isEmpty();
        assertThat(udp(List.of()).outputs()).isEmpty();
    }

    @Test
    void emptyPayloadsAreStreamsToo() {
        List<Packet> empty = List.of(Packets.full(NAME).build(ByteBuffer.allocate(0)));
        assertThat(Packets.gunzip(tcp(Map.of(), empty).payloads())).isEmpty();
        assertThat(Packets.gunzip(udp(empty).payloads())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 200, 1400, 32768, 65000})
    void datagramsStandAlone(int payloadBytes) {
        Random random = new Random(payloadBytes);
        for (byte[] data : List.of(Packets.text(random, payloadBytes), Packets.noise(random, payloadBytes))) {
            ServiceHarness host = udp(List.of(Packets.full(NAME).build(ByteBuffer.wrap(data))));
            assertThat(host.outputs()).hasSize(1);
            Packets.assertBytes(Packets.gunzip(host.outputs().get(0).payload()), data, "data");
        }
    }

    @Test
    void datagramsThatWouldGrowTooLargeBecomeSeveralThatStandAlone() {
        PacketBuilder builder = Packets.full(NAME);
        int payloadBytes = Anep.MAX_DATAGRAM_OCTETS - builder.headerLength();
        byte[] data = Packets.noise(new Random(4), payloadBytes);
        ServiceHarness host = udp(List.of(builder.build(ByteBuffer.wrap(data))));
        assertThat(host.outputs()).hasSize(2).allMatch(o -> o.packet().length() <= Anep.MAX_DATAGRAM_OCTETS);
        ByteBuffer all = ByteBuffer.allocate(data.length);
        host.outputs().forEach(o -> all.put(Packets.gunzip(o.payload())));
        Packets.assertBytes(all.array(), data, "data");
        assertThat(host.count("bytes-out"))
                .isEqualTo(host.outputs().stream()
                        .mapToInt(o -> o.packet().payloadLength())
                        .sum());
    }

    @ParameterizedTest
    @ValueSource(ints = {65_527 - 4096, 64_800, 60_000})
    void worksBehindLargeHeaders(int optionBytes) {
        PacketBuilder builder = new PacketBuilder().option(0x7F, new byte[optionBytes & ~3]);
        int room = Anep.MAX_DATAGRAM_OCTETS - builder.headerLength();
        byte[] data = Packets.noise(new Random(optionBytes), 10 * room);
        for (Transport transport : Transport.values()) {
            ServiceHarness host = ServiceHarness.run(new Gzip(), transport, Map.of(), Packets.cut(builder, data, room));
            Packets.assertBytes(Packets.gunzip(host.payloads()), data, "data");
        }
    }

    @Test
    void dropsPacketsWhoseHeaderLeavesNoRoom() {
        PacketBuilder builder = new PacketBuilder().option(0x7F, new byte[65_200]);
        for (Transport transport : Transport.values()) {
            ServiceHarness host = ServiceHarness.run(
                    new Gzip(), transport, Map.of(), List.of(builder.build(ByteBuffer.allocate(100))));
            assertThat(host.drops()).containsExactly("header leaves no room for a payload");
        }
    }

    @Test
    void refusesSettingsOutOfBounds() {
        assertThatThrownBy(() -> new Gzip().init(new ServiceConfig(Map.of("level", "10"))))
                .hasMessage("level: 10 must be a whole number from 1 to 9");
        assertThatThrownBy(() -> new Gzip().init(new ServiceConfig(Map.of("flush", "never"))))
                .hasMessage("flush: never must be one of packet, stream");
        assertThatThrownBy(() -> new Gzip().init(new ServiceConfig(Map.of("compression", "9"))))
                .hasMessageContaining("known: flush, least-level, level, next");
    }
}
