package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.Octets;
import org.tamanoir.node.admin.AdminSettings;
import org.tamanoir.node.admin.TestAdmin;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Ports;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import tools.jackson.databind.json.JsonMapper;

/** The command line against a real server, in one process. */
@Tag("once")
@Timeout(120)
class CtlCommandTest {
    /** Tamanoir's Type ID, destination 10.0.2.7, payload "hello". */
    private static final byte[] PACKET =
            HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f");

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private TestAdmin node;
    private Path token;

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start();
        token = SecretFile.write(folder.resolve("token"), TestAdmin.TOKEN + "\n");
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    private String admin() {
        return Endpoint.toString(node.server.address());
    }

    /** Runs {@code ctl} with the address and the token, and returns what it prints. */
    private String ctl(String... args) {
        List<String> all = new ArrayList<>(List.of("ctl"));
        all.addAll(List.of(args));
        all.addAll(List.of("--admin", admin(), "--token-file", token.toString()));
        out.getBuffer().setLength(0);
        int exit = run(all.toArray(String[]::new));
        assertThat(exit).as("%s: %s", all, err).isZero();
        return out.toString();
    }

    /** Runs {@code ctl} where what is asked for is not done, and returns what it prints. */
    private String failing(String... args) {
        List<String> all = new ArrayList<>(List.of("ctl"));
        all.addAll(List.of(args));
        all.addAll(List.of("--admin", admin(), "--token-file", token.toString()));
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        assertThat(run(all.toArray(String[]::new))).as("%s: %s", all, out).isEqualTo(ExitCode.FAILED);
        return out.toString() + err;
    }

