package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.node.Program;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Nodes as processes, each of which takes the place of the one before it. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class RestartTest {
    /** {@code -Dtamanoir.restarts=50} for the whole. */
    private static final int RESTARTS = Integer.getInteger("tamanoir.restarts", 3);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final List<Process> nodes = new ArrayList<>();
    private final Asking admin = new Asking();

    @BeforeEach
    void need() {
        Tiers.require(
                "native",
                UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE,
                UdpSockets.explain(TransportKind.AUTO));
    }

    @AfterEach
    void end() throws InterruptedException {
        admin.end();
        nodes.forEach(Process::destroyForcibly);
    }

    /** A node as a process, with what it says. */
    private final class Running {
        final Process process;
        final BufferedReader out;
        final JsonNode started;

        Running(String... more) throws IOException {
            process = Program.builder(Stream.concat(
                                    Stream.of(
                                            "node",
                                            "--config",
                                            folder.resolve("node.yaml").toString(),
                                            "--json"),
                                    Stream.of(more))
                            .toArray(String[]::new))
                    .redirectError(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("log").toFile()))
                    .start();
            nodes.add(process);
            out = process.inputReader();
            String line = out.readLine();
            assertThat(line).as(Files.readString(folder.resolve("log"))).isNotNull();
            started = new JsonMapper().readTree(line);
            assertThat(started.get("event").asString()).isEqualTo("started");
        }

        InetSocketAddress address(String transport) {
            Endpoint endpoint = Endpoint.parse(started.get(transport).get(0).asString(), 1);
            return new InetSocketAddress(endpoint.host(), endpoint.port());
        }

        String admin() {
            return started.get("servers").get("admin API").asString();
        }

        /** Returns what it says at its end. */
        JsonNode stopped() throws Exception {
            JsonNode event = new JsonMapper().readTree(out.readLine());
            while (!event.get("event").asString().equals("stopped")) {
                event = new JsonMapper().readTree(out.readLine());
            }
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            return event;
        }
    }

    private void write(int farPort) throws IOException {
        Files.writeString(
                folder.resolve("node.yaml"),
                "listen: {tcp: [0], udp: [0]}\nadmin: {listen: \"127.0.0.1:0\"}\nhand-over: "
                        + folder.resolve("hand-over")
                        + "\ntimeouts: {drain: 60s}\nroutes: [{to: 10.0.0.0/24, via: \"127.0.0.1:"
                        + farPort + "\", kind: host}]\n");
    }

    @Test
    void underLoadRestartsLoseNothing() throws Exception {
        try (LiveLoad load = new LiveLoad()) {
            write(load.address().getPort());
            Running running = new Running();
            PacketBuilder packets = new PacketBuilder()
                    .destination(InetAddress.getByName("10.0.0.7"))
                    .service("org.tamanoir.services.Monitor")
                    .hopBudget(16);
            load.start(running.address("tcp"), running.address("udp"), packets, 2, false);
            load.awaitMore(1);
            admin.ask(running.admin() + "/health");
            long in = 0;
            for (int i = 0; i < RESTARTS; i++) {
                Running next = new Running("--take-over");
                assertThat(next.started.get("tcp")).isEqualTo(running.started.get("tcp"));
                assertThat(next.started.get("udp")).isEqualTo(running.started.get("udp"));
                assertThat(next.admin()).isEqualTo(running.admin());
                in += whole(running.stopped());
                assertThat(running.process.exitValue()).isZero();
                running = next;
                load.awaitMore(2);
                assertThat(admin.failures).isEmpty();
            }
            long came = load.finish();
            admin.end();
            assertThat(admin.failures).isEmpty();
            running.process.toHandle().destroy();
            in += whole(running.stopped());
            assertThat(in).isEqualTo(came);
            assertThat(folder.resolve("hand-over")).doesNotExist();
        }
    }

    /** Returns how many packets came in, which all went out. */
    private static long whole(JsonNode stopped) {
        assertThat(stopped.get("unaccounted").asLong()).isZero();
        assertThat(stopped.get("streamsCut").asLong()).isZero();
        assertThat(stopped.get("packetsOut").asLong())
                .as(stopped.toString())
                .isEqualTo(stopped.get("packetsIn").asLong());
        return stopped.get("packetsIn").asLong();
    }

    /** Asks the admin API again and again, by a connection of its own each time. */
    private static final class Asking {
        final List<String> failures = new CopyOnWriteArrayList<>();
        private volatile boolean stopped;
        private @Nullable Thread thread;

        void ask(String url) {
            Thread asking = new Thread(() -> {
                HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                        .timeout(PATIENCE)
                        .build();
                while (!stopped) {
                    try {
                        int status = HttpClient.newHttpClient()
                                .send(request, HttpResponse.BodyHandlers.discarding())
                                .statusCode();
                        if (status != 200) {
                            failures.add("status " + status);
                        }
                    } catch (IOException | InterruptedException e) {
                        failures.add(e.toString());
                    }
                }
            });
            thread = asking;
            asking.start();
        }

        void end() throws InterruptedException {
            stopped = true;
            Thread asking = thread;
            if (asking != null) {
                asking.join(PATIENCE.toMillis());
            }
        }
    }

    @Test
    void aRunningStreamStaysWithTheOldProcessUntilItEnds() throws Exception {
        try (LiveLoad load = new LiveLoad()) {
            write(load.address().getPort());
            Running old = new Running();
            PacketBuilder packets = new PacketBuilder()
                    .destination(InetAddress.getByName("10.0.0.7"))
                    .service("org.tamanoir.services.Monitor")
                    .hopBudget(16);
            load.start(old.address("tcp"), old.address("udp"), packets, 1, true);
            load.awaitMore(1);
            Running next = new Running("--take-over");
            load.awaitMore(3);
            assertThat(old.process.isAlive()).isTrue();
            long came = load.finish();
            long in = whole(old.stopped());
            next.process.toHandle().destroy();
            assertThat(in + whole(next.stopped())).isEqualTo(came);
        }
    }

    @Test
    void aNodeGoesOnWhenTheOtherEndsBeforeItIsReady() throws Exception {
        write(1);
        Running running = new Running();
        Process other = Program.builder(
                        "node",
                        "--config",
                        folder.resolve("node.yaml").toString(),
                        "--take-over",
                        "--service",
                        "Morph,plan=/nowhere")
                .redirectErrorStream(true)
                .start();
        try (BufferedReader out = other.inputReader()) {
            assertThat(out.lines().filter(line -> !line.contains(" INFO ")).toList())
                    .hasSize(1)
                    .first()
                    .asString()
                    .contains("cannot start");
        }
        eventually().until(() -> Files.readString(folder.resolve("log")).contains("this node goes on"));
        new Running("--take-over"); // It still hands over.
        whole(running.stopped());
    }

    @Test
    void whatCannotBeTakenOverIsOneLine() throws Exception {
        write(1);
        assertRefused("no node hands over at", "--take-over");
        Running running = new Running();
        assertRefused("a node listens there already: start this one with --take-over");
        assertRefused("the other configuration has other addresses", "--take-over", "--tcp", "127.0.0.2:0");
        Files.writeString(folder.resolve("node.yaml"), "listen: {tcp: [0], udp: [0]}\n");
        assertRefused("there is no hand-over", "--take-over");
        assertThat(running.process.isAlive()).isTrue();
    }

    private void assertRefused(String why, String... more) throws Exception {
        Process refused = Program.builder(Stream.concat(
                                Stream.of(
                                        "node",
                                        "--config",
                                        folder.resolve("node.yaml").toString()),
                                Stream.of(more))
                        .toArray(String[]::new))
                .redirectErrorStream(true)
                .start();
        nodes.add(refused);
        try (BufferedReader out = refused.inputReader()) {
            assertThat(out.lines().filter(line -> !line.contains(" INFO ")).toList())
                    .hasSize(1)
                    .first()
                    .asString()
                    .contains(why);
        }
        assertThat(refused.waitFor()).isEqualTo(2);
    }
}
