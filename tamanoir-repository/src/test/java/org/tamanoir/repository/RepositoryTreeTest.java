package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.repository.RepositoryTree.Outcome;
import org.tamanoir.support.Waiting;

@Timeout(120)
class RepositoryTreeTest {
    @TempDir
    Path root;

    /** Every file that a reader sees, with its bytes in hexadecimal; staging and lock are none of them. */
    static Map<String, String> files(Path root) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String path = root.relativize(file).toString();
                if (!path.startsWith(".")) {
                    files.put(path, HexFormat.of().formatHex(Files.readAllBytes(file)));
                }
            }
        }
        return files;
    }

    private static List<Path> staged(Path root) throws IOException {
        return Disk.list(root.resolve(".staging"));
    }

    @Test
    void aPublishedVersionIsThereInWholeUnderItsNameAndBothKeys() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 3_000);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            assertThat(sample.publish(tree)).isEqualTo(Outcome.CREATED);
            String manifest = HexFormat.of().formatHex(sample.manifestBytes());
            assertThat(files(root))
                    .containsEntry("services/org.example.Foo/1.0/manifest.json", manifest)
                    .containsEntry(
                            "services/org.example.Foo/1.0/manifest.sig",
                            HexFormat.of().formatHex(sample.signature()))
                    .containsEntry(
                            "services/org.example.Foo/1.0/org.example.Foo-1.0.jar",
                            HexFormat.of().formatHex(sample.jar()))
                    .containsEntry("keys/" + ServiceKey.toString(ServiceKey.of("org.example.Foo:1.0")), manifest)
                    .containsEntry("keys/" + ServiceKey.toString(ServiceKey.of("org.example.Foo")), manifest)
                    .hasSize(6);
            assertThat(Index.decode(Files.readAllBytes(root.resolve("index.json")))
                            .services())
                    .isEqualTo(tree.entries())
                    .hasSize(1);
            assertThat(tree.entries().get(0).publisher())
                    .isEqualTo(Sample.KEY.publisher().id());
            assertThat(staged(root)).isEmpty();
        }
    }

    @Test
    void theSameAgainChangesNothingAndOtherContentIsRefused() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 100);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            sample.publish(tree);
            Map<String, String> before = files(root);
            assertThat(sample.publish(tree)).isEqualTo(Outcome.SAME);
            assertThat(tree.publish(sample.manifestBytes(), sample.signature(), null, null))
                    .isEqualTo(Outcome.SAME);
            assertThatThrownBy(
                            () -> Sample.of("org.example.Foo:1.0", new byte[7]).publish(tree))
                    .isInstanceOf(ConflictException.class)
                    .hasMessageContaining("org.example.Foo:1.0 is published already")
                    .hasMessageContaining("new version");
            assertThat(files(root)).isEqualTo(before);
        }
    }

    @Test
    void aJarThatIsNotTheManifestsIsRefused() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 100);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            StagedJar longer =
                    new StagedJar(sample.stage(tree).file(), sample.manifest().jarSha256(), 101);
            assertThatThrownBy(() -> tree.publish(sample.manifestBytes(), sample.signature(), longer, null))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.WRONG_SIZE));
            StagedJar other = new StagedJar(longer.file(), "0".repeat(64), 100);
            assertThatThrownBy(() -> tree.publish(sample.manifestBytes(), sample.signature(), other, null))
                    .isInstanceOfSatisfying(
                            CodeRefusedException.class,
                            e -> assertThat(e.refusal()).isEqualTo(Refusal.WRONG_DIGEST));
            assertThatThrownBy(() -> tree.publish(sample.manifestBytes(), sample.signature(), null, null))
                    .isInstanceOf(NoSuchFileException.class);
            assertThat(tree.entries()).isEmpty();
        }
    }

    @Test
    void theBareNameMeansTheNewestVersionThatIsNotYanked() throws Exception {
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            for (String version : List.of("1.9", "1.10", "1.10-rc1", "1.2")) {
                Sample.of("org.example.Foo:" + version, 10).publish(tree);
            }
            assertThat(meaning("org.example.Foo")).contains("\"version\" : \"1.10\"");
            tree.yank(ServiceId.parse("org.example.Foo:1.10"), "loses packets");
            assertThat(meaning("org.example.Foo")).contains("\"version\" : \"1.10-rc1\"");
            assertThat(meaning("org.example.Foo:1.10")).contains("\"version\" : \"1.10\"");
            assertThat(tree.find(ServiceId.parse("org.example.Foo:1.10")))
                    .isNotNull()
                    .extracting(IndexEntry::yanked)
                    .isEqualTo("loses packets");
            tree.unyank(ServiceId.parse("org.example.Foo:1.10"));
            assertThat(meaning("org.example.Foo")).contains("\"version\" : \"1.10\"");
            for (IndexEntry entry : tree.entries()) {
                tree.yank(entry.id(), "all of them");
            }
            assertThat(root.resolve("keys/" + ServiceKey.toString(ServiceKey.of("org.example.Foo"))))
                    .doesNotExist();
        }
        try (RepositoryTree again = RepositoryTree.open(root)) {
            assertThat(again.newest("org.example.Foo")).isNull();
            assertThat(again.entries()).extracting(IndexEntry::yanked).containsOnly("all of them");
        }
    }

    private String meaning(String name) throws IOException {
        return Files.readString(root.resolve("keys/" + ServiceKey.toString(ServiceKey.of(name))));
    }

    @Test
    void whatIsNotThereCannotBeYankedAndAReasonIsOneLine() throws Exception {
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            Sample sample = Sample.of("org.example.Foo:1.0", 10);
            assertThatThrownBy(() -> tree.yank(sample.id(), "bad")).isInstanceOf(NoSuchFileException.class);
            sample.publish(tree);
            for (String reason : List.of("", "  ", "a\nb", "x".repeat(201))) {
                assertThatThrownBy(() -> tree.yank(sample.id(), reason))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("one line of 1 to 200 characters");
            }
            assertThat(files(root)).hasSize(6);
        }
    }

    @Test
    void ofTwoPublishersOfOneVersionWithOtherContentExactlyOneWins() throws Exception {
        int rounds = 25;
        ExecutorService both = Executors.newFixedThreadPool(2);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            for (int round = 0; round < rounds; round++) {
                CyclicBarrier barrier = new CyclicBarrier(2);
                String id = "org.example.Race:1." + round;
                List<Callable<Outcome>> publishers = Stream.of(1, 2)
                        .map(n -> Sample.of(id, new byte[] {n.byteValue()}))
                        .<Callable<Outcome>>map(sample -> () -> {
                            StagedJar jar = sample.stage(tree);
                            barrier.await(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                            return tree.publish(sample.manifestBytes(), sample.signature(), jar, null);
                        })
                        .toList();
                int won = 0;
                int refused = 0;
                for (Future<Outcome> each : both.invokeAll(publishers)) {
                    try {
                        assertThat(each.get()).isEqualTo(Outcome.CREATED);
                        won++;
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause()).isInstanceOf(ConflictException.class);
                        refused++;
                    }
                }
                assertThat(List.of(won, refused)).as(id).containsExactly(1, 1);
            }
            assertThat(tree.entries()).hasSize(rounds);
            Map<String, String> before = files(root);
            assertThat(before).hasSize(rounds * 3 + rounds + 1 + 1);
            for (IndexEntry entry : tree.entries()) {
                String folder = entry.id().path() + "/";
                assertThat(before.get(folder + "manifest.json")).isEqualTo(before.get("keys/" + entry.key()));
                assertThat(Hashing.sha256()
                                .hashBytes(Files.readAllBytes(
                                        root.resolve(folder + entry.id().jarName())))
                                .toString())
                        .isEqualTo(entry.sha256());
            }
        } finally {
            both.shutdownNow();
        }
    }

    @Test
    void whatACrashLeftIsPutInOrderAtTheNextOpening() throws Exception {
        Map<String, String> whole;
        Sample first = Sample.of("org.example.Foo:1.0", 10);
        Sample second = Sample.of("org.example.Foo:1.1", 10);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            first.publish(tree);
            Files.copy(root.resolve("index.json"), root.resolve(".index-before"));
            second.publish(tree);
            tree.yank(first.id(), "old");
            whole = files(root);
        }
        // Killed after the second version's rename, before keys and index; and in the middle of a third.
        Files.move(
                root.resolve(".index-before"),
                root.resolve("index.json"),
                java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        Files.delete(root.resolve("keys/" + ServiceKey.toString(second.id().key())));
        Files.write(root.resolve("keys/" + ServiceKey.toString(second.id().nameKey())), first.manifestBytes());
        Files.writeString(root.resolve("keys/0123456789abcdef"), "of a version that never came");
        Files.createDirectories(root.resolve(".staging/7"));
        Files.write(root.resolve(".staging/7/manifest.json"), new byte[5]);
        Files.write(root.resolve(".staging/8"), new byte[5]);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            assertThat(files(root)).isEqualTo(whole);
            assertThat(staged(root)).isEmpty();
            assertThat(tree.newest("org.example.Foo"))
                    .isNotNull()
                    .extracting(IndexEntry::version)
                    .isEqualTo("1.1");
        }
    }

    @Test
    void aFolderThatIsNoWholeVersionIsLeftOutAndNotOverwritten() throws Exception {
        Sample good = Sample.of("org.example.Good:1.0", 10);
        Sample bad = Sample.of("org.example.Bad:1.0", 10);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            good.publish(tree);
            bad.publish(tree);
        }
        Files.write(root.resolve(bad.jarPath()), new byte[9]);
        Files.createDirectories(root.resolve("services/not a name/1.0"));
        Files.createSymbolicLink(root.resolve("services/org.example.Link"), root.resolve("services/org.example.Good"));
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            assertThat(tree.entries()).extracting(IndexEntry::name).containsExactly("org.example.Good");
            assertThat(tree.file(bad.jarPath())).isNull();
            assertThat(root.resolve("keys/" + ServiceKey.toString(bad.id().key())))
                    .doesNotExist();
            assertThatThrownBy(() -> bad.publish(tree))
                    .isInstanceOf(ConflictException.class)
                    .hasMessageContaining("holds no whole version");
        }
    }

    @Test
    void aTreeThatCouldNotBeWrittenToTheEndIsRepairedByTheNextChange() throws Exception {
        Sample first = Sample.of("org.example.Foo:1.0", 10);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            Path keys = root.resolve("keys");
            Files.delete(keys);
            assertThatThrownBy(() -> first.publish(tree)).isInstanceOf(IOException.class);
            Files.createDirectory(keys);
            assertThat(first.publish(tree)).isEqualTo(Outcome.SAME);
            assertThat(files(root)).hasSize(6);
        }
    }

    @Test
    void oneProcessWritesAtATime() throws Exception {
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            assertThat(tree.entries()).isEmpty();
            assertThatThrownBy(() -> RepositoryTree.open(root))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("another process has it open");
        }
        RepositoryTree.open(root).close();
    }

    @Test
    void aFolderThatCannotBeHadIsOneLine() throws Exception {
        Path file = Files.createFile(root.resolve("file"));
        assertThatThrownBy(() -> RepositoryTree.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be opened for writing")
                .hasMessageNotContaining("\n");
    }

    @Test
    void onlyFilesOfTheTreeAreServedAndNoneThroughALink() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 10);
        try (RepositoryTree tree = RepositoryTree.open(root)) {
            sample.publish(tree);
            Path secret = Files.writeString(root.resolve("secret"), "secret");
            Files.createSymbolicLink(root.resolve("keys/0000000000000001"), secret);
            Files.writeString(root.resolve("services/org.example.Foo/1.0/more"), "more");
            for (String path : List.of(
                    "",
                    "secret",
                    ".lock",
                    ".staging",
                    "keys",
                    "keys/",
                    "keys/0000000000000001",
                    "keys/../secret",
                    "services/org.example.Foo/1.0/",
                    "services/org.example.Foo/1.0/more",
                    "services/org.example.Foo/../../secret",
                    "services/../keys/x",
                    "services/org.example.Foo/1.0/../../../secret",
                    "services//1.0/manifest.json",
                    "services/org.example.Foo/1.0/yanked")) {
                assertThat(tree.file(path)).as(path).isNull();
            }
            Files.delete(root.resolve(sample.jarPath()));
            Files.createSymbolicLink(root.resolve(sample.jarPath()), secret);
            assertThat(tree.file(sample.jarPath())).isNull();
        }
    }
}
