package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;

/** The repository's process is killed, as by kill -9, at whatever it does. */
@Tag("process")
@Timeout(300)
class KilledRepositoryTest {
    private static final long SEED = Seeds.ofCommit(KilledRepositoryTest.class);
    private static final int ROUNDS = Seeds.scaled(3);

    @TempDir
    Path root;

    private static int port(Process child) throws IOException {
        return Integer.parseInt(child.inputReader().readLine());
    }

    @Test
    void killedInMidUploadItLeavesNothing() throws Exception {
        Sample sample = Sample.of("org.example.Foo:1.0", 200_000);
        Process child = ChildServer.start(root);
        try (Socket client = new Socket("127.0.0.1", port(child))) {
            client.getOutputStream()
                    .write(("PUT /api/uploads/" + sample.manifest().jarSha256() + " HTTP/1.1\r\nHost: x\r\n"
                                    + "Authorization: Bearer " + TestRepository.TOKEN + "\r\n"
                                    + "Content-Length: 200000\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            client.getOutputStream().write(sample.jar(), 0, 100_000);
            Path staging = root.resolve(".staging");
            eventually()
                    .until(() -> Disk.list(staging).size() == 1
                            && Files.size(Disk.list(staging).get(0)) > 0);
        } finally {
            kill(child);
        }
        try (TestRepository again = TestRepository.start(root)) {
            assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
            assertThat(again.tree.entries()).isEmpty();
            assertThat(again.publish(sample).statusCode()).isEqualTo(201);
        }
    }

    private static void kill(Process child) throws InterruptedException {
        child.destroyForcibly();
        assertThat(child.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void killedInMidPublishEveryVersionIsWholeOrNotThere() throws Exception {
        Random random = new Random(SEED);
        Set<String> confirmed = ConcurrentHashMap.newKeySet();
        for (int round = 0; round < ROUNDS; round++) {
            String what = "seed " + SEED + ", round " + round;
            Process child = ChildServer.start(root);
            publishUntilKilled(child, port(child), round, 5 + random.nextInt(30), confirmed);
            try (RepositoryTree tree = RepositoryTree.open(root)) {
                requireWhole(tree, what);
                assertThat(tree.entries())
                        .as(what)
                        .extracting(entry -> entry.id().toString())
                        .containsAll(confirmed);
            }
        }
        assertThat(confirmed).hasSizeGreaterThanOrEqualTo(ROUNDS * 5);
    }

    /** Two publishers; the process is killed when the given number of versions is confirmed. */
    private static void publishUntilKilled(Process child, int port, int round, int enough, Set<String> confirmed)
            throws Exception {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        ExecutorService publishers = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < 2; i++) {
                publishers.execute(() -> {
                    Calls calls = new Calls(URI.create("http://127.0.0.1:" + port + "/api/"), null);
                    try {
                        while (true) {
                            Sample sample = Sample.of(
                                    "org.example.S" + next.getAndIncrement() % 7 + ":" + round + "." + next.get(),
                                    5_000);
                            if (publish(calls, port, sample) == 201) {
                                confirmed.add(sample.id().toString());
                                if (done.incrementAndGet() == enough) {
                                    child.destroyForcibly();
                                }
                            }
                        }
                    } catch (IOException e) {
                        child.destroyForcibly(); // It is dead, or should be.
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            assertThat(child.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            child.destroyForcibly();
            publishers.shutdown();
            assertThat(publishers.awaitTermination(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
        assertThat(done.get()).isGreaterThanOrEqualTo(enough);
    }

    private static int publish(Calls calls, int port, Sample sample) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + port + "/api/");
        HttpRequest upload = HttpRequest.newBuilder(
                        uri.resolve("uploads/" + sample.manifest().jarSha256()))
                .header("Authorization", "Bearer " + TestRepository.TOKEN)
                .PUT(BodyPublishers.ofByteArray(sample.jar()))
                .build();
        calls.send(upload, BoundedBody.bytes(10_000));
        HttpRequest publish = HttpRequest.newBuilder(uri.resolve(sample.id().path()))
                .header("Authorization", "Bearer " + TestRepository.TOKEN)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(sample.body()))
                .build();
        HttpResponse<byte[]> answer = calls.send(publish, BoundedBody.bytes(10_000));
        return answer.statusCode();
    }

    private void requireWhole(RepositoryTree tree, String what) throws Exception {
        assertThat(Disk.list(root.resolve(".staging"))).as(what).isEmpty();
        Map<String, String> files = RepositoryTreeTest.files(root);
        List<IndexEntry> entries = tree.entries();
        long names = entries.stream().map(IndexEntry::name).distinct().count();
        assertThat(files).as(what).hasSize((int) (4 * entries.size() + names + 1));
        assertThat(Index.decode(Files.readAllBytes(root.resolve("index.json"))).services())
                .as(what)
                .isEqualTo(entries);
        for (IndexEntry entry : entries) {
            byte[] manifest = Files.readAllBytes(root.resolve(entry.id().path() + "/manifest.json"));
            assertThat(Manifest.decode(manifest).id()).as(what).isEqualTo(entry.id());
            assertThat(Files.readAllBytes(root.resolve("keys/" + entry.key())))
                    .as(what)
                    .isEqualTo(manifest);
            Path jar = root.resolve(entry.id().path()).resolve(entry.id().jarName());
            assertThat(Hashing.sha256().hashBytes(Files.readAllBytes(jar)).toString())
                    .as(what)
                    .isEqualTo(entry.sha256());
            Path nameKey = root.resolve("keys/" + ServiceKey.toString(entry.id().nameKey()));
            assertThat(tree.newest(entry.name()))
                    .as(what)
                    .isNotNull()
                    .extracting(IndexEntry::id)
                    .isEqualTo(Manifest.decode(Files.readAllBytes(nameKey)).id());
        }
    }
}
