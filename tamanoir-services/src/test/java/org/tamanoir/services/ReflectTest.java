package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class ReflectTest {
    private static ServiceHarness run(String to, PacketBuilder... builders) {
        List<Packet> packets = java.util.Arrays.stream(builders)
                .map(builder -> builder.build(ByteBuffer.wrap(new byte[] {1, 2, 3})))
                .toList();
        return ServiceHarness.run(new Reflect(), Transport.UDP, Map.of("to", to), packets);
    }

    private static PacketBuilder packet() {
        return Packets.full("org.tamanoir.services.Reflect");
    }

    private static List<String> receivers(ServiceHarness harness) {
        return harness.outputs().stream()
                .map(output -> Objects.requireNonNull(output.elsewhere()))
                .map(address -> address.getAddress().getHostAddress() + " " + address.getPort())
                .toList();
    }

    @Test
    void eachReceiverGetsTheSamePacket() {
        ServiceHarness harness = run("10.0.0.8:4000 10.0.0.9:4001  [2001:db8::8]:4002", packet());

        assertThat(receivers(harness)).containsExactly("10.0.0.8 4000", "10.0.0.9 4001", "2001:db8:0:0:0:0:0:8 4002");
        assertThat(harness.payloads()).containsExactly(1, 2, 3, 1, 2, 3, 1, 2, 3);
        assertThat(harness.packets())
                .allSatisfy(packet -> assertThat(packet.destination()).isEqualTo(Packets.address("10.0.2.7")));
        assertThat(harness.counters()).containsEntry("packets", 1L).containsEntry("copies", 3L);
        Packets.assertWellFormed(harness.packets());
    }

    /** What that does over TCP shows FanOutTest. */
    @Test
    void noReceiverWaitsForGoodForAnother() {
        assertThat(Reflect.class.getAnnotation(FanOut.class).patienceMs()).isPositive();
    }

    @Test
    void theSourceDoesNotGetItsOwn() {
        assertThat(receivers(run("10.0.1.2:4000 10.0.0.9:4001", packet()))).containsExactly("10.0.0.9 4001");
    }

    @Test
    void aReceiverGetsDropPrecedencesUpToItsOwn() {
        ServiceHarness harness =
                run("10.0.0.8:4000/1 10.0.0.9:4001", packet().classOfService(0, 1), packet().classOfService(0, 2));

        assertThat(receivers(harness)).containsExactly("10.0.0.8 4000", "10.0.0.9 4001", "10.0.0.9 4001");
        assertThat(harness.count("withheld")).isOne();
    }

    @Test
    void aPacketThatNobodyGetsIsDropped() {
        assertThat(run("10.0.1.2:4000", packet()).drops()).containsExactly("no receiver");
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
        '', must be an address and a port
        10.0.0.8, must be an address and a port
        example.org:4000, is no address: write one as 10.0.0.1
        2001:db8::8:4000, must be an address and a port
        10.0.0.8:0, the port must be 1 to 65535
        10.0.0.8:70000, the port must be 1 to 65535
        10.0.0.8:4000/256, the drop precedence must be 0 to 255
        10.0.0.300:4000, a decimal number from 0 to 255
        10.0.0.010:4000, without zeros in front
        10.0.1:4000, 3 of 4 octets
        """)
    void aReceiverThatIsNoneIsRefused(String to, String why) {
        assertThatThrownBy(() -> new Reflect().init(new ServiceConfig(Map.of("to", to))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