    private void sendOverUdp() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            socket.send(new DatagramPacket(
                    PACKET, PACKET.length, node.environment.udpAddresses().get(0)));
        }
    }

    @Test
    void aServiceIsPlacedAndWhyNotIsSaid() {
        assertThat(ctl("place", TestAdmin.MONITOR, "jvm").strip()).isEqualTo(TestAdmin.MONITOR + ": jvm");
        assertThat(failing("place", TestAdmin.MONITOR, "tc"))
                .startsWith(TestAdmin.MONITOR + ": jvm, not tc: no level below the JVM: off");
        assertThat(err.toString()).contains("org.tamanoir.services.Monitor: is not at level tc");
        assertThat(ctl("services")).contains(TestAdmin.MONITOR + " is at level jvm, not tc: no level below the JVM");
        assertThat(ctl("events")).contains("is handled at level jvm, wanted at tc, since no level below the JVM");
        assertThat(run("ctl", "place", TestAdmin.MONITOR, "gpu", "--admin", admin(), "--token-file", token.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("level \"gpu\": must be one of jvm, module, tc, xdp, auto");
    }

    @Test
    void theEndOfANameIsEnoughWhereOneServiceFits() throws Exception {
        assertThat(ctl("services", "Monitor")).contains(TestAdmin.MONITOR, "running");
        assertThat(ctl("services", "services.Monitor")).contains(TestAdmin.MONITOR);
        assertThat(ctl("place", "Monitor", "jvm").strip()).isEqualTo(TestAdmin.MONITOR + ": jvm");
        assertThat(failing("place", "Monitor", "tc")).contains(TestAdmin.MONITOR + ": jvm, not tc: ");
        TestAdmin.quarantine(node);
        assertThat(ctl("release", "Monitor")).contains(TestAdmin.MONITOR);
        assertThat(failing("services", "onitor")).contains("service onitor is not on this node");
        assertThat(failing("morph", "show", "Monitor")).contains(TestAdmin.MONITOR, "no control");
        node.catalog.add(
                new ServiceDefinition("org.example.Monitor", Monitor::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        for (String[] command : new String[][] {
            {"services", "Monitor"}, {"place", "Monitor", "jvm"}, {"morph", "show", "Monitor"}, {"release", "Monitor"}
        }) {
            assertThat(failing(command))
                    .contains("service Monitor can be org.example.Monitor, org.tamanoir.services.Monitor: "
                            + "give the full name");
        }
        assertThat(ctl("services", "org.example.Monitor")).contains("org.example.Monitor");
    }

    @Test
    void gatewaysAreListedAndTheirStreamsEndAtThem() throws Exception {
        assertThat(ctl("gateways")).contains("no gateway: listen.gateways, or --gateway, makes one");
        node.close();
        try (ServerSocket far = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            far.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
            node = TestAdmin.carrying(
                    new Gateway(
                            TestAdmin.ANY, to, new Octets(), ServiceKey.of(TestAdmin.MONITOR), 0, Anep.DEFAULT_TYPE_ID),
                    new Gateway(
                            TestAdmin.ANY,
                            to,
                            new Octets(),
                            ServiceKey.of("org.example.Gone"),
                            0,
                            Anep.DEFAULT_TYPE_ID));
            InetSocketAddress gateway = node.environment.gatewayAddresses().get(0);
            String listen = Endpoint.toString(gateway);
            assertThat(ctl("gateways").lines().skip(1))
                    .hasSize(2)
                    .anyMatch(line -> line.matches("tcp +" + listen + " +" + Endpoint.toString(to) + " +octets +"
                            + TestAdmin.MONITOR + " +0 +0 +0 .*"))
                    .anyMatch(line -> line.contains("not here: key "));
            try (Socket client = new Socket(gateway.getAddress(), gateway.getPort());
                    Socket server = far.accept()) {
                client.getOutputStream().write(1);
                assertThat(server.getInputStream().read()).isEqualTo(1);
                String peer = Endpoint.toString((InetSocketAddress) client.getLocalSocketAddress());
                assertThat(ctl("streams").lines()).anyMatch(line -> line.matches(peer + " +" + listen + " .*"));
                eventually()
                        .untilAsserted(() -> assertThat(ctl("metrics"))
                                .contains(
                                        "tamanoir_gateway_open{listen=\"" + listen + "\"",
                                        "# TYPE tamanoir_gateway_packets_in_total counter"));
            }
            eventually()
                    .until(() -> ctl("gateways").lines().anyMatch(line -> line.matches(".*" + listen + ".* 0 +1 .*")));
        }
    }

    @Test
    void whatAServiceHasCountedIsShownOfOne() throws Exception {
        assertThat(ctl("services", "Monitor")).doesNotContain("counted: ");
        try (AnepSender sender = AnepSender.udp(node.environment.udpAddresses().get(0))) {
            sender.send(new PacketBuilder().service(TestAdmin.MONITOR), ByteBuffer.allocate(9)); // It has no route.
            sender.flush();
        }
        eventually()
                .untilAsserted(() -> assertThat(ctl("services", "Monitor"))
                        .contains(TestAdmin.MONITOR + " counted: bytes ", "packets 1", "largest-bytes "));
        assertThat(ctl("metrics"))
                .contains(
                        "tamanoir_service_maximum{counter=\"largest-bytes\"",
                        "tamanoir_service_minimum{counter=\"smallest-bytes\"",
                        "tamanoir_service_gauge{counter=\"streams\"",
                        "tamanoir_service_counter_total{counter=\"packets\"");
    }

    @Test
    void aPacketIsTraced() throws Exception {
        Path payload = Files.writeString(folder.resolve("payload"), "hello");
        ctl("routes", "put", "127.0.0.0/8=destination");
        String told = ctl(
                "trace",
                "127.0.0.1:9",
                "--service",
                "Monitor",
                "--class-of-service",
                "3",
                "--source",
                "127.0.0.9:7",
                "--payload",
                "@" + payload,
                "--timeout",
                "20s");
        assertThat(told)
                .contains("AFTER-MS", "service ", TestAdmin.MONITOR, "made here as if they had come from 127.0.0.9:7")
                .contains("127.0.0.0/8 of the operator decides about 127.0.0.1", "sent after ");
        assertThat(ctl("trace", "10.0.0.1", "--payload", "0x00ff", "--timeout", "20s", "--json"))
                .contains("\"outcome\":\"dropped\",\"dropReason\":\"NO_ROUTE\"");
        assertThat(run("ctl", "trace", "10.0.0.1", "--payload", "0x0", "--admin", admin()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("two hexadecimal digits for each octet are wanted behind 0x");
    }

    @Test
    void everyQuestionPrintsSomethingAndWithJsonJson() {
        assertThat(ctl("status")).contains("ready    yes", "admin    " + admin(), "packets  0 in");
        assertThat(ctl("services")).contains("SERVICE", TestAdmin.MONITOR, "running", "class path");
        assertThat(ctl("services", TestAdmin.MONITOR)).contains(TestAdmin.MONITOR);
        assertThat(ctl("levels")).contains("LEVEL", "jvm", "always there", "levels.interfaces");
        assertThat(ctl("plain")).contains("not there", "names no plain-interfaces");
        assertThat(ctl("explain", "udp", "10.0.0.1:7000", "10.0.0.2:5004", "--dscp", "46"))
                .contains("on: no rule is for it");
        assertThat(ctl("explain", "icmp", "fd00::1", "fd00::2", "echo-reply")).contains("on: no rule is for it");
        assertThat(ctl("explain", "icmp", "10.0.0.1", "10.0.0.2", "3/4")).contains("on: no rule is for it");
        assertThat(ctl("streams")).contains("PEER", "0 open, 0 accepted");
        assertThat(ctl("threads")).contains("CPU-S", "main");
        assertThat(ctl("traffic")).contains("PACKETS", "dropped");
        assertThat(ctl("events")).contains("the node is ready");
        assertThat(ctl("config")).startsWith("listen:").doesNotContain(TestAdmin.TOKEN);
        assertThat(ctl("metrics")).contains("tamanoir_packets_in_total");
        assertThat(ctl("routes")).startsWith("PREFIX");
        assertThat(ctl("qos")).isEqualTo("quality of service is off" + System.lineSeparator());
        assertThat(ctl("deployments")).contains("OUTCOME", "0 running, 0 waiting for code");
        for (String question : List.of(
                "status",
                "services",
                "levels",
                "plain",
                "streams",
                "threads",
                "traffic",
                "deployments",
                "events",
                "config",
                "routes",
                "qos")) {
            String json = ctl(question, "--json");
            assertThat(json.strip().lines()).as(question).hasSize(1);
            assertThat(new JsonMapper().readTree(json).isObject()).as(question).isTrue();
        }
    }

    @Test
    void aTypeOfIcmpThatIsNoneIsSaidToBe() {
        assertThat(run("ctl", "explain", "icmp", "10.0.0.1", "10.0.0.2", "echo_reply", "--admin", admin()))
                .isNotZero();
        assertThat(err.toString())
                .contains("type: echo_reply: echo-request, echo-reply, unreachable, packet-too-big,")
                .contains("is wanted, or numbers, TYPE or TYPE/CODE");
    }

    @Test
    void optionsMayStandBeforeTheCommandToo() {
        assertThat(run("ctl", "--admin", "http://" + admin() + "/", "--json", "status"))
                .as("%s", err)
                .isZero();
        assertThat(out.toString()).startsWith("{\"version\"");
    }

    @Test
    void routesAreSetListedAndRemoved() {
        assertThat(ctl(
                        "routes",
                        "put",
                        "10.0.2.0/24=127.0.0.1:3333,udp,host",
                        "::/0=[::1]:1",
                        "10.0.3.0/24=destination"))
                .contains("route set: 10.0.2.0/24  127.0.0.1:3333  udp  host")
                .contains("route set: ::/0  [::1]:1  same  active")
                .contains("route set: 10.0.3.0/24  destination  same  host");
        assertThat(ctl("routes", "list").lines()).hasSize(4);
        assertThat(ctl("routes", "remove", "10.0.2.0/24")).startsWith("route removed: 10.0.2.0/24");
        assertThat(node.manager.routes()).hasSize(2);
    }

    @Test
    void theRouteThatDecidesAboutAnAddressIsShown() {
        ctl("routes", "put", "10.0.0.0/8=127.0.0.1:1,udp,host", "10.0.2.0/24=127.0.0.1:2,udp,host");

        assertThat(ctl("routes", "lookup", "10.0.2.7").strip())
                .isEqualTo("10.0.2.0/24  127.0.0.1:2  udp  host  operator");
        assertThat(ctl("routes", "lookup", "10.0.3.7").strip())
                .isEqualTo("10.0.0.0/8  127.0.0.1:1  udp  host  operator");
        assertThat(run("ctl", "routes", "lookup", "11.0.0.1", "--admin", admin()))
                .isNotZero();
        assertThat(run("ctl", "routes", "lookup", "10.0.2.0/24", "--admin", admin()))
                .isNotZero();
        assertThat(err.toString())
                .contains("no route holds 11.0.0.1/32; 'routes' lists them")
                .contains("10.0.2.0/24 is a prefix: an address is wanted, about which routes decide");
    }

    @Test
    void routesAreListedPageByPageAndInsideAPrefix() {
        ctl("routes", "put", "10.0.0.0/8=destination", "10.1.0.0/16=destination", "11.0.0.0/8=destination");

        assertThat(ctl("routes", "list", "--limit", "2").lines())
                .hasSize(4)
                .last()
                .isEqualTo("there are more: --after 10.1.0.0/16 goes on");
        assertThat(ctl("routes", "list", "--after", "10.1.0.0/16").lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("11.0.0.0/8");
        assertThat(ctl("routes", "list", "--within", "10.0.0.0/9"))
                .contains("10.1.0.0/16")
                .doesNotContain("/8");
    }

    @Test
    void theRoutesOfAFileOnTheNodesHostTakeThePlaceOfAllOthers() throws IOException {
        ctl("routes", "put", "10.9.0.0/16=127.0.0.1:1");
        Path file = Files.writeString(folder.resolve("routes"), "10.0.2.0/24=127.0.0.1:3333,udp,host\n10.0.3.0/24\n");

        assertThat(ctl("routes", "load", file.toString(), "--via", "127.0.0.1:4"))
                .isEqualTo("2 routes in place of those before" + System.lineSeparator());
        assertThat(ctl("routes"))
                .contains("10.0.2.0/24", "10.0.3.0/24", "127.0.0.1:4")
                .doesNotContain("10.9.0.0/16");
    }

    @Test
    void aRouteThatIsWrongChangesNothing() {
        for (String route :
                List.of("10.0.2.0/24", "10.0.2.1/24=127.0.0.1:1", "10.0.2.0/24=127.0.0.1:1,tcp,udp", "10/8=:1")) {
            assertThat(run("ctl", "routes", "put", "10.9.0.0/16=127.0.0.1:1", route, "--admin", admin()))
                    .as(route)
                    .isEqualTo(ExitCode.USAGE);
        }
        assertThat(err.toString().lines()).hasSize(4).allMatch(line -> line.startsWith("tamanoir ctl routes put: "));
        assertThat(node.manager.routes()).isEmpty();
    }

    @Test
    void theRoutesOfAFileTakeThePlaceOfAllOthers() throws IOException {
        ctl("routes", "put", "10.9.0.0/16=127.0.0.1:1");
        Path file = Files.writeString(
                folder.resolve("routes"), "# two\n10.0.2.0/24=127.0.0.1:3333,udp,host\n\n 10.0.3.0/24=destination\n");
        assertThat(ctl("routes", "replace", file.toString()).lines()).hasSize(3);
        assertThat(ctl("routes")).contains("10.0.2.0/24", "10.0.3.0/24").doesNotContain("10.9.0.0/16");
    }

    @Test
    void theNameOfANextHopOverTlsIsPutAndShown() throws IOException {
        assertThat(ctl("routes", "put", "10.0.2.0/24=localhost:3322,tls")).contains("localhost:3322");
        Path file = Files.writeString(folder.resolve("routes"), "10.0.3.0/24=localhost:3323,quic\n");
        assertThat(ctl("routes", "replace", file.toString())).contains("localhost:3323");
        assertThat(ctl("routes", "put", "10.0.4.0/24=localhost:3324,tcp")).doesNotContain("localhost");
    }

    @Test
    void aFileOfRoutesThatIsWrongChangesNothing() throws IOException {
        ctl("routes", "put", "10.9.0.0/16=127.0.0.1:1");
        Path file = folder.resolve("routes");
        for (String text : List.of("10.0.2.0/24=127.0.0.1:1\n10.0.3.0/24", "10.0.2.0/24=127.0.0.1:1\n\u00e9=::1")) {
            Files.writeString(file, text);
            assertThat(run("ctl", "routes", "replace", file.toString(), "--admin", admin()))
                    .isEqualTo(ExitCode.USAGE);
        }
        Files.writeString(file, "# too large".repeat(10_000));
        assertThat(run("ctl", "routes", "replace", file.toString(), "--admin", admin()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(run("ctl", "routes", "replace", folder + "/none", "--admin", admin()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines()).hasSize(4);
        assertThat(err.toString()).contains("routes:2: 10.0.3.0/24: ", "larger than 64KiB", "none: cannot be read");
        Files.writeString(file, "10.0.2.0/24=127.0.0.1:1\n10.0.2.0/24=127.0.0.1:2");
        String[] twice = {"ctl", "routes", "replace", file.toString(), "--admin", admin()};
        assertThat(run(Stream.concat(Stream.of(twice), Stream.of("--token-file", token.toString()))
                        .toArray(String[]::new)))
                .isEqualTo(ExitCode.FAILED);
        assertThat(node.manager.routes()).hasSize(1);
    }

    @Test
    void aRefusalOfTheNodeIsOneLine() {
        assertThat(run("ctl", "deploy", "org.example.Foo:1.0", "--admin", admin(), "--token-file", token.toString()))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).startsWith("tamanoir ctl deploy: this node deploys nothing");
        assertThat(run("ctl", "services", "org.example.None", "--admin", admin()))
                .isEqualTo(ExitCode.FAILED);
        assertThat(failing("release", TestAdmin.MONITOR)).contains(TestAdmin.MONITOR + " is not in quarantine");
        TestAdmin.quarantine(node);
        assertThat(ctl("release", TestAdmin.MONITOR)).contains("running");
    }

    @Test
    void aMissingOrWrongTokenIsSaidWithTheRemedy() throws IOException {
        assertThat(run("ctl", "routes", "remove", "10.0.0.0/8", "--admin", admin()))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).contains("--token-file FILE or in TAMANOIR_TOKEN");
        Path wrong = SecretFile.write(folder.resolve("wrong"), "not the token of this node");
        assertThat(run("ctl", "routes", "remove", "::/0", "--admin", admin(), "--token-file", wrong.toString()))
                .isEqualTo(ExitCode.USAGE);
        SecretFile.write(wrong, "not-the-token-of-this-node");
        assertThat(run("ctl", "routes", "remove", "::/0", "--admin", admin(), "--token-file", wrong.toString()))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).contains("refuses this token");
        assertThat(run("ctl", "status", "--admin", admin(), "--token-file", folder + "/none"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("there is no such file").doesNotContain("not-the-token");
    }

    @Test
    void aNodeThatIsNotThereIsSaidWithItsAddress() throws IOException {
        int port = Ports.free();
        assertThat(run("ctl", "status", "--admin", "127.0.0.1:" + port)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("http://127.0.0.1:" + port, "is the node running", "--admin URL");
        for (String url : List.of("ftp://127.0.0.1:1", "http://127.0.0.1:1/x", "http:///", "127.0.0.1:99999", "a b")) {
            assertThat(run("ctl", "status", "--admin", url)).as(url).isEqualTo(ExitCode.USAGE);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "http, '', where it speaks TLS say https",
        "http, '\u0015\u0003\u0003\u0000\u0002\u0002\u0032', where it speaks TLS say https",
        "http, 'SSH-2.0-OpenSSH_9.2\r\n', what it answers is no HTTP",
        "https, 'HTTP/1.1 400 Bad Request\r\n\r\n', it speaks no TLS: say http",
        "https, 'SSH-2.0-OpenSSH_9.2\r\n', it speaks no TLS: say http"
    })
    void aPortOfAnotherProtocolIsToldInWords(String scheme, String answer, String said) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Integer> asking = Waiting.async(
                    () -> run("ctl", "status", "--admin", scheme + "://127.0.0.1:" + server.getLocalPort()));
            while (!asking.isDone()) { // The JDK's client asks a second time where there was no answer.
                server.setSoTimeout(50);
                try (Socket socket = server.accept()) {
                    socket.getInputStream().read();
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                    socket.shutdownOutput();
                    socket.setSoTimeout(50); // Until the client has read it: to close at once could take it away.
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // Nobody has come yet, or the client has gone.
                }
            }
            assertThat(asking.get()).isEqualTo(ExitCode.USAGE);
        }
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(said).doesNotContain("parser", "status line", "SSL message");
    }

    @Test
    void aNodeWithTlsIsReachedWithTheCertificateOfItsAuthority() throws Exception {
        TestAuthority authority = new TestAuthority(folder, "authority");
        AdminSettings settings =
                new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, authority.files("node", false, "127.0.0.1"));
        try (TestAdmin secured = TestAdmin.start(settings)) {
            String address = Endpoint.toString(secured.server.address());
            String[] known = {
                "--admin", address, "--ca", authority.certificate().toString()
            };
            assertThat(run("ctl", "status", known[0], known[1], known[2], known[3]))
                    .as("%s", err)
                    .isZero();
            assertThat(out.toString()).contains("ready    yes");
            assertThat(run("ctl", "status", "--admin", "https://" + address)).isEqualTo(ExitCode.USAGE);
            assertThat(err.toString()).contains("no TLS with https://" + address, "--ca");
            assertThat(run("ctl", "status", "--admin", "http://" + address)).isEqualTo(ExitCode.USAGE);
            assertThat(err.toString()).contains("where it speaks TLS say https").doesNotContain("parser", "bytes");
            assertThat(run("ctl", "status", "--admin", address, "--ca", folder + "/none.pem"))
                    .isEqualTo(ExitCode.USAGE);
            assertThat(err.toString()).contains("none.pem").doesNotContain("\tat ");
        }
    }

    @Test
    void whatIsNoAdminApiIsSaid() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> answer = Waiting.async(() -> {
                try (Socket socket = other.accept()) {
                    socket.getInputStream().read();
                    socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".getBytes());
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            assertThat(run("ctl", "traffic", "--admin", "127.0.0.1:" + other.getLocalPort()))
                    .isEqualTo(ExitCode.FAILED);
            assertThat(err.toString()).contains("no admin API");
            answer.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void dropsAndEventsAreFollowedUntilTheNodeEnds() throws Exception {
        CompletableFuture<Integer> observing = Waiting.async(() -> run("node", "observe", "--admin", admin()));
        eventually().untilAsserted(() -> {
            sendOverUdp(); // Until it looks.
            assertThat(out.toString()).contains("dropped  NO_ROUTE  25 bytes from 127.0.0.1:");
        });
        eventually().untilAsserted(() -> {
            node.manager.ready(null);
            assertThat(out.toString()).contains("node  the node is ready");
        });
        node.server.close();
        assertThat(observing.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).containsAnyOf("has the node ended?", "has ended the connection");
    }

    @Test
    void eventsAreFollowedAfterThoseOfThePast() throws Exception {
        CompletableFuture<Integer> following =
                Waiting.async(() -> run("ctl", "events", "--follow", "--admin", admin()));
        eventually().until(() -> out.toString().contains("the node is ready"));
        node.manager.ready("the repository is away");
        eventually().until(() -> out.toString().contains("the repository is away"));
        assertThat(out.toString().lines().filter(line -> line.contains("the node is ready")))
                .hasSize(1);
        node.server.close();
        assertThat(following.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(ExitCode.FAILED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ctl services",
                "ctl services --json",
                "ctl status",
                "ctl metrics",
                "ctl config",
                "ctl routes",
                "ctl events",
                "ctl events --follow",
                "node observe --events",
                "node observe --json"
            })
    void whatIsPrintedOrFollowedWithoutAReaderHasFailed(String command) throws Exception {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.addAll(List.of("--admin", admin()));
        CompletableFuture<Integer> run = Waiting.async(
                () -> Main.run(LostOutput.writer(), new PrintWriter(err, true), words.toArray(String[]::new)));
        eventually().until(() -> {
            node.manager.ready(run.isDone() ? null : "something to follow: " + System.nanoTime());
            return run.isDone();
        });
        assertThat(run.get()).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString().lines())
                .containsExactly("tamanoir: standard output cannot be written: it is full or closed");
    }

    @Test
    @Tag("process")
    void packetsAreCapturedToStandardOutput() throws Exception {
        Process capturing = Program.builder(
                        "node",
                        "capture",
                        "--count",
                        "3",
                        "-o",
                        "-",
                        "--admin",
                        admin(),
                        "--token-file",
                        token.toString())
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        CompletableFuture<byte[]> read =
                Waiting.async(() -> capturing.getInputStream().readAllBytes());
        eventually().until(() -> {
            sendOverUdp(); // Until it looks, and has enough.
            return read.isDone();
        });
        assertThat(capturing.waitFor()).isZero();
        String bytes = HexFormat.of().formatHex(read.get());
        assertThat(bytes).startsWith("a1b23c4d");
        assertThat(bytes.split(HexFormat.of().formatHex(PACKET), -1)).hasSize(4);
        assertThat(folder.resolve("-")).doesNotExist();
    }

    @Test
    void commandsThatPrintWhatElseTheyDoWriteNoFileToStandardOutput() {
        assertThat(run("keygen", "-")).isEqualTo(ExitCode.USAGE);
        assertThat(run("demo", "--element", "--output", "-")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("two files are written; name a file", "the demo's lines; name a file");
    }

    @Test
    void packetsAreCapturedIntoAFile() throws Exception {
        Path file = folder.resolve("f.pcap");
        CompletableFuture<Integer> capturing = Waiting.async(() -> run(
                "node",
                "capture",
                "--count",
                "3",
                "-o",
                file.toString(),
                "--admin",
                admin(),
                "--token-file",
                token.toString()));
        eventually().until(() -> {
            sendOverUdp(); // Until it looks, and has enough.
            return capturing.isDone();
        });
        assertThat(capturing.get()).as("%s", err).isZero();
        String bytes = HexFormat.of().formatHex(Files.readAllBytes(file));
        assertThat(bytes).startsWith("a1b23c4d");
        assertThat(bytes.split(HexFormat.of().formatHex(PACKET), -1)).hasSize(4);
        assertThat(run("node", "capture", "-o", folder + "/no/f.pcap", "--admin", admin()))
                .isEqualTo(ExitCode.FAILED);
        assertThat(run("node", "capture", "--count", "0", "-o", file.toString()))
                .isEqualTo(ExitCode.USAGE);
    }
}
