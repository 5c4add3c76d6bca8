package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
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
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.node.Main;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A whole node from a configuration file, looked at through its admin API. One thread. */
final class LiveNode implements AutoCloseable {
    /** Nothing in a test takes this long unless it hangs. */
    static final Duration PATIENCE = Waiting.PATIENCE;

    static final String TOKEN = "the-token-of-this-test";
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    final Node node;
    private final Path token;

    private LiveNode(Node node, Path token) {
        this.node = node;
        this.token = token;
    }

    /**
     * Starts a node with its own cache in {@code folder}, on free ports.
     *
     * @param yaml beside {@code admin}; without {@code listen:} TCP and UDP on free ports of loopback
     */
    static LiveNode start(Path folder, String yaml) throws IOException {
        return start(folder, yaml, node -> {});
    }

    /** The same, with what is done before it starts. */
    static LiveNode start(Path folder, String yaml, Consumer<Node> before) throws IOException {
        Path token = token(folder);
        Node node = new Node(config(config(folder, token, yaml)), Duration.ofMillis(20));
        before.accept(node);
        node.start();
        return new LiveNode(node, token);
    }

    /** The same with the routes of a file. */
    static LiveNode start(Path folder, String yaml, RouteSet routes, Path file) throws IOException {
        Path token = token(folder);
        Node node = new Node(config(config(folder, token, yaml)), routes, file.toString());
        node.start();
        return new LiveNode(node, token);
    }

    private static Path token(Path folder) throws IOException {
        return SecretFile.write(Files.createDirectories(folder).resolve("admin.token"), TOKEN + "\n");
    }

    /** The text of a configuration with what every node of a test has. */
    static String config(Path folder, Path token, String yaml) {
        return (yaml.contains("listen:") && yaml.indexOf("listen:") == 0 ? "" : "listen: {tcp: [0], udp: [0]}\n")
                + yaml
                + "\nadmin: {listen: \"127.0.0.1:0\", token-file: " + token + "}\n";
    }

    private static NodeConfig config(String yaml) {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("test", yaml, settings);
        settings.check();
        assertThat(problems.lines()).as(yaml).isEmpty();
        return settings.build();
    }

    /** The section {@code deploy} of a node that trusts the repository's publisher for {@code org.example.*}. */
    static String deploy(Path folder, LiveRepository trusted, List<String> repositories, String more) {
        return "deploy: {cache: " + folder.resolve("cache") + ", trust: [{key: " + trusted.publicKey
                + ", names: [org.example.*]}], repositories: "
                + repositories.stream().map(url -> "\"" + url + "\"").toList()
                + (more.isEmpty() ? "" : ", " + more) + "}\n";
    }

    /** The section {@code routes}: all packets to there. */
    static String route(InetSocketAddress to, boolean host) {
        return "routes: [{to: 0.0.0.0/0, via: \"127.0.0.1:" + to.getPort() + "\", kind: " + (host ? "host" : "active")
                + "}]\n";
    }

    InetSocketAddress tcp() {
        return node.environment().tcpAddresses().get(0);
    }

    InetSocketAddress udp() {
        return node.environment().udpAddresses().get(0);
    }

    String admin() {
        return String.valueOf(node.servers().get("admin API"));
    }

    String text(String path) {
        try {
            HttpResponse<String> answer = CLIENT.send(
                    HttpRequest.newBuilder(URI.create(admin() + path))
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(path).isEqualTo(200);
            return answer.body();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    JsonNode get(String path) {
        return new JsonMapper().readTree(text(path));
    }

    /** Versions of a service, as {@code version state source}. */
    List<String> versions(String name) {
        List<String> versions = new ArrayList<>();
        for (JsonNode service : get("/v1/services").get("services")) {
            if (service.get("name").asString().equals(name)) {
                versions.add(service.get("version").asString() + " "
                        + service.get("state").asString() + " "
                        + service.get("source").asString());
            }
        }
        return versions;
    }

    /** One version of a service. */
    JsonNode service(String name, String version) {
        return get("/v1/services/" + name + "/" + version);
    }

    /** How many deployments ended so. */
    Map<String, Long> outcomes() {
        Map<String, Long> outcomes = new TreeMap<>();
        get("/v1/deployments")
                .get("outcomes")
                .properties()
                .forEach(e -> outcomes.put(e.getKey(), e.getValue().asLong()));
        return outcomes;
    }

    /** Texts of the events of a kind. */
    List<String> events(String kind) {
        List<String> texts = new ArrayList<>();
        for (JsonNode event : get("/v1/events").get("events")) {
            if (event.get("kind").asString().equals(kind)) {
                texts.add(event.get("text").asString());
            }
        }
        return texts;
    }

    /** What {@code ctl} prints, standard error included; must end with this code. */
    String ctl(int code, String... arguments) {
        List<String> all = new ArrayList<>(List.of("ctl"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--admin", admin(), "--token-file", token.toString()));
        StringWriter out = new StringWriter();
        PrintWriter to = new PrintWriter(out, true);
        assertThat(Main.run(to, to, all.toArray(String[]::new)))
                .as("%s: %s", all, out)
                .isEqualTo(code);
        return out.toString();
    }

    /** Waits until no packet is in the node, and each of them is accounted for. */
    void assertConserved(long packetsIn, Map<DropReason, Long> drops) {
        eventually().untilAsserted(() -> {
            TrafficSnapshot traffic = node.environment().traffic();
            assertThat(traffic.packetsIn()).isEqualTo(packetsIn);
            assertThat(traffic.drops()).isEqualTo(drops);
            assertThat(traffic.held()).isZero();
            assertThat(traffic.packetsIn() + traffic.packetsMade()).isEqualTo(traffic.packetsOut() + traffic.dropped());
        });
    }

    @Override
    public void close() {
        node.stop(Duration.ZERO);
    }
}
