package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.manager.ManagedNode.NAME;
import static org.tamanoir.manager.ManagedNode.send;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.manager.ServiceStatus.State;
import org.tamanoir.routing.RoutingTable;

@Timeout(240)
class ActiveNodeManagerTest {
    private static final String OVER = "org.tamanoir.manager.ActiveNodeManagerTest.over";

    @TempDir
    Path folder;

    private ManagedNode node;

    @BeforeEach
    void open() throws IOException {
        System.clearProperty(OVER);
        node = new ManagedNode(folder);
    }

    @AfterEach
    void close() {
        System.setProperty(OVER, "true");
        node.close();
    }

    private static void assertRefuses(Kind kind, String part, ThrowingCallable call) {
        ManagerException e = org.assertj.core.api.Assertions.catchThrowableOfType(ManagerException.class, call);
        assertThat(e).as(part).isNotNull();
        assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind);
        assertThat(e).message().contains(part).hasLineCount(1);
    }

    @Test
    void manyStreamsAtOnceCauseOneDownload() throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        List<AnepSender> senders = new ArrayList<>();
        ServiceStatus status;
        try {
            for (int i = 0; i < 30; i++) {
                senders.add(node.sender());
            }
            for (AnepSender sender : senders) {
                send(sender, NAME);
            }
            node.awaitReceived(30);
            status = node.manager.services().get(0);
            assertThat(status.tcpStreams()).isEqualTo(30);
            assertThat(status.state()).isEqualTo(State.RUNNING);
            assertThat(status.current()).isTrue();
            assertThat(status.udp()).isFalse();
            assertThat(status.jarSha256()).isEqualTo(manifest.jarSha256());
            assertThat(status.publisherId()).isEqualTo(node.signer.publisher().id());
            assertThat(status.source()).startsWith("repository http://127.0.0.1:");
        } finally {
            senders.forEach(AnepSender::close);
        }
        assertThat(node.requests).hasValue(1);
        DeploymentStatistics statistics = node.manager.deploymentStatistics();
        assertThat(statistics.outcomes()).isEqualTo(Map.of("repository", 1L));
        assertThat(statistics.seconds()).containsOnlyKeys("repository");
        assertThat(statistics.running()).isZero();
        assertThat(node.events("deployed")).hasSize(1);
        assertThat(node.events("deployed").get(0)).contains(NAME + ":1.0", "signed by " + status.publisherId());
    }

    @Test
    void aSupersededVersionDrainsAndUnloads() throws Exception {
        node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false);
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
            node.publish(NAME + ":1.1");
            assertThat(node.manager.deploy(NAME, false).version()).isEqualTo("1.1");
            assertThat(node.versions()).containsExactly("1.0 DRAINING", "1.1 RUNNING");
            send(sender, NAME);
            node.awaitReceived(2);
        }
        eventually().until(() -> node.versions().equals(List.of("1.1 RUNNING")));
    }

    @Test
    void aVersionThatWasAskedForByNumberStays() throws Exception {
        node.publish(NAME + ":1.0");
        node.manager.deploy(NAME + ":1.0", false);
        node.publish(NAME + ":1.1");
        node.manager.deploy(NAME, false);
        assertThat(node.versions()).containsExactly("1.0 RUNNING", "1.1 RUNNING");
        assertThat(node.manager.services()).extracting(ServiceStatus::current).containsExactly(false, true);
    }

    @Test
    void anUndeployedServiceComesAgainForAStreamAndABlockedOneDoesNot() throws Exception {
        node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false);
        node.manager.undeploy(NAME, Duration.ZERO, false);
        eventually().until(() -> node.versions().isEmpty());
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
        }
        node.manager.undeploy(NAME, Duration.ZERO, true);
        for (String key : List.of(NAME, NAME + ":1.0")) {
            try (AnepSender sender = node.sender()) {
                send(sender, key);
                sender.finish();
            }
        }
        eventually().until(() -> node.environment.traffic().drops().equals(Map.of(DropReason.UNKNOWN_SERVICE, 2L)));
        assertThat(node.requests).hasValue(1);
        node.manager.deploy(NAME, false);
        assertThat(node.versions()).contains("1.0 RUNNING");
    }

    @Test
    void whatIsRevokedIsCutAndRefusedFromThenOn() throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false);
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
            node.manager.revoke(manifest.jarSha256());
            eventually().until(() -> node.versions().isEmpty());
        }
        assertRefuses(Kind.REFUSED, "REVOKED_DIGEST", () -> node.manager.deploy(NAME, false));
        assertRefuses(Kind.INVALID, "me", () -> node.manager.revoke("me"));
        assertThat(TrustStore.open(org.tamanoir.deploy.TrustPolicy.NOBODY, folder.resolve("revoked"))
                        .get()
                        .revokedDigests())
                .containsExactly(manifest.jarSha256());
    }

    @Test
    void whatIsNotDoneIsSaidWithItsKind() throws Exception {
        node.publish("com.example.Foo:1.0");
        node.publish(NAME + ":1.0", SigningKey.generate(), "");
        assertRefuses(Kind.NOT_FOUND, "no such service", () -> node.manager.deploy("org.example.None", false));
        assertRefuses(Kind.REFUSED, "NOT_FOR_THIS_NAME", () -> node.manager.deploy("com.example.Foo", false));
        assertRefuses(Kind.REFUSED, "UNTRUSTED_KEY", () -> node.manager.deploy(NAME + ":1.0", false));
        assertRefuses(Kind.INVALID, "../x", () -> node.manager.deploy("../x", false));
        assertRefuses(Kind.NOT_FOUND, "not deployed", () -> node.manager.drain(NAME));
        assertRefuses(Kind.NOT_FOUND, "not on this node", () -> node.manager.release(NAME));
        assertThat(node.manager.deploymentStatistics().outcomes())
                .isEqualTo(Map.of("unknown", 1L, "not-for-this-name", 1L, "untrusted-key", 1L));
        assertThat(node.events("code-refused")).hasSize(2);
        ExecutionEnvironment plain =
                new ExecutionEnvironment(EeConfig.defaults(), new RoutingTable(List.of()), new ServiceCatalog());
        try (ActiveNodeManager without =
                new ActiveNodeManager(plain, new ServiceCatalog(), new RoutingTable(List.of()), null)) {
            assertRefuses(Kind.CONFLICT, "deploys nothing", () -> without.deploy(NAME, false));
        }
    }

    @Test
    void aReleasedServiceIsSaidToRun() throws Exception {
        node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false).health().quarantine(Duration.ofMinutes(1), "as the test wants");
        assertThat(node.versions()).containsExactly("1.0 QUARANTINED");
        assertThat(node.manager.release(NAME)).extracting(ServiceStatus::state).containsExactly(State.RUNNING);
    }

    @Test
    void whatKeepsARemovedVersionInMemoryIsNamed() throws Exception {
        node.publish(
                NAME + ":1.0",
                node.signer,
                "static void hold() { while (System.getProperty(\"" + OVER
                        + "\") == null) { try { Thread.sleep(10); } catch (InterruptedException e) { } } }\n"
                        + "public void init(org.tamanoir.service.ServiceConfig config) { Thread t = new Thread("
                        + "() -> hold(), \"holds-on\"); t.setDaemon(true); t.start(); }");
        node.manager.deploy(NAME, false);
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
        }
        node.manager.undeploy(NAME, Duration.ofSeconds(1), false);
        eventually().untilAsserted(() -> {
            assertThat(node.versions()).containsExactly("1.0 UNLOADING");
            assertThat(node.manager.services().get(0).holders().toString()).contains("holds-on");
        });
        System.setProperty(OVER, "true");
        eventually().until(() -> node.versions().isEmpty());
    }
}
