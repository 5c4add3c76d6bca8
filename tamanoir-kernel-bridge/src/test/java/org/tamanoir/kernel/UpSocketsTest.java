package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UpSocketsTest {
    /** Ports 3322 and 53 in /proc/net/udp: one datagram waits at 53. */
    private static final String LIST = """
               sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
              412: 00000000:0CFA 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 17 2 ff11 0
             1139: 0100007F:0035 00000000:0000 07 00000000:00000300 00:00000000 00000000     0        0 18 2 ff12 0
            """;

    @Test
    void looksAtThePortsOfTheNodeAlone() {
        assertThat(UpSockets.areEmpty(LIST, Set.of(3322))).isTrue();
        assertThat(UpSockets.areEmpty(LIST, Set.of(3322, 53))).isFalse();
        assertThat(UpSockets.areEmpty(LIST, Set.of())).isTrue();
    }

    @Test
    void seesWhatWaitsInASocket() throws Exception {
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(loopback, 0))) {
            Set<Integer> ports = Set.of(socket.getLocalPort());
            assertThat(UpSockets.areEmpty(ports)).isTrue();
            socket.send(new DatagramPacket(new byte[1], 1, loopback, socket.getLocalPort()));
            assertThat(UpSockets.areEmpty(ports)).isFalse();
            socket.receive(new DatagramPacket(new byte[1], 1));
            assertThat(UpSockets.areEmpty(ports)).isTrue();
        }
    }
}
