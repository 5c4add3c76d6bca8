package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.tamanoir.manager.ManagedNode.NAME;
import static org.tamanoir.manager.ManagedNode.send;
import static org.tamanoir.support.Waiting.eventually;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServicePackage;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.support.Tmpfs;
import org.tamanoir.support.Waiting;

/** Revocations that meet with something: a fetch, streams of a version that drains, a full disk. */
@Timeout(240)
class RevocationTest {
    @TempDir
    Path folder;

    private final CountDownLatch jarAskedFor = new CountDownLatch(1);
    private final CountDownLatch jarMayCome = new CountDownLatch(1);
    private ManagedNode node;

    @BeforeEach
    void open() throws IOException {
        Path revoked = Files.createDirectory(folder.resolve("disk")).resolve("revoked");
        node = new ManagedNode(folder, revoked, Duration.ofSeconds(30), List.of());
    }

    @AfterEach
    void close() {
        jarMayCome.countDown();
        node.close();
    }

    /** The next jar waits until it may come. */
    private void holdJars() {
        node.beforeJar = () -> {
            jarAskedFor.countDown();
            try {
                jarMayCome.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
    }

    private void awaitJarAskedFor() throws InterruptedException {
        assertThat(jarAskedFor.await(40, TimeUnit.SECONDS)).isTrue();
    }

    private String revoked(Manifest manifest, String what) {
        return what.equals("key") ? node.signer.publisher().id() : manifest.jarSha256();
    }

    @ParameterizedTest
    @ValueSource(strings = {"key", "digest"})
    void whatIsRevokedWhileAStreamsServiceIsFetchedDoesNotRun(String what) throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        holdJars();
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            awaitJarAskedFor();
            node.manager.revoke(revoked(manifest, what));
            jarMayCome.countDown();
            eventually()
                    .until(() -> node.environment.traffic().drops().equals(Map.of(DropReason.DEPLOYMENT_FAILED, 1L)));
        }
        assertThat(node.versions()).isEmpty();
        assertThat(node.received).hasValue(0);
        assertThat(node.manager.deploymentStatistics().outcomes()).isEqualTo(Map.of("revoked-" + what, 1L));
    }

