package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.repository.Publisher.Description;
import org.tamanoir.repository.RepositoryTree.Outcome;
import org.tamanoir.support.Ports;
import org.tamanoir.support.SecretFile;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

@Timeout(120)
class PublisherTest {
    private static final long MAX_UNPACKED = 1 << 20;
    private static final TrustPolicy TRUSTED = new TrustPolicy(
            List.of(new TrustPolicy.Publisher(Sample.KEY.publisher(), List.of("org.example.*"))),
            Set.of(),
            Set.of(),
            false);

    @TempDir
    static Path jars;

    @TempDir
    Path root;

    private static Path jar;
    private static Path two;

    @BeforeAll
    static void compile() throws IOException {
        jar = TestJars.jar(
                jars,
                "org.example.Echo",
                TestJars.forwarder("org.example.Echo", ""),
                "Implementation-Version: 1.2",
                "Tamanoir-Description: sends all on");
        two = TestJars.jar(
                jars,
                Map.of(
                        "org.example.A", TestJars.forwarder("org.example.A", ""),
                        "org.example.B", TestJars.forwarder("org.example.B", "")));
    }

    @Test
    void aJarSaysWhatItIsAndOptionsSayOtherwise() throws Exception {
        Manifest own = Publisher.describe(jar, Description.OF_JAR, MAX_UNPACKED);
        assertThat(own.id()).hasToString("org.example.Echo:1.2");
        assertThat(own.mainClass()).isEqualTo("org.example.Echo");
        assertThat(own.description()).isEqualTo("sends all on");
        assertThat(own.jarBytes()).isEqualTo(Files.size(jar));
        Manifest given = Publisher.describe(
                jar,
                new Description(null, "org.example.Other", "2.0", "more", new ServiceLimits(0.5, 1 << 20)),
                MAX_UNPACKED);
        assertThat(given.id()).hasToString("org.example.Other:2.0");
        assertThat(given.mainClass()).isEqualTo("org.example.Echo");
        assertThat(given.description()).isEqualTo("more");
        assertThat(given.limits().processors()).isEqualTo(0.5);
    }

