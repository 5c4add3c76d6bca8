package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.Main;
import org.tamanoir.node.Program;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Overrides;
import org.tamanoir.node.config.Problems;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.support.NotifyReceiver;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.LinuxThreadRanks;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("process")
@Timeout(120)
class NodeProcessTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final int PATIENCE_MS = (int) Waiting.PATIENCE.toMillis();

    /** Tamanoir's Type ID, destination 10.0.2.7, payload "hello". */
    private static final byte[] PACKET =
            HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f");

    private static final byte[] PAYLOAD = "hello".getBytes(StandardCharsets.US_ASCII);

    @Test
    void aTerminatedNodeStopsInOrderAndAccountsForEveryPacket() throws Exception {
        try (ServerSocket tcpEnd = new ServerSocket(0, 1, LOOPBACK);
                DatagramSocket udpEnd = new DatagramSocket(new InetSocketAddress(LOOPBACK, 0))) {
            tcpEnd.setSoTimeout(PATIENCE_MS);
            udpEnd.setSoTimeout(PATIENCE_MS);
            Process node = Program.start(
                    "node",
                    "--listen",
                    "0",
                    "--json",
                    "--stats",
                    "100ms",
                    "--drain",
                    "5s",
                    "--route",
                    "10.0.2.0/24=127.0.0.1:" + tcpEnd.getLocalPort() + ",tcp,host",
                    "--route",
                    "10.0.2.6/31=127.0.0.1:" + udpEnd.getLocalPort() + ",udp,host",
                    "--service",
                    "Monitor,mark=7");
            try (BufferedReader out = node.inputReader()) {
                JsonNode started = json(out.readLine());
                assertThat(started.get("event").asString()).isEqualTo("started");
                assertThat(started.get("routes").asInt()).isEqualTo(2);

                sendOverUdp(started.get("udp").get(0).asString(), PACKET);
                byte[] datagram = new byte[2_000];
                DatagramPacket received = new DatagramPacket(datagram, datagram.length);
                udpEnd.receive(received);
                assertThat(Arrays.copyOf(datagram, received.getLength())).endsWith(PAYLOAD);

                byte[] other = PACKET.clone();
                other[19] = 9;
                sendOverTcp(started.get("tcp").get(0).asString(), other);
                try (Socket stream = tcpEnd.accept()) {
                    stream.setSoTimeout(PATIENCE_MS);
                    byte[] bytes = stream.getInputStream().readNBytes(PACKET.length);
                    assertThat(bytes).startsWith(1, 0, 0x54, 0x4d).contains(9);
                }

                node.toHandle().destroy(); // SIGTERM; Process.destroy would close the pipe too
                List<String> lines = out.lines().toList();
                JsonNode stopped = json(lines.get(lines.size() - 1));
                assertThat(stopped.get("event").asString()).isEqualTo("stopped");
                assertThat(stopped.get("packetsIn").asLong()).isEqualTo(2);
                assertThat(stopped.get("packetsOut").asLong()).isEqualTo(2);
                assertThat(stopped.get("unaccounted").asLong()).isZero();
                assertThat(json(lines.get(lines.size() - 2)).get("event").asString())
                        .isEqualTo("stopping");
                assertThat(node.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
                assertThat(node.exitValue()).isEqualTo(128 + 15);
            } finally {
                node.destroyForcibly();
            }
        }
    }

    @Test
    @Tag("once")
    void aNodeStartsWithTheRoutesOfAFileAndSendsAlongThem(@TempDir Path folder) throws Exception {
        try (DatagramSocket end = new DatagramSocket(0, LOOPBACK)) {
            end.setSoTimeout(PATIENCE_MS);
            Path config = Files.writeString(folder.resolve("node.yaml"), "routing: {fib: compact}\n");
            StringBuilder text = new StringBuilder("10.0.2.7\n");
            for (int i = 0; i < 3000; i++) {
                text.append("11.").append(i / 250).append('.').append(i % 250).append(".0/24=127.0.0.1:1,udp\n");
            }
            Path routes = Files.writeString(folder.resolve("routes"), text);
            Process node = Program.start(
                    "node",
                    "--config",
                    config.toString(),
                    "--tcp",
                    "0",
                    "--udp",
                    "0",
                    "--json",
                    "--routes",
                    routes.toString(),
                    "--via",
                    "127.0.0.1:" + end.getLocalPort() + ",udp,host");
            try (BufferedReader out = node.inputReader()) {
                JsonNode started = json(out.readLine());
                assertThat(started.get("routes").asInt()).isEqualTo(3001);

                sendOverUdp(started.get("udp").get(0).asString(), PACKET);
                DatagramPacket received = new DatagramPacket(new byte[2_000], 2_000);
                end.receive(received);
                assertThat(Arrays.copyOf(received.getData(), received.getLength()))
                        .endsWith(PAYLOAD);
            } finally {
                node.destroyForcibly();
            }
        }
    }

    @Test
    void aTerminatedNodeLetsOpenStreamsFinish() throws Exception {
        try (ServerSocket end = new ServerSocket(0, 1, LOOPBACK)) {
            end.setSoTimeout(PATIENCE_MS);
            String route = "10.0.2.0/24=127.0.0.1:" + end.getLocalPort() + ",host";
            Process process = Program.start("node", "--tcp", "0", "--json", "--drain", "15s", "--route", route);
            try (BufferedReader out = process.inputReader()) {
                Endpoint node =
                        Endpoint.parse(json(out.readLine()).get("tcp").get(0).asString(), 1);
                try (Socket sender = new Socket(node.address(), node.port())) {
                    sender.getOutputStream().write(PACKET);
                    try (Socket stream = end.accept()) {
                        stream.setSoTimeout(PATIENCE_MS);
                        stream.getInputStream().readNBytes(PACKET.length);
                        process.toHandle().destroy();
                        assertThat(event(out, "stopping").get("streams").asInt())
                                .isEqualTo(1);
                        sender.getOutputStream().write(PACKET);
                        sender.shutdownOutput();
                        assertThat(stream.getInputStream().readAllBytes()).endsWith(PAYLOAD);
                    }
                }
                JsonNode stopped = event(out, "stopped");
                assertThat(stopped.get("streamsCut").asInt()).isZero();
                assertThat(stopped.get("packetsIn").asLong()).isEqualTo(2);
                assertThat(stopped.get("packetsOut").asLong()).isEqualTo(2);
                assertThat(stopped.get("unaccounted").asLong()).isZero();
                assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
                assertThat(process.exitValue()).isEqualTo(128 + 15);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aNodesCompilersGiveWayToItsStreams(@TempDir Path folder) throws Exception {
        Path config = Files.writeString(folder.resolve("node.yaml"), "jvm-nice: 10\npriorities: off\n");
        Process node = Program.start("node", "--listen", "0", "--json", "-c", config.toString());
        try (BufferedReader out = node.inputReader()) {
            event(out, "started");
            Path tasks = Path.of("/proc", String.valueOf(node.pid()), "task");
            int others = niceness(tasks, "VM Thread").get(0); // That of this process.
            eventually().until(() -> niceness(tasks, "C1 CompilerThre").equals(List.of(Math.max(10, others))));
            assertThat(niceness(tasks, "reception")).containsExactly(others);
        } finally {
            node.destroyForcibly();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aNodesReceptionAndAdminApiGoBeforeServicesWhereThatIsPermitted() throws Exception {
        String permitted = LinuxThreadRanks.of(ThreadPriorities.AUTO).text();
        Tiers.require("priorities", permitted.contains("nice -10"), permitted);
        Process node = Program.start("node", "--listen", "0", "--admin", "127.0.0.1:0", "--json");
        try (BufferedReader out = node.inputReader()) {
            event(out, "started");
            Path tasks = Path.of("/proc", String.valueOf(node.pid()), "task");
            assertThat(niceness(tasks, "reception")).containsExactly(-10);
            assertThat(niceness(tasks, "vert.x-acceptor")).contains(-10);
        } finally {
            node.destroyForcibly();
        }
    }

    @Test
    void aNodeTellsSystemdThatItIsReadyLivesAndStops(@TempDir Path folder) throws Exception {
        String socket = folder.resolve("notify").toString();
        try (NotifyReceiver systemd = NotifyReceiver.at(socket)) {
            ProcessBuilder builder = Program.builder("node", "--listen", "0", "--json");
            builder.environment().putAll(Map.of("NOTIFY_SOCKET", socket, "WATCHDOG_USEC", "100000"));
            Process node = builder.start();
            try (BufferedReader out = node.inputReader()) {
                assertThat(systemd.next()).startsWith("READY=1\nSTATUS=0 routes, ");
                // It listens by then.
                Endpoint tcp =
                        Endpoint.parse(event(out, "started").get("tcp").get(0).asString(), 1);
                new Socket(tcp.address(), tcp.port()).close();
                assertThat(systemd.next()).isEqualTo("WATCHDOG=1");
                assertThat(systemd.next()).isEqualTo("WATCHDOG=1");
                node.toHandle().destroy();
                String last = systemd.next();
                while (last.equals("WATCHDOG=1")) {
                    last = systemd.next();
                }
                assertThat(last).startsWith("STOPPING=1\n");
            } finally {
                node.destroyForcibly();
            }
        }
    }

    @Test
    @Tag("once")
    void aRehearsedNodeHasSeenNoPacket() throws Exception {
        Process node = Program.start("node", "--listen", "0", "--json", "--rehearse", "1s");
        try (BufferedReader out = node.inputReader()) {
            JsonNode started = json(out.readLine());
            assertThat(started.get("event").asString()).isEqualTo("started");
            node.toHandle().destroy();
            assertThat(event(out, "stopped").get("packetsIn").asLong()).isZero();
        } finally {
            node.destroyForcibly();
        }
    }

    @Test
    @Tag("once")
    void aRehearsalIsNotInTheLog(@TempDir Path folder) throws Exception {
        Path log = folder.resolve("log");
        Path config = Files.writeString(folder.resolve("node.yaml"), "priorities: off\n");
        Process node = Program.builder("node", "--listen", "0", "--json", "-c", config.toString(), "--rehearse", "1s")
                .redirectError(log.toFile())
                .start();
        try (BufferedReader out = node.inputReader()) {
            event(out, "started");
            assertThat(log).isEmptyFile();
        } finally {
            node.destroyForcibly();
        }
    }

    /** Returns the TCP ports that a process listens on; proc(5), /proc/net/tcp. */
    private static Set<Integer> listening(long pid) throws IOException {
        Set<String> sockets = new TreeSet<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    sockets.add(Files.readSymbolicLink(descriptor).toString());
                } catch (NoSuchFileException e) {
                    // Closed meanwhile.
                }
            }
        }
        Set<Integer> ports = new TreeSet<>();
        for (String table : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/net", table))) {
                String[] columns = line.trim().split(" +");
                if (columns[3].equals("0A") && sockets.contains("socket:[" + columns[9] + "]")) {
                    ports.add(Integer.parseInt(columns[1].substring(columns[1].indexOf(':') + 1), 16));
                }
            }
        }
        return ports;
    }

    /** A rehearsal that had ended before the strangers had, on a busy host, shows nothing: then a longer one. */
    @Test
    @Tag("once")
    @EnabledOnOs(OS.LINUX)
    void whatAStrangerSendsToARehearsalIsNotInTheLog(@TempDir Path folder) throws Exception {
        int seconds = 2;
        while (!strangersSendTo(folder, seconds)) {
            seconds *= 3;
        }
    }

    /** Returns whether the rehearsal still went on when the strangers had ended; then none of them was in the log. */
    private static boolean strangersSendTo(Path folder, int seconds) throws Exception {
        Path log = folder.resolve("log");
        Path config = Files.writeString(folder.resolve("node.yaml"), "priorities: off\n");
        Process node = Program.builder(
                        "node", "--listen", "0", "--json", "-c", config.toString(), "--rehearse", seconds + "s")
                .redirectError(log.toFile())
                .start();
        try (BufferedReader out = node.inputReader()) {
            // The rehearsal's node and its receiver.
            eventually().until(() -> out.ready() || listening(node.pid()).size() == 2);
            Set<Integer> ports = listening(node.pid());
            if (out.ready() || ports.size() != 2) {
                return false;
            }
            for (int port : ports) {
                try (Socket stranger = new Socket(LOOPBACK, port)) {
                    stranger.setSoTimeout(PATIENCE_MS);
                    stranger.getOutputStream().write(new byte[100]);
                    assertThat(stranger.getInputStream().read()).isEqualTo(-1);
                } catch (SocketException e) {
                    // Reset: it has been read, too.
                }
            }
            if (out.ready()) {
                return false;
            }
            event(out, "started");
            assertThat(log).isEmptyFile();
            return true;
        } finally {
            node.destroyForcibly();
        }
    }

    private static String stat(Path task) throws IOException {
        try {
            return Files.readString(task.resolve("stat"));
        } catch (NoSuchFileException e) {
            return ""; // It has ended meanwhile.
        }
    }

    /** Returns how nice the threads of a name are, each value once; proc(5), field 19 of stat. */
    private static List<Integer> niceness(Path tasks, String name) throws IOException {
        try (Stream<Path> all = Files.list(tasks)) {
            Set<Integer> found = new TreeSet<>();
            for (Path task : all.toList()) {
                String stat = stat(task);
                if (stat.contains("(" + name + ")")) {
                    found.add(Integer.parseInt(
                            stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16]));
                }
            }
            return List.copyOf(found);
        }
    }

    private static JsonNode event(BufferedReader out, String name) throws IOException {
        JsonNode event = json(out.readLine());
        while (!event.get("event").asString().equals(name)) {
            event = json(out.readLine());
        }
        return event;
    }

    @ParameterizedTest
    @ValueSource(strings = {"--tcp", "--udp"})
    void anAddressThatIsTakenIsOneLineAndCode2(String option) throws IOException {
        requireOneLineAndCode2(option);
    }

    /** The test's own time is shorter than the rehearsal. */
    @ParameterizedTest
    @ValueSource(strings = {"--tcp", "--udp", "--admin"})
    void anAddressThatIsTakenIsToldBeforeTheRehearsal(String option) throws IOException {
        requireOneLineAndCode2(option, "--tcp", "0", "--rehearse", "60s");
    }

    private static void requireOneLineAndCode2(String option, String... more) throws IOException {
        try (ServerSocket tcp = new ServerSocket(0, 1, LOOPBACK);
                DatagramSocket udp = new DatagramSocket(new InetSocketAddress(LOOPBACK, 0))) {
            int port = option.equals("--udp") ? udp.getLocalPort() : tcp.getLocalPort();
            Stream<String> words = Stream.of("node", option, "127.0.0.1:" + port);
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int code = Main.run(
                    new PrintWriter(out, true),
                    new PrintWriter(err, true),
                    Stream.concat(words, Stream.of(more)).toArray(String[]::new));
            assertThat(code).isEqualTo(2);
            assertThat(err.toString().lines()).hasSize(1);
            assertThat(err.toString())
                    .startsWith("tamanoir node: the node cannot start: ")
                    .contains("127.0.0.1:" + port);
            assertThat(out.toString()).isEmpty();
        }
    }

    @Test
    void aStoppedNodeReportsOnceHoweverOftenItIsTold() {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        new Overrides(settings).listen(List.of("0"));
        StringWriter text = new StringWriter();
        NodeProcess node = new NodeProcess(
                settings.build(),
                new RouteSet(),
                null,
                new NodeReport(new Output(new PrintWriter(text), new PrintWriter(text), false, false)),
                null);
        node.stop();
        node.stop();
        assertThat(text.toString().lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("stopped: 0 in + 0 made = 0 out + 0 dropped + 0 held;");
    }

    @Test
    void aNodeEndsThoughItsEndFails() {
        AtomicInteger failures = new AtomicInteger();
        PrintWriter full = new PrintWriter(new StringWriter()) {
            @Override
            public void println(String line) {
                failures.incrementAndGet();
                throw new IllegalStateException("of a test");
            }
        };
        NodeProcess node = new NodeProcess(
                new NodeConfigBuilder(new Problems()).build(),
                new RouteSet(),
                null,
                new NodeReport(new Output(full, full, false, false)),
                null);
        node.stop();
        node.stop();
        assertThat(failures).hasValue(1);
    }

    private static JsonNode json(String line) {
        return new JsonMapper().readTree(line);
    }

    private static void sendOverUdp(String address, byte[] packet) throws IOException {
        Endpoint node = Endpoint.parse(address, 1);
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(packet, packet.length, node.address(), node.port()));
        }
    }

    private static void sendOverTcp(String address, byte[] packet) throws IOException {
        Endpoint node = Endpoint.parse(address, 1);
        try (Socket socket = new Socket(node.address(), node.port())) {
            socket.getOutputStream().write(packet);
        }
    }
}
