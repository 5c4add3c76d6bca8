package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sender, two nodes and receiver as processes of their own, as from a shell. */
@Tag("once")
@Tag("process")
@Timeout(120)
class WholePathTest {
    private static final int PATIENCE_S = 40;
    private static final int FILE_BYTES = 3_000_017;
    private static final String DESTINATION = "192.0.2.7";

    private final List<Process> started = new ArrayList<>();

    @TempDir
    private Path folder;

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

    /** A node that sends on to this address; gives its own. */
    private String node(String transport, String via, String... more) throws IOException {
        List<String> all = new ArrayList<>(
                List.of("node", transport, "127.0.0.1:0", "--json", "--route", DESTINATION + "=" + via));
        all.addAll(List.of(more));
        Process node = quiet(all.toArray(String[]::new));
        JsonNode event = new JsonMapper().readTree(node.inputReader().readLine());
        return event.get(transport.substring(2)).get(0).asString();
    }

    private Path randomFile() throws IOException {
        byte[] content = new byte[FILE_BYTES];
        new Random(FILE_BYTES).nextBytes(content);
        return Files.write(folder.resolve("sent"), content);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--tcp", "--udp"})
    void aFileCrossesTwoNodesThroughMonitor(String transport) throws Exception {
        Path copy = folder.resolve("copy");
        Process receive = start(Program.builder(
                "receive",
                transport,
                "--listen",
                "127.0.0.1:0",
                "--json",
                "-o",
                copy.toString(),
                "--exit-after-streams",
                "1",
                "--idle",
                "1s"));
        BufferedReader messages = receive.errorReader();
        String receiver = messages.readLine().replace("listening on ", "");
        String second = node(transport, receiver + ",host");
        String first = node(transport, second);
        Path sent = randomFile();
        Process send = quiet(
                "send",
                transport,
                "--to",
                first,
                "--destination",
                DESTINATION,
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
                "receive", "--tcp", "--listen", "127.0.0.1:0", "--json", "--discard", "--exit-after-streams", "1"));
        BufferedReader messages = receive.errorReader();
        String receiver = messages.readLine().replace("listening on ", "");
        String second = node("--tcp", receiver + ",host", "--sapf");
        String first = node("--tcp", second, "--sapf", "--sapf-to", second);
        Process send = quiet(
                "send",
                "--sapf",
                "--to",
                first,
                "--destination",
                DESTINATION,
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
