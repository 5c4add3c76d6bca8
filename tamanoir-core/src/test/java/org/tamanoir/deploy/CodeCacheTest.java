package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.ServiceKey;

/** What the cache keeps, forgets and gives, and what it makes of files that are not whole. */
class CodeCacheTest {
    private static final long LIMIT_BYTES = 1 << 20;

    @TempDir
    private Path dir;

    private CodeFetcherRepository repository;
    private CodeCache cache;

    @BeforeEach
    void open() throws IOException {
        repository = new CodeFetcherRepository(dir.resolve("made"));
        cache = CodeCache.open(dir.resolve("cache"), LIMIT_BYTES);
    }

    @AfterEach
    void close() {
        cache.close();
    }

    private void reopen() throws IOException {
        cache.close();
        cache = CodeCache.open(dir.resolve("cache"), LIMIT_BYTES);
    }

    private Manifest put(String version, int filling) throws Exception {
        return put(cache, repository, repository.publish(version, filling), true);
    }

    /** As the fetcher does it. */
    static Manifest put(CodeCache cache, CodeFetcherRepository repository, Manifest manifest, boolean newest)
            throws Exception {
        byte[] jar = repository.jarOf(manifest);
        Path known = cache.wholeJar(manifest.jarSha256());
        Path made = known != null ? known : Files.write(cache.newDownload(jar.length), jar);
        byte[] bytes = manifest.encode();
        cache.put(manifest, bytes, repository.signer.sign(bytes).encode(), made, newest, "test");
        return manifest;
    }

    private @Nullable ServicePackage find(Manifest manifest) throws CodeRefusedException {
        return find(manifest.id().key());
    }

    private @Nullable ServicePackage find(long key) throws CodeRefusedException {
        return cache.find(key, repository.trust());
    }

    private ServicePackage present(long key) throws CodeRefusedException {
        return Objects.requireNonNull(find(key));
    }

    private void assertHeld(Manifest manifest) throws Exception {
        ServicePackage found = present(manifest.id().key());
        assertThat(found.manifest()).isEqualTo(manifest);
        assertThat(found.source()).isEqualTo("cache");
        assertThat(Files.readAllBytes(found.jar())).isEqualTo(repository.jarOf(manifest));
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void survivesARestart() throws Exception {
        Manifest older = put("1.9", 1000);
        Manifest newer = put("1.10", 1000);
        reopen();

        assertHeld(older);
        assertHeld(newer);
        assertThat(present(newer.id().nameKey()).manifest()).isEqualTo(newer);
        assertThat(cache.contents()).containsExactly(older.id(), newer.id());
        assertThat(find(42)).isNull();
    }

    @Test
    void aBareNameMeansWhatWasTheNewestNotAnyVersionThatIsHere() throws Exception {
        Manifest first = put("1.0", 1000);
        Manifest later = put(cache, repository, repository.publish("2.0", 1000), false);
        assertThat(present(first.id().nameKey()).manifest()).isEqualTo(first);
        reopen();
        assertThat(present(later.id().nameKey()).manifest()).isEqualTo(first);

        cache.remove(first.id());
        assertThat(find(first.id().nameKey())).isNull();
        assertThat(cache.newest(CodeFetcherRepository.NAME)).isEqualTo("1.0");
    }

    @Test
    void theSameJarUnderTwoNamesLiesThereOnce() throws Exception {
        Manifest first = put("1.0", 1000);
        byte[] jar = repository.jarOf(first);
        Manifest second = CodeFetcherRepository.manifest(new ServiceId("org.example.Bar", "1.0"), jar);
        repository.put(second, jar);
        put(cache, repository, second, true);
        assertThat(files(dir.resolve("cache/jars"))).hasSize(1);

        cache.remove(first.id());
        assertThat(find(first)).isNull();
        assertHeld(second);
        cache.remove(second.id());
        assertThat(files(dir.resolve("cache/jars"))).isEmpty();
        assertThat(files(dir.resolve("cache/services"))).isEmpty();
    }

    @Test
    void aVersionComesBackWithAnotherSignature() throws Exception {
        Manifest manifest = put("1.0", 1000);
        byte[] bytes = manifest.encode();
        cache.put(manifest, bytes, null, present(manifest.id().key()).jar(), true, "test");
        TrustPolicy anybody = new TrustPolicy(List.of(), Set.of(), Set.of(), true);
        assertThat(cache.find(manifest.id().key(), anybody))
                .isNotNull()
                .extracting(ServicePackage::publisherId)
                .isNull();
        assertThatThrownBy(() -> find(manifest))
                .isInstanceOfSatisfying(
                        CodeRefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.UNSIGNED));
        assertThat(files(dir.resolve("cache/tmp"))).isEmpty();
    }

