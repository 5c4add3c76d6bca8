package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("once")
@Tag("process")
@Timeout(120)
class RepositoryCommandsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(Object... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        String[] texts = java.util.Arrays.stream(args).map(String::valueOf).toArray(String[]::new);
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    }

    private JsonNode json() {
        return new JsonMapper().readTree(out.toString());
    }

    private Path echo(String version) throws IOException {
        return TestJars.jar(
                folder.resolve("jars"),
                "org.example.Echo",
                TestJars.forwarder("org.example.Echo", ""),
                "Implementation-Version: " + version);
    }

    @Test
    void aServiceIsSignedPublishedVerifiedMirroredAndYanked() throws Exception {
        Path key = folder.resolve("my.key");
        Path token = SecretFile.write(folder.resolve("token"), "secret-of-the-test\n");
        assertThat(run("keygen", key, "--json")).isZero();
        String keyId = json().get("keyId").asString();
        assertThat(keyId).matches("[0-9a-f]{16}");
        Path publicKey = Path.of(json().get("publicKey").asString());
        assertThat(run("keygen", key)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("it exists and is not overwritten");

        Process server = Program.start(
                "repository",
                "--root",
                folder.resolve("root").toString(),
                "--listen",
                "0",
                "--json",
                "--token-file",
                token.toString(),
                "--publisher",
                publicKey + "=org.example.*");
        try (BufferedReader events = server.inputReader()) {
            JsonNode started = new JsonMapper().readTree(events.readLine());
            String url = started.get("url").asString();
            assertThat(started.get("publishing").asBoolean()).isTrue();

            Object[] publish = {
                "publish", echo("1.0"), "--repository", url, "--key", key, "--token-file", token, "--json"
            };
            assertThat(run(publish)).as(err.toString()).isZero();
            assertThat(json().get("levels").toString()).isEqualTo("[\"jvm\"]");
            assertThat(json().get("outcome").asString()).isEqualTo("created");
            assertThat(json().get("publisher").asString()).isEqualTo(keyId);
            Path other = echo("1.1");
            assertThat(run("publish", other, "--repository", url, "--key", key, "--token-file", token))
                    .isZero();
            assertThat(out.toString()).startsWith("published org.example.Echo:1.1, ");
            assertThat(run("publish", other, "--repository", url, "--key", key, "--token-file", token))
                    .isZero();
            assertThat(out.toString()).startsWith("already there: org.example.Echo:1.1, ");
            assertThat(run(
                            "publish",
                            other,
                            "--version",
                            "1.0",
                            "--repository",
                            url,
                            "--key",
                            key,
                            "--token-file",
                            token))
                    .isEqualTo(1);
            assertThat(err.toString()).contains("org.example.Echo:1.0 is published already");
            assertThat(err.toString().lines()).hasSize(1);

            assertThat(run("verify", "org.example.Echo:1.1", "--publisher", publicKey, "--repository", url))
                    .isZero();
            assertThat(out.toString())
                    .startsWith("good: org.example.Echo:1.1, ")
                    .contains(keyId);
            assertThat(run(
                            "verify",
                            "org.example.Echo:1.1",
                            "--publisher",
                            publicKey + "=com.example.*",
                            "--repository",
                            url,
                            "--json"))
                    .isEqualTo(1);
            assertThat(json().get("refusal").asString()).isEqualTo("NOT_FOR_THIS_NAME");

            Object[] yank = {
                "publish",
                "--yank",
                "org.example.Echo:1.1",
                "--reason",
                "loses packets",
                "--repository",
                url,
                "--token-file",
                token
            };
            assertThat(run(yank)).as(err.toString()).isZero();
            assertThat(out.toString()).startsWith("yanked org.example.Echo:1.1");
            assertThat(run("publish", "--unyank", "org.example.Echo:1.1", "--repository", url, "--token-file", token))
                    .isZero();
            assertThat(folder.resolve("root/services/org.example.Echo/1.1/yanked"))
                    .doesNotExist();
            requireMirror(url);

            server.toHandle().destroy(); // SIGTERM; Process.destroy would close the pipe too
            assertThat(events.lines().toList()).containsExactly("{\"event\":\"stopped\"}");
            assertThat(server.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(server.exitValue()).isEqualTo(128 + 15);
        } finally {
            server.destroyForcibly();
        }
        Path jar = folder.resolve("root/services/org.example.Echo/1.0/org.example.Echo-1.0.jar");
        assertThat(run("verify", jar, "--publisher", publicKey))
                .as(err.toString())
                .isZero();
        Files.write(jar, new byte[] {1}, java.nio.file.StandardOpenOption.APPEND);
        assertThat(run("verify", jar, "--publisher", publicKey)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
    }

    private void requireMirror(String url) throws Exception {
        Path root = folder.resolve("mirror");
        Process mirror = Program.start(
                "repository", "--root", root.toString(), "--listen", "0", "--mirror-of", url, "--interval", "100ms");
        try (BufferedReader lines = mirror.inputReader()) {
            assertThat(lines.readLine()).contains("mirror of " + url);
            Path source = folder.resolve("root/index.json");
            eventually()
                    .until(() -> Files.readString(root.resolve("index.json")).equals(Files.readString(source)));
        } finally {
            mirror.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "repository",
                "repository --root . --listen nowhere:x",
                "repository --root . --max-jar 1",
                "repository --root . --token-file /nowhere/token",
                "repository --root . --publisher /nowhere/key.pub",
                "repository --root . --tls-key k",
                "repository --root . --mirror-of localhost:3325",
                "repository --root . --interval never",
                "keygen",
                "publish",
                "publish a.jar",
                "publish a.jar --yank x:1 --reason r --repository http://127.0.0.1:1",
                "publish --yank x:1 --repository http://127.0.0.1:1",
                "publish /nowhere/a.jar --repository http://127.0.0.1:1 --key k --token-file /nowhere/token",
                "verify x",
                "verify x --publisher /nowhere/key.pub"
            })
    void misuseIsOneLineAndCode2(String arguments) {
        assertThat(run((Object[]) arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString().lines()).as(err.toString()).hasSize(1);
        assertThat(out.toString()).isEmpty();
        assertThat(Path.of(".staging")).doesNotExist();
    }

    @Test
    void aPortThatIsTakenOrAnEmptyTokenIsOneLineAndCode2() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(run("repository", "--root", folder, "--listen", taken.getLocalPort()))
                    .isEqualTo(2);
            assertThat(err.toString()).contains("cannot listen on", "is the port taken?");
            assertThat(err.toString().lines()).hasSize(1);
        }
        Path token = SecretFile.write(folder.resolve("token"), "");
        assertThat(run("repository", "--root", folder, "--token-file", token)).isEqualTo(2);
        assertThat(err.toString()).contains("it has 0 characters");
    }

    @Test
    void versionWithoutAValueIsThePrograms() {
        assertThat(run("publish", "--version")).isZero();
        assertThat(out.toString()).startsWith("tamanoir ");
    }

    @Test
    void aTokenInTheClearOnTheNetworkIsWarnedOf() throws Exception {
        Path token = SecretFile.write(folder.resolve("token"), "secret-of-the-test");
        Process server = Program.builder(
                        "repository",
                        "--root",
                        folder.resolve("root").toString(),
                        "--listen",
                        "*:0",
                        "--token-file",
                        token.toString())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader lines = server.inputReader()) {
            String warning = "warning: the token crosses the network in the clear";
            assertThat(lines.lines()
                            .filter(line -> line.startsWith(warning) || line.contains("publishing is on"))
                            .limit(2))
                    .anyMatch(line -> line.startsWith(warning))
                    .anyMatch(line -> line.contains("publishing is on"));
        } finally {
            server.destroyForcibly();
        }
    }
}
