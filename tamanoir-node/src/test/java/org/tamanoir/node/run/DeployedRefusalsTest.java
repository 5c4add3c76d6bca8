package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.packets;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TestJars;

/** Code that a whole node must not run, and what its operator sees of it. */
@Tag("once")
@Timeout(120)
class DeployedRefusalsTest {
    private static final String NAME = "org.example.Mark";
    private static final String ID = NAME + ":1.0";
    /** Set by the class initialiser of code that must not run. */
    private static final String RAN = "org.tamanoir.node.DeployedRefusalsTest.ran";

    @TempDir
    Path folder;

    private LiveRepository repository;
    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        System.clearProperty(RAN);
        repository = new LiveRepository(folder.resolve("repository"));
        sink = new LiveSink();
    }

    @AfterEach
    void close() throws Exception {
        sink.close();
        repository.close();
    }

    private static String source(String id) {
        return LiveRepository.service(
                id,
                "packet.setClassOfService(9); return Verdict.FORWARD;",
                "static { System.setProperty(\"" + RAN + "\", \"true\"); }");
    }

    private LiveNode node(String more, String unknown) throws Exception {
        Path own = folder.resolve("node");
        return LiveNode.start(
                own,
                route(sink.address(), true)
                        + deploy(own, repository, List.of(repository.url()), more)
                        + "unknown-service: " + unknown + "\n");
    }

    /** Sends a stream, which follows the policy, and looks at all places where the reason must show. */
    private void assertRefused(String service, String outcome, String reason, String more) throws Exception {
        try (LiveNode node = node(more, "drop");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(service), 0, 10);
            sender.finish();
            node.assertConserved(10, Map.of(DropReason.DEPLOYMENT_FAILED, 10L));
            assertShown(node, outcome, reason);
            assertThat(node.ctl(1, "deploy", service)).contains(reason).hasLineCount(1);
        }
        try (LiveNode node = node(more, "pass");
                AnepSender sender = AnepSender.udp(node.udp())) {
            send(sender, packets(service), 0, 10);
            sink.await(10);
            assertThat(sink.marks()).containsOnly(0);
            node.assertConserved(10, Map.of());
            assertShown(node, outcome, reason);
        }
        assertThat(System.getProperty(RAN)).isNull();
    }

    private void assertShown(LiveNode node, String outcome, String reason) {
        assertThat(node.outcomes()).containsOnlyKeys(outcome);
        assertThat(node.events("code-refused"))
                .allSatisfy(text -> assertThat(text)
                        .contains(reason)
                        .containsOnlyOnce("service key")
                        .hasLineCount(1));
        assertThat(node.events("code-refused")).isNotEmpty();
        assertThat(node.text("/metrics"))
                .contains("tamanoir_deployment_duration_seconds_count{outcome=\"" + outcome + "\"} ");
        assertThat(node.versions(NAME)).isEmpty();
    }

    @Test
    void unsignedCode() throws Exception {
        repository.publish(ID, source(ID), LiveRepository.KEY);
        Files.delete(repository.file(ID, "manifest.sig"));
        assertRefused(NAME, "unsigned", "has no signature", "");
    }

    @Test
    void codeOfAPublisherWhoIsNotTrusted() throws Exception {
        SigningKey stranger = SigningKey.generate();
        repository.publish(ID, source(ID), stranger);
        assertRefused(NAME, "untrusted-key", "its key " + stranger.publisher().id() + " is not trusted", "");
    }

    @Test
    void codeOfARevokedPublisher() throws Exception {
        repository.publish(ID, source(ID), LiveRepository.KEY);
        assertRefused(
                NAME,
                "revoked-key",
                "revoked",
                "revoked: [\"" + LiveRepository.KEY.publisher().id() + "\"]");
    }

    @Test
    void aRevokedJar() throws Exception {
        Manifest manifest = repository.publish(ID, source(ID), LiveRepository.KEY);
        assertRefused(NAME, "revoked-digest", "revoked", "revoked: [\"" + manifest.jarSha256() + "\"]");
    }

    @Test
    void aNameThatThePublisherIsNotTrustedFor() throws Exception {
        String other = "com.example.Mark";
        repository.publish(other + ":1.0", source(other + ":1.0"), LiveRepository.KEY);
        assertRefused(other, "not-for-this-name", other, "");
    }

    @Test
    void aJarThatWasAlteredOnTheMirror() throws Exception {
        repository.publish(ID, source(ID), LiveRepository.KEY);
        byte[] jar = Files.readAllBytes(repository.jar(ID));
        jar[jar.length / 2] ^= 1;
        Files.write(repository.jar(ID), jar);
        assertRefused(NAME, "wrong-digest", "SHA-256", "");
    }

    /** The node itself refuses it, too, when somebody signs it by other means: JarFaultsTest. */
    @Test
    void aJarThatLacksItsControlIsNotEvenPublished() throws Exception {
        String control = "public abstract static class Gone implements org.tamanoir.service.ServiceControl {}\n";
        String source = LiveRepository.service(ID, "return Verdict.FORWARD;", control)
                .replace("public class ", "@org.tamanoir.service.ControlledBy(" + NAME + ".Gone.class) public class ");
        Path whole = TestJars.jar(folder, NAME, source, "Implementation-Version: 1.0");
        String gone = NAME.replace('.', '/') + "$Gone.class";
        try (FileSystem jar = FileSystems.newFileSystem(whole)) {
            Files.delete(jar.getPath(gone));
        }
        assertThatThrownBy(() -> repository.publish(whole, LiveRepository.KEY))
                .hasMessageContaining("lacks the class '" + NAME + "$Gone', its control");
    }

    @Test
    void aManifestForAnotherName() throws Exception {
        String other = "org.example.Other";
        repository.publish(ID, source(ID), LiveRepository.KEY);
        repository.publish(other + ":1.0", source(other + ":1.0"), LiveRepository.KEY);
        Path keys = repository.root.resolve("keys");
        Files.copy(
                keys.resolve(ServiceKey.toString(ServiceKey.of(other))),
                keys.resolve(ServiceKey.toString(ServiceKey.of(NAME))),
                StandardCopyOption.REPLACE_EXISTING);
        assertRefused(NAME, "wrong-service", "a manifest of " + other + ":1.0 came", "");
    }

    @Test
    void anOlderVersionThanTheNodeHasHad() throws Exception {
        repository.publishMarker(NAME + ":2.0", 2);
        LiveRepository stale = new LiveRepository(folder.resolve("stale"));
        try (LiveNode node = node("", "drop")) {
            node.ctl(0, "deploy", NAME);
        }
        repository.close();
        repository = stale;
        Manifest old = repository.publish(ID, source(ID), LiveRepository.KEY);
        assertThat(old.id()).hasToString(ID);
        try (LiveNode node = node("", "drop")) {
            assertThat(node.ctl(1, "deploy", NAME)).contains("older than 2.0");
            assertThat(node.outcomes()).isEqualTo(Map.of("downgrade", 1L));
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                send(sender, packets(NAME), 0, 5);
                sender.finish();
                sink.await(5);
            }
            assertThat(sink.marks()).containsOnly(2); // From the cache.
        }
        assertThat(System.getProperty(RAN)).isNull();
    }

    @Test
    void aRevokedVersionEndsItsStreamsAndStaysAwayOverRestarts() throws Exception {
        Manifest manifest = repository.publishMarker(ID, 1);
        try (LiveNode node = node("", "drop");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 5);
            sink.await(5);
            node.ctl(0, "revoke", manifest.jarSha256());
            eventually()
                    .untilAsserted(
                            () -> assertThat(node.get("/v1/streams").get("open").asInt())
                                    .isZero());
            assertThat(node.events("revoked")).hasSize(1);
        }
        try (LiveNode node = node("", "drop");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 5, 10);
            sender.finish();
            node.assertConserved(5, Map.of(DropReason.DEPLOYMENT_FAILED, 5L));
            assertThat(node.outcomes()).containsOnlyKeys("revoked-digest");
        }
        assertThat(sink.numbers()).hasSize(5);
    }
}
