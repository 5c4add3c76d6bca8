package org.tamanoir.node.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.node.Program;
import org.tamanoir.node.Programs;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("once")
@Tag("process")
class ReflectCommandTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    private HttpResponse<String> ask(String method, String url, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(url))
                        .timeout(Waiting.PATIENCE)
                        .header("Authorization", "Bearer " + TOKEN)
                        .header("Content-Type", "application/json")
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static DatagramSocket socket() throws Exception {
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress("127.0.0.1", 0));
        socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
        return socket;
    }

    /** The whole program: a listed sender, a receiver that the API adds and removes, the report at the end. */
    @Test
    void aProcessReflectsIsSteeredAndTellsWhatItDid() throws Exception {
        Path token = SecretFile.write(folder.resolve("token"), TOKEN);
        try (DatagramSocket sender = socket();
                DatagramSocket receiver = socket()) {
            Process process = Program.builder(
                            "reflect",
                            "--json",
                            "--listen",
                            "127.0.0.1:0",
                            "--member",
                            "127.0.0.1:" + sender.getLocalPort() + ",send",
                            "--admin",
                            "127.0.0.1:0",
                            "--token-file",
                            token.toString())
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader lines = process.inputReader()) {
                JsonNode started = event(lines, "started");
                String[] input = started.get("inputs").get(0).asString().split(":");
                String api = started.get("api").asString() + "/v1/reflector";
                String member = api + "/session/members/127.0.0.1:" + receiver.getLocalPort();

                assertThat(ask("POST", member, "{\"terms\": \"receive,1Mbit/s\"}")
                                .statusCode())
                        .isEqualTo(200);
                assertThat(ask("POST", member, "{}").body()).contains("is there already");
                byte[] text = "to the others".getBytes(StandardCharsets.US_ASCII);
                sender.send(new DatagramPacket(
                        text, text.length, new InetSocketAddress(input[0], Integer.parseInt(input[1]))));
                DatagramPacket got = new DatagramPacket(new byte[100], 100);
                receiver.receive(got);
                assertThat(new String(got.getData(), 0, got.getLength(), StandardCharsets.US_ASCII))
                        .isEqualTo("to the others");

                JsonNode session = JsonMapper.shared()
                        .readTree(ask("GET", api, "").body())
                        .get("sessions")
                        .get(0);
                assertThat(session.get("members")
                                .get(1)
                                .get("rateBytesPerSecond")
                                .asLong())
                        .isEqualTo(125_000);
                assertThat(session.get("members").get(1).get("sent").asLong()).isEqualTo(1);
                assertThat(ask("DELETE", member, "").statusCode()).isEqualTo(200);
                assertThat(ask("DELETE", member, "").statusCode()).isEqualTo(404);
                assertThat(ask("POST", member, "{\"terms\": \"gladly\"}").body())
                        .contains("'gladly' says nothing");

                process.toHandle().destroy(); // Process.destroy would close its output too.
                JsonNode stopped = event(lines, "stopped").get("sessions").get(0);
                assertThat(stopped.get("datagramsIn").asLong()).isEqualTo(1);
                assertThat(stopped.get("sent").asLong()).isEqualTo(1);
                assertThat(stopped.get("memberCount").asInt()).isEqualTo(1);
            } finally {
                process.destroyForcibly().waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rtp | 127.0.0.1:5004 | udp | 127.0.0.1:5005 | sessions a and b would both listen at 127.0.0.1:5005",
                "udp | 127.0.0.1:5004 | rtp | '*:5004'       | sessions a and b would both listen at",
                "udp | 127.0.0.1:5004 | udp | 127.0.0.2:5004 | OK; sessions: 2"
            })
    void validationTellsWhichSessionsTakeEachOthersPort(
            String format, String listen, String itsFormat, String its, String told) throws Exception {
        Path file = Files.writeString(folder.resolve("sessions.yaml"), """
                sessions:
                  - {name: a, format: %s, listen: '%s'}
                  - {name: b, format: %s, listen: '%s'}
                """.formatted(format, listen, itsFormat, its));
        StringWriter out = new StringWriter();
        int exit = Programs.run(new PrintWriter(out, true), "reflect", "--validate", "--config", file.toString());
        assertThat(out.toString()).contains(told).hasLineCount(1);
        assertThat(exit).isEqualTo(told.startsWith("OK") ? 0 : 2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "allowed | OK; sessions: 1",
                "refused | --admin 0.0.0.0:0 is beyond loopback",
                "false | --admin-plain: 'false' is none of allowed, refused",
            })
    void anApiBeyondLoopbackIsTheOperatorsWord(String word, String told) {
        StringWriter out = new StringWriter();
        int exit = Programs.run(
                new PrintWriter(out, true),
                "reflect",
                "--validate",
                "--listen",
                "127.0.0.1:0",
                "--admin",
                "0.0.0.0:0",
                "--admin-plain",
                word);
        assertThat(out.toString()).contains(told);
        assertThat(exit).isEqualTo(told.startsWith("OK") ? 0 : 2);
    }

    private static JsonNode event(BufferedReader lines, String name) throws Exception {
        for (String line; (line = lines.readLine()) != null; ) {
            if (line.startsWith("{\"event\":\"" + name + "\"")) {
                return JsonMapper.shared().readTree(line);
            }
        }
        throw new AssertionError("the process ended without the event " + name);
    }
}
