package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.Program;
import org.tamanoir.node.Programs;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;
import tools.jackson.databind.JsonNode;

/** Nodes as processes, each of which takes the place of the one before it. */
@Tag("process")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class RestartTest {
    /** One of a node that was started, and one of a node that took over; {@code -Dtamanoir.restarts=50} for the whole. */
    private static final int RESTARTS = Seeds.number("tamanoir.restarts", Seeds.scaled(2));

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Between two questions to the admin API: leaves processors to the nodes' starts. */
    private static final long PACE_NS = 5_000_000;

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

    private LiveProcess start(String... more) throws IOException {
        LiveProcess node = LiveProcess.of(folder.resolve("node.yaml"), more);
        nodes.add(node.process);
        return node;
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
    @Tag("once")
    void underLoadRestartsLoseNothing() throws Exception {
        try (LiveLoad load = new LiveLoad()) {
            write(load.address().getPort());
            LiveProcess running = start();
            load.start(running, 2, false);
            admin.ask(running.admin() + "/health");
            long in = 0;
            for (int i = 0; i < RESTARTS; i++) {
                LiveProcess next = start("--take-over");
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
            running.terminate();
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
        /** An answer in order; its groups are the announced length and the body, which is ASCII. */
        private static final Pattern WHOLE = Pattern.compile(
                "HTTP/1.1 200 .*?\r\nContent-Length: (\\d+)\r\n(?:.*?\r\n)?\r\n(.*)",
                Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

        final List<String> failures = new CopyOnWriteArrayList<>();
        private volatile boolean stopped;
        private @Nullable Thread thread;

        void ask(String url) {
            Thread asking = new Thread(() -> {
                while (!stopped) {
                    try {
                        String answer = get(URI.create(url));
                        if (!isWhole(answer)) {
                            failures.add("answer \"" + answer + "\"");
                        }
                    } catch (IOException e) {
                        failures.add(e.toString());
                    }
                    LockSupport.parkNanos(PACE_NS);
                }
            });
            thread = asking;
            asking.start();
        }

        /**
         * Sends one request and returns everything that the node answers until it closes the connection. It uses a plain
         * socket because HttpURLConnection silently repeats a GET whose connection was closed without an answer.
         */
        private static String get(URI url) throws IOException {
            try (Socket socket = new Socket()) {
                socket.setSoTimeout((int) PATIENCE.toMillis());
                socket.connect(new InetSocketAddress(url.getHost(), url.getPort()), (int) PATIENCE.toMillis());
                String request = "GET " + url.getPath() + " HTTP/1.1\r\nHost: " + url.getAuthority()
                        + "\r\nConnection: close\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            }
        }

        private static boolean isWhole(String answer) {
            Matcher matcher = WHOLE.matcher(answer);
            return matcher.matches() && matcher.group(2).length() == Integer.parseInt(matcher.group(1));
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
            LiveProcess old = start();
            load.start(old, 1, true);
            LiveProcess next = start("--take-over");
            load.awaitMore(3);
            assertThat(old.process.isAlive()).isTrue();
            long came = load.finish();
            long in = whole(old.stopped());
            next.terminate();
            assertThat(in + whole(next.stopped())).isEqualTo(came);
        }
    }

    @Test
    @Tag("once")
    void aNodeGoesOnWhenTheOtherFailsBehindItsSockets() throws Exception {
        try (LiveLoad load = new LiveLoad()) {
            write(load.address().getPort());
            LiveProcess running = start();
            bindAndFail();
            load.start(running, 1, false);
            LiveProcess next = start("--take-over"); // It still hands over.
            long in = whole(running.stopped());
            load.awaitMore(1);
            long came = load.finish();
            next.terminate();
            assertThat(in + whole(next.stopped())).isEqualTo(came);
        }
    }

    /** Takes over as far as a process comes that fails when all its sockets are bound. */
    private void bindAndFail() throws IOException {
        NodeConfigBuilder settings = new NodeConfigBuilder(new Problems());
        ConfigFile.read(folder.resolve("node.yaml"), settings);
        Node node = new Node(settings.build());
        try (TakeOver old = TakeOver.from(folder.resolve("hand-over"), node.sockets(), PATIENCE)) {
            assertThat(old).isNotNull();
            node.start();
            node.stop(Duration.ZERO);
        }
    }

    @Test
    @Tag("once")
    void whatCannotBeTakenOverIsOneLine() throws Exception {
        write(1);
        assertProcessRefused("no node hands over at", "--take-over");
        LiveProcess running = start();
        assertRefused("a node listens there already: start this one with --take-over");
        assertRefused("the other configuration has other addresses", "--take-over", "--tcp", "127.0.0.2:0");
        Files.writeString(folder.resolve("node.yaml"), "listen: {tcp: [0], udp: [0]}\n");
        assertRefused("there is no hand-over", "--take-over");
        assertThat(running.process.isAlive()).isTrue();
    }

    /** Starts a process, of which everything a user sees is one line beside what is logged as INFO. */
    private void assertProcessRefused(String why, String... more) throws Exception {
        Process refused = Program.builder(words(more)).redirectErrorStream(true).start();
        nodes.add(refused);
        try (BufferedReader out = refused.inputReader()) {
            assertThat(out.lines().filter(line -> !line.contains(" INFO ")).toList())
                    .singleElement()
                    .asString()
                    .contains(why);
        }
        assertThat(refused.waitFor()).isEqualTo(2);
    }

    private void assertRefused(String why, String... more) throws Exception {
        StringWriter out = new StringWriter();
        int code = Programs.run(new PrintWriter(out, true), words(more));
        assertThat(out.toString().lines()).singleElement().asString().contains(why);
        assertThat(code).isEqualTo(2);
    }

    private String[] words(String... more) {
        return Stream.concat(
                        Stream.of(
                                "node", "--config", folder.resolve("node.yaml").toString()),
                        Stream.of(more))
                .toArray(String[]::new);
    }
}