    @Test
    void whatAJarDoesNotSayIsAskedFor() {
        assertThatThrownBy(() -> Publisher.describe(two, Description.OF_JAR, MAX_UNPACKED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[org.example.A, org.example.B]")
                .hasMessageContaining("--class");
        assertThatThrownBy(() -> Publisher.describe(two, described("org.example.C", "1"), MAX_UNPACKED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("org.example.C is none of its services");
        assertThatThrownBy(() -> Publisher.describe(two, described("org.example.A", null), MAX_UNPACKED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--version");
        assertThatThrownBy(() -> Publisher.describe(jar, Description.OF_JAR, 10))
                .isInstanceOfSatisfying(
                        CodeRefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.TOO_LARGE));
    }

    private static Description described(String mainClass, @org.jspecify.annotations.Nullable String version) {
        return new Description(mainClass, null, version, null, ServiceLimits.NONE);
    }

    @Test
    void whatWasPublishedIsGoodForWhoTrustsTheKey() throws Exception {
        try (TestRepository repository = TestRepository.start(root)) {
            Manifest manifest = Publisher.describe(jar, Description.OF_JAR, MAX_UNPACKED);
            assertThat(repository.publisher().publish(jar, manifest, Sample.KEY))
                    .isEqualTo(Outcome.CREATED);
            assertThat(repository.publisher().publish(jar, manifest, Sample.KEY))
                    .isEqualTo(Outcome.SAME);
            ServiceId id = manifest.id();
            assertThat(Verifier.verify(repository.uri(), null, id, TRUSTED).manifest())
                    .isEqualTo(manifest);
            Path served = root.resolve(id.path()).resolve(id.jarName());
            assertThat(Verifier.verify(served, TRUSTED).publisher())
                    .isEqualTo(Sample.KEY.publisher().id());
            assertThatThrownBy(() -> Verifier.verify(repository.uri(), null, id, TrustPolicy.NOBODY))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.UNTRUSTED_KEY));
            assertThatThrownBy(() ->
                            Verifier.verify(repository.uri(), null, ServiceId.parse("org.example.Echo:9"), TRUSTED))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("there is no org.example.Echo:9");
            byte[] altered = Files.readAllBytes(two);
            Files.write(served, altered);
            assertThatThrownBy(() -> Verifier.verify(served, TRUSTED))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.WRONG_SIZE));
            Files.delete(served.resolveSibling("manifest.sig"));
            assertThatThrownBy(() -> Verifier.verify(served, TRUSTED))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.UNSIGNED));
        }
    }

    @Test
    void otherContentOrAnotherTokenIsRefusedInTheRepositorysWords() throws Exception {
        try (TestRepository repository = TestRepository.start(root)) {
            Manifest manifest = Publisher.describe(jar, Description.OF_JAR, MAX_UNPACKED);
            repository.publisher().publish(jar, manifest, Sample.KEY);
            assertThatThrownBy(() -> repository.publisher().publish(jar, manifest, SigningKey.generate()))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith(repository.uri() + ": org.example.Echo:1.2 is published already")
                    .hasMessageNotContaining("\n");
            Publisher stranger = new Publisher(repository.uri(), null, Token.of("the-wrong-token-of-it", "this test"));
            assertThatThrownBy(() -> stranger.publish(jar, manifest, Sample.KEY))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("this token is not the repository's");
            assertThatThrownBy(() -> stranger.yank(manifest.id(), "bad")).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> repository.publisher().yank(ServiceId.parse("org.example.No:1"), "bad"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("org.example.No:1 is not here");
        }
    }

    @Test
    void aJarThatIsTooLargeIsRefusedBeforeItIsSent() throws Exception {
        long bound = Files.size(jar) - 1;
        try (TestRepository repository = TestRepository.start(root, TestRepository.maxJarBytes(bound))) {
            Manifest manifest = Publisher.describe(jar, Description.OF_JAR, MAX_UNPACKED);
            assertThatThrownBy(() -> repository.publisher().publish(jar, manifest, Sample.KEY))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining((bound + 1) + " bytes is too large: " + bound + " at most");
        }
    }

    @Test
    void aRepositoryCanBePublishedToOverTls() throws Exception {
        TestAuthority authority = new TestAuthority(jars, "authority");
        TlsFiles own = authority.files("server", false, "127.0.0.1");
        Manifest manifest = Publisher.describe(jar, Description.OF_JAR, MAX_UNPACKED);
        Token token = Token.of(TestRepository.TOKEN, "this test");
        try (TestRepository repository = TestRepository.start(root, TestRepository.tls(own))) {
            URI uri = URI.create(
                    "https://127.0.0.1:" + repository.server.address().getPort());
            Publisher trusting = new Publisher(uri, authority.trusting().context(), token);
            assertThat(trusting.publish(jar, manifest, Sample.KEY)).isEqualTo(Outcome.CREATED);
            assertThat(Verifier.verify(uri, authority.trusting().context(), manifest.id(), TRUSTED)
                            .manifest())
                    .isEqualTo(manifest);
            Publisher doubting = new Publisher(uri, null, token);
            assertThatThrownBy(() -> doubting.publish(jar, manifest, Sample.KEY))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no TLS connection")
                    .hasMessageContaining("--ca FILE");
            Publisher plain = new Publisher(repository.uri(), null, token);
            assertThatThrownBy(() -> plain.publish(jar, manifest, Sample.KEY)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void servicesOfOneJarCanBePublishedAtOnce() throws Exception {
        ExecutorService both = Executors.newFixedThreadPool(2);
        try (TestRepository repository = TestRepository.start(root)) {
            for (int round = 0; round < 5; round++) {
                List<Callable<Outcome>> calls = new ArrayList<>();
                for (String name : List.of("org.example.A", "org.example.B")) {
                    Manifest manifest = Publisher.describe(two, described(name, "1." + round), MAX_UNPACKED);
                    calls.add(() -> repository.publisher().publish(two, manifest, Sample.KEY));
                }
                for (Future<Outcome> each : both.invokeAll(calls)) {
                    assertThat(each.get()).isEqualTo(Outcome.CREATED);
                }
            }
            assertThat(repository.tree.entries()).hasSize(10);
        } finally {
            both.shutdownNow();
        }
    }

    @Test
    void whereNoRepositoryIsTheErrorSaysSo() throws Exception {
        int port = Ports.free();
        Publisher nobody =
                new Publisher(URI.create("http://127.0.0.1:" + port), null, Token.of("x".repeat(16), "this test"));
        assertThatThrownBy(() -> nobody.yank(ServiceId.parse("org.example.No:1"), "bad"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be reached: no connection; is the repository running there?");
        Publisher unnamed =
                new Publisher(URI.create("http://nobody.invalid:3325"), null, Token.of("x".repeat(16), "this test"));
        assertThatThrownBy(() -> unnamed.yank(ServiceId.parse("org.example.No:1"), "bad"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be reached: the name does not resolve; ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:3325", "ftp://x", "http:///x", "http://u:p@x", "http://x?q", "nonsense"})
    void anAddressThatCannotBeOneIsRefused(String address) {
        assertThatThrownBy(() -> new Publisher(URI.create(address), null, Token.of("x".repeat(16), "this test")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("as in http://127.0.0.1:3325");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "  \n",
                "only 15 letters",
                "quite long but a b",
                "quite-long-but-a\nb",
                "\u00e9ssential-letters"
            })
    void aTokenThatCannotBeOneIsRefusedAndNotShown(String text) throws Exception {
        Path file = SecretFile.write(root.resolve("token"), text);
        assertThatThrownBy(() -> Token.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("16 to 1024 of ASCII")
                .hasMessageNotContaining("a b");
        assertThat(Token.of(" 0123456789-t0ken\n", "this test").matches("bearer  0123456789-t0ken"))
                .isTrue();
        assertThat(Token.of("0123456789-t0ken", "this test")).hasToString("Token[...]");
    }
}
