package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.support.Waiting;

/** Fetching from mirrors and the previous node, with servers that fail between fetches or altogether. */
class CodeFetcherTest {
    private static final int FILLING = 300_000;

    @TempDir
    private Path dir;

    private CodeFetcherRepository repository;
    private CodeCache cache;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicReference<TrustPolicy> trust = new AtomicReference<>();

    @BeforeEach
    void open() throws IOException {
        repository = new CodeFetcherRepository(dir.resolve("made"));
        trust.set(repository.trust());
        cache = CodeCache.open(dir.resolve("cache"), 16 << 20);
        open.add(cache);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private CodeFetcherServer server() throws IOException {
        CodeFetcherServer server = new CodeFetcherServer(repository.files);
        open.add(server);
        return server;
    }

    /** Short idle time, so that what hangs is noticed soon; the others are long enough for a busy machine. */
    private CodeFetcher fetcher(Duration idle, CodeFetcherServer... mirrors) {
        return fetcher(idle, Duration.ofSeconds(20), Duration.ofMinutes(1), mirrors);
    }

    private CodeFetcher fetcher(Duration idle, Duration total, Duration backOff, CodeFetcherServer... mirrors) {
        List<URI> addresses =
                List.of(mirrors).stream().map(CodeFetcherServer::address).toList();
        CodeFetcher fetcher = new CodeFetcher(
                new CodeFetcher.Settings(
                        addresses,
                        Duration.ofSeconds(1),
                        idle,
                        total,
                        4 << 20,
                        16 << 20,
                        backOff,
                        backOff,
                        null,
                        CheckpointPolicy.REQUIRED),
                cache,
                trust::get);
        open.add(fetcher);
        return fetcher;
    }

    private CodeFetcher fetcher(CodeFetcherServer... mirrors) {
        return fetcher(Duration.ofSeconds(40), mirrors);
    }

    private void assertWhole(ServicePackage code, Manifest manifest) throws IOException {
        assertThat(code.manifest()).isEqualTo(manifest);
        assertThat(code.publisherId()).isEqualTo(repository.signer.publisher().id());
        assertThat(Files.readAllBytes(code.jar())).isEqualTo(repository.jarOf(manifest));
    }

    @Test
    void comesFromTheRepositoryAndThenFromTheCache() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(server);

        ServicePackage first = fetcher.fetch(manifest.id().key(), null);
        assertWhole(first, manifest);
        assertThat(first.source()).isEqualTo("repository " + server.address());
        assertThat(server.paths()).hasSize(3);

        ServicePackage second = fetcher.fetch(manifest.id().key(), null);
        assertWhole(second, manifest);
        assertThat(second.source()).isEqualTo("cache");
        assertThat(server.paths()).hasSize(3);
    }

    @Test
    void aBareNameMeansTheNewest() throws Exception {
        Manifest manifest = repository.publish("1.10", FILLING);
        CodeFetcher fetcher = fetcher(server());

        assertWhole(fetcher.fetch(manifest.id().nameKey(), null), manifest);
        assertThat(fetcher.fetch(manifest.id().nameKey(), null).source()).isEqualTo("cache");
        assertThat(fetcher.fetch(manifest.id().key(), null).source()).isEqualTo("cache");
    }

