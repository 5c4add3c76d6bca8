package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.node.Main;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Ports;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whole nodes as back-ends, with a server that speaks to them as a director does. */
@Timeout(120)
class ClusterNodeTest {
    private static final String SHOUT = "org.example.Shout";
    private static final Welcome.Code NO_CODE = new Welcome.Code(List.of(), List.of(), List.of());

    /** Tamanoir's Type ID, destination 10.0.2.7, payload "hello". */
    private static final byte[] PACKET =
            HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f");

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private int adminPort;

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private Node start(LiveDirector director, String more) throws IOException {
        Path token = SecretFile.write(folder.resolve("cluster.token"), LiveDirector.TOKEN);
        adminPort = Ports.free();
        String yaml = "listen: {tcp: [0], udp: [0]}\nadmin: {listen: \"127.0.0.1:" + adminPort + "\"}\ndeploy: {cache: "
                + folder.resolve("cache") + "}\ncluster: {directors: [\"" + director.url() + "\"], token-file: " + token
                + ", name: node-1, set-up: \"off\"}\n" + more;
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("test", yaml, settings);
        settings.check();
        assertThat(problems.lines()).as(yaml).isEmpty();
        Node node = new Node(settings.build());
        node.start();
        opened.add(0, () -> node.stop(Duration.ZERO));
        return node;
    }

    private LiveDirector director(Welcome welcome) throws IOException {
        LiveDirector director = new LiveDirector(registration -> welcome);
        opened.add(director);
        return director;
    }

    private Welcome.Code code(LiveRepository repository) throws IOException {
        return new Welcome.Code(
                List.of(repository.url()),
                List.of(new CodeSources.Publisher(Files.readString(repository.publicKey), List.of("org.example.*"))),
                List.of(SHOUT));
    }

