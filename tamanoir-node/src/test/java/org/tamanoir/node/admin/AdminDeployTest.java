package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.manager.DeploymentConfig;
import org.tamanoir.manager.TrustStore;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryServer;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Tmpfs;
import tools.jackson.databind.JsonNode;

/** Deployment by the admin API, from a real repository with real code. */
@Timeout(120)
class AdminDeployTest {
    private static final String SOURCE = """
            package org.example;
            public final class Foo extends org.tamanoir.service.Service {
                @Override
                public org.tamanoir.service.Verdict process(org.tamanoir.anep.Packet packet) {
                    return org.tamanoir.service.Verdict.FORWARD;
                }
            }
            """;

    private static final long MAX_BYTES = 1 << 20;
    private static final Token TOKEN = Token.of("the-token-of-this-test", "this test");
    private static final SigningKey TRUSTED = SigningKey.generate();
    private static final SigningKey STRANGER = SigningKey.generate();

    @TempDir
    static Path built;

    private static Path jar;

    @TempDir
    Path folder;

    private RepositoryTree tree;
    private RepositoryServer repository;
    private CodeCache cache;
    private CodeFetcher fetcher;
    private TestAdmin node;

    @BeforeAll
    static void build() throws IOException {
        Path source = Files.createDirectories(built.resolve("org/example")).resolve("Foo.java");
        Files.writeString(source, SOURCE);
        int result = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "--release",
                        "17",
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString());
        assertThat(result).isZero();
        jar = built.resolve("foo.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            entries.putNextEntry(new JarEntry("org/example/Foo.class"));
            entries.write(Files.readAllBytes(built.resolve("org/example/Foo.class")));
            entries.closeEntry();
        }
    }

    @BeforeEach
    void start() throws IOException {
        tree = RepositoryTree.open(Files.createDirectories(folder.resolve("repository")));
        repository = RepositoryServer.start(
                RepositoryServer.Settings.on(TestAdmin.ANY).withToken(TOKEN), tree, null);
        cache = CodeCache.open(folder.resolve("cache"), MAX_BYTES);
        TrustStore trust = TrustStore.open(
                new TrustPolicy(
                        List.of(new TrustPolicy.Publisher(TRUSTED.publisher(), List.of("org.example.*"))),
                        Set.of(),
                        Set.of(),
                        false),
                Files.createDirectory(folder.resolve("disk")).resolve("revoked"));
        fetcher = new CodeFetcher(CodeFetcher.Settings.of(List.of(url())), cache, trust);
        node = TestAdmin.deploying(new DeploymentConfig(
                fetcher, cache, trust, false, List.of(), false, id -> DeploymentConfig.ServiceSettings.DEFAULT));
    }

    @AfterEach
    void stop() throws IOException {
        node.close();
        fetcher.close();
        cache.close();
        repository.close();
        tree.close();
    }

    private URI url() {
        return URI.create("http://127.0.0.1:" + repository.address().getPort());
    }

    private void publish(String version, @Nullable String name, SigningKey key) throws Exception {
        Publisher.Description description =
                new Publisher.Description("org.example.Foo", name, version, null, ServiceLimits.NONE);
        new Publisher(url(), null, TOKEN).publish(jar, Publisher.describe(jar, description, MAX_BYTES), key);
    }

    @Test
    void theNewestVersionIsDeployedByItsName() throws Exception {
        publish("1.0", null, TRUSTED);
        publish("1.1", null, TRUSTED);
        TestAdmin.Reply reply = node.post("/v1/services/org.example.Foo/deploy", "{}");
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        JsonNode service = reply.json();
        assertThat(service.get("version").asString()).isEqualTo("1.1");
        assertThat(service.get("state").asString()).isEqualTo("running");
        assertThat(service.get("current").asBoolean()).isTrue();
        assertThat(service.get("publisher").asString())
                .isEqualTo(TRUSTED.publisher().id());
        assertThat(service.get("source").asString()).contains(url().toString());

        JsonNode old = node.post("/v1/services/org.example.Foo/deploy", "{\"version\": \"1.0\"}")
                .json();
        assertThat(old.get("current").asBoolean()).isFalse();
        assertThat(node.get("/v1/services/org.example.Foo").json().get("total").asInt())
                .isEqualTo(2);
        assertThat(node.get("/v1/services/org.example.Foo/1.0").json().get("jarSha256"))
                .isEqualTo(old.get("jarSha256"));

        JsonNode deployments = node.get("/v1/deployments").json();
        assertThat(deployments.get("outcomes").get("repository").asInt()).isEqualTo(2);
        assertThat(deployments.get("seconds").get("repository").asDouble()).isPositive();
        assertThat(node.get("/v1/events").json().get("events")).anySatisfy(event -> {
            assertThat(event.get("kind").asString()).isEqualTo("deployed");
            assertThat(event.get("details").get("version").asString()).isEqualTo("1.1");
        });
        assertThat(node.get("/metrics").body())
                .contains("tamanoir_deployment_duration_seconds_count{outcome=\"repository\"} 2")
                .contains("tamanoir_service_state{service=\"org.example.Foo\",state=\"running\",version=\"1.1\"} 1.0");
    }

    @Test
    void codeThatIsRefusedIsNamedWithTheRefusal() throws Exception {
        publish("1.0", null, STRANGER);
        TestAdmin.Reply untrusted = node.post("/v1/services/org.example.Foo/deploy", "{}");
        assertThat(untrusted.status()).isEqualTo(422);
        assertThat(untrusted.error())
                .contains("UNTRUSTED_KEY", STRANGER.publisher().id());
        publish("1.0", "org.elsewhere.Foo", TRUSTED);
        TestAdmin.Reply misnamed = node.post("/v1/services/org.elsewhere.Foo/deploy", "{\"version\": \"1.0\"}");
        assertThat(misnamed.status()).isEqualTo(422);
        assertThat(misnamed.error()).contains("NOT_FOR_THIS_NAME");
        assertThat(node.get("/v1/services").json().get("total").asInt()).isOne();
        assertThat(node.get("/v1/events").json().get("events"))
                .anySatisfy(event -> assertThat(event.get("kind").asString()).isEqualTo("code-refused"));
    }

    @Test
    void aServiceIsDrainedAndUnloadsAndCanBeDeployedAgain() throws Exception {
        publish("1.0", null, TRUSTED);
        node.post("/v1/services/org.example.Foo/deploy", "{}");
        TestAdmin.Reply drained = node.post("/v1/services/org.example.Foo/drain", "{\"version\": \"1.0\"}");
        assertThat(drained.status()).isEqualTo(200);
        assertThat(drained.json().get("services").get(0).get("state").asString())
                .isIn("draining", "unloading");
        eventually().untilAsserted(() -> {
            System.gc();
            assertThat(node.get("/v1/services/org.example.Foo").status()).isEqualTo(404);
        });
        assertThat(node.get("/metrics").body()).doesNotContain("org.example.Foo");
        assertThat(node.post("/v1/services/org.example.Foo/drain", "{}").status())
                .isEqualTo(404);
        assertThat(node.post("/v1/services/org.example.Foo/deploy", "{}").status())
                .isEqualTo(200);
        TestAdmin.Reply undeployed = node.post("/v1/services/org.example.Foo/undeploy", "{\"deadlineSeconds\": 0.5}");
        assertThat(undeployed.status()).isEqualTo(200);
        assertThat(undeployed.json().get("total").asInt()).isOne();
    }

    @Test
    void aServiceThatNobodyHasIsNotFound() throws Exception {
        TestAdmin.Reply reply = node.post("/v1/services/org.example.Bar/deploy", "{}");
        assertThat(reply.status()).isEqualTo(404);
        assertThat(reply.error()).contains(url().toString());
    }

    @Test
    void aRepositoryThatIsAwayIsSaid() throws Exception {
        repository.close();
        TestAdmin.Reply reply = node.post("/v1/services/org.example.Foo/deploy", "{}");
        assertThat(reply.status()).isEqualTo(503);
        assertThat(reply.error()).contains("127.0.0.1:");
    }

    @Test
    void aRevokedKeyDeploysNoMore() throws Exception {
        publish("1.0", null, TRUSTED);
        String key = TRUSTED.publisher().id();
        TestAdmin.Reply revoked = node.post("/v1/revocations", "{\"key\": \"" + key + "\"}");
        assertThat(revoked.status()).isEqualTo(200);
        assertThat(revoked.json().get("revoked").asString()).isEqualTo(key);
        TestAdmin.Reply refused = node.post("/v1/services/org.example.Foo/deploy", "{}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.error()).contains("REVOKED_KEY");
    }

    @Test
    @Tag("namespace")
    void aRevocationThatCannotBeKeptIsAnsweredWith507AndHolds() throws Exception {
        publish("1.0", null, TRUSTED);
        String body = "{\"key\": \"" + TRUSTED.publisher().id() + "\"}";
        try (Tmpfs disk = Tmpfs.mount(folder.resolve("disk"), "64k")) {
            disk.fill();
            TestAdmin.Reply notKept = node.post("/v1/revocations", body);
            assertThat(notKept.status()).isEqualTo(507);
            assertThat(notKept.error()).contains("until this node ends", "No space left");
            assertThat(node.post("/v1/services/org.example.Foo/deploy", "{}").error())
                    .contains("REVOKED_KEY");
            disk.free();
            assertThat(node.post("/v1/revocations", body).status()).isEqualTo(200);
            assertThat(disk.folder().resolve("revoked"))
                    .hasContent(TRUSTED.publisher().id());
        }
    }

    @Test
    void theCommandLineDeploysAndTellsWhatCameOfIt() throws Exception {
        publish("1.0", null, TRUSTED);
        Path token = SecretFile.write(folder.resolve("token"), TestAdmin.TOKEN);
        StringWriter out = new StringWriter();
        int exit = org.tamanoir.node.Programs.run(
                new PrintWriter(out, true),
                "ctl",
                "deploy",
                "org.example.Foo:1.0",
                "--admin",
                Endpoint.toString(node.server.address()),
                "--token-file",
                token.toString());
        assertThat(exit).as("%s", out).isZero();
        assertThat(out.toString()).startsWith("org.example.Foo:1.0 deployed from repository " + url());
    }
}
