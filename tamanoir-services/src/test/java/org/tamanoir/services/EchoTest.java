package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

class EchoTest {
    private static final byte[] PING = "ping".getBytes(StandardCharsets.UTF_8);

    @ParameterizedTest
    @EnumSource(Transport.class)
    void answersWithSwappedEndsAndTheSamePayload(Transport transport) {
        Packet packet = Packets.full("org.tamanoir.services.Echo").build(ByteBuffer.wrap(PING));
        ServiceHarness host = ServiceHarness.run(new Echo(), transport, Map.of(), List.of(packet));

        Output answer = host.outputs().get(0);
        assertThat(answer.verdict()).isEqualTo(Verdict.REPLY);
        assertThat(answer.packet().source()).isEqualTo(Packets.address("10.0.2.7"));
        assertThat(answer.packet().destination()).isEqualTo(Packets.address("10.0.1.2"));
        assertThat(answer.packet().serviceKey()).isEqualTo(ServiceKey.NONE);
        assertThat(answer.packet().sequence()).isZero();
        assertThat(answer.payload()).isEqualTo(PING);
        assertThat(host.count("packets")).isEqualTo(1);
        assertThat(host.count("bytes")).isEqualTo(packet.length());
        Packets.assertWellFormed(host.packets());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void answersPacketsWithoutIdentifiers(Transport transport) {
        Packet packet = new PacketBuilder().build(ByteBuffer.wrap(PING));
        ServiceHarness host = ServiceHarness.run(new Echo(), transport, Map.of(), List.of(packet));

        assertThat(host.outputs().get(0).verdict()).isEqualTo(Verdict.REPLY);
        assertThat(host.payloads()).isEqualTo(PING);
    }
}
