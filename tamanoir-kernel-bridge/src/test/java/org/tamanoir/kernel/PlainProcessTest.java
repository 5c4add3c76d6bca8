package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.PlainPackets.udp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** Plain datagrams and a node of another process, which is killed, or stopped so that it does not come round. */
@Tag("process")
@Tag("namespace")
class PlainProcessTest {
    private static final String NAME = "org.example.Marker";
    private static final byte[] NOTHING = {};
    private static final String READY = "ready";
    private static final int TCP_PORT = 8080;
    private static final int TIMEOUT_MS = (int) Waiting.PATIENCE.toMillis();

    private TestNet net;
    private PlainWire client;
    private PlainWire server;
    private byte[] routerLink;
    private byte[] clientLink;
    private String before;

    @BeforeEach
    void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("plainp");
        net.namespaces().run(net.router(), "sysctl -qw net.ipv4.ip_forward=1");
        client = PlainWire.open(net, net.client(), TestNet.CLIENT_DEVICE);
        server = PlainWire.open(net, net.server(), TestNet.SERVER_DEVICE);
        routerLink = PlainWire.linkAddress(net, net.router(), TestNet.ROUTER_CLIENT_DEVICE);
        clientLink = PlainWire.linkAddress(net, net.client(), TestNet.CLIENT_DEVICE);
        // Left by a test that was killed, if its namespace had the number that this one has got.
        net.namespaces().run(net.router(), "rm -rf " + pins());
        before = traces();
    }

    @AfterEach
    void removeNet() {
        if (net != null) {
            client.close();
            server.close();
            net.close();
        }
    }

    private String traces() {
        return net.namespaces()
                .run(
                        net.router(),
                        "ip rule; tc filter show dev rc ingress; tc qdisc show dev rc; " + "ls -d " + pins()
                                + " 2>/dev/null || true");
    }

    /** Of this namespace alone: other tests pin programs at the same time. */
    private String pins() {
        return "/sys/fs/bpf/tamanoir-" + Namespaces.inode(net.router()) + "-*";
    }

    private static PlainConfig config() {
        return config(5004);
    }

    private static PlainConfig config(int port) {
        return new PlainConfig(
                new PlainRules(List.of(
                        rule(PlainMatch.Protocol.UDP, port),
                        rule(PlainMatch.Protocol.TCP, TCP_PORT),
                        rule(new PlainMatch(
                                PlainMatch.Protocol.ICMP,
                                null,
                                null,
                                0,
                                PlainMatch.MAX_PORT,
                                Set.of(IcmpType.ECHO_REQUEST),
                                PlainMatch.ANY,
                                PlainMatch.ANY,
                                null)))),
                List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE),
                PlainConfig.DEFAULT_ALERTS);
    }

    private static PlainRule rule(PlainMatch.Protocol protocol, int port) {
        return rule(new PlainMatch(protocol, null, null, port, port, PlainMatch.ANY, PlainMatch.ANY, null));
    }

    private static PlainRule rule(PlainMatch match) {
        return new PlainRule(match, NAME, ServiceKey.of(NAME), PlainMatch.ANY, FailurePolicy.DROP);
    }

    /** Sends datagrams until one arrives, and returns whether the service has marked it. */
    private boolean arrivesMarked() {
        return arrivesMarked(5004);
    }

    private boolean arrivesMarked(int port) {
        byte[] packet = udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, port, 0, 64, NOTHING, new byte[8]);
        client.send(PlainPackets.framed(routerLink, clientLink, packet));
        byte[] arrived = server.packets(1, each -> each[0] == 0x45 && each[9] == PlainPackets.UDP)
                .get(0);
        return arrived[28] == 1;
    }

    /** Sends echo requests until one arrives, and returns whether the service has marked it. */
    private boolean echoArrivesMarked() {
        byte[] packet = PlainPackets.icmp(TestNet.CLIENT4, TestNet.SERVER4, 8, 0, 0, 0, 64, new byte[0]);
        client.send(PlainPackets.framed(routerLink, clientLink, packet));
        byte[] arrived = server.packets(
                        1,
                        each -> each[0] == 0x45 && each[9] == PlainPackets.ICMP_V4 && (each[20] == 8 || each[20] == 1))
                .get(0);
        return arrived[20] == 1;
    }

    private Process start() throws Exception {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PlainProcessTest.class.getName(),
                        net.router())
                .redirectErrorStream(true)
                .start();
        awaitReady(process);
        return process;
    }

    private static void awaitReady(Process process) throws IOException {
        StringBuilder said = new StringBuilder();
        var output = process.inputReader();
        for (String line = output.readLine(); !READY.equals(line); line = output.readLine()) {
            assertThat(line).as("%s", said).isNotNull();
            said.append(line).append('\n');
        }
    }

    @Test
    void datagramsPassAKilledNodeAndTheNextCleansUp() throws Exception {
        Process node = start();
        try {
            assertThat(arrivesMarked()).isTrue();
            assertThat(echoArrivesMarked()).isTrue();
        } finally {
            node.destroyForcibly();
        }
        assertThat(node.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(arrivesMarked()).isFalse();
        assertThat(echoArrivesMarked()).isFalse();
        assertThat(traces()).contains("tmn_plain");
        net.namespaces().in(net.router(), () -> {
            KernelBridge.plain(config()).close();
            return null;
        });
        assertThat(traces()).isEqualTo(before);
    }

    @Test
    void datagramsPassANodeThatIsKilledAfterItsRulesChanged() throws Exception {
        Process node = start();
        try {
            node.getOutputStream().write('\n');
            node.getOutputStream().flush();
            awaitReady(node);
            assertThat(arrivesMarked(5004)).isFalse();
            assertThat(arrivesMarked(5005)).isTrue();
        } finally {
            node.destroyForcibly();
        }
        assertThat(node.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(arrivesMarked(5005)).isFalse();
    }

    @Test
    void newConnectionsPassAKilledNodeAndThoseInItsHandsEnd() throws Exception {
        Process node = start();
        try (ServerSocket server = net.namespaces().in(net.server(), () -> new ServerSocket(TCP_PORT))) {
            Socket before = connect();
            try {
                assertThat(firstOctet(before, server)).isEqualTo(1);
            } finally {
                node.destroyForcibly();
            }
            assertThat(node.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)).isTrue();
            assertThat(ends(before)).isTrue();
            try (Socket after = connect()) {
                assertThat(firstOctet(after, server)).isEqualTo(2);
            }
        }
    }

    private Socket connect() throws Exception {
        return net.namespaces().in(net.client(), () -> {
            Socket socket = new Socket();
            socket.connect(new InetSocketAddress(TestNet.SERVER4, TCP_PORT), TIMEOUT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            return socket;
        });
    }

    /** Returns what arrives first when a 2 is sent. */
    private static int firstOctet(Socket client, ServerSocket server) throws IOException {
        Socket accepted = server.accept();
        accepted.setSoTimeout(TIMEOUT_MS);
        client.getOutputStream().write(2);
        return accepted.getInputStream().read();
    }

    private static boolean ends(Socket socket) throws IOException {
        try (socket) {
            return socket.getInputStream().read() < 0;
        } catch (SocketException reset) {
            return true;
        }
    }

    @Test
    void whereTheKernelIsMissingSomethingTheNodeSaysSoAndRuns() throws Exception {
        PlainConfig config = new PlainConfig(config().rules(), List.of("nosuch0"), PlainConfig.DEFAULT_ALERTS);
        PlainTraffic plain = net.namespaces().in(net.router(), () -> KernelBridge.plain(config));
        ExecutionEnvironment environment = environment(plain);
        net.namespaces().in(net.router(), () -> {
            environment.start();
            return null;
        });
        try {
            assertThat(plain.status().isThere()).isFalse();
            assertThat(plain.status().detail())
                    .contains("nosuch0 does not exist")
                    .doesNotContain("\n");
            assertThat(arrivesMarked()).isFalse();
        } finally {
            environment.stop(TransitNode.PATIENCE);
        }
    }

    @Test
    void aHostThatDoesNotForwardIsTold() throws Exception {
        net.namespaces().run(net.router(), "sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0");
        PlainTraffic plain = net.namespaces().in(net.router(), () -> KernelBridge.plain(config()));
        ExecutionEnvironment environment = environment(plain);
        net.namespaces().in(net.router(), () -> {
            environment.start();
            return null;
        });
        environment.stop(TransitNode.PATIENCE);
        assertThat(plain.status().detail()).contains("sysctl -w net.ipv4.ip_forward=1");
        assertThat(traces()).isEqualTo(before);
    }

    private static ExecutionEnvironment environment(PlainTraffic plain) {
        ServiceCatalog services = new ServiceCatalog();
        services.add(TransitNode.definition(NAME, FailurePolicy.DROP, packet -> {
            packet.setPayload(ByteBuffer.wrap(new byte[] {1, 0, 0, 0, 0, 0, 0, 0}));
            return Verdict.FORWARD;
        }));
        ExecutionEnvironment environment = new ExecutionEnvironment(
                TransitNode.config(1 << 20, TransportKind.NATIVE), new RoutingTable(), services);
        environment.plain(plain);
        return environment;
    }

    /** The process: a node in this namespace, whose rules change once a line is read. Ends when its input does. */
    public static void main(String[] arguments) throws Exception {
        try (Namespaces namespaces = new Namespaces("child")) {
            namespaces.in(arguments[0], () -> {
                ExecutionEnvironment environment = environment(KernelBridge.plain(config()));
                environment.start();
                System.out.println(READY);
                if (System.in.read() >= 0) {
                    environment.stage(config(5005).rules(), 1).commit();
                    System.out.println(READY);
                }
                return System.in.read();
            });
        }
    }
}
