package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.PacketBuilder;

class BpfStampsTest {
    @BeforeAll
    static void needsBpf() {
        BpfBed.require();
    }

    @Test
    void packetsOfUdpAndTcpAreStampedBySequenceNumber() throws Exception {
        try (TestNet net = new TestNet("bpfs");
                Stamps stamps = new Stamps(BpfBed.TYPE_ID, BpfBed.PORT)) {
            net.namespaces().in(net.router(), () -> {
                stamps.begins(TestNet.ROUTER_CLIENT_DEVICE, false);
                stamps.ends(TestNet.ROUTER_SERVER_DEVICE, true);
                return null;
            });
            long beforeNs = System.nanoTime();
            sendUdp(net, 3);
            sendTcp(net, 4);
            long afterNs = System.nanoTime();
            for (int sequence : new int[] {3, 4}) {
                assertThat(stamps.beganNs(sequence)).isBetween(beforeNs, afterNs);
                assertThat(stamps.endedNs(sequence)).isBetween(stamps.beganNs(sequence) + 1, afterNs);
            }
            assertThat(stamps.beganNs(5)).isZero();
            stamps.clear();
            assertThat(stamps.beganNs(3)).isZero();
            net.namespaces().in(net.router(), () -> {
                Stamps.remove(TestNet.ROUTER_CLIENT_DEVICE, false);
                return null;
            });
            sendUdp(net, 6);
            assertThat(stamps.beganNs(6)).isZero();
            assertThat(stamps.endedNs(6)).isPositive();
        }
    }

    private static byte[] packet(int sequence) {
        return BpfBed.bytes(new PacketBuilder().typeId(BpfBed.TYPE_ID).stream(1).nextSequence(sequence), 300);
    }

    private static void sendUdp(TestNet net, int sequence) throws Exception {
        try (DatagramSocket server = net.namespaces().in(net.server(), () -> new DatagramSocket(BpfBed.PORT))) {
            server.setSoTimeout(10_000);
            net.namespaces().in(net.client(), () -> {
                try (DatagramSocket client = new DatagramSocket()) {
                    byte[] octets = packet(sequence);
                    client.send(new DatagramPacket(
                            octets, octets.length, InetAddress.getByName(TestNet.SERVER6), BpfBed.PORT));
                    return null;
                }
            });
            BpfBed.receive(server);
        }
    }

    private static void sendTcp(TestNet net, int sequence) throws Exception {
        try (ServerSocket server = net.namespaces().in(net.server(), () -> new ServerSocket(BpfBed.PORT))) {
            server.setSoTimeout(10_000);
            Socket client = net.namespaces().in(net.client(), () -> {
                Socket socket = new Socket();
                socket.connect(new InetSocketAddress(TestNet.SERVER4, BpfBed.PORT), 10_000);
                return socket;
            });
            try (client;
                    Socket accepted = server.accept()) {
                client.getOutputStream().write(packet(sequence));
                accepted.setSoTimeout(10_000);
                assertThat(accepted.getInputStream().readNBytes(300)).hasSize(300);
            }
        }
    }
}
