package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** Two next hops of one link-local address and port behind two interfaces, in a JVM in a network namespace of its own. */
@Tag("namespace")
class LinkLocalNextHopTest {
    private static final String LINKS = "for l in a b; do ip link add ${l}0 type veth peer name ${l}1; "
            + "for d in ${l}0 ${l}1; do echo 0 > /proc/sys/net/ipv6/conf/$d/accept_dad; ip link set $d up; done; "
            + "ip -6 addr add fe80::1/64 dev ${l}1 nodad; done; ip link set lo up";

    /** A node that sends to both next hops, by UDP or TCP: prints which packets each of them got. */
    static final class Node {
        private Node() {}

        public static void main(String[] arguments) throws Exception {
            TransportKind kind = TransportKind.valueOf(arguments[0]);
            NextHop.Transport transport = NextHop.Transport.valueOf(arguments[1]);
            EeConfig config = UdpTestNode.config(kind).listening(List.of(), List.of(UdpTestNode.at("127.0.0.1", 0)));
            try (UdpTestNode node = UdpTestNode.start(config);
                    UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
                node.service("S", (service, packet) -> Verdict.FORWARD);
                if (transport == NextHop.Transport.UDP) {
                    try (UdpFarEnd a = new UdpFarEnd(kind, "fe80::1%a1");
                            UdpFarEnd b = new UdpFarEnd(
                                    kind, "fe80::1%b1", a.address().getPort())) {
                        List<byte[]> sent = send(node, sender, a.address().getPort(), transport);
                        check(a.next(), sent.get(0));
                        check(b.next(), sent.get(1));
                    }
                } else {
                    try (ServerSocket a = listen("fe80::1%a1", 0);
                            ServerSocket b = listen("fe80::1%b1", a.getLocalPort())) {
                        List<byte[]> sent = send(node, sender, a.getLocalPort(), transport);
                        check(read(a, sent.get(0).length), sent.get(0));
                        check(read(b, sent.get(1).length), sent.get(1));
                    }
                }
            }
            System.out.println("each got its own");
            System.exit(0);
        }

        private static List<byte[]> send(UdpTestNode node, UdpFarEnd sender, int port, NextHop.Transport transport) {
            node.toHost("10.1.0.0/16", UdpTestNode.at("fe80::1%a0", port), transport);
            node.toHost("10.2.0.0/16", UdpTestNode.at("fe80::1%b0", port), transport);
            List<byte[]> packets = Stream.of("10.1.0.1", "10.2.0.1")
                    .map(host -> UdpTestNode.packet(UdpTestNode.builder(UdpTestNode.at(host, 5), "S", 1), 120))
                    .toList();
            sender.send(node.udp(), packets);
            return packets;
        }

        private static ServerSocket listen(String host, int port) throws Exception {
            ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(host));
            socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            return socket;
        }

        private static byte[] read(ServerSocket from, int bytes) throws Exception {
            try (Socket socket = from.accept()) {
                socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
                return socket.getInputStream().readNBytes(bytes);
            }
        }

        private static void check(byte[] got, byte[] sent) {
            assertThat(got).isEqualTo(sent);
        }
    }

    private static String run(String script) throws Exception {
        Process process = new ProcessBuilder("unshare", "-rn", "sh", "-ec", LINKS + "; " + script)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    @BeforeAll
    static void needsANamespace() {
        String answer;
        try {
            answer = run("echo READY");
        } catch (Exception e) {
            answer = e.toString();
        }
        Tiers.require("namespace", answer.endsWith("READY\n"), "no namespace with IPv6 links here: " + answer.strip());
    }

    private static void eachGetsItsOwn(TransportKind kind, NextHop.Transport transport) throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String output = run("exec " + java + " -XX:TieredStopAtLevel=1 -cp '" + System.getProperty("java.class.path")
                + "' '" + Node.class.getName() + "' " + kind + " " + transport);
        assertThat(output).endsWith("each got its own\n");
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void datagramsForEachGoByItsInterface(TransportKind kind) throws Exception {
        eachGetsItsOwn(kind, NextHop.Transport.UDP);
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void eachHasAConnectionOfItsOwn(TransportKind kind) throws Exception {
        eachGetsItsOwn(kind, NextHop.Transport.TCP);
    }
}
