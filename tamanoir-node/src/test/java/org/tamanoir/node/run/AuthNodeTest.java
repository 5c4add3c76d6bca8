package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.auth.Authentication;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.KeyFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A node that authenticates packets: from its files, by {@code ctl auth}, and with {@code send} and {@code receive}. */
@Timeout(120)
class AuthNodeTest {
    private static final String SEVEN = "07".repeat(32);
    private static final String EIGHT = "08".repeat(32);
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+)");

    @TempDir
    Path folder;

    private Path keys(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text);
        file.toFile().setReadable(false, false);
        file.toFile().setReadable(true, true);
        return file;
    }

    private static List<String> problems(String yaml) {
        Problems problems = new Problems();
        parsed(yaml, problems);
        return problems.lines();
    }

    private static NodeConfigBuilder parsed(String yaml, Problems problems) {
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", yaml, settings);
        settings.check();
        return settings;
    }

    private NodeConfig config(String yaml) {
        Problems problems = new Problems();
        Path own = folder.resolve("node");
        NodeConfig config = parsed(LiveNode.config(own, own.resolve("admin.token"), yaml), problems)
                .build();
        assertThat(problems.lines()).isEmpty();
        return config;
    }

    private static String text(Path file) {
        return "authentication: {keys: " + file + ", to: [10.0.2.0/24], sign: [\"10.0.3.0/24=7\"]}";
    }

    private static List<Integer> ids(LiveNode node) {
        return node.node.environment().authentication().keys().stream()
                .map(Authentication.Shown::id)
                .toList();
    }

    @Test
    void keysAreListedAddedAndRemovedAndNeverShown() throws Exception {
        Path file = keys("keys", "# of the neighbour\n7 " + SEVEN + "\n");
        try (LiveNode node = LiveNode.start(folder.resolve("node"), text(file))) {
            Path more = keys("more", "8 " + EIGHT + "\n4294967295 " + EIGHT + "\n");
            assertThat(node.ctl(ExitCode.OK, "auth", "add", more.toString()))
                    .contains("key 8 added")
                    .contains("key 4294967295 added");
            assertThat(node.ctl(ExitCode.FAILED, "auth", "add", more.toString()))
                    .contains("key 8 is there already");
            String table = node.ctl(ExitCode.OK, "auth");
            assertThat(table)
                    .containsPattern("checked to +10.0.2.0/24\n")
                    .containsPattern("signed +10.0.3.0/24=7\n")
                    .containsPattern("\n +7 +32 +file +true +0 +0\n")
                    .containsPattern("\n +8 +32 +api +false +0 +0\n");
            assertThat(node.ctl(ExitCode.FAILED, "auth", "remove", "7")).contains("key 7 signs what leaves");
            assertThat(node.ctl(ExitCode.OK, "auth", "remove", "8")).contains("key 8 removed");
            assertThat(node.ctl(ExitCode.FAILED, "auth", "remove", "8")).contains("there is no key 8");
            assertThat(node.ctl(ExitCode.FAILED, "auth", "remove", "0")).contains("1 to 4294967295");
            JsonNode json = node.get("/v1/authentication");
            assertThat(json.get("keys").size()).isEqualTo(2);
            for (String shown : List.of(table, json.toString(), node.ctl(ExitCode.OK, "config"))) {
                assertThat(shown).doesNotContain(SEVEN.substring(0, 16)).doesNotContain(EIGHT.substring(0, 16));
            }
        }
    }

    @Test
    void aReloadTakesWhatDiffersAndLeavesWhatOperatorsDid() throws Exception {
        Path file = keys("keys", "7 " + SEVEN + "\n5 " + SEVEN + "\n");
        try (LiveNode node = LiveNode.start(folder.resolve("node"), text(file))) {
            node.ctl(ExitCode.OK, "auth", "add", keys("more", "8 " + EIGHT).toString());
            keys("keys", "7 " + SEVEN + "\n6 " + EIGHT + "\n");
            assertThat(node.node.apply(config(text(file))).changed())
                    .containsExactly("authentication.keys: a key in one of its files is another");
            assertThat(ids(node)).containsExactly(6, 7, 8);
            String off = "authentication: {keys: " + file + "}";
            assertThat(node.node.apply(config(off)).changed()).hasSize(2);
            assertThat(node.node.environment().authentication().isOn()).isFalse();
            assertThat(node.node.apply(config(text(file))).changed()).hasSize(2);
            assertThat(node.node.environment().authentication().isOn()).isTrue();
            assertThat(ids(node)).containsExactly(6, 7, 8);
        }
    }

    @Test
    void aReloadThatWouldHaveTooManyKeysChangesNothing() throws Exception {
        Path file = keys("keys", "7 " + SEVEN + "\n");
        try (LiveNode node = LiveNode.start(folder.resolve("node"), text(file))) {
            node.ctl(ExitCode.OK, "auth", "add", keys("more", "8 " + EIGHT).toString());
            StringBuilder many = new StringBuilder("7 " + SEVEN + "\n");
            for (int id = 1000; id < 1255; id++) {
                many.append(id).append(' ').append(EIGHT).append('\n');
            }
            keys("keys", many.toString());
            NodeConfig wanted = config(text(file));
            assertThatThrownBy(() -> node.node.apply(wanted))
                    .isInstanceOf(ManagerException.class)
                    .hasMessageContaining("257 keys: must be at most 256");
            assertThat(ids(node)).containsExactly(7, 8);
        }
    }

    @Test
    void whatGoesPastTheCheckIsRefused() throws Exception {
        String rule = "authentication: {to: [any]}\n";
        assertThat(problems(rule + "levels: {interfaces: [lo]}"))
                .singleElement()
                .asString()
                .contains("levels below the JVM let packets by that nobody checks");
        Path ring = Files.writeString(folder.resolve("ring"), "00112233445566778899aabbccddeeff");
        assertThat(problems(rule + "element: {unit: 0, units: [\"127.0.0.1:3328\"], key-file: " + ring + "}"))
                .anyMatch(line -> line.contains("a distributed element renumbers packets"));
        assertThat(problems("authentication: {sign: [\"any=9\"]}"))
                .singleElement()
                .asString()
                .contains("key 9 is not in the file of authentication.keys");
        assertThat(problems("authentication: {replay-window: 65}"))
                .singleElement()
                .asString()
                .contains("take 64 or 128");
        assertThat(problems("authentication: {sign: [\"10.0.0.0/8\"]}"))
                .singleElement()
                .asString()
                .contains("names no key");
    }

    @Test
    void aFileThatOthersMayReadIsRefused() throws Exception {
        Path file = keys("keys", "7 " + SEVEN);
        assertThat(KeyFile.read(file.toString()).keys()).hasSize(1);
        file.toFile().setReadable(true, false);
        assertThatThrownBy(() -> KeyFile.read(file.toString())).hasMessageContaining("chmod 600");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "# none\n", "7", "7 abc", "7 00", "0 SECRET", "7 SECRET x", "x SECRET", "7 SECRET\n7 SECRET"
            })
    void aFileThatHoldsNoKeysIsRefusedInALineWithoutASecret(String text) throws Exception {
        Path file = keys("keys", text.replace("SECRET", SEVEN));
        assertThatThrownBy(() -> KeyFile.read(file.toString()))
                .hasMessageContaining("key file " + file)
                .message()
                .doesNotContain(SEVEN)
                .doesNotContain("\n");
    }

    // ---- send and receive
    // --------------------------------------------------------------------------------------------

    private static final class Run {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final CompletableFuture<Integer> exit;

        Run(String... arguments) {
            exit = Waiting.async(() -> Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments));
        }

        int code() throws Exception {
            return exit.get(60, TimeUnit.SECONDS);
        }

        String listening() {
            eventually().until(() -> LISTENING.matcher(err.toString()).find());
            Matcher found = LISTENING.matcher(err.toString());
            assertThat(found.find()).isTrue();
            return found.group(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--tcp", "--udp"})
    void whatIsSentSignedArrivesSignedByTheNode(String way) throws Exception {
        Path toNode = keys("to-node", "7 " + SEVEN);
        Path toHost = keys("to-host", "8 " + EIGHT);
        Path both = keys("both", "7 " + SEVEN + "\n8 " + EIGHT);
        Run receive = new Run(
                "receive", "--listen", "127.0.0.1:0", way, "--count", "500", "--auth-key", toHost.toString(), "--json");
        String far = receive.listening();
        String yaml = "routes: [{to: 10.0.2.0/24, via: \"" + far + "\", kind: host}]\n" + "authentication: {keys: "
                + both + ", from: [10.0.1.0/24], sign: [\"" + far + "=8\"]}";
        try (LiveNode node = LiveNode.start(folder.resolve("node"), yaml)) {
            String to = Endpoint.toString(
                    way.equals("--tcp")
                            ? node.node.environment().tcpAddresses().get(0)
                            : node.node.environment().udpAddresses().get(0));
            List<String> common = List.of(
                    "send",
                    "--to",
                    to,
                    way,
                    "--count",
                    "500",
                    "--packet-size",
                    "300",
                    "--rate",
                    "5k",
                    "--service",
                    "Monitor",
                    "--source",
                    "10.0.1.5",
                    "--destination",
                    "10.0.2.7",
                    "--json");
            Run refused = new Run(common.toArray(String[]::new));
            assertThat(refused.code()).isIn(ExitCode.OK, ExitCode.FAILED);
            eventually().until(() -> node.node.environment().traffic().drops().containsKey(DropReason.AUTH_MISSING));
            String[] signed = Arrays.copyOf(common.toArray(String[]::new), common.size() + 2);
            signed[common.size()] = "--auth-key";
            signed[common.size() + 1] = toNode.toString();
            Run send = new Run(signed);
            assertThat(send.code()).as(send.err.toString()).isZero();
            assertThat(receive.code()).as(receive.err + " " + receive.out).isZero();
            JsonNode report = JsonMapper.shared().readTree(receive.out.toString());
            assertThat(report.get("packets").asLong()).isEqualTo(500);
            assertThat(report.get("whole").asBoolean()).isTrue();
            assertThat(report.get("refused").size()).isZero();
            Map<DropReason, Long> drops = node.node.environment().traffic().drops();
            assertThat(drops).containsOnlyKeys(DropReason.AUTH_MISSING);
        }
    }

    @Test
    void receiveCountsWhatIsNotSigned() throws Exception {
        Path keys = keys("keys", "8 " + EIGHT);
        Run receive = new Run(
                "receive",
                "--listen",
                "127.0.0.1:0",
                "--tcp",
                "--exit-after-streams",
                "1",
                "--auth-key",
                keys.toString(),
                "--timeout",
                "20s",
                "--json",
                "--count",
                "10");
        Run send = new Run("send", "--to", receive.listening(), "--count", "10", "--packet-size", "200", "--json");
        assertThat(send.code()).isZero();
        assertThat(receive.code()).isEqualTo(ExitCode.FAILED);
        assertThat(JsonMapper.shared()
                        .readTree(receive.out.toString())
                        .get("refused")
                        .get("AUTH_MISSING")
                        .asLong())
                .isEqualTo(10);
    }
}
