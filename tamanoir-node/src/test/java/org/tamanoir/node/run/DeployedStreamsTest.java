package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.packets;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.client.AnepSender;

/** Streams that ask whole nodes for published services. */
@Timeout(120)
class DeployedStreamsTest {
    private static final String NAME = "org.example.Mark";

    @TempDir
    Path folder;

    private LiveRepository repository;
    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        sink = new LiveSink();
    }

    @AfterEach
    void close() throws Exception {
        sink.close();
        repository.close();
    }

    private static AnepSender sender(LiveNode node, String transport) throws Exception {
        return transport.equals("tcp") ? AnepSender.tcp(node.tcp()) : AnepSender.udp(node.udp());
    }

    private LiveNode node(String name, String more) throws Exception {
        Path own = folder.resolve(name);
        return LiveNode.start(
                own, route(sink.address(), true) + deploy(own, repository, List.of(repository.url()), more));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "udp"})
    void everyPacketOfAStreamIsProcessedByTheServiceThatItBrings(String transport) throws Exception {
        repository.publishMarker(NAME + ":1.0", 3);
        int count = transport.equals("tcp") ? 20_000 : 200;
        try (LiveNode node = node("node", "");
                AnepSender sender = sender(node, transport)) {
            send(sender, packets(NAME), 0, count);
            sender.finish();
            sink.await(count);
            assertThat(sink.numbers())
                    .isEqualTo(IntStream.range(0, count).boxed().toList());
            assertThat(sink.marks()).containsOnly(3);
            node.assertConserved(count, Map.of());
            assertThat(node.outcomes()).isEqualTo(Map.of("repository", 1L));
            assertThat(node.versions(NAME)).containsExactly("1.0 running repository " + repository.url());
        }
    }

    @Test
    void fiftyStreamsCauseOneDownload() throws Exception {
        repository.publishMarker(NAME + ":1.0", 3);
        List<AnepSender> senders = new ArrayList<>();
        try (LiveNode node = node("node", "")) {
            for (int i = 0; i < 50; i++) {
                senders.add(AnepSender.tcp(node.tcp()));
            }
            for (int i = 0; i < 50; i++) {
                send(senders.get(i), packets(NAME), i * 20, i * 20 + 20);
                senders.get(i).finish();
            }
            sink.await(1000);
            assertThat(sink.numbers())
                    .containsExactlyInAnyOrderElementsOf(
                            IntStream.range(0, 1000).boxed().toList());
            assertThat(sink.marks()).containsOnly(3);
            node.assertConserved(1000, Map.of());
            assertThat(node.outcomes()).isEqualTo(Map.of("repository", 1L));
            assertThat(node.text("/metrics"))
                    .contains("tamanoir_deployment_duration_seconds_count{outcome=\"repository\"} 1");
        } finally {
            senders.forEach(AnepSender::close);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "udp"})
    void aChainOfNodesGetsTheServiceFromTheOneThatKnowsTheRepository(String transport) throws Exception {
        repository.publishMarker(NAME + ":1.0", 3);
        Path a = folder.resolve("a");
        Path b = folder.resolve("b");
        Path c = folder.resolve("c");
        try (LiveNode third = LiveNode.start(c, route(sink.address(), true) + deploy(c, repository, List.of(), ""));
                LiveNode second =
                        LiveNode.start(b, route(next(third, transport), false) + deploy(b, repository, List.of(), ""));
                LiveNode first = LiveNode.start(
                        a,
                        route(next(second, transport), false) + deploy(a, repository, List.of(repository.url()), ""));
                AnepSender sender = sender(first, transport)) {
            send(sender, packets(NAME), 0, 100);
            sender.finish();
            sink.await(100);
            assertThat(sink.numbers()).isEqualTo(IntStream.range(0, 100).boxed().toList());
            assertThat(sink.marks()).containsOnly(3);
            assertThat(first.versions(NAME)).containsExactly("1.0 running repository " + repository.url());
            assertThat(second.versions(NAME)).containsExactly("1.0 running previous node http://" + code(first));
            assertThat(third.versions(NAME)).containsExactly("1.0 running previous node http://" + code(second));
            for (LiveNode node : List.of(first, second, third)) {
                node.assertConserved(100, Map.of());
            }
        }
    }

    private static java.net.InetSocketAddress next(LiveNode node, String transport) {
        return transport.equals("tcp") ? node.tcp() : node.udp();
    }

    private static String code(LiveNode node) {
        return String.valueOf(node.node.servers().get("code server"));
    }

    @Test
    void aRunningStreamKeepsItsVersionAndNewOnesTakeTheNext() throws Exception {
        repository.publishMarker(NAME + ":1.0", 1);
        try (LiveNode node = node("node", "");
                AnepSender old = AnepSender.tcp(node.tcp());
                AnepSender young = AnepSender.tcp(node.tcp())) {
            send(old, packets(NAME), 0, 10);
            sink.await(10);
            repository.publishMarker(NAME + ":2.0", 2);
            assertThat(node.ctl(0, "deploy", NAME)).contains(NAME + ":2.0 deployed from repository");
            send(young, packets(NAME), 10, 20);
            young.finish();
            sink.await(20);
            send(old, packets(NAME), 20, 30);
            sink.await(30);
            assertThat(sink.marks().subList(0, 10)).containsOnly(1);
            assertThat(sink.marks().subList(10, 20)).containsOnly(2);
            assertThat(sink.marks().subList(20, 30)).containsOnly(1);
            assertThat(node.versions(NAME).get(0)).startsWith("1.0 draining");
            assertThat(node.versions(NAME).get(1)).startsWith("2.0 running");
            old.finish();
            eventually().untilAsserted(() -> assertThat(node.versions(NAME)).hasSize(1));
            assertThat(node.versions(NAME).get(0)).startsWith("2.0 running");
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.events("unloaded")).containsExactly("service " + NAME + ":1.0 unloaded"));
            node.assertConserved(30, Map.of());
        }
    }

    @Test
    void aYankedVersionIsNotRolledBackAndPinnedOnesStay() throws Exception {
        repository.publishMarker(NAME + ":1.0", 1);
        repository.publishMarker(NAME + ":2.0", 2);
        try (LiveNode node = node("node", "")) {
            node.ctl(0, "deploy", NAME + ":1.0");
            node.ctl(0, "deploy", NAME);
            assertThat(node.versions(NAME)).hasSize(2).allMatch(line -> line.contains("running"));
            repository.publisher().yank(org.tamanoir.deploy.ServiceId.parse(NAME + ":2.0"), "loses packets");
            assertThat(node.ctl(1, "deploy", NAME)).contains("older than 2.0");
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                send(sender, packets(NAME), 0, 5);
                sender.finish();
                sink.await(5);
            }
            assertThat(sink.marks()).containsOnly(2);
            node.ctl(0, "deploy", NAME, "--allow-older");
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                send(sender, packets(NAME), 5, 10);
                sender.finish();
                sink.await(10);
            }
            assertThat(sink.marks().subList(5, 10)).containsOnly(1);
        }
    }
}
