package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.cluster.config.Welcome;

class MembershipPortsTest {
    @ParameterizedTest
    @CsvSource({
        "direct, 10.9.0.1, 0.0.0.0, 3322, true",
        "direct, 10.9.0.1, 10.9.0.1, 3322, true",
        "direct, 10.9.0.1, ::, 3322, true",
        "direct, 10.9.0.1, 10.0.0.5, 3322, false",
        "direct, 10.9.0.1, 0.0.0.0, 3323, false",
        "tunnel, 10.9.0.1, 127.0.0.1, 3322, false",
        "nat, 10.9.0.1, 10.0.0.5, 3322, true",
        "nat, 10.9.0.1, 127.0.0.1, 3322, false",
        "direct, fd00::1, ::, 3322, true",
        "direct, fd00::1, 0.0.0.0, 3322, false",
        "direct, fd00::1, fd00::1, 3322, true"
    })
    void packetsComeWhereTheServicesForwardingSendsThem(
            String forwarding, String virtual, String listening, int port, boolean isThere) {
        Welcome.Served service = new Welcome.Served("video", virtual, 80, 3322, List.of("tcp"), forwarding);
        MembershipPorts ports = new MembershipPorts(List.of(new InetSocketAddress(listening, port)), List.of());
        assertThat(ports.findings(List.of(service)).isEmpty()).isEqualTo(isThere);
    }

    @Test
    void aFindingNamesTheRemedy() {
        MembershipPorts ports = new MembershipPorts(
                List.of(new InetSocketAddress("0.0.0.0", 3322)), List.of(new InetSocketAddress("127.0.0.1", 3322)));
        assertThat(ports.findings(List.of(Welcomes.SERVED)))
                .containsExactly("service video: the node does not listen on udp 10.9.0.1:3322: add --listen '*:3322'");
    }

    @Test
    void beforeTheNodeListensNothingIsMissing() {
        assertThat(MembershipPorts.NOT_YET.findings(List.of(Welcomes.SERVED))).isEmpty();
    }
}