    @Test
    void aFolderForTemporaryFilesThatIsGoneIsNotTheJarsFault() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcher fetcher = fetcher(server());
        ServicePackage code = fetcher.fetch(manifest.id().key(), null);
        Manifest other = repository.publish("2.0", FILLING);
        String folder = System.getProperty("java.io.tmpdir");
        System.setProperty("java.io.tmpdir", dir.resolve("gone").toString());
        try {
            assertThatThrownBy(() -> fetcher.load(code))
                    .isInstanceOf(CodeUnavailableException.class)
                    .hasMessageStartingWith(manifest.id() + ": there is no room for ")
                    .hasMessageContaining(dir.resolve("gone") + ", where jars are read: ")
                    .hasMessageEndingWith("; give this program another folder (-Djava.io.tmpdir)");
            assertThatThrownBy(() -> fetcher.fetch(other.id().key(), null))
                    .isInstanceOf(CodeUnavailableException.class)
                    .hasMessageContaining(other.id() + ": there is no room for ");
        } finally {
            System.setProperty("java.io.tmpdir", folder);
        }
        fetcher.load(code).close();
        assertThat(fetcher.fetch(other.id().key(), null).manifest())
                .as("nobody was refused or failed")
                .isEqualTo(other);
    }

    @Test
    void aSharedJarIsDownloadedOnce() throws Exception {
        Manifest first = repository.publish("1.0", FILLING);
        byte[] jar = repository.jarOf(first);
        Manifest second = CodeFetcherRepository.manifest(new ServiceId(CodeFetcherRepository.NAME, "2.0"), jar);
        repository.put(second, jar);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(server);

        assertWhole(fetcher.fetch(first.id().key(), null), first);
        assertWhole(fetcher.fetch(second.id().key(), null), second);
        assertThat(server.jarBytes).hasValue(jar.length);
    }

    @Test
    void nobodyWaitsForAStrangersDownload() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer mirror = server();
        CodeFetcherServer stranger = server();
        CountDownLatch strangerIsAsked = new CountDownLatch(1);
        CountDownLatch mirrorHasSent = new CountDownLatch(1);
        stranger.behaviour = (request, out) -> {
            if (request.path().endsWith(".jar")) {
                strangerIsAsked.countDown();
                try {
                    assertThat(mirrorHasSent.await(40, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return stranger.serve(request, out);
        };
        CodeFetcher fetcher = fetcher(Duration.ofSeconds(40), mirror);
        var other = Waiting.async(() -> fetcher.search(manifest.id().nameKey()).previousNode(stranger.address()));
        assertThat(strangerIsAsked.await(40, TimeUnit.SECONDS)).isTrue();

        assertWhole(fetcher.fetch(manifest.id().key(), null), manifest);

        mirrorHasSent.countDown();
        other.get(40, TimeUnit.SECONDS);
    }

    @Test
    void twoKeysOfOneJarAtOnceDownloadItOnce() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        CountDownLatch bothAsked = new CountDownLatch(2);
        server.behaviour = (request, out) -> {
            if (request.path().startsWith("keys/")) {
                bothAsked.countDown();
                try {
                    assertThat(bothAsked.await(40, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return server.serve(request, out);
        };
        CodeFetcher fetcher = fetcher(Duration.ofSeconds(40), server);
        var other = Waiting.async(() -> {
            try {
                return fetcher.fetch(manifest.id().nameKey(), null);
            } catch (CodeRefusedException | CodeUnavailableException e) {
                throw new IllegalStateException(e);
            }
        });
        assertWhole(fetcher.fetch(manifest.id().key(), null), manifest);
        assertWhole(other.get(40, TimeUnit.SECONDS), manifest);
        assertThat(server.jarBytes).hasValue(manifest.jarBytes());
    }

    @Test
    void theSecondMirrorServesWhenTheFirstRefusesConnections() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer dead = server();
        dead.close();
        CodeFetcherServer alive = server();

        ServicePackage code = fetcher(dead, alive).fetch(manifest.id().key(), null);
        assertWhole(code, manifest);
        assertThat(code.source()).isEqualTo("repository " + alive.address());
    }

    @Test
    void theSecondMirrorServesWhenTheFirstHangs() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer hanging = server();
        hanging.hangs();

        CodeFetcher fetcher = fetcher(Duration.ofSeconds(2), hanging, server());
        assertWhole(fetcher.fetch(manifest.id().key(), null), manifest);
        assertThat(hanging.paths()).hasSize(1);
    }

    @Test
    void theSecondMirrorServesAfterAnErrorOfTheFirst() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer broken = server();
        broken.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "500 Internal Server Error", "Content-Length: 0");
            return true;
        };
        assertWhole(fetcher(broken, server()).fetch(manifest.id().key(), null), manifest);
    }

    @Test
    void theSecondMirrorSendsTheWholeJarWhenTheFirstIsKilledInMidDownload() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer killed = server();
        killed.breaksJarsAfter(200_000, repository.jarOf(manifest));
        CodeFetcherServer alive = server();

        assertWhole(fetcher(killed, alive).fetch(manifest.id().key(), null), manifest);
        assertThat(alive.jarBytes).hasValue(manifest.jarBytes());
        assertThat(dir.resolve("cache/tmp")).isEmptyDirectory();
    }

    @Test
    void aDownloadThatBreaksOffIsAnErrorAndLeavesNothing() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer flaky = server();
        flaky.breaksJarsAfter(100_000, repository.jarOf(manifest));

        assertThatThrownBy(() -> fetcher(flaky).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("connection broke");
        assertThat(dir.resolve("cache/tmp")).isEmptyDirectory();
        assertThat(cache.contents()).isEmpty();
    }

    @Test
    void eachMirrorDeadInTurnDoesNotMatter() throws Exception {
        for (int dead = 0; dead < 3; dead++) {
            Manifest manifest = repository.publish("1." + dead, FILLING);
            CodeFetcherServer[] mirrors = {server(), server(), server()};
            mirrors[dead].close();
            assertWhole(fetcher(mirrors).fetch(manifest.id().key(), null), manifest);
        }
    }

    @Test
    void whenAllAreDeadTheLineNamesEachAndItsAnswer() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer first = server();
        CodeFetcherServer second = server();
        CodeFetcherServer previous = server();
        first.close();
        second.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "503 Service Unavailable", "Content-Length: 0");
            return true;
        };
        previous.hangs();
        CodeFetcher fetcher = fetcher(Duration.ofSeconds(1), first, second);

        CodeUnavailableException failure = catchThrowableOfType(
                CodeUnavailableException.class,
                () -> fetcher.fetch(manifest.id().key(), previous.address()));
        assertThat(failure.isUnknown()).isFalse();
        assertThat(failure)
                .hasMessageContaining("repository " + first.address() + " cannot be reached")
                .hasMessageContaining("repository " + second.address() + " answered 503")
                .hasMessageContaining("previous node " + previous.address() + " did not answer within 2 s");
        assertThat(failure.getMessage()).doesNotContain("\n");
    }

    @Test
    void aSourceThatFailedIsNotAskedBeforeItsBackOffEnds() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer broken = server();
        broken.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "500 Internal Server Error", "Content-Length: 0");
            return true;
        };
        CodeFetcher fetcher = fetcher(broken);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> fetcher.fetch(manifest.id().key(), null))
                    .isInstanceOf(CodeUnavailableException.class)
                    .hasMessageContaining("answered 500");
        }
        assertThatThrownBy(() -> fetcher.fetch(manifest.id().nameKey(), null))
                .hasMessageMatching(".*it is asked again in [0-9]+ s");
        assertThat(broken.requests).hasSize(1);

        broken.behaviour = broken::serve;
        assertWhole(fetcher.update(manifest.id().key(), false), manifest); // An operator does not wait.
    }

    @Test
    void asksAgainWhenTheBackOffHasEnded() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(Duration.ofSeconds(40), Duration.ofSeconds(40), Duration.ofMillis(1), server);
        server.behaviour = (request, out) -> false;
        assertThatThrownBy(() -> fetcher.fetch(manifest.id().key(), null)).isInstanceOf(CodeUnavailableException.class);
        server.behaviour = server::serve;
        org.awaitility.Awaitility.await()
                .atMost(Duration.ofSeconds(40))
                .ignoreExceptions()
                .untilAsserted(() -> assertWhole(fetcher.fetch(manifest.id().key(), null), manifest));
    }

    @Test
    void anUnknownKeyIsNoFailureOfTheSourceAndNotAskedAtOnce() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(server);
        for (int i = 0; i < 3; i++) {
            CodeUnavailableException failure =
                    catchThrowableOfType(CodeUnavailableException.class, () -> fetcher.fetch(42, null));
            assertThat(failure.isUnknown()).isTrue();
            assertThat(failure).hasMessageContaining("has no such service");
        }
        assertThat(server.requests).hasSize(1);
        assertWhole(fetcher.fetch(manifest.id().key(), null), manifest);
    }

    @Test
    void withoutAnySourceItIsUnknown() {
        CodeUnavailableException failure = catchThrowableOfType(
                CodeUnavailableException.class, () -> fetcher().fetch(42, null));
        assertThat(failure.isUnknown()).isTrue();
    }

    @Test
    void thePreviousNodeServesWhatNoRepositoryHas() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer empty = new CodeFetcherServer(java.util.Map.of());
        open.add(empty);
        CodeFetcherServer previous = server();

        ServicePackage code = fetcher(empty).fetch(manifest.id().key(), previous.address());
        assertWhole(code, manifest);
        assertThat(code.source()).isEqualTo("previous node " + previous.address());
    }

    @Test
    void anAddressThatIsNoneIsOneFailedSource() {
        assertThatThrownBy(() -> fetcher().fetch(42, URI.create("file:///etc/passwd")))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("an http or https address");
    }

    @Test
    void servesFromTheCacheWithEverythingElseDead() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        fetcher(server).fetch(manifest.id().nameKey(), null);
        server.close();
        cache.close();
        cache = CodeCache.open(dir.resolve("cache"), 16 << 20);
        open.add(cache);

        ServicePackage code = fetcher(server).fetch(manifest.id().nameKey(), null);
        assertWhole(code, manifest);
        assertThat(code.source()).isEqualTo("cache");
    }

    @Test
    void anOlderVersionIsRefusedForABareNameUnlessTheOperatorAllowsIt() throws Exception {
        Manifest newer = repository.publish("2.0", FILLING);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(server);
        fetcher.fetch(newer.id().nameKey(), null);
        Manifest older = repository.publish("1.9", FILLING);

        assertThatThrownBy(() -> fetcher.update(newer.id().nameKey(), false))
                .isInstanceOfSatisfying(
                        CodeRefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.DOWNGRADE));
        assertWhole(fetcher.fetch(newer.id().nameKey(), null), newer);
        assertWhole(fetcher.fetch(older.id().key(), null), older);
        assertWhole(fetcher.fetch(newer.id().nameKey(), null), newer);

        assertWhole(fetcher.update(newer.id().nameKey(), true), older);
        assertWhole(fetcher.fetch(newer.id().nameKey(), null), older);
    }

    @Test
    void updateFindsTheNewerVersionPastTheCache() throws Exception {
        Manifest older = repository.publish("1.9", FILLING);
        CodeFetcher fetcher = fetcher(server());
        fetcher.fetch(older.id().nameKey(), null);
        Manifest newer = repository.publish("1.10", FILLING);

        assertWhole(fetcher.fetch(older.id().nameKey(), null), older);
        assertWhole(fetcher.update(older.id().nameKey(), false), newer);
        assertWhole(fetcher.fetch(older.id().nameKey(), null), newer);
    }

    @Test
    void whatWasRefusedIsAskedAgainWhenThePolicyChanges() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcherServer server = server();
        CodeFetcher fetcher = fetcher(server);
        trust.set(TrustPolicy.NOBODY);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> fetcher.fetch(manifest.id().key(), null))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.UNTRUSTED_KEY))
                    .hasMessageContaining("repository " + server.address());
        }
        assertThat(server.paths()).hasSize(2).noneMatch(path -> path.endsWith(".jar"));

        trust.set(repository.trust());
        assertWhole(fetcher.fetch(manifest.id().key(), null), manifest);
    }

    @Test
    void codeThatWasRevokedDoesNotComeFromTheCache() throws Exception {
        Manifest manifest = repository.publish("1.0", FILLING);
        CodeFetcher fetcher = fetcher(server());
        fetcher.fetch(manifest.id().key(), null);
        trust.set(repository.trust().revoking(manifest.jarSha256()));

        assertThatThrownBy(() -> fetcher.fetch(manifest.id().key(), null))
                .isInstanceOfSatisfying(
                        CodeRefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.REVOKED_DIGEST))
                .hasMessageContaining("cache");
    }
}
