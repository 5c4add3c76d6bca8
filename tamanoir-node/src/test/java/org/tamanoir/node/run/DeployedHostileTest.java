package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.packets;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.client.AnepSender;

/** Deployed services that harm, and what a whole node does about them. */
@Timeout(120)
class DeployedHostileTest {
    private static final String NAME = "org.example.Hostile";
    private static final String ID = NAME + ":1.0";
    private static final String MONITOR = "org.tamanoir.services.Monitor";
    /** Set when the test is over: what was left behind ends. */
    private static final String OVER = "org.tamanoir.node.DeployedHostileTest.over";

    private static final String UNTIL_OVER = "static int untilOver() { while (System.getProperty(\"" + OVER
            + "\") == null) { try { Thread.sleep(10); } catch (InterruptedException e) { } } return 0; }\n";

    @TempDir
    Path folder;

    private LiveRepository repository;
    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        System.clearProperty(OVER);
        repository = new LiveRepository(folder.resolve("repository"));
        sink = new LiveSink();
    }

    @AfterEach
    void close() throws Exception {
        System.setProperty(OVER, "true");
        sink.close();
        repository.close();
    }

    private LiveNode node(String process, String members, String more) throws Exception {
        return node(process, members, more, "");
    }

    private LiveNode node(String process, String members, String more, String deploy) throws Exception {
        repository.publish(ID, LiveRepository.service(ID, process, members), LiveRepository.KEY);
        Path own = folder.resolve("node");
        return LiveNode.start(
                own,
                route(sink.address(), true) + deploy(own, repository, List.of(repository.url()), deploy) + more,
                node -> node.environment().stuckAfter(Duration.ofMillis(500)));
    }

    /** The node is none the worse for it. */
    private void assertServesOn(LiveNode node) throws Exception {
        int before = sink.numbers().size();
        try (AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(MONITOR), 0, 10);
            sender.finish();
            sink.await(before + 10);
        }
        assertThat(node.get("/ready").get("ready").asBoolean()).isTrue();
    }

    private static void sendTen(AnepSender sender) throws Exception {
        send(sender, packets(NAME), 0, 10);
        sender.finish();
    }

    @Test
    void aStaticInitialiserThatLoopsKeepsNobodyElse() throws Exception {
        try (LiveNode node = node("return Verdict.FORWARD;", UNTIL_OVER + "static int loop = untilOver();", "");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            sendTen(sender);
            node.assertConserved(10, Map.of(DropReason.NO_INSTANCE, 10L));
            assertServesOn(node);
        }
        assertThat(sink.numbers()).hasSize(10);
    }

    @Test
    void aStaticInitialiserThatThrowsIsOneRefusedInstance() throws Exception {
        try (LiveNode node = node(
                        "return Verdict.FORWARD;", "static int thrown = Integer.parseInt(\"as the test wants\");", "");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            sendTen(sender);
            node.assertConserved(10, Map.of(DropReason.NO_INSTANCE, 10L));
            assertThat(node.service(NAME, "1.0").get("failures").asLong()).isPositive();
            assertServesOn(node);
        }
    }

    @Test
    void aThreadThatAServiceStartedIsNamedWhenItHoldsOn() throws Exception {
        String start = UNTIL_OVER
                + "static { Thread t = new Thread(() -> untilOver(), \"left-behind\"); t.setDaemon(true); t.start(); }";
        try (LiveNode node = node("return Verdict.FORWARD;", start, "");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            sendTen(sender);
            sink.await(10);
            assertThat(node.ctl(0, "undeploy", NAME, "--deadline", "1s")).contains(NAME);
            eventually()
                    .untilAsserted(() -> assertThat(
                                    node.service(NAME, "1.0").get("holders").toString())
                            .contains("left-behind"));
            assertThat(node.versions(NAME).get(0)).startsWith("1.0 unloading");
            System.setProperty(OVER, "true");
            eventually().untilAsserted(() -> assertThat(node.versions(NAME)).isEmpty());
        }
    }

    @Test
    void aServiceThatNeverReturnsIsStoppedAndServesOn() throws Exception {
        String once = UNTIL_OVER + "boolean isLater;";
        try (LiveNode node = node("if (!isLater) { isLater = true; untilOver(); } return Verdict.FORWARD;", once, "");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 10);
            sink.await(9);
            assertThat(node.get("/v1/streams").get("open").asInt()).isEqualTo(1);
            node.assertConserved(10, Map.of(DropReason.SERVICE_FAILURE, 1L));
            assertServesOn(node);
        }
    }

    @Test
    void aServiceThatNeverReturnsAndHasNoCheckpointIsReportedAndItsStreamClosed() throws Exception {
        try (LiveNode node = node("untilOver(); return Verdict.FORWARD;", UNTIL_OVER, "", "checkpoints: off");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 10);
            eventually().untilAsserted(() -> assertThat(node.events("stuck")).hasSize(1));
            assertThat(node.events("stuck").get(0)).contains(NAME).hasLineCount(1);
            eventually()
                    .untilAsserted(
                            () -> assertThat(node.get("/v1/streams").get("open").asInt())
                                    .isZero());
            assertThat(node.service(NAME, "1.0").get("stuck").asLong()).isEqualTo(1);
            assertThat(node.text("/metrics")).contains("tamanoir_service_stuck_total{service=\"" + NAME);
            node.assertConserved(10, Map.of(DropReason.SERVICE_FAILURE, 10L));
            assertServesOn(node);
        }
    }

    @Test
    void aServiceThatAlwaysThrowsIsQuarantined() throws Exception {
        try (LiveNode node = node("throw new IllegalStateException(\"as the test wants\");", "", "");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 200);
            eventually()
                    .untilAsserted(() -> assertThat(node.events("quarantined")).isNotEmpty());
            node.assertConserved(200, Map.of(DropReason.SERVICE_FAILURE, 100L, DropReason.QUARANTINED, 100L));
            assertThat(node.service(NAME, "1.0").get("failures").asLong()).isEqualTo(100);
            assertThat(node.ctl(0, "release", NAME)).contains("running");
            assertServesOn(node);
        }
    }

    @Test
    void aServiceOverItsAllocationLimitIsMadeToPause() throws Exception {
        String limit = "services: [{name: " + NAME + ", limits: {allocation: 1MiB}}]\n";
        String allocate = "byte[] memory = new byte[50_000]; memory[packet.payloadLength()] = 1; kept = memory;"
                + " return Verdict.FORWARD;";
        try (LiveNode node = node(allocate, "static volatile byte[] kept;", limit);
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 60);
            eventually()
                    .untilAsserted(() -> assertThat(
                                    node.service(NAME, "1.0").get("throttles").asLong())
                            .isPositive());
            assertServesOn(node);
            sender.finish();
            sink.await(70);
            node.assertConserved(70, Map.of());
        }
    }
}
