package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.preemption.CheckpointPolicy;

/** Fetching from sources that lie, alter, or send without end. */
class CodeFetcherHostileTest {
    private static final int FILLING = 50_000;
    private static final long MAX_JAR_BYTES = 1 << 20;
    /** What two sockets and the client hold between a server that sends and a client that does not read. */
    private static final long IN_FLIGHT_BYTES = 32 << 20;

    @TempDir
    private Path dir;

    private CodeFetcherRepository repository;
    private CodeCache cache;
    private Manifest manifest;
    private CodeFetcherServer server;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicReference<TrustPolicy> trust = new AtomicReference<>();

    @BeforeEach
    void open() throws IOException {
        repository = new CodeFetcherRepository(dir.resolve("made"));
        trust.set(repository.trust());
        cache = CodeCache.open(dir.resolve("cache"), 16 << 20);
        open.add(cache);
        manifest = repository.publish("1.0", FILLING);
        server = server();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private CodeFetcherServer server() throws IOException {
        CodeFetcherServer made = new CodeFetcherServer(repository.files);
        open.add(made);
        return made;
    }

    private CodeFetcher fetcher(CodeFetcherServer... mirrors) {
        return fetcher(Duration.ofSeconds(20), mirrors);
    }

    private CodeFetcher fetcher(Duration total, CodeFetcherServer... mirrors) {
        List<URI> addresses =
                List.of(mirrors).stream().map(CodeFetcherServer::address).toList();
        CodeFetcher fetcher = new CodeFetcher(
                new CodeFetcher.Settings(
                        addresses,
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(5),
                        total,
                        MAX_JAR_BYTES,
                        8 << 20,
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        null,
                        CheckpointPolicy.REQUIRED),
                cache,
                trust::get);
        open.add(fetcher);
        return fetcher;
    }

    /** The bad source alone is refused for this reason, and behind it a good one serves all the same. */
    private CodeRefusedException assertRefused(Refusal refusal) throws Exception {
        long key = manifest.id().key();
        CodeRefusedException failure = catchThrowableOfType(
                CodeRefusedException.class, () -> fetcher(server).fetch(key, null));
        assertThat(failure).isNotNull();
        assertThat(failure.refusal()).isEqualTo(refusal);
        assertThat(failure.getMessage()).doesNotContain("\n").contains("repository " + server.address());
        assertThat(cache.contents()).isEmpty();
        return failure;
    }

    private void assertAnotherMirrorServes(Map<String, byte[]> goodFiles) throws Exception {
        CodeFetcherServer good = new CodeFetcherServer(goodFiles);
        open.add(good);
        ServicePackage code = fetcher(server, good).fetch(manifest.id().key(), null);
        assertThat(code.source()).isEqualTo("repository " + good.address());
        assertThat(CacheFolder.sha256(code.jar())).isEqualTo(manifest.jarSha256());
    }

    private void alter(String path, java.util.function.UnaryOperator<byte[]> change) {
        repository.files.computeIfPresent(path, (name, bytes) -> change.apply(bytes.clone()));
    }

    private static byte[] flipped(byte[] bytes) {
        bytes[bytes.length / 2] ^= 1;
        return bytes;
    }

    @Test
    void anAlteredJar() throws Exception {
        Map<String, byte[]> good = Map.copyOf(repository.files);
        alter(CodeFetcherRepository.jarPath(manifest), CodeFetcherHostileTest::flipped);
        assertRefused(Refusal.WRONG_DIGEST);
        assertThat(dir.resolve("cache/tmp")).isEmptyDirectory();
        assertAnotherMirrorServes(good);
    }

    @Test
    void anAlteredManifest() throws Exception {
        Map<String, byte[]> good = Map.copyOf(repository.files);
        byte[] other = new Manifest(
                        manifest.id(),
                        manifest.mainClass(),
                        manifest.jarSha256(),
                        manifest.jarBytes(),
                        manifest.levels(),
                        manifest.limits(),
                        "altered")
                .encode();
        alter("keys/" + ServiceKey.toString(manifest.id().key()), old -> other);
        assertRefused(Refusal.BAD_SIGNATURE);
        assertThat(server.jarBytes).hasValue(0);
        assertAnotherMirrorServes(good);
    }

    /** What the JVM throws while it reads a jar is a refusal, which is remembered as any other. */
    @Test
    void aJarWhoseControlIsMissing() throws Exception {
        TreeMap<String, byte[]> entries = TestJars.entries(
                dir,
                Map.of(
                        CodeFetcherRepository.NAME,
                        TestJars.forwarder(
                                        CodeFetcherRepository.NAME,
                                        "public static class Control implements org.tamanoir.service.ServiceControl {"
                                                + " public void init(org.tamanoir.service.ServiceConfig c,"
                                                + " org.tamanoir.service.ControlHost h) {}"
                                                + " public java.util.Map<String, Object> view() { return null; }"
                                                + " public java.util.Map<String, Object> change(String o,"
                                                + " java.util.Map<String, Object> a) { return null; } }")
                                .replace(
                                        "public class Foo",
                                        "@org.tamanoir.service.ControlledBy(Foo.Control.class) public class Foo")));
        entries.remove("org/example/Foo$Control.class");
        byte[] jar = Files.readAllBytes(TestJars.zip(dir, "foo", entries));
        manifest = CodeFetcherRepository.manifest(manifest.id(), jar);
        repository.put(manifest, jar);
        assertThat(assertRefused(Refusal.NOT_A_SERVICE)).hasMessageContaining("org.example.Foo$Control");

        CodeFetcher fetcher = fetcher(server);
        long key = manifest.id().key();
        assertThatThrownBy(() -> fetcher.fetch(key, null)).isInstanceOf(CodeRefusedException.class);
        int asked = server.paths().size();
        assertThatThrownBy(() -> fetcher.fetch(key, null))
                .isInstanceOf(CodeRefusedException.class)
                .hasMessageContaining("org.example.Foo$Control");
        assertThat(server.paths()).hasSize(asked);
    }

    @Test
    void aManifestThatIsNone() throws Exception {
        alter("keys/" + ServiceKey.toString(manifest.id().key()), old -> "{]".getBytes(StandardCharsets.US_ASCII));
        assertRefused(Refusal.MALFORMED);
    }

    @Test
    void aManifestForAnotherName() throws Exception {
        Manifest other = repository.publish(new ServiceId("org.example.Bar", "1.0"), FILLING);
        alter("keys/" + ServiceKey.toString(manifest.id().key()), old -> other.encode());
        assertThat(assertRefused(Refusal.WRONG_SERVICE)).hasMessageContaining("org.example.Bar:1.0");
        assertThat(server.paths()).hasSize(1);
    }

    @Test
    void aManifestForAnotherVersion() throws Exception {
        Manifest other = repository.publish("2.0", FILLING);
        alter("keys/" + ServiceKey.toString(manifest.id().key()), old -> other.encode());
        assertRefused(Refusal.WRONG_SERVICE);
    }

    @Test
    void noSignature() throws Exception {
        repository.files.remove(manifest.id().path() + "/manifest.sig");
        assertRefused(Refusal.UNSIGNED);
        trust.set(new TrustPolicy(List.of(), Set.of(), Set.of(), true));
        ServicePackage code = fetcher(server).fetch(manifest.id().key(), null);
        assertThat(code.publisherId()).isNull();
        assertThat(fetcher().fetch(manifest.id().key(), null).publisherId()).isNull();
    }

    @Test
    void aSignatureByAStranger() throws Exception {
        alter(
                manifest.id().path() + "/manifest.sig",
                old -> SigningKey.generate().sign(manifest.encode()).encode());
        assertRefused(Refusal.UNTRUSTED_KEY);
    }

    @Test
    void aSignatureByARevokedKey() throws Exception {
        trust.set(repository.trust().revoking(repository.signer.publisher().id()));
        assertRefused(Refusal.REVOKED_KEY);
    }

    @Test
    void aSignatureByAKeyForOtherNames() throws Exception {
        trust.set(new TrustPolicy(
                List.of(new TrustPolicy.Publisher(repository.signer.publisher(), List.of("org.other.*"))),
                Set.of(),
                Set.of(),
                false));
        assertRefused(Refusal.NOT_FOR_THIS_NAME);
    }

    @Test
    void aShorterJarThanTheManifestSays() throws Exception {
        Map<String, byte[]> good = Map.copyOf(repository.files);
        alter(CodeFetcherRepository.jarPath(manifest), jar -> Arrays.copyOf(jar, jar.length - 1));
        assertRefused(Refusal.WRONG_SIZE);
        assertAnotherMirrorServes(good);
    }

    @Test
    void aLongerJarThanTheManifestSays() throws Exception {
        Map<String, byte[]> good = Map.copyOf(repository.files);
        alter(CodeFetcherRepository.jarPath(manifest), jar -> Arrays.copyOf(jar, jar.length + 1));
        assertRefused(Refusal.WRONG_SIZE);
        assertAnotherMirrorServes(good);
    }

    @Test
    void aJarLargerThanTheLimitIsNotAskedFor() throws Exception {
        manifest = repository.publish("1.0", (int) MAX_JAR_BYTES);
        assertRefused(Refusal.TOO_LARGE);
        assertThat(server.jarBytes).hasValue(0);
    }

    @Test
    void aJarThatUnpacksToMoreThanTheLimit() throws Exception {
        Path bomb = TestJars.zip(dir, "bomb", Map.of("zeros", new byte[9 << 20]));
        byte[] jar = Files.readAllBytes(bomb);
        manifest = CodeFetcherRepository.manifest(manifest.id(), jar);
        repository.put(manifest, jar);
        assertRefused(Refusal.TOO_LARGE);
    }

    /** Says 1 KB, or nothing, and sends 1 GB. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 1000000000", "Transfer-Encoding: chunked", "Connection: close"})
    void aBodyWithoutEnd(String header) throws Exception {
        for (String what : List.of(".jar", "manifest.sig", "keys/")) {
            long before = server.bodyBytes.get();
            server.behaviour = (request, out) -> {
                if (!request.path().contains(what)) {
                    return server.serve(request, out);
                }
                CodeFetcherServer.head(out, "200 OK", header);
                flood(out, header.contains("chunked"));
                return false;
            };
            assertRefused(what.equals(".jar") ? Refusal.WRONG_SIZE : Refusal.MALFORMED);
            assertThat(server.bodyBytes.get() - before).as(what).isLessThan(IN_FLIGHT_BYTES);
        }
    }

    @Test
    void anErrorWithABodyWithoutEnd() throws Exception {
        server.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "500 Internal Server Error", "Content-Length: 1000000000");
            flood(out, false);
            return false;
        };
        assertThatThrownBy(() -> fetcher(server).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("answered 500");
        assertThat(server.bodyBytes).hasValueLessThan(IN_FLIGHT_BYTES);
    }

    @Test
    void aHeadWithoutEnd() throws Exception {
        server.behaviour = (request, out) -> {
            out.write("HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.US_ASCII));
            byte[] header = ("X: " + "x".repeat(1000) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_000_000; i++) {
                out.write(header);
                server.bodyBytes.addAndGet(header.length);
            }
            return false;
        };
        assertThatThrownBy(() -> fetcher(server).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class);
        assertThat(server.bodyBytes).hasValueLessThan(IN_FLIGHT_BYTES);
    }

    private void flood(OutputStream out, boolean chunked) throws IOException {
        byte[] bytes = new byte[8192];
        for (int i = 0; i < 1_000_000_000 / bytes.length; i++) {
            if (chunked) {
                out.write("2000\r\n".getBytes(StandardCharsets.US_ASCII));
            }
            out.write(bytes);
            if (chunked) {
                out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
            }
            server.bodyBytes.addAndGet(bytes.length);
        }
    }

    /** One byte after the other: never idle, never ready. */
    @Test
    void aDripEndsWithItsShareOfTheTime() throws Exception {
        CodeFetcherServer dripping = server;
        dripping.forJars((request, out) -> {
            byte[] jar = repository.jarOf(manifest);
            CodeFetcherServer.head(out, "200 OK", "Content-Length: " + jar.length);
            drip(request, out, jar);
            return false;
        });
        CodeFetcherServer good = server();

        ServicePackage code = fetcher(Duration.ofSeconds(6), dripping, good)
                .fetch(manifest.id().key(), null);
        assertThat(code.source()).isEqualTo("repository " + good.address());
        assertThat(CacheFolder.sha256(code.jar())).isEqualTo(manifest.jarSha256());
        assertThat(dir.resolve("cache/tmp")).isEmptyDirectory();
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> dripping.connections() == 0);
    }

