package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.Program;
import org.tamanoir.node.Programs;
import org.tamanoir.support.NotifyReceiver;
import org.tamanoir.support.SecretFile;
import org.tamanoir.support.Seeds;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Nodes as processes that read their configuration again. */
@Tag("process")
@Timeout(300)
class ReloadTest {
    private static final String ROUTE = "  - {to: 10.1.0.0/16, via: \"127.0.0.1:%d\", kind: host}\n";
    private static final String QOS = "qos: {classes: [{name: all}], pre: {discipline: wfq}}\n";

    /** Three times all combinations of what the reloads change; {@code -Dtamanoir.reloads=N} for another number. */
    private static final int RELOADS = Seeds.number("tamanoir.reloads", Seeds.scaled(24));

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    @SuppressWarnings("NullAway.Init") // Each test starts it.
    private LiveProcess node;

    @AfterEach
    void end() {
        if (node != null) {
            node.close();
        }
    }

    private Path file() {
        return folder.resolve("node.yaml");
    }

    private void write(String text) throws IOException {
        Path fresh = Files.writeString(folder.resolve("fresh"), text);
        Files.move(fresh, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private String base(String more) throws IOException {
        Path token = folder.resolve("token");
        SecretFile.write(token, LiveNode.TOKEN + "\n");
        return "listen: {tcp: [0], udp: [0]}\nadmin: {listen: \"127.0.0.1:0\", token-file: " + token + "}\n" + more;
    }

    private void start(String... more) throws IOException {
        node = LiveProcess.of(file(), more);
    }

    /** Returns what {@code ctl} prints, with its code before it. */
    private String ctl(String... words) {
        StringWriter text = new StringWriter();
        String[] all = Stream.concat(
                        Stream.of(
                                "ctl",
                                "--admin",
                                node.admin(),
                                "--token-file",
                                folder.resolve("token").toString()),
                        Arrays.stream(words))
                .toArray(String[]::new);
        int code = Programs.run(new PrintWriter(text, true), all);
        return code + "\n" + text;
    }

    @Test
    @Tag("once")
    void underLoadReloadsLoseNothing() throws Exception {
        try (LiveLoad load = new LiveLoad()) {
            String far =
                    "  - {to: 10.0.0.0/24, via: \"127.0.0.1:" + load.address().getPort() + "\", kind: host}\n";
            write(base("routes:\n" + far));
            start();
            load.start(node, 1, true);
            for (int i = 0; i < RELOADS; i++) {
                String changed = "routes:\n" + far + ROUTE.formatted(5_000 + i)
                        + "services: [{name: Monitor, config: {mark: " + i % 8 + "}, failure-policy: " + policy(i)
                        + "}]\n" + (isScheduled(i) ? QOS : "");
                write(base(changed));
                List<String> wanted = new ArrayList<>(List.of(
                        "routes 10.1.0.0/16",
                        "services org.tamanoir.services.Monitor failure-policy",
                        "services org.tamanoir.services.Monitor config"));
                if (isScheduled(i) != isScheduled(i - 1)) {
                    wanted.add("qos");
                }
                assertThat(reloaded()).as("reload %d", i).containsExactlyElementsOf(wanted);
            }
            assertHas(RELOADS - 1);
            load.awaitMore(2);
            long came = load.finish();
            node.terminate();
            JsonNode stopped = node.stopped();
            assertThat(stopped.get("packetsIn").asLong()).isEqualTo(came);
            assertThat(stopped.get("packetsOut").asLong()).isEqualTo(came);
            assertThat(stopped.get("unaccounted").asLong()).isZero();
        }
    }

    private static String policy(int reload) {
        return reload % 2 == 0 ? "pass" : "drop";
    }

    private static boolean isScheduled(int reload) {
        return reload >= 0 && reload % 4 >= 2;
    }

    /** Asserts that the node has what this reload told it, of the parts that have it. */
    private void assertHas(int reload) throws Exception {
        assertThat(ctl("config")).contains("mark: " + reload % 8, "failure-policy: " + policy(reload));
        assertThat(ctl("routes")).contains("127.0.0.1:" + (5_000 + reload));
        assertThat(ask("GET", "/v1/qos").get("pre").isNull()).isEqualTo(!isScheduled(reload));
        JsonNode monitor =
                ask("GET", "/v1/services?match=Monitor").get("services").get(0);
        assertThat(monitor.get("traffic").get("packetsIn").asLong())
                .as("its counts begin anew with each definition")
                .isLessThan(ask("GET", "/v1/traffic").get("packetsIn").asLong());
    }

    /** Has the node reload, without a program's start for each time; returns what each line is about. */
    private List<String> reloaded() throws Exception {
        JsonNode answer = ask("POST", "/v1/reload");
        assertThat(answer.get("failed").isEmpty()).as("%s", answer).isTrue();
        assertThat(answer.get("needRestart").isEmpty()).as("%s", answer).isTrue();
        List<String> about = new ArrayList<>();
        answer.get("changed").forEach(line -> about.add(line.asString().replaceFirst(": .*", "")));
        return about;
    }

    private JsonNode ask(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(node.admin() + path))
                .header("Authorization", "Bearer " + LiveNode.TOKEN)
                .header("Content-Type", "application/json")
                .method(
                        method,
                        method.equals("POST")
                                ? HttpRequest.BodyPublishers.ofString("{}")
                                : HttpRequest.BodyPublishers.noBody())
                .timeout(LiveNode.PATIENCE)
                .build();
        return new JsonMapper()
                .readTree(client.send(request, HttpResponse.BodyHandlers.ofString())
                        .body());
    }

    @Test
    @Tag("once")
    void eachChangeIsALineAndWhatNeedsARestartIsNamedUntilThen() throws Exception {
        write(base("routes:\n" + ROUTE.formatted(5_000) + "services: [{name: Monitor, config: {mark: 7}}]\n"));
        start("--drain", "7s");
        write(base("limits: {inbox: 2MiB}\ntimeouts: {drain: 3s}\nservices: [{name: Monitor, config: {mark: 1}}]\n"));
        String inbox = "needs a restart: limits.inbox: 1MiB -> 2MiB";
        assertThat(ctl("reload").lines())
                .containsExactly(
                        "0",
                        "routes 10.1.0.0/16: {via: \"127.0.0.1:5000\", transport: same, kind: host} -> nothing",
                        "services org.tamanoir.services.Monitor config: mark changed; values are not shown",
                        inbox); // The option goes before the file: the drain time is what it was.
        assertThat(ctl("reload").lines()).containsExactly("0", inbox);
        assertThat(ctl("config"))
                .contains("mark: 1", "drain: 7s", "inbox: 1MiB")
                .doesNotContain("10.1.0.0");
    }

    @Test
    @Tag("once")
    void whatOperatorsChangedStaysUnlessTheFileChangesJustThat() throws Exception {
        write(base("routes:\n" + ROUTE.formatted(5_000)));
        start();
        assertThat(ctl("routes", "put", "10.2.0.0/16=127.0.0.1:6000")).startsWith("0");
        assertThat(ctl("routes", "put", "10.1.0.0/16=127.0.0.1:6001")).startsWith("0");
        assertThat(ctl("reload").lines()).containsExactly("0", "nothing changed");
        assertThat(ctl("routes")).contains("127.0.0.1:6000", "127.0.0.1:6001");
        write(base("routes:\n" + ROUTE.formatted(5_002)));
        assertThat(ctl("reload")).startsWith("0\nroutes 10.1.0.0/16");
        assertThat(ctl("routes")).contains("127.0.0.1:6000", "127.0.0.1:5002").doesNotContain("127.0.0.1:6001");
    }

    @Test
    @Tag("once")
    void aFileWithErrorsChangesNothing() throws Exception {
        write(base("routes:\n" + ROUTE.formatted(5_000)));
        start();
        for (String half : List.of(
                "",
                base("routes:\n" + ROUTE.formatted(5_001)).stripTrailing(),
                base("routes:\n" + ROUTE.formatted(5_001) + "  - {to: 10.0.0.0/33\n"),
                base("routes:\n" + ROUTE.formatted(5_001) + "timeouts: {stall: 5, drain: 4}\n"))) {
            write(half);
            String answer = ctl("reload");
            assertThat(answer).startsWith("1\ntamanoir ctl reload: refused, and nothing is changed; ");
            assertThat(answer).contains("node.yaml");
        }
        assertThat(ctl("reload")).contains("2 things are wrong", "timeouts.stall", "timeouts.drain");
        assertThat(ctl("routes")).contains("127.0.0.1:5000").doesNotContain("127.0.0.1:5001");
    }

    @Test
    @Tag("once")
    void whatTheNodeRefusesChangesNothing() throws Exception {
        write(base("routes:\n" + ROUTE.formatted(5_000) + "services: [{name: Monitor, config: {mark: 7}}]\n"));
        start();
        String before = ctl("config");
        String sound =
                "routes:\n" + ROUTE.formatted(5_001) + QOS + "services:\n  - {name: Monitor, config: {mark: 1}}\n";
        write(base(sound + "  - {name: Morph, config: {plan: /nowhere}}\n"));
        assertThat(ctl("reload")).startsWith("1\ntamanoir ctl reload: refused, and nothing is changed; ");
        assertThat(ctl("config")).isEqualTo(before);
        assertThat(ctl("routes")).contains("127.0.0.1:5000").doesNotContain("127.0.0.1:5001");
        assertThat(ctl("events")).doesNotContain("qos changed");
        write(base(sound));
        assertThat(ctl("reload").lines())
                .as("the difference is that to what was there before")
                .hasSize(4)
                .contains("services org.tamanoir.services.Monitor config: mark changed; values are not shown");
        assertThat(ctl("config")).contains("mark: 1", "wfq", "127.0.0.1:5001");
    }

    @Test
    @Tag("once")
    void aLevelThatCannotBeHadIsALineAndHoldsNothingUp() throws Exception {
        write(base("services: [{name: Monitor}]\n"));
        start();
        write(base("services: [{name: Monitor, level: tc}]\n" + QOS));
        assertThat(ctl("reload"))
                .startsWith("1\nservices org.tamanoir.services.Monitor level: jvm -> tc\nqos: ")
                .contains(
                        "\nwithout effect: service org.tamanoir.services.Monitor is handled at level jvm, wanted at tc: ");
        assertThat(ctl("config")).contains("level: tc", "wfq");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSignalReloadsAndSaysInTheLogWhatChanged() throws Exception {
        write(base("routes:\n" + ROUTE.formatted(5_000)));
        node = new LiveProcess(hearing(), folder.resolve("log"));
        write(base("routes:\n" + ROUTE.formatted(5_001)));
        hangUp(node.process);
        eventually().until(() -> Files.readString(folder.resolve("log")).contains("reload: routes 10.1.0.0/16: "));
        assertThat(ctl("routes")).contains("127.0.0.1:5001");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void systemdIsToldTheDrainTimeInForce() throws Exception {
        String socket = folder.resolve("notify").toString();
        try (NotifyReceiver systemd = NotifyReceiver.at(socket)) {
            write(base("timeouts: {drain: 7s}\n"));
            ProcessBuilder program = LiveProcess.program(file());
            program.environment().put("NOTIFY_SOCKET", socket);
            node = new LiveProcess(program, folder.resolve("log"));
            assertThat(systemd.next()).startsWith("READY=1\n");
            write(base("timeouts: {drain: 40s}\n"));
            assertThat(ctl("reload").lines()).containsExactly("0", "timeouts.drain: 7s -> 40s");
            assertThat(systemd.next()).startsWith("RELOADING=1\nMONOTONIC_USEC=");
            assertThat(systemd.next()).isEqualTo("READY=1\nSTATUS=reloaded: 1 changes taken, 0 need a restart");
            write(base("timeouts: {drain: 40x}\n"));
            assertThat(ctl("reload")).doesNotStartWith("0");
            assertThat(systemd.next()).startsWith("RELOADING=1\n");
            assertThat(systemd.next())
                    .startsWith("READY=1\nSTATUS=reload refused, nothing is changed: ")
                    .contains("timeouts.drain");
            node.terminate();
            assertThat(systemd.next()).startsWith("STOPPING=1\n").endsWith("EXTEND_TIMEOUT_USEC=70000000");
        }
    }

    /** A signal is answered by nothing: systemctl would say that a reload was done which was refused. */
    @ParameterizedTest
    @ValueSource(strings = {"node", "director"})
    void theUnitChecksBeforeItSendsTheSignal(String name) throws Exception {
        Path unit = Path.of("src/deb/root/usr/lib/systemd/system/tamanoir-" + name + ".service");
        List<String> lines = Files.readAllLines(unit);
        String start = option(lines, "ExecStart=").get(0);
        List<String> reload = option(lines, "ExecReload=");
        assertThat(reload).hasSize(2).last().isEqualTo("/bin/kill -HUP $MAINPID");
        assertThat(reload.get(0)).endsWith("exec " + start + " --validate'");
    }

    private static List<String> option(List<String> unit, String name) {
        return unit.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()))
                .toList();
    }

    /** Beside the node runs what checks: its port for JMX is taken, and its log is not the other's to write. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void theCheckOfTheUnitGetsTheHeapOfTheNodeAndNothingElseOfItsOptions() throws Exception {
        String command = option(
                        Files.readAllLines(Path.of("src/deb/root/usr/lib/systemd/system/tamanoir-node.service")),
                        "ExecReload=")
                .get(0);
        String script = command.substring(command.indexOf('\'') + 1, command.lastIndexOf('\''))
                .replace("$$", "$")
                .replaceFirst("/usr/bin/tamanoir .*", "printenv JAVA_OPTS");
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", script).redirectErrorStream(true);
        builder.environment()
                .put(
                        "JAVA_OPTS",
                        "-Xms1g -Xmx2g -Dcom.sun.management.jmxremote.port=9010 -XX:+UseParallelGC -Xlog:gc:file=gc.log");
        Process process = builder.start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .isEqualTo("-Xmx2g -XX:+UseParallelGC");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSignalWhileTheNodeStartsDoesNotEndIt() throws Exception {
        write(base("rehearse: 4s\n"));
        Process starting =
                hearing().redirectError(folder.resolve("log").toFile()).start();
        try {
            eventually().until(() -> threads(starting).contains("reception")); // It rehearses.
            hangUp(starting);
            assertThat(starting.inputReader().readLine()).contains("\"started\"");
        } finally {
            starting.destroyForcibly();
        }
    }

    private static Set<String> threads(Process process) throws IOException {
        Set<String> names = new HashSet<>();
        try (DirectoryStream<Path> threads =
                Files.newDirectoryStream(Path.of("/proc", String.valueOf(process.pid()), "task"))) {
            for (Path thread : threads) {
                names.add(Files.readString(thread.resolve("comm")).strip());
            }
        } catch (NoSuchFileException e) {
            // One has ended meanwhile.
        }
        return names;
    }

    /** Returns a program that hears SIGHUP even where what runs the tests ignores it, as under nohup(1). */
    private ProcessBuilder hearing() {
        ProcessBuilder program = LiveProcess.program(file());
        program.command().addAll(0, List.of("env", "--default-signal=HUP"));
        return program;
    }

    private static void hangUp(Process process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-HUP", String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    @Tag("once")
    void aNodeWithoutAFileSaysSoInOneLine() throws Exception {
        Path token = SecretFile.write(folder.resolve("token"), LiveNode.TOKEN + "\n");
        node = new LiveProcess(
                Program.builder(
                        "node",
                        "--listen",
                        "0",
                        "--admin",
                        "127.0.0.1:0",
                        "--admin-token-file",
                        token.toString(),
                        "--json"),
                folder.resolve("log"));
        String line = "there is nothing to read again: the node was started without --config FILE";
        assertThat(ctl("reload").lines()).containsExactly("1", "tamanoir ctl reload: " + line);
    }
}