    private HttpResponse<String> get(String path) {
        try {
            return CLIENT.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + path))
                            .timeout(LiveNode.PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private JsonNode json(String path) {
        return new JsonMapper().readTree(get(path).body());
    }

    @Test
    void codeSourcesComeFromTheDirectorAndWhatItWantsRunsWithoutAnyConfigurationOfTheNode() throws Exception {
        LiveRepository repository = new LiveRepository(folder.resolve("repository"));
        opened.add(repository);
        repository.publishMarker(SHOUT + ":1.0", 4);
        LiveDirector director = director(LiveDirector.says("up", code(repository)));
        start(director, "");
        eventually().untilAsserted(() -> assertThat(director.last().services()).containsExactly(SHOUT + ":1.0"));
        assertThat(json("/v1/services").toString()).contains("\"name\":\"" + SHOUT + "\",\"version\":\"1.0\"");
        JsonNode cluster = json("/v1/cluster");
        assertThat(cluster).isEqualTo(json("/cluster"));
        assertThat(cluster.get("name").asString()).isEqualTo("node-1");
        assertThat(cluster.get("directors").get(0).get("state").asString()).isEqualTo("up");
        assertThat(cluster.get("wanted").get(0).toString())
                .isEqualTo("{\"service\":\"" + SHOUT + "\",\"deployed\":\"" + SHOUT + ":1.0\",\"problem\":null}");
        assertThat(cluster.get("code").get("repositories").get(0).asString()).isEqualTo(repository.url());
        assertThat(json("/v1/config").get("config").asString())
                .contains("name: node-1", repository.url())
                .doesNotContain(LiveDirector.TOKEN);
        assertThat(director.registrations.get(0).admin()).isEqualTo("http://127.0.0.1:" + adminPort);
        assertThat(get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aNodeThatStartsWhileDirectorsRefuseGoesByWhatTheySaidBefore() throws Exception {
        LiveRepository repository = new LiveRepository(folder.resolve("repository"));
        opened.add(repository);
        repository.publishMarker(SHOUT + ":1.0", 4);
        LiveDirector director = director(LiveDirector.says("up", code(repository)));
        start(director, "").stop(Duration.ZERO);
        director.status = 403;
        start(director, "");
        eventually()
                .untilAsserted(() -> assertThat(json("/v1/cluster")
                                .get("wanted")
                                .get(0)
                                .get("deployed")
                                .asString(""))
                        .isEqualTo(SHOUT + ":1.0"));
        JsonNode cluster = json("/v1/cluster");
        assertThat(cluster.get("code").get("remembered").asBoolean()).isTrue();
        assertThat(cluster.get("directors").get(0).get("state").asString()).isEqualTo("refused");
    }

    @Test
    void aServiceOfTheClassPathIsThereAlready() throws Exception {
        Welcome.Code code = new Welcome.Code(List.of(), List.of(), List.of("org.tamanoir.services.Monitor", SHOUT));
        LiveDirector director = director(LiveDirector.says("up", code));
        start(director, "");
        eventually().untilAsserted(() -> {
            assertThat(director.last().services()).containsExactly("org.tamanoir.services.Monitor");
            assertThat(director.last().findings())
                    .containsExactly(
                            "service " + SHOUT + " is not deployed: this node deploys nothing: start it with a "
                                    + "repository and a publisher to trust");
        });
    }

    @Test
    void aPortThatTheNodeDoesNotListenOnIsAFinding() throws Exception {
        LiveDirector director = director(LiveDirector.says(
                "up", NO_CODE, new Welcome.Served("video", "10.9.0.1", 3322, 3322, List.of("tcp", "udp"), "direct")));
        start(director, "");
        eventually()
                .untilAsserted(() -> assertThat(director.last().findings())
                        .containsExactly(
                                "service video: the node does not listen on tcp 10.9.0.1:3322: add --listen '*:3322'",
                                "service video: the node does not listen on udp 10.9.0.1:3322: add --listen '*:3322'"));
    }

    @Test
    void aNodeThatStopsServesUntilTheDirectorHasNoStreamsForItAndThenLetsItsOwnFinish() throws Exception {
        try (ServerSocket end = new ServerSocket(0, 4, InetAddress.getLoopbackAddress());
                DatagramSocket udpEnd = new DatagramSocket(end.getLocalSocketAddress());
                DatagramSocket client = new DatagramSocket()) {
            end.setSoTimeout((int) LiveNode.PATIENCE.toMillis());
            udpEnd.setSoTimeout((int) LiveNode.PATIENCE.toMillis());
            LiveDirector director = director(LiveDirector.says("up", NO_CODE));
            Node node = start(director, LiveNode.route((InetSocketAddress) end.getLocalSocketAddress(), true));
            InetSocketAddress tcp = node.environment().tcpAddresses().get(0);
            InetSocketAddress udp = node.environment().udpAddresses().get(0);
            CompletableFuture<Socket> late = new CompletableFuture<>();
            AtomicBoolean drained = new AtomicBoolean();
            director.answer = registration -> {
                if (registration.leaving() && !late.isDone()) {
                    late.complete(sends(tcp)); // A stream that was on its way when the director heard of it.
                }
                return LiveDirector.says(
                        drained.get() ? "drained" : registration.leaving() ? "draining" : "up", NO_CODE);
            };
            CompletableFuture<Integer> cut = Waiting.async(() -> node.stop(LiveNode.PATIENCE.multipliedBy(2)));
            Socket sender = late.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            try (Socket receiver = end.accept()) {
                eventually()
                        .untilAsserted(
                                () -> assertThat(json("/ready").get("reason").asString(""))
                                        .isEqualTo("the node stops"));
                assertThat(json("/v1/cluster").get("leaving").asBoolean()).isTrue();
                client.send(new DatagramPacket(PACKET, PACKET.length, udp)); // A stream that was there before goes on.
                udpEnd.receive(new DatagramPacket(new byte[2_000], 2_000));

                drained.set(true);
                eventually().untilAsserted(() -> assertThat(refuses(tcp)).isTrue());
                sender.getOutputStream().write(PACKET);
                sender.shutdownOutput();
                assertThat(new String(receiver.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
                        .containsSubsequence("hello", "hello");
            } finally {
                sender.close();
            }
            assertThat(cut.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isZero();
            assertThat(director.last().leaving()).isTrue();
        }
    }

    private static Socket sends(InetSocketAddress to) {
        try {
            Socket sender = new Socket(to.getAddress(), to.getPort());
            sender.getOutputStream().write(PACKET);
            return sender;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean refuses(InetSocketAddress address) {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            return !socket.isConnected();
        } catch (SocketException e) {
            return true;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void theAdminApiIsHadAtThePortThatDirectorsAreToldOrTheNodeDoesNotStart() throws Exception {
        LiveDirector director = director(LiveDirector.says("up", NO_CODE));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path token = SecretFile.write(folder.resolve("token"), LiveDirector.TOKEN);
            Problems problems = new Problems();
            NodeConfigBuilder settings = new NodeConfigBuilder(problems);
            ConfigFile.parse(
                    "test",
                    "listen: {tcp: [0]}\nadmin: {listen: \"127.0.0.1:" + taken.getLocalPort()
                            + "\"}\ncluster: {directors: \""
                            + director.url() + "\", token-file: " + token + ", name: node-1, set-up: \"off\"}\ndeploy: "
                            + "{cache: " + folder + "}\n",
                    settings);
            settings.check();
            assertThat(problems.lines()).isEmpty();
            assertThatThrownBy(() -> new Node(settings.build()).start())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(Integer.toString(taken.getLocalPort()));
        }
        assertThat(director.last().leaving()).isTrue();
    }

    @Test
    void ctlShowsTheCluster() throws Exception {
        Welcome.Code code = new Welcome.Code(List.of(), List.of(), List.of(SHOUT));
        LiveDirector director = director(LiveDirector.says(
                "up", code, new Welcome.Served("video", "10.9.0.1", 3322, 3322, List.of("tcp"), "direct")));
        start(director, "");
        eventually()
                .untilAsserted(() -> assertThat(ctl("cluster"))
                        .contains(
                                "back-end node-1",
                                director.url() + "  dir-1  up",
                                "video   10.9.0.1",
                                SHOUT + "  -",
                                "host: set-up off",
                                "problem: service video: the node does not listen on tcp 10.9.0.1:3322"));
        assertThat(new JsonMapper()
                        .readTree(ctl("cluster", "--json"))
                        .get("name")
                        .asString())
                .isEqualTo("node-1");
    }

    private String ctl(String... arguments) {
        List<String> all = new ArrayList<>(List.of("ctl"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--admin", "127.0.0.1:" + adminPort));
        StringWriter out = new StringWriter();
        assertThat(Main.run(new PrintWriter(out, true), new PrintWriter(out, true), all.toArray(String[]::new)))
                .as("%s", out)
                .isZero();
        return out.toString();
    }
}
