package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.transport.TransportKind;

/** Datagrams for more TCP next hops than a service keeps connections to. */
@Timeout(240)
@ExtendWith(UdpTestNode.NoLeaks.class)
class ManyNextHopsTest {
    private static final int BYTES = 120;

    /** A next hop whose connection makes room sees its end, and gets what comes later by another one. */
    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void theOldestMakesRoomInOrderAndIsReachedAnew(TransportKind kind) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(kind);
                ServerSocket hops = new ServerSocket();
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            hops.bind(new InetSocketAddress(0), 200);
            hops.setSoTimeout(40_000);
            int count = Connections.MAX + 2;
            for (int i = 1; i <= count; i++) {
                InetSocketAddress hop = new InetSocketAddress("127.0.1." + i, hops.getLocalPort());
                node.toHost("10.1.0." + i + "/32", hop, Transport.TCP);
            }
            List<Socket> accepted = new ArrayList<>();
            long sent = 0;
            for (int i = 1; i <= count; i++) {
                accepted.add(next(node, sender, hops, i, ++sent));
                if (i == Connections.MAX + 1) {
                    assertThat(accepted.get(0).getInputStream().read()).isEqualTo(-1);
                    accepted.add(next(node, sender, hops, 1, ++sent));
                }
            }
            node.assertDrops(sent, Map.of());
            for (Socket each : accepted) {
                each.close();
            }
        }
    }

    /** Sends a packet towards the next hop of this number, and returns the connection by which it came. */
    private static Socket next(UdpTestNode node, UdpFarEnd sender, ServerSocket hops, int number, long sent)
            throws IOException {
        byte[] packet = UdpTestNode.packet(UdpTestNode.builder(UdpTestNode.at("10.1.0." + number, 9), "", 1), BYTES);
        sender.send(node.udp(), List.of(packet));
        Socket accepted = hops.accept();
        accepted.setSoTimeout(40_000);
        assertThat(accepted.getLocalAddress()).isEqualTo(UdpTestNode.address("127.0.1." + number));
        assertThat(accepted.getInputStream().readNBytes(BYTES)).isEqualTo(packet);
        eventually().until(() -> node.environment.traffic().packetsOut() == sent);
        return accepted;
    }
}
