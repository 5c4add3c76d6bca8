package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.json.JsonMapper;

@Tag("process")
@Timeout(120)
class MirrorTest {
    @TempDir
    Path folder;

    private static ConditionFactory await() {
        return eventually().pollInterval(Duration.ofMillis(20));
    }

    private static String error(TestRepository mirror) throws Exception {
        return new JsonMapper()
                .readTree(mirror.get("/health").body())
                .get("mirror")
                .get("error")
                .asString("");
    }

    @Test
    void aMirrorFollowsNewVersionsAndYanksByItself() throws Exception {
        Sample first = Sample.of("org.example.Foo:1.0", 100_000);
        Sample second = Sample.of("org.example.Foo:1.1", 10);
        try (TestRepository source = TestRepository.start(folder.resolve("source"))) {
            source.publish(first);
            try (TestRepository mirror = TestRepository.mirror(folder.resolve("mirror"), source.uri())) {
                await().until(() -> mirror.tree.entries().size() == 1);
                source.publish(second);
                source.publisher().yank(first.id(), "first try");
                await().until(() -> mirror.tree.entries().equals(source.tree.entries()));
                await().untilAsserted(() -> assertThat(RepositoryTreeTest.files(folder.resolve("mirror")))
                        .isEqualTo(RepositoryTreeTest.files(folder.resolve("source"))));
                source.publisher().unyank(first.id());
                source.publisher().yank(second.id(), "second try");
                await().until(() -> mirror.tree.entries().equals(source.tree.entries()));
                assertThat(mirror.get("/" + first.jarPath()).body()).isEqualTo(first.jar());
                assertThat(error(mirror)).isEmpty();

                HttpResponse<byte[]> publish = mirror.publish(Sample.of("org.example.New:1.0", 10));
                assertThat(publish.statusCode()).isEqualTo(403);
                assertThat(TestRepository.text(publish)).contains("mirror of " + source.uri(), "publish there");
            }
        }
    }

