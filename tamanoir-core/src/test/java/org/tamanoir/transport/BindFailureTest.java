package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BindFailureTest {
    private static final InetSocketAddress ANY = new InetSocketAddress("127.0.0.1", 0);

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"AUTO", "NIO"})
    void aTakenUdpPortHasARemedy(TransportKind kind) throws IOException {
        try (UdpSocket first = UdpSockets.bind(kind, ANY)) {
            assertThatThrownBy(() -> UdpSockets.bind(kind, first.localAddress()).close())
                    .hasMessageStartingWith("cannot bind UDP 127.0.0.1:")
                    .hasMessageEndingWith("; is the port taken? choose another, or 0 for a free one");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"AUTO", "NIO"})
    void anAddressOfAnotherHostHasARemedy(TransportKind kind) {
        assertThatThrownBy(() -> UdpSockets.bind(kind, new InetSocketAddress("192.0.2.77", 0))
                        .close())
                .hasMessageStartingWith("cannot bind UDP 192.0.2.77:0: ")
                .hasMessageEndingWith("; it is no address of this host: 'ip address' lists those");
    }

    @Test
    void aPrivilegedPortHasARemedy() throws IOException {
        InetSocketAddress privileged = new InetSocketAddress(InetAddress.getByName("::1"), 1);
        String epoll = "bind(..) failed with error(-13): Permission denied";
        for (String reason : new String[] {"Permission denied", epoll}) {
            assertThat(BindFailure.line("cannot bind UDP", privileged, reason))
                    .startsWith("cannot bind UDP [::1]:1: " + reason + "; ports below ")
                    .contains("CAP_NET_BIND_SERVICE")
                    .doesNotContain("taken");
        }
        assertThat(BindFailure.line("x", new InetSocketAddress("127.0.0.1", 65_535), "Permission denied"))
                .isEqualTo("x 127.0.0.1:65535: Permission denied");
    }
}
