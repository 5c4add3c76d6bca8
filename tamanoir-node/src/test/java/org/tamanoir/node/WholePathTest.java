package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.support.Ports;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sender, two nodes and receiver as processes of their own, as from a shell. */
@Tag("once")
@Tag("process")
@Timeout(120)
class WholePathTest {
    private static final int PATIENCE_S = 40;
    private static final int FILE_BYTES = 3_000_017;

    /** Three ways over the same two nodes, each to a receiver of its own. */
    private enum Way {
        TCP("--tcp"),
        UDP("--udp"),
        SELECTORS("--tcp");

        final String transport;
        /** Where packets go. */
        final String destination = "192.0.2." + (7 + ordinal());

        Way(String transport) {
            this.transport = transport;
        }

        String route(String via) {
            return "--route=" + destination + "=" + via;
        }
    }

    private static final List<Process> NODES = new ArrayList<>();

    /** Addresses of the receivers, which start after the nodes. */
    private static final Map<Way, String> RECEIVERS = new EnumMap<>(Way.class);

    /** Addresses of the first node, for TCP and UDP. */
    private static String firstTcp = "";

    private static String firstUdp = "";

    private final List<Process> started = new ArrayList<>();

    @TempDir
    private Path folder;

    @BeforeAll
    static void startNodes() throws IOException {
        List<String> second = new ArrayList<>(
                List.of("--tcp", "127.0.0.1:" + Ports.free(), "--tcp", "127.0.0.1:" + Ports.free(), "--sapf"));
        for (Way way : Way.values()) {
            RECEIVERS.put(way, "127.0.0.1:" + Ports.free());
            second.add(way.route(RECEIVERS.get(way) + ",host"));
        }
        JsonNode event = node(second);
        String selectors = event.get("tcp").get(1).asString();
        event = node(List.of(
                "--tcp",
                "127.0.0.1:0",
                "--sapf",
                "--sapf-to",
                selectors,
                Way.TCP.route(event.get("tcp").get(0).asString()),
                Way.UDP.route(event.get("udp").get(0).asString()),
                Way.SELECTORS.route(selectors)));
        firstTcp = event.get("tcp").get(0).asString();
        firstUdp = event.get("udp").get(0).asString();
    }

    /** Starts a node that listens on UDP, too; returns what it says when it has started. */
    private static JsonNode node(List<String> options) throws IOException {
        List<String> all = new ArrayList<>(List.of("node", "--udp", "127.0.0.1:0", "--json"));
        all.addAll(options);
        Process node = Program.start(all.toArray(String[]::new));
        NODES.add(node);
        return new JsonMapper().readTree(node.inputReader().readLine());
    }

    @AfterAll
    static void endNodes() {
        NODES.forEach(Process::destroyForcibly);
    }

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    private Process start(ProcessBuilder program) throws IOException {
        Process process = program.start();
        started.add(process);
        return process;
    }

    private Process quiet(String... arguments) throws IOException {
        return start(Program.builder(arguments).redirectError(ProcessBuilder.Redirect.INHERIT));
    }

    private Path randomFile() throws IOException {
        byte[] content = new byte[FILE_BYTES];
        new Random(FILE_BYTES).nextBytes(content);
        return Files.write(folder.resolve("sent"), content);
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "UDP"})
    void aFileCrossesTwoNodesThroughMonitor(Way way) throws Exception {
        Path copy = folder.resolve("copy");
        Process receive = start(Program.builder(
                "receive",
                way.transport,
                "--listen",
                RECEIVERS.get(way),
                "--json",
                "-o",
                copy.toString(),
                "--exit-after-streams",
                "1",
                "--idle",
                "1s"));
        BufferedReader messages = receive.errorReader();
        assertThat(messages.readLine()).isEqualTo("listening on " + RECEIVERS.get(way));
        Path sent = randomFile();
        Process send = quiet(
                "send",
                way.transport,
                "--to",
                way == Way.TCP ? firstTcp : firstUdp,
                "--destination",
                way.destination,
                "--service",
                "Monitor",
                "--packet-size",
                "1400",
                "--rate",
                "4k",
                sent.toString());
        assertThat(send.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        assertThat(send.exitValue()).isZero();
        JsonNode report = new JsonMapper().readTree(receive.inputReader().readLine());
        assertThat(receive.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        assertThat(receive.exitValue()).as("%s", report).isZero();
        assertThat(report.get("whole").asBoolean()).isTrue();
        assertThat(report.get("payloadBytes").asLong()).isEqualTo(FILE_BYTES);
        assertThat(Files.mismatch(sent, copy)).isEqualTo(-1);
    }

    @Test
    void loadGoesBySelectorsOverTcp() throws Exception {
        Process receive = start(Program.builder(
                "receive",
                "--tcp",
                "--listen",
                RECEIVERS.get(Way.SELECTORS),
                "--json",
                "--discard",
                "--exit-after-streams",
                "1"));
        BufferedReader messages = receive.errorReader();
        assertThat(messages.readLine()).isEqualTo("listening on " + RECEIVERS.get(Way.SELECTORS));
        Process send = quiet(
                "send",
                "--sapf",
                "--to",
                firstTcp,
                "--destination",
                Way.SELECTORS.destination,
                "--service",
                "Monitor",
                "--count",
                "20000",
                "--json");
        JsonNode sent = new JsonMapper().readTree(send.inputReader().readLine());
        assertThat(send.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        assertThat(sent.get("transport").asString()).isEqualTo("TCP by SAPF");
        JsonNode received = new JsonMapper().readTree(receive.inputReader().readLine());
        assertThat(received.get("packets").asLong()).isEqualTo(20_000);
        assertThat(received.get("bytes").asLong()).isEqualTo(sent.get("bytes").asLong());
    }

    @Test
    void aPortWhereNobodyListensIsOneLineAndCode2() throws Exception {
        Process send = start(Program.builder("send", "--to", "127.0.0.1:1", "--count", "1"));
        assertThat(send.errorReader().lines())
                .singleElement()
                .asString()
                .startsWith("tamanoir send: ")
                .contains("127.0.0.1:1");
        assertThat(send.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        assertThat(send.exitValue()).isEqualTo(2);
    }
}