    @Test
    void whatIsRevokedWhileAnOperatorDeploysItIsRefused() throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        holdJars();
        CompletableFuture<ManagerException> refused = Waiting.async(
                () -> catchThrowableOfType(ManagerException.class, () -> node.manager.deploy(NAME, false)));
        awaitJarAskedFor();
        node.manager.revoke(manifest.jarSha256());
        jarMayCome.countDown();
        assertThat(refused.get(40, TimeUnit.SECONDS))
                .isNotNull()
                .extracting(ManagerException::kind)
                .isEqualTo(Kind.REFUSED);
        assertThat(node.versions()).isEmpty();
    }

    /** Between the last look of who fetches and the installation. */
    @Test
    void whatIsRevokedAfterItsFetchIsNotInstalled() throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        ServiceCatalog catalog = new ServiceCatalog();
        Deployer deployments = new Deployer(
                node.environment,
                catalog,
                node.deployment,
                node.manager.events(),
                new Outcomes(),
                new WantedServices());
        ServicePackage code = node.deployment.fetcher().fetch(manifest.id().key(), null);
        deployments.revoke(manifest.jarSha256());
        assertThatThrownBy(() -> deployments.install(manifest.id().key(), code, false))
                .isInstanceOfSatisfying(
                        CodeRefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.REVOKED_DIGEST));
        assertThat(catalog.all()).isEmpty();
    }

    @Test
    void streamsOfARevokedVersionThatDrainsAreCut() throws Exception {
        Manifest old = node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false);
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
            node.publish(NAME + ":1.1", node.signer, "int more;");
            node.manager.deploy(NAME, false);
            assertThat(node.versions()).containsExactly("1.0 DRAINING", "1.1 RUNNING");
            node.manager.revoke(old.jarSha256());
            eventually().until(() -> node.versions().equals(List.of("1.1 RUNNING")));
        }
    }

    @Test
    void aServiceThatIsUndeployedForGoodWhileItIsFetchedAgainStaysAway() throws Exception {
        node.publish(NAME + ":1.0");
        node.manager.deploy(NAME + ":1.0", false);
        node.publish(NAME + ":1.1", node.signer, "int more;");
        holdJars();
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            awaitJarAskedFor();
            node.manager.undeploy(NAME, Duration.ZERO, true);
            jarMayCome.countDown();
            eventually().until(() -> node.environment.traffic().drops().equals(Map.of(DropReason.UNKNOWN_SERVICE, 1L)));
        }
        eventually().until(() -> node.versions().isEmpty());
    }

    /** The line that says so comes before the thread that waits for its streams. */
    @Test
    void whatIsRevokedForWantOfMemoryIsCutAndKeptAllTheSame() throws Exception {
        Manifest manifest = node.publish(NAME + ":1.0");
        node.manager.deploy(NAME, false);
        LoggerContext log = (LoggerContext) LoggerFactory.getILoggerFactory();
        TurboFilter failing = new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] parameters, Throwable thrown) {
                if (parameters != null && List.of(parameters).contains("drains: revoked")) {
                    throw new OutOfMemoryError("on purpose");
                }
                return FilterReply.NEUTRAL;
            }
        };
        try (AnepSender sender = node.sender()) {
            send(sender, NAME);
            node.awaitReceived(1);
            log.addTurboFilter(failing);
            node.manager.revoke(manifest.jarSha256());
            eventually().until(() -> node.versions().isEmpty());
        } finally {
            log.getTurboFilterList().remove(failing);
        }
        TrustPolicy again = TrustStore.open(
                        TrustPolicy.NOBODY, folder.resolve("disk").resolve("revoked"))
                .get();
        assertThat(again.revokedDigests()).containsExactly(manifest.jarSha256());
    }

    // ---- a full disk -----------------------------------------------------------------------------------------------

    @Test
    @Tag("namespace")
    void onAFullDiskARevocationHoldsUntilTheEndSaysSoAndIsKeptWhenThereIsSpace() throws Exception {
        String before = "3f2a9c5511d0e7b4";
        try (Tmpfs disk = Tmpfs.mount(folder.resolve("disk"), "64k")) {
            Path revoked = disk.folder().resolve("revoked");
            Files.writeString(revoked, (before + "\n").repeat(240)); // Most of a block: one line more needs another.
            byte[] written = Files.readAllBytes(revoked);
            Manifest manifest = node.publish(NAME + ":1.0");
            node.manager.deploy(NAME, false);
            disk.fill();
            try (AnepSender sender = node.sender()) {
                send(sender, NAME);
                node.awaitReceived(1);
                ManagerException notKept =
                        catchThrowableOfType(ManagerException.class, () -> node.manager.revoke(manifest.jarSha256()));
                assertThat(notKept.kind()).isEqualTo(Kind.NOT_KEPT);
                assertThat(notKept)
                        .message()
                        .contains(manifest.jarSha256(), "until this node ends", "No space left")
                        .hasLineCount(1);
                eventually().until(() -> node.versions().isEmpty());
            }
            assertThat(catchThrowableOfType(ManagerException.class, () -> node.manager.deploy(NAME, false))
                            .kind())
                    .isEqualTo(Kind.REFUSED);
            assertThat(Files.readAllBytes(revoked)).isEqualTo(written);
            assertThat(node.events("revoked").get(0)).contains("until this node ends");

            disk.free();
            String other = "0123456789abcdef";
            node.manager.revoke(other);
            TrustPolicy again = TrustStore.open(TrustPolicy.NOBODY, revoked).get();
            assertThat(again.revokedKeys()).containsExactly(other, before);
            assertThat(again.revokedDigests()).containsExactly(manifest.jarSha256());
        }
    }
}