    /** Until the client closes. */
    private static void drip(CodeFetcherServer.Request request, OutputStream out, byte[] bytes) throws IOException {
        request.socket().setSoTimeout(50);
        for (byte octet : bytes) {
            out.write(octet);
            try {
                if (request.socket().getInputStream().read() < 0) {
                    return;
                }
            } catch (java.net.SocketTimeoutException stillThere) {
                continue;
            }
        }
    }

    @Test
    void aDrippingHeadEndsToo() throws Exception {
        server.behaviour = (request, out) -> {
            drip(request, out, ("HTTP/1.1 200 OK\r\nX: " + "x".repeat(100_000)).getBytes(StandardCharsets.US_ASCII));
            return false;
        };
        assertThatThrownBy(() -> fetcher(Duration.ofSeconds(1), server)
                        .fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("did not end in its time");
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> server.connections() == 0);
    }

    @Test
    void aRedirectIsNotFollowed() throws Exception {
        CodeFetcherServer elsewhere = server();
        server.behaviour = (request, out) -> {
            CodeFetcherServer.head(
                    out, "302 Found", "Location: " + elsewhere.address() + "/" + request.path(), "Content-Length: 0");
            return true;
        };
        assertThatThrownBy(() -> fetcher(server).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("answered 302, a redirect, which is not followed");
        assertThat(elsewhere.requests).isEmpty();
    }

    @Test
    void garbageInPlaceOfHttp() {
        server.behaviour = (request, out) -> {
            out.write("SSH-2.0-OpenSSH\u0007 none of this\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            return false;
        };
        CodeUnavailableException failure = catchThrowableOfType(
                CodeUnavailableException.class,
                () -> fetcher(server).fetch(manifest.id().key(), null));
        assertThat(failure.getMessage()).matches("[^\\p{Cntrl}]*");
    }

    @Test
    void aJarThatIsMissingIsTheSourcesFailure() throws Exception {
        Map<String, byte[]> good = Map.copyOf(repository.files);
        repository.files.remove(CodeFetcherRepository.jarPath(manifest));
        assertThatThrownBy(() -> fetcher(server).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("but not its jar");
        assertAnotherMirrorServes(good);
    }

    @Test
    void anInterruptedFetchEnds() throws Exception {
        server.hangs();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread fetching = new Thread(() -> {
            try {
                fetcher(server).fetch(manifest.id().key(), null);
            } catch (CodeRefusedException | CodeUnavailableException e) {
                failure.set(e);
            }
        });
        fetching.start();
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> !server.requests.isEmpty());
        fetching.interrupt();
        fetching.join(40_000);
        assertThat(failure.get()).isInstanceOf(CodeUnavailableException.class).hasMessageContaining("interrupted");
    }

    @Test
    void aFetchEndsWhenTheFetcherIsClosed() throws Exception {
        server.hangs();
        CodeFetcher fetcher = fetcher(server);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread fetching = new Thread(() -> {
            try {
                fetcher.fetch(manifest.id().key(), null);
            } catch (CodeRefusedException | CodeUnavailableException e) {
                failure.set(e);
            }
        });
        fetching.start();
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> !server.requests.isEmpty());
        fetcher.close();
        fetching.join(40_000);
        assertThat(failure.get()).isInstanceOf(CodeUnavailableException.class);
    }
}
