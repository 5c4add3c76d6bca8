package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.deploy;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.packets;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.node.Main;
import org.tamanoir.node.Program;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Repositories and nodes that die, as by kill -9, while code is on its way. */
@Tag("once")
@Tag("process")
@Timeout(120)
class DeployedFaultsTest {
    private static final String NAME = "org.example.Mark";
    private static final String MONITOR = "org.tamanoir.services.Monitor";
    private static final long SEED = Seeds.ofCommit(DeployedFaultsTest.class);
    /** More than {@link #HELD} and what the kernel buffers (tcp(7): by default 4 MiB of what is sent). */
    private static final int BIG = 8 << 20;
    /** What a repository has sent when it is held, and then killed. */
    private static final int HELD = 2 << 20;

    @TempDir
    Path folder;

    private LiveRepository repository;
    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        sink = new LiveSink();
    }

    @AfterEach
    void close() throws Exception {
        sink.close();
        repository.close();
    }

    /** Publishes a service that marks packets, in a jar of which no repository is rid before it is held. */
    private long publishBig() throws Exception {
        Path jar = TestJars.jar(
                folder.resolve("jars"), NAME, LiveRepository.marker(NAME + ":1.0", 4), "Implementation-Version: 1.0");
        byte[] noise = new byte[BIG];
        new Random(SEED).nextBytes(noise);
        try (FileSystem zip = FileSystems.newFileSystem(URI.create("jar:" + jar.toUri()), Map.of())) {
            Files.write(zip.getPath("noise"), noise);
        }
        return repository.publish(jar, LiveRepository.KEY).jarBytes();
    }

    private static JsonNode json(String line) {
        return new JsonMapper().readTree(line);
    }

    private static void kill(Process process) throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
    }

    /** A copy of the repository's files, as a mirror has them. */
    private Path copy() throws IOException {
        Path copy = folder.resolve("copy");
        try (Stream<Path> files = Files.walk(repository.root)) {
            for (Path file : files.filter(f -> !f.getFileName().toString().contains("lock"))
                    .toList()) {
                Files.copy(file, copy.resolve(repository.root.relativize(file).toString()));
            }
        }
        return copy;
    }

    private String config(Path own, List<String> repositories) {
        return route(sink.address(), true) + deploy(own, repository, repositories, "");
    }

    private void assertStreamRuns(LiveNode node, String service, int first, int mark) throws Exception {
        try (AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(service), first, first + 10);
            sender.finish();
            sink.await(first + 10);
        }
        assertThat(sink.marks().subList(first, first + 10)).containsOnly(mark);
    }

    @Test
    void aDownloadBeginsAnewAtTheNextMirrorWhenItsRepositoryIsKilled() throws Exception {
        long bytes = publishBig();
        Process killed = Program.start("repository", "--root", copy().toString(), "--listen", "0", "--json");
        try (BufferedReader out = killed.inputReader();
                LiveRelay first = new LiveRelay(
                        URI.create(json(out.readLine()).get("url").asString()).getPort(), HELD);
                LiveRelay second = new LiveRelay(URI.create(repository.url()).getPort(), Long.MAX_VALUE);
                LiveNode node = LiveNode.start(
                        folder.resolve("node"), config(folder.resolve("node"), List.of(first.url(), second.url())));
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            send(sender, packets(NAME), 0, 1000);
            sender.finish();
            assertThat(first.awaitLimit()).isTrue();
            eventually().until(() -> partial(folder.resolve("node")) > HELD / 2);
            kill(killed);
            first.cut();
            sink.await(1000);
            assertThat(sink.numbers())
                    .isEqualTo(IntStream.range(0, 1000).boxed().toList());
            assertThat(sink.marks()).containsOnly(4);
            node.assertConserved(1000, Map.of());
            assertThat(node.versions(NAME)).containsExactly("1.0 running repository " + second.url());
            assertThat(second.bytes()).as("whole, not the rest alone").isGreaterThan(bytes);
        } finally {
            killed.destroyForcibly();
        }
    }

    @Test
    void withAllMirrorsDeadStreamsFollowThePolicyAndTheNodeServesOn() throws Exception {
        repository.publishMarker(NAME + ":1.0", 4);
        repository.stop();
        Path own = folder.resolve("node");
        try (LiveNode node = LiveNode.start(own, config(own, List.of(repository.url(), "http://127.0.0.1:1")))) {
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                send(sender, packets(NAME), 0, 10);
                sender.finish();
                node.assertConserved(10, Map.of(DropReason.DEPLOYMENT_FAILED, 10L));
            }
            assertThat(node.outcomes()).containsOnlyKeys("unavailable");
            assertThat(node.events("deployment-failed").get(0))
                    .contains(repository.url(), "http://127.0.0.1:1")
                    .hasLineCount(1);
            assertStreamRuns(node, MONITOR, 0, 1);
            repository.start();
            eventually().until(() -> {
                try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                    send(sender, packets(NAME), 10, 11);
                    sender.finish();
                }
                return sink.marks().contains(4);
            });
        }
    }

    @Test
    void aNodeWithItsRepositoriesDownServesFromItsCache() throws Exception {
        repository.publishMarker(NAME + ":1.0", 4);
        Path own = folder.resolve("node");
        try (LiveNode node = LiveNode.start(own, config(own, List.of(repository.url())))) {
            assertStreamRuns(node, NAME, 0, 4);
        }
        repository.stop();
        try (LiveNode node = LiveNode.start(own, config(own, List.of(repository.url())))) {
            assertStreamRuns(node, NAME, 10, 4);
            assertThat(node.outcomes()).isEqualTo(Map.of("cache", 1L));
        } finally {
            repository.start();
        }
    }

    private Process nodeProcess(Path own, List<String> repositories) throws IOException {
        Path token = SecretFile.write(Files.createDirectories(own).resolve("admin.token"), LiveNode.TOKEN + "\n");
        Path file = Files.writeString(own.resolve("node.yaml"), LiveNode.config(own, token, config(own, repositories)));
        return Program.start("node", "-c", file.toString(), "--json");
    }

    private static InetSocketAddress tcp(JsonNode started) {
        Endpoint endpoint = Endpoint.parse(started.get("tcp").get(0).asString(), 1);
        return new InetSocketAddress(endpoint.address(), endpoint.port());
    }

    @Test
    void aNodeThatIsKilledInMidFetchStartsAgainWithNothingHalfThere() throws Exception {
        long bytes = publishBig();
        Path own = folder.resolve("node");
        int repositoryPort = URI.create(repository.url()).getPort();
        try (LiveRelay held = new LiveRelay(repositoryPort, HELD)) {
            Process process = nodeProcess(own, List.of(held.url()));
            try (BufferedReader out = process.inputReader();
                    AnepSender sender = AnepSender.tcp(tcp(json(out.readLine())))) {
                send(sender, packets(NAME), 0, 10);
                assertThat(held.awaitLimit()).isTrue();
                eventually().until(() -> partial(own) > HELD / 2);
            } finally {
                kill(process);
            }
        }
        try (LiveNode node = LiveNode.start(own, config(own, List.of("http://127.0.0.1:1")))) {
            assertThat(node.ctl(1, "deploy", NAME)).contains("http://127.0.0.1:1");
            assertThat(node.versions(NAME)).isEmpty();
        }
        try (LiveRelay counting = new LiveRelay(repositoryPort, Long.MAX_VALUE);
                LiveNode node = LiveNode.start(own, config(own, List.of(counting.url())))) {
            assertStreamRuns(node, NAME, 0, 4);
            assertThat(counting.bytes()).as("whole, not the rest alone").isGreaterThan(bytes);
        }
    }

    @Test
    void aNodeThatIsKilledInMidWriteHasAllThatItTold() throws Exception {
        int services = 12;
        Path own = folder.resolve("node");
        for (int i = 0; i < services; i++) {
            repository.publishMarker("org.example.S" + i + ":1.0", i + 1);
        }
        Process process = nodeProcess(own, List.of(repository.url()));
        int told;
        try (BufferedReader out = process.inputReader()) {
            String admin = json(out.readLine()).get("servers").get("admin API").asString();
            CompletableFuture<Integer> deploying = Waiting.async(() -> deployAll(own, admin, services));
            int enough = 3 + new Random(SEED).nextInt(8);
            eventually().until(() -> cached(own) >= enough);
            kill(process);
            told = deploying.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly();
        }
        repository.stop();
        try (LiveNode node = LiveNode.start(own, config(own, List.of(repository.url())))) {
            for (int i = 0; i < told; i++) {
                assertStreamRuns(node, "org.example.S" + i, 10 * i, i + 1);
            }
            assertThat(node.outcomes()).isEqualTo(Map.of("cache", (long) told));
            repository.start();
            for (int i = told; i < services; i++) {
                node.ctl(0, "deploy", "org.example.S" + i);
            }
        }
    }

    /** Bytes on the node's disk of a download that goes on. */
    private static long partial(Path own) {
        try (Stream<Path> files = Files.walk(own.resolve("cache").resolve("tmp"))) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException | java.io.UncheckedIOException e) {
            return 0; // Files come and go.
        }
    }

    private static long cached(Path own) {
        try (Stream<Path> files = Files.walk(own.resolve("cache"))) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        } catch (IOException | java.io.UncheckedIOException e) {
            return 0; // Files come and go.
        }
    }

    /** How many the node said it deployed, one after the other, until it was gone. */
    private static int deployAll(Path own, String admin, int services) {
        for (int i = 0; i < services; i++) {
            java.io.PrintWriter nowhere = new java.io.PrintWriter(java.io.Writer.nullWriter());
            int code = Main.run(
                    nowhere,
                    nowhere,
                    "ctl",
                    "deploy",
                    "org.example.S" + i,
                    "--admin",
                    admin,
                    "--token-file",
                    own.resolve("admin.token").toString());
            if (code != 0) {
                return i;
            }
        }
        return services;
    }
}
