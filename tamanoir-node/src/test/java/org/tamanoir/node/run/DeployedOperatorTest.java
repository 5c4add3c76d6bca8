package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.packets;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.Program;
import org.tamanoir.node.config.Endpoint;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What operators do with services while streams run them. */
@Tag("process")
@Timeout(120)
class DeployedOperatorTest {
    private static final String NAME = "org.example.Mark";

    @TempDir
    Path folder;

    private LiveRepository repository;
    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        sink = new LiveSink();
        repository.publishMarker(NAME + ":1.0", 1);
    }

    @AfterEach
    void close() throws Exception {
        sink.close();
        repository.close();
    }

    private LiveNode node() throws Exception {
        Path own = folder.resolve("node");
        return LiveNode.start(
                own, route(sink.address(), true) + deploy(own, repository, List.of(repository.url()), ""));
    }

    private void stream(LiveNode node, int from, int to) throws Exception {
        try (AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), from, to);
            sender.finish();
        }
    }

    @Test
    void aDrainedServiceServesItsStreamsToTheEnd() throws Exception {
        try (LiveNode node = node();
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 10);
            sink.await(10);
            assertThat(node.ctl(0, "drain", NAME)).contains("draining");
            send(sender, packets(NAME), 10, 20);
            sink.await(20);
            assertThat(node.versions(NAME)).hasSize(1).allMatch(line -> line.startsWith("1.0 draining"));
            sender.finish();
            eventually().untilAsserted(() -> assertThat(node.versions(NAME)).isEmpty());
            assertThat(sink.marks()).containsOnly(1);
            node.assertConserved(20, Map.of());
        }
    }

    @Test
    void anUndeployedServiceIsCutAtTheDeadlineAndStaysAwayUnlessStreamsMayBringIt() throws Exception {
        try (LiveNode node = node();
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 10);
            sink.await(10);
            node.ctl(0, "undeploy", NAME, "--deadline", "0s", "--on-demand");
            eventually().untilAsserted(() -> assertThat(node.versions(NAME)).isEmpty());
            eventually()
                    .untilAsserted(() -> assertThat(node.events("undeployed"))
                            .containsExactly("service " + NAME + ":1.0 undeployed, streams cut: 1"));
            stream(node, 10, 20);
            sink.await(20);
            assertThat(node.outcomes()).isEqualTo(Map.of("repository", 1L, "cache", 1L));
            node.ctl(0, "undeploy", NAME, "--deadline", "0s");
            stream(node, 20, 30);
            node.assertConserved(30, Map.of(DropReason.UNKNOWN_SERVICE, 10L));
            node.ctl(0, "deploy", NAME);
            eventually().until(() -> {
                stream(node, 30, 31);
                return sink.numbers().contains(30);
            });
            assertThat(sink.marks()).containsOnly(1);
        }
    }

    @Test
    @Tag("once")
    void twoNodesWithDefaultSettingsDoNotCollide() throws Exception {
        String[] arguments = {
            "node",
            "--listen",
            "0",
            "--json",
            "--repository",
            repository.url(),
            "--trust",
            repository.publicKey + "=org.example.*",
            "--route",
            "10.0.0.0/8=127.0.0.1:" + sink.address().getPort() + ",host"
        };
        ProcessBuilder builder = Program.builder(arguments).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("XDG_CACHE_HOME", folder.resolve("caches").toString());
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder);
        Process first = builder.start();
        Process second = null;
        try (BufferedReader firstOut = first.inputReader()) {
            JsonNode one = new JsonMapper().readTree(firstOut.readLine());
            second = builder.start();
            try (BufferedReader secondOut = second.inputReader()) {
                JsonNode two = new JsonMapper().readTree(secondOut.readLine());
                assertThat(one.get("servers").get("admin API").asString())
                        .isNotEqualTo(two.get("servers").get("admin API").asString());
                int sent = 0;
                for (JsonNode started : List.of(one, two)) {
                    Endpoint tcp = Endpoint.parse(started.get("tcp").get(0).asString(), 1);
                    try (AnepSender sender = AnepSender.tcp(new InetSocketAddress(tcp.address(), tcp.port()))) {
                        send(sender, packets(NAME), sent, sent + 10);
                        sender.finish();
                        sent += 10;
                        sink.await(sent);
                    }
                }
                assertThat(sink.marks()).containsOnly(1);
                try (Stream<Path> caches = Files.list(folder.resolve("caches/tamanoir"))) {
                    assertThat(caches).isNotEmpty();
                }
            }
        } finally {
            first.destroyForcibly();
            if (second != null) {
                second.destroyForcibly();
            }
        }
    }
}