    /** A source that answers, and says nothing more of it: the index may be long, and its head says that it is. */
    @Test
    void anIndexThatDoesNotGoOnIsNotWaitedForAsLongAsTheLongestOneWouldTake() throws Exception {
        List<Socket> open = new CopyOnWriteArrayList<>();
        try (ServerSocket source = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                RepositoryTree tree = RepositoryTree.open(folder.resolve("mirror"))) {
            Thread server = new Thread(() -> {
                try {
                    while (true) {
                        Socket asked = source.accept();
                        open.add(asked);
                        asked.getOutputStream()
                                .write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{"
                                        .getBytes(StandardCharsets.US_ASCII));
                    }
                } catch (IOException e) {
                    // The test is over.
                }
            });
            server.setDaemon(true);
            server.start();
            URI uri = URI.create("http://127.0.0.1:" + source.getLocalPort());
            Calls calls = new Calls(uri, null, Duration.ofMillis(100));
            try (Mirror mirror = Mirror.start(calls, tree, Duration.ofSeconds(100), 1 << 20, null)) {
                await().untilAsserted(() -> assertThat(
                                String.valueOf(mirror.status().get("error")))
                        // Whatever came of it in that time.
                        .containsPattern("/index.json: no whole answer within \\d+ s, in which [01] bytes came"));
            }
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    @Test
    void aMirrorWhoseSourceIsAwayServesWhatItHasAndGoesOnWhenItIsBack() throws Exception {
        Path sourceRoot = folder.resolve("source");
        Path mirrorRoot = folder.resolve("mirror");
        Sample first = Sample.of("org.example.Foo:1.0", 1_000);
        int port;
        try (TestRepository source = TestRepository.start(sourceRoot)) {
            source.publish(first);
            port = source.server.address().getPort();
            try (TestRepository mirror = TestRepository.mirror(mirrorRoot, source.uri())) {
                await().until(() -> mirror.tree.entries().size() == 1);
            }
        }
        try (TestRepository mirror = TestRepository.mirror(mirrorRoot, URI.create("http://127.0.0.1:" + port))) {
            await().until(() -> error(mirror).contains("cannot be reached"));
            assertThat(mirror.get("/" + first.jarPath()).body()).isEqualTo(first.jar());
            try (TestRepository source = TestRepository.start(sourceRoot, port)) {
                source.publish(Sample.of("org.example.Foo:1.1", 10));
                await().until(() -> mirror.tree.entries().equals(source.tree.entries()));
                await().until(() -> error(mirror).isEmpty());
            }
        }
    }

    @Test
    void whatIsAlteredIsNotTakenAndDoesNotHoldUpTheRest() throws Exception {
        Path sourceRoot = folder.resolve("source");
        Sample altered = Sample.of("org.example.Altered:1.0", 1_000);
        Sample resigned = Sample.of("org.example.Resigned:1.0", 1_000);
        Sample tooLarge = Sample.of("org.example.TooLarge:1.0", (1 << 20) + 1);
        Sample good = Sample.of("org.example.Zebra:1.0", 1_000);
        Path mirrorRoot = folder.resolve("mirror");
        try (RepositoryTree other = RepositoryTree.open(mirrorRoot)) {
            Sample.of("org.example.Resigned:1.0", resigned.jar(), SigningKey.generate())
                    .publish(other);
        }
        try (TestRepository source = TestRepository.start(sourceRoot)) {
            for (Sample sample : new Sample[] {altered, resigned, tooLarge, good}) {
                assertThat(source.publish(sample).statusCode()).isEqualTo(201);
            }
            byte[] jar = altered.jar().clone();
            jar[500] ^= 1;
            Files.write(sourceRoot.resolve(altered.jarPath()), jar);
            try (TestRepository mirror = TestRepository.mirror(mirrorRoot, source.uri())) {
                await().until(() -> mirror.tree.find(good.id()) != null);
                await().until(() -> error(mirror).contains("(and 2 more versions)"));
                assertThat(error(mirror)).contains("org.example.Altered:1.0", "SHA-256");
                assertThat(mirror.tree.entries())
                        .extracting(IndexEntry::name)
                        .containsExactly("org.example.Resigned", "org.example.Zebra");
                assertThat(mirror.tree.find(resigned.id())).isNotNull();
            }
        }
    }

    @Test
    void aSourceThatIsNoRepositoryIsNamedInOneLine() throws Exception {
        try (TestRepository source = TestRepository.start(folder.resolve("source"));
                TestRepository mirror =
                        TestRepository.mirror(folder.resolve("mirror"), URI.create(source.uri() + "/services/"))) {
            await().until(() -> error(mirror).contains("answers 404"));
            assertThat(error(mirror))
                    .contains("is this the address of a repository?")
                    .doesNotContain("\n");
        }
    }

    @Test
    void debiansNginxWithAPlainCopyIsAMirror() throws Exception {
        Path nginx = Stream.of("/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx")
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(Path.of("/nowhere"));
        Tiers.require("nginx", Files.isExecutable(nginx), "there is no nginx: apt-get install nginx-light");
        Path sourceRoot = folder.resolve("source");
        Sample sample = Sample.of("org.example.Foo:1.0", 300_000);
        Sample yanked = Sample.of("org.example.Foo:1.1", 10);
        try (RepositoryTree tree = RepositoryTree.open(sourceRoot)) {
            sample.publish(tree);
            yanked.publish(tree);
            tree.yank(yanked.id(), "old");
        }
        Path copy = folder.resolve("copy");
        copy(sourceRoot, copy);
        int port = Ports.free();
        Process server = start(nginx, copy, port);
        try {
            URI uri = URI.create("http://127.0.0.1:" + port);
            await().until(() -> listens(port));
            for (Map.Entry<String, String> file :
                    RepositoryTreeTest.files(sourceRoot).entrySet()) {
                HttpResponse<byte[]> answer =
                        TestRepository.send(HttpRequest.newBuilder(URI.create(uri + "/" + file.getKey()))
                                .build());
                assertThat(answer.statusCode()).as(file.getKey()).isEqualTo(200);
                assertThat(HexFormat.of().formatHex(answer.body()))
                        .as(file.getKey())
                        .isEqualTo(file.getValue());
            }
            try (TestRepository mirror = TestRepository.mirror(folder.resolve("mirror"), uri)) {
                await().until(() -> mirror.tree.entries().size() == 2);
                await().untilAsserted(() -> assertThat(RepositoryTreeTest.files(folder.resolve("mirror")))
                        .isEqualTo(RepositoryTreeTest.files(sourceRoot)));
            }
        } finally {
            server.destroy();
            assertThat(server.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    private Process start(Path nginx, Path copy, int port) throws IOException {
        String user = System.getProperty("user.name").equals("root") ? "user root;\n" : "";
        Path config = Files.writeString(
                folder.resolve("nginx.conf"),
                user + "pid " + folder + "/nginx.pid;\ndaemon off;\nworker_processes 1;\nerror_log " + folder
                        + "/error.log;\nevents {}\nhttp {\n  access_log off;\n"
                        + Stream.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
                                .map(name -> "  " + name + "_temp_path " + folder + "/" + name + ";\n")
                                .reduce("", String::concat)
                        + "  server { listen 127.0.0.1:" + port + "; root " + copy + "; }\n}\n");
        return new ProcessBuilder(nginx.toString(), "-c", config.toString(), "-p", folder.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("nginx.out").toFile())
                .start();
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : all.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)), java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }
}
