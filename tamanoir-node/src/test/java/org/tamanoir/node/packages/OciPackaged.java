package org.tamanoir.node.packages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Tiers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The container image, as {@code -Poci} has built it: looked at by skopeo, and its root run as a container engine does,
 * with a view of processes and mounts of its own, as the image's user. The network is the host's, for the test to ask.
 */
@Tag("packages")
class OciPackaged {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    static Path folder;

    private static Path image;

    @BeforeAll
    static void find() throws Exception {
        boolean isRoot = Shell.run("id", "-u").equals("0\n");
        Tiers.require("oci", isRoot && has("umoci") && has("skopeo"), "needs root, umoci and skopeo");
        image = Shell.only(Path.of("target").toAbsolutePath(), "tamanoir-node-*-linux-*.oci.tar");
    }

    private static boolean has(String program) {
        return Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    }

    @Test
    void saysWhoRunsWhat() throws Exception {
        JsonNode config = JSON.readTree(Shell.run("skopeo", "inspect", "--config", "oci-archive:" + image));
        assertThat(config.get("os").asString()).isEqualTo("linux");
        JsonNode run = config.get("config");
        assertThat(run.get("User").asString()).isEqualTo("65532:65532");
        assertThat(run.get("Entrypoint").toString()).isEqualTo("[\"/opt/tamanoir/bin/tamanoir\"]");
        assertThat(run.get("Cmd").toString()).isEqualTo("[\"node\",\"--listen\",\"*:3322\"]");
        assertThat(run.get("ExposedPorts").propertyNames()).containsExactlyInAnyOrder("3322/tcp", "3322/udp");
        assertThat(run.get("Labels").get("org.opencontainers.image.title").asString())
                .isEqualTo("Tamanoir");
    }

    @Test
    void itsNodeIsWhole() throws Exception {
        Shell.run("tar", "-xf", image.toString(), "-C", folder.toString());
        Path bundle = folder.resolve("bundle");
        Shell.run("umoci", "unpack", "--image", folder + ":latest", bundle.toString());
        JsonNode process =
                JSON.readTree(Files.readString(bundle.resolve("config.json"))).get("process");
        JsonNode user = process.get("user");
        Path root = bundle.resolve("rootfs");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                "/usr/bin/unshare",
                "--mount",
                "--pid",
                "--fork",
                "/bin/sh",
                "-ec",
                "mount --make-rprivate /; mount -t proc proc $0/proc; exec /usr/sbin/chroot --userspec=$1 \"$0\" \"$2\" "
                        + "node --listen 0 --admin 127.0.0.1:0 --json",
                root.toString(),
                user.get("uid").asInt() + ":" + user.get("gid").asInt(),
                process.get("args").get(0).asString()));
        builder.environment().clear();
        process.get("env")
                .forEach(entry -> builder.environment()
                        .put(entry.asString().split("=", 2)[0], entry.asString().split("=", 2)[1]));
        Process node = builder.redirectError(folder.resolve("err").toFile()).start();
        try (BufferedReader out = node.inputReader()) {
            String started = out.readLine();
            assertThat(started).as(Files.readString(folder.resolve("err"))).isNotNull();
            String admin =
                    JSON.readTree(started).get("servers").get("admin API").asString();
            URI health = URI.create(admin + "/health");
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(health).timeout(PATIENCE).build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        } finally {
            node.descendants().forEach(ProcessHandle::destroyForcibly);
            node.destroyForcibly().waitFor();
        }
    }
}
