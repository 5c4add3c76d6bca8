package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.io.MoreFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Tiers;

/** A cache on a disk that is full, cannot be written, or loses its writer. */
@Tag("namespace")
class CodeCacheDiskTest {
    private static final long LIMIT_BYTES = 8 << 20;
    private static final int FILLING = 300_000;

    @TempDir
    private Path dir;

    private CodeFetcherRepository repository;
    private CodeFetcherServer server;
    private Path mounted;
    private Path temporary;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        repository = new CodeFetcherRepository(dir.resolve("made"));
        server = new CodeFetcherServer(repository.files);
        temporary = Files.createDirectory(dir.resolve("temporary"));
        mounted = Files.createDirectory(dir.resolve("mounted"));
        open.add(server);
    }

    @AfterEach
    void end() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    private CodeCache cache(Path folder) throws IOException {
        CodeCache cache = CodeCache.open(folder, LIMIT_BYTES, temporary);
        open.add(cache);
        return cache;
    }

    private CodeFetcher fetcher(CodeCache cache) {
        CodeFetcher fetcher =
                new CodeFetcher(CodeFetcher.Settings.of(List.of(server.address())), cache, repository::trust);
        open.add(fetcher);
        return fetcher;
    }

    private void mount(String size) throws Exception {
        boolean done = run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", mounted.toString()) == 0;
        Tiers.require("tmpfs", done, "a tmpfs cannot be mounted here; it needs root");
        open.add(() -> run("umount", "-l", mounted.toString()));
    }

    private static int run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor();
    }

    private void assertWhole(ServicePackage code, Manifest manifest) throws IOException {
        assertThat(code.manifest()).isEqualTo(manifest);
        assertThat(Files.readAllBytes(code.jar())).isEqualTo(repository.jarOf(manifest));
    }

    /** As while one process takes the place of another. */
    @Test
    void besideAnotherProcessTheCacheIsReadAndWrittenWhenThatOneHasEnded() throws Exception {
        Path folder = dir.resolve("shared");
        CodeCache old = CodeCache.open(folder, LIMIT_BYTES, temporary);
        Manifest first = repository.publish("1.0", 1000);
        fetcher(old).fetch(first.id().key(), null);
        Files.createFile(folder.resolve("tmp/download")); // Of the other one, which goes on.

        CodeCache next = CodeCache.openBeside(folder, LIMIT_BYTES, temporary);
        open.add(next);
        ServicePackage read = Objects.requireNonNull(next.find(first.id().key(), repository.trust()));
        assertWhole(read, first);
        assertThat(read.jar()).startsWith(folder);
        Manifest second = repository.publish("2.0", 1000);
        assertThat(fetcher(next).fetch(second.id().key(), null).jar()).startsWith(temporary);
        next.remove(first.id());
        assertWhole(Objects.requireNonNull(old.find(first.id().key(), repository.trust())), first);
        assertThat(folder.resolve("tmp/download")).exists();

        old.close();
        Manifest third = repository.publish("3.0", 1000);
        assertThat(fetcher(next).fetch(third.id().key(), null).jar()).startsWith(folder);
        assertThatThrownBy(() -> CodeCache.open(folder, LIMIT_BYTES, temporary))
                .hasMessageContaining("another process uses it");
        next.close();
        assertThat(temporary).isEmptyDirectory();
        assertThat(cache(folder).contents()).contains(first.id(), third.id());
    }

    @Test
    void temporaryFoldersOfProcessesThatEndedAreRemoved() throws Exception {
        Path left = Files.createDirectories(temporary.resolve("tamanoir-code-1"));
        Files.createFile(left.resolve("lock"));
        Files.createDirectory(left.resolve("jars"));
        Path foreign = Files.createDirectory(temporary.resolve("tamanoir-code-2")); // Of who knows no lock.
        cache(dir.resolve("cache"));

        assertThat(left).doesNotExist();
        assertThat(foreign).exists();
    }

    @Test
    void onAFullDiskCodeIsUsedFromATemporaryFolder() throws Exception {
        mount("200k");
        CodeCache cache = cache(mounted);
        CodeFetcher fetcher = fetcher(cache);
        Manifest small = repository.publish("1.0", 1000);
        assertThat(fetcher.fetch(small.id().key(), null).jar()).startsWith(mounted);

        Manifest large = repository.publish("2.0", FILLING);
        ServicePackage code = fetcher.fetch(large.id().nameKey(), null);
        assertWhole(code, large);
        assertThat(code.jar()).startsWith(temporary);
        assertWhole(Objects.requireNonNull(cache.find(large.id().nameKey(), repository.trust())), large);
        assertThat(cache.file(CodeFetcherRepository.jarPath(large), id -> true)).isEqualTo(code.jar());
        assertWhole(Objects.requireNonNull(cache.find(small.id().key(), repository.trust())), small);

        cache.close();
        assertThat(temporary).isEmptyDirectory();
    }

    /** Space that is there when the download begins, and not when it is written. */
    @Test
    void aDiskThatFillsDuringTheDownloadDoesNotMatter() throws Exception {
        mount("600k");
        CodeCache cache = cache(mounted);
        Manifest manifest = repository.publish("1.0", FILLING);
        server.forJars((request, out) -> {
            Path filler = mounted.resolve("filler");
            if (!Files.exists(filler)) {
                try (java.io.OutputStream fill = Files.newOutputStream(filler)) {
                    for (; ; ) {
                        fill.write(new byte[4096]);
                    }
                } catch (IOException full) {
                    return server.serve(request, out);
                }
            }
            return server.serve(request, out);
        });
        ServicePackage code = fetcher(cache).fetch(manifest.id().key(), null);
        assertWhole(code, manifest);
        assertThat(code.jar()).startsWith(temporary);
    }

    @Test
    void aReadOnlyCacheIsReadAndNewCodeIsUsedAllTheSame() throws Exception {
        mount("4m");
        Manifest old = repository.publish("1.0", 1000);
        CodeCache first = cache(mounted);
        fetcher(first).fetch(old.id().nameKey(), null);
        first.close();
        assertThat(run("mount", "-o", "remount,ro", mounted.toString())).isZero();

        CodeCache cache = cache(mounted);
        assertWhole(Objects.requireNonNull(cache.find(old.id().nameKey(), repository.trust())), old);
        Manifest fresh = repository.publish("1.1", 1000);
        ServicePackage code = fetcher(cache).fetch(fresh.id().key(), null);
        assertWhole(code, fresh);
        assertThat(code.jar()).startsWith(temporary);
    }

    @Test
    void aCacheThatBecomesReadOnlyServesOn() throws Exception {
        mount("4m");
        CodeCache cache = cache(mounted);
        CodeFetcher fetcher = fetcher(cache);
        Manifest old = repository.publish("1.0", 1000);
        fetcher.fetch(old.id().key(), null);
        // Files that are open for writing forbid to change the mount itself.
        assertThat(run("mount", "--bind", mounted.toString(), mounted.toString()))
                .isZero();
        open.add(() -> run("umount", "-l", mounted.toString()));
        assertThat(run("mount", "-o", "remount,bind,ro", mounted.toString())).isZero();

        Manifest fresh = repository.publish("1.1", 1000);
        assertWhole(fetcher.fetch(fresh.id().nameKey(), null), fresh);
        assertWhole(fetcher.fetch(old.id().key(), null), old);
        assertWhole(fetcher.fetch(fresh.id().nameKey(), null), fresh);
    }

    /** A file where a folder must be stands for a folder that cannot be written: root may write everywhere. */
    @Test
    void aFolderThatCannotBeWrittenNeedsNoMountToBeNoticed() throws Exception {
        Path folder = dir.resolve("cache");
        Files.createDirectories(folder);
        Files.createFile(folder.resolve("jars"));
        Manifest manifest = repository.publish("1.0", 1000);
        ServicePackage code = fetcher(cache(folder)).fetch(manifest.id().key(), null);
        assertWhole(code, manifest);
        assertThat(code.jar()).startsWith(temporary);
    }

    @Test
    void whenNoFolderCanBeWrittenTheReasonIsSaid() throws Exception {
        Path folder = dir.resolve("cache");
        Files.createDirectories(folder);
        Files.createFile(folder.resolve("jars"));
        temporary = Files.createFile(dir.resolve("no folder"));
        Manifest manifest = repository.publish("1.0", 1000);
        assertThatThrownBy(() -> fetcher(cache(folder)).fetch(manifest.id().key(), null))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("cannot be written, nor can " + temporary)
                .hasMessageNotContaining("\n");
    }

    // ---- kill -9 ---------------------------------------------------------------------------------------------------

    /** Fetches versions one after another, until it is killed. */
    static final class Victim {
        private Victim() {}

        /** Cache folder, repository address, publisher's key, then keys of services. */
        public static void main(String[] args) throws Exception {
            TrustPolicy trust = new TrustPolicy(
                    List.of(new TrustPolicy.Publisher(PublisherKey.read(Path.of(args[2])), List.of("*"))),
                    java.util.Set.of(),
                    java.util.Set.of(),
                    false);
            try (CodeCache cache = CodeCache.open(Path.of(args[0]), LIMIT_BYTES);
                    CodeFetcher fetcher = new CodeFetcher(
                            CodeFetcher.Settings.of(List.of(URI.create(args[1]))), cache, () -> trust)) {
                for (int i = 3; i < args.length; i++) {
                    fetcher.fetch(Long.parseUnsignedLong(args[i], 16), null);
                    System.out.println(args[i]);
                }
                Thread.currentThread().join();
            }
        }
    }

    @Test
    void afterKill9InMidWriteOnlyWholeVersionsAreThere() throws Exception {
        Path folder = dir.resolve("cache");
        List<Manifest> manifests = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            manifests.add(repository.publish("1." + i, FILLING));
        }
        Manifest broken = manifests.get(3);
        server.forJars((request, out) -> {
            if (!request.path().equals(CodeFetcherRepository.jarPath(broken))) {
                return server.serve(request, out);
            }
            byte[] jar = repository.jarOf(broken);
            CodeFetcherServer.head(out, "200 OK", "Content-Length: " + jar.length);
            server.body(request, out, jar, 0, 100_000);
            CodeFetcherServer.awaitEnd(request);
            return false;
        });
        Path key = dir.resolve("key");
        repository.signer.write(key);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                folder.toString(),
                server.address().toString(),
                key + ".pub"));
        for (Manifest manifest : manifests) {
            command.add(org.tamanoir.anep.ServiceKey.toString(manifest.id().key()));
        }
        Process victim = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8))) {
            for (int i = 0; i < 3; i++) {
                assertThat(lines.readLine()).isNotNull();
            }
            org.awaitility.Awaitility.await()
                    .atMost(Duration.ofSeconds(40))
                    .until(() -> MoreFiles.listFiles(folder.resolve("tmp")).stream()
                            .anyMatch(file -> file.toFile().length() == 100_000));
            assertThatThrownBy(() -> cache(folder)).hasMessageContaining("another process uses it");
        } finally {
            victim.destroyForcibly();
            assertThat(victim.waitFor(40, TimeUnit.SECONDS)).isTrue();
        }

        server.behaviour = server::serve;
        CodeCache cache = cache(folder);
        assertThat(cache.contents()).hasSize(3);
        for (Manifest manifest : manifests.subList(0, 3)) {
            assertWhole(Objects.requireNonNull(cache.find(manifest.id().key(), repository.trust())), manifest);
        }
        assertThat(folder.resolve("tmp")).isEmptyDirectory();
        assertWhole(fetcher(cache).fetch(broken.id().key(), null), broken);
    }
}