    @Test
    void anotherProcessIsToldThatTheFolderIsInUse() {
        assertThatThrownBy(() -> CodeCache.open(dir.resolve("cache"), LIMIT_BYTES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another process uses it")
                .hasMessageNotContaining("\n");
        cache.close();
        org.assertj.core.api.Assertions.assertThatCode(this::reopen).doesNotThrowAnyException();
    }

    @Test
    void aFolderThatCannotBeHadIsAnError() throws IOException {
        Path file = Files.createFile(dir.resolve("file"));
        assertThatThrownBy(() -> CodeCache.open(file.resolve("cache"), LIMIT_BYTES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be made")
                .hasMessageNotContaining("\n");
    }

    // ---- what crashes and bad disks leave -------------------------------------------------------------------------

    @Test
    void anAlteredJarIsRemovedAndNotThere() throws Exception {
        Manifest manifest = put("1.0", 1000);
        Path jar = present(manifest.id().key()).jar();
        byte[] bytes = Files.readAllBytes(jar);
        bytes[500] ^= 1;
        Files.write(jar, bytes);

        assertThat(find(manifest)).isNull();
        assertThat(jar).doesNotExist();
        assertThat(cache.contents()).isEmpty();
        put("1.0", 1000);
        assertHeld(manifest);
    }

    @Test
    void anAlteredManifestIsRemovedAndNotThere() throws Exception {
        Manifest manifest = put("1.0", 1000);
        Path file = dir.resolve("cache").resolve(manifest.id().path()).resolve("manifest.json");
        Files.writeString(file, Files.readString(file).replace("\"jvm\"", "\"nic\""));
        assertThat(find(manifest)).isNull();
        assertThat(cache.contents()).isEmpty();
    }

    @Test
    void aTruncatedJarIsNotThereAfterARestart() throws Exception {
        Manifest manifest = put("1.0", 1000);
        Path jar = present(manifest.id().key()).jar();
        Files.write(jar, new byte[10]);
        reopen();
        assertThat(cache.contents()).isEmpty();
        assertThat(jar).doesNotExist();
    }

    @Test
    void aManifestWithoutItsJarIsNotThere() throws Exception {
        Manifest manifest = put("1.0", 1000);
        Files.delete(present(manifest.id().key()).jar());
        reopen();
        assertThat(cache.contents()).isEmpty();
        assertThat(find(manifest)).isNull();
        assertThat(find(manifest.id().nameKey())).isNull();
    }

    @Test
    void whatACrashLeftIsRemoved() throws Exception {
        Manifest manifest = put("1.0", 1000);
        cache.close();
        Path root = dir.resolve("cache");
        Files.write(root.resolve("tmp/half"), new byte[100]);
        Files.createDirectories(root.resolve("tmp/half-version"));
        Files.writeString(root.resolve("tmp/half-version/manifest.json"), "{");
        Files.write(root.resolve("jars/" + "0".repeat(64) + ".jar"), new byte[100]);
        Files.createDirectories(root.resolve("services/org.example.Half/1.0"));
        Files.createDirectories(root.resolve("services/org.example.Empty"));
        Files.createFile(root.resolve("services/not a name"));
        Files.createFile(root.resolve("newest/org.example.Half"));
        reopen();

        assertThat(cache.contents()).containsExactly(manifest.id());
        assertHeld(manifest);
        assertThat(files(root.resolve("tmp"))).isEmpty();
        assertThat(files(root.resolve("jars"))).hasSize(1);
        assertThat(root.resolve("services/org.example.Half")).doesNotExist();
    }

    // ---- the limit -----------------------------------------------------------------------------------------------

    @Test
    void theLeastRecentlyUsedGoesFirst() throws Exception {
        Manifest a = put("1.0", 400_000);
        Manifest b = put("1.1", 400_000);
        assertHeld(a);
        Manifest c = put("1.2", 400_000);
        assertThat(cache.contents()).containsExactly(a.id(), c.id());
        assertThat(find(b)).isNull();
    }

    @Test
    void whatWasUsedLastIsKnownAfterARestart() throws Exception {
        Manifest a = put("1.0", 400_000);
        Manifest b = put("1.1", 400_000);
        Files.setLastModifiedTime(present(a.id().key()).jar(), FileTime.fromMillis(2_000_000));
        Files.setLastModifiedTime(present(b.id().key()).jar(), FileTime.fromMillis(1_000_000));
        reopen();
        Manifest c = put("1.2", 400_000);
        assertThat(cache.contents()).containsExactly(a.id(), c.id());
    }

    @Test
    void whatIsPinnedStays() throws Exception {
        Manifest a = put("1.0", 400_000);
        Manifest b = put("1.1", 400_000);
        cache.pin(a.id());
        cache.pin(a.id());
        cache.unpin(a.id());
        Manifest c = put("1.2", 400_000);
        assertThat(cache.contents()).containsExactly(a.id(), c.id());

        cache.pin(c.id());
        assertThatThrownBy(() -> put("1.3", 400_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no room for")
                .hasMessageContaining("raise the limit");
        cache.unpin(a.id());
        Manifest d = put("1.3", 400_000);
        assertThat(cache.contents()).containsExactly(c.id(), d.id());
        assertThat(find(b)).isNull();
    }

    @Test
    void aSmallerLimitHoldsFromTheOpeningOn() throws Exception {
        put("1.0", 400_000);
        Manifest b = put("1.1", 400_000);
        Files.setLastModifiedTime(
                present(b.id().key()).jar(), FileTime.fromMillis(System.currentTimeMillis() + 10_000));
        cache.close();
        cache = CodeCache.open(dir.resolve("cache"), 500_000);
        assertThat(cache.contents()).containsExactly(b.id());
    }

    // ---- serving -------------------------------------------------------------------------------------------------

    @Test
    void givesTheFilesOfServedVersionsInARepositorysLayout() throws Exception {
        Manifest one = put("1.0", 1000);
        Manifest two = put("2.0", 1000);
        String folder = one.id().path() + "/";

        assertThat(cache.file(folder + "manifest.json", id -> true)).hasBinaryContent(one.encode());
        assertThat(cache.file(folder + "manifest.sig", id -> true))
                .hasBinaryContent(repository.signer.sign(one.encode()).encode());
        assertThat(cache.file(folder + one.id().jarName(), id -> true)).hasBinaryContent(repository.jarOf(one));
        String key = "keys/" + ServiceKey.toString(one.id().key());
        assertThat(cache.file(key, id -> true)).hasBinaryContent(one.encode());
        String bare = "keys/" + ServiceKey.toString(one.id().nameKey());
        assertThat(cache.file(bare, id -> true)).hasBinaryContent(two.encode());
        assertThat(cache.file(bare, one.id()::equals)).hasBinaryContent(one.encode());

        for (String path : List.of(folder + "manifest.json", folder + one.id().jarName(), key)) {
            assertThat(cache.file(path, two.id()::equals)).as(path).isNull();
        }
        assertThat(cache.file(bare, id -> false)).isNull();
        assertThat(cache.file("keys/0000000000000000", id -> true)).isNull();
    }

    @Test
    void nothingElseIsAPath() throws Exception {
        put("1.0", 1000);
        List<String> paths = List.of(
                "",
                "/",
                "lock",
                "newest/org.example.Foo",
                "tmp/0",
                "jars",
                "services",
                "services/org.example.Foo",
                "services/org.example.Foo/1.0",
                "services/org.example.Foo/1.0/",
                "services/org.example.Foo/1.0/../1.0/manifest.json",
                "services/org.example.Foo/1.0/manifest.json/",
                "services/org.example.Foo/1.0/manifest.json\0",
                "services/org.example.Foo/1.0/manifest.json\n",
                "services/org.example.Foo/1.0/org.example.Foo-1.1.jar",
                "services/org.example.Foo/1.0/..",
                "services/../services/org.example.Foo/1.0/manifest.json",
                "services//org.example.Foo/1.0/manifest.json",
                "/services/org.example.Foo/1.0/manifest.json",
                "Services/org.example.Foo/1.0/manifest.json",
                "services/org.example.Foo/1.0/MANIFEST.JSON",
                "services/org.example.Foo/%2e%2e/manifest.json",
                "services\\org.example.Foo\\1.0\\manifest.json",
                "services/../../etc/passwd",
                "../../../../etc/passwd",
                "keys/../lock",
                "keys/0",
                "keys/00000000000000000",
                "keys/ABCDEF0000000000",
                "keys/-000000000000001");
        for (String path : paths) {
            assertThat(cache.file(path, id -> true)).as(path).isNull();
        }
        assertThat(cache.file("services/" + "a".repeat(100_000), id -> true)).isNull();
    }
}
