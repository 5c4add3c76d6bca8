package org.tamanoir.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramSocket;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class PortsTest {
    @Test
    void noneIsReturnedTwiceAndNoneIsSomebodyElses() throws Exception {
        int first = Ports.free();
        try (ServerSocket tcp = new ServerSocket(first + 1);
                DatagramSocket udp = new DatagramSocket(first + 2)) {
            assertThat(Ports.free(2))
                    .doesNotContain(first, tcp.getLocalPort(), udp.getLocalPort())
                    .doesNotHaveDuplicates();
        }
    }
}
