package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.cli.Logging;
import org.tamanoir.support.Waiting;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    @AfterEach
    void forgetVerbosity() {
        System.clearProperty(Logging.VERBOSE);
    }

    @Test
    void theVersionNamesProgramJavaAndSystem() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString().lines()).hasSize(3);
        assertThat(out.toString())
                .startsWith("tamanoir ")
                .contains("Java " + System.getProperty("java.version"), System.getProperty("os.arch"));
        assertThat(err.toString()).isEmpty();
    }

    @Test
    @Tag("once")
    void everyCommandHasHelpAVersionAndADescriptionOfEachOption() {
        CommandLine main = Main.commandLine() // one for all: making it takes longer than what it does
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        List<CommandLine> commands = commands(main);
        assertThat(commands).hasSizeGreaterThan(2);
        for (CommandLine command : commands) {
            String[] name = command.getCommandSpec().qualifiedName().split(" ");
            List<String> args = new ArrayList<>(List.of(name).subList(1, name.length));
            args.add("--help");
            assertThat(main.execute(args.toArray(String[]::new)))
                    .as("%s --help", List.of(name))
                    .isZero();
            args.set(args.size() - 1, "--version");
            assertThat(main.execute(args.toArray(String[]::new)))
                    .as("%s --version", List.of(name))
                    .isZero();
            assertThat(command.getCommandSpec().usageMessage().description()).isNotEmpty();
            assertThat(out.toString()).endsWith(System.getProperty("os.arch") + System.lineSeparator());
            for (OptionSpec option : command.getCommandSpec().options()) {
                assertThat(option.description()).as("%s", option).isNotEmpty();
            }
        }
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "--version", "ctl --help", "ctl status --help", "publish --version", "man node"})
    void outputThatIsLostIsAFailureInOneLine(String arguments) {
        assertThat(Main.run(LostOutput.writer(), new PrintWriter(err, true), arguments.split(" ")))
                .isEqualTo(1);
        assertThat(err.toString().lines())
                .containsExactly("tamanoir: standard output cannot be written: it is full or closed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ctl deploy X --version 1.0.1",
                "ctl undeploy --version=1.0.1 X",
                "ctl place X jvm -V",
                "director deploy X --version 1.0"
            })
    void aServicesVersionIsNotTheProgramsAndNothingIsDone(String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1).first().asString().contains("version");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    @Tag("process")
    void aFullDeviceIsAFailureOfTheProcess() throws Exception {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.isWritable(full), "skipped: there is no /dev/full");
        Process program =
                Program.builder("completion").redirectOutput(full.toFile()).start();
        try (BufferedReader errors = program.errorReader()) {
            assertThat(errors.lines())
                    .containsExactly("tamanoir: standard output cannot be written: it is full or closed");
        }
        assertThat(program.waitFor()).isEqualTo(1);
    }

    /** A line that goes on in the next loses the blanks before it. */
    @Test
    void noWordsOfHelpAreJoined() throws IOException {
        assertThat(Files.readAllLines(Path.of("src/main/resources/org/tamanoir/node/commands.properties")))
                .noneMatch(line -> line.endsWith("\\") && !line.endsWith(" \\"));
    }

    @Test
    void whatAFileSaysIsNoPartOfTheCommandLine() throws IOException {
        Path file = Files.writeString(folder.resolve("payload"), "x --nonsense");
        assertThat(run("ctl", "trace", "10.0.0.7", "--payload", "@" + file, "--admin", "http://127.0.0.1:1"))
                .isNotZero();
        assertThat(err.toString()).contains("127.0.0.1:1").doesNotContain("nonsense");
    }

    /** It takes some 150 ms to load, which each start of a node would wait for. */
    @Test
    @Tag("process")
    void aNodesOptionsAreReadWithoutALibraryForJson() throws IOException {
        ProcessBuilder builder = Program.builder("node", "--validate").redirectErrorStream(true);
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Xlog:class+load");
        Process node = builder.start();
        try (BufferedReader out = node.inputReader()) {
            assertThat(out.lines())
                    .anyMatch(line -> line.contains("org.tamanoir.node.config.NodeSettings"))
                    .noneMatch(line -> line.contains("tools.jackson"));
        }
    }

    private static List<CommandLine> commands(CommandLine root) {
        List<CommandLine> commands = new ArrayList<>(List.of(root));
        root.getSubcommands().values().forEach(command -> commands.addAll(commands(command)));
        return commands;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nod",
                "--nothing",
                "node --lisen 1",
                "node --config",
                "node surplus",
                "completion surplus",
                "node --route 10.0.0.0/8",
                "node --stats never",
                "node --validate -c /nowhere/node.yaml"
            })
    void misuseIsOneLineAndCode2(String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString().lines()).as(err.toString()).hasSize(1);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aMistypedCommandOrOptionIsGuessed() {
        run("nod");
        run("node", "--validat");
        run("node", "--transprot", "nio");
        run("ctl", "servces");
        run("node", "\u001b[1m");
        assertThat(err.toString().lines())
                .containsExactly(
                        "tamanoir: Unmatched argument at index 0: 'nod'; did you mean node?; see 'tamanoir --help'",
                        "tamanoir node: Unknown option: '--validat'; did you mean --validate?; "
                                + "see 'tamanoir node --help'",
                        "tamanoir node: Unknown option: '--transprot'; did you mean --transport?; "
                                + "see 'tamanoir node --help'",
                        "tamanoir ctl: Unmatched argument at index 1: 'servces'; did you mean services?; "
                                + "see 'tamanoir ctl --help'",
                        "tamanoir node: Unmatched argument at index 1: '?[1m'; see 'tamanoir node --help'");
    }

    /** Whether it gets its usual port or says who has it depends on what else runs on this host. */
    @Test
    @Tag("process")
    void withoutACommandANodeRunsAndSaysHowToSeeTheCommands() throws Exception {
        Process node = Program.builder().redirectErrorStream(true).start();
        try (BufferedReader lines = node.inputReader()) {
            assertThat(lines.readLine())
                    .isEqualTo("running a node with its defaults; 'tamanoir --help' shows the commands");
            assertThat(lines.lines().filter(line -> line.contains("3322")).findFirst())
                    .isPresent();
        } finally {
            node.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-v completion surplus", "completion -v surplus"})
    void verboseAddsTheStackTrace(String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains("\tat ");
        assertThat(System.getProperty(Logging.VERBOSE)).isEqualTo("true");
    }

    @Test
    @Tag("process")
    void completionIsAScriptForTheShell() throws Exception {
        assertThat(run("completion")).isZero();
        assertThat(out.toString()).contains("--validate", "--max-streams", "native");
        assertThat(Main.commandLine().getSubcommands().keySet())
                .contains(
                        "node",
                        "ctl",
                        "send",
                        "receive",
                        "demo",
                        "new-service",
                        "repository",
                        "keygen",
                        "publish",
                        "verify",
                        "completion")
                .allSatisfy(command -> assertThat(out.toString()).contains(" " + command));
        Path bash = Path.of("/bin/bash");
        Assumptions.assumeTrue(Files.isExecutable(bash), "no /bin/bash to check the script's syntax with");
        Path script = Files.writeString(folder.resolve("completion.bash"), out.toString());
        Process check = new ProcessBuilder(bash.toString(), "-n", script.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(check.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        assertThat(check.inputReader().lines()).isEmpty();
        assertThat(check.exitValue()).isZero();
    }

    @Test
    void validationOfAGoodFileSaysSo() throws IOException {
        Path file = Files.writeString(folder.resolve("node.yaml"), "hop-budget: 3\n");
        assertThat(run("node", "--validate", "-c", file.toString())).isZero();
        assertThat(out.toString().lines()).containsExactly(file + ": OK");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void validationRefusesSettingsThatServicesDoNotDeclare() throws IOException {
        Path file = Files.writeString(
                folder.resolve("node.yaml"),
                "services:\n  - name: Monitor\n    config: {markk: 7, mark: banana}\n  - name: Gzip\n    config: {level: 10}\n");
        assertThat(run("node", "--validate", "-c", file.toString(), "--service", "Echo,loud=yes"))
                .isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        file
                                + ":3: services[0].config: markk: no such setting; known: mark, offload; did you mean mark?",
                        file + ":3: services[0].config: mark: banana must be a whole number from 0 to 255, or none",
                        file + ":5: services[1].config: level: 10 must be a whole number from 1 to 9",
                        "--service Echo,loud=yes: loud: no such setting; known: none");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void validationTriesServicesOfTheConfiguration() throws IOException {
        Path file = Files.writeString(
                folder.resolve("node.yaml"), "services: [{name: Filter, config: {rules: drop it}}, {name: Reflect}]\n");
        assertThat(run("node", "--validate", "-c", file.toString())).isEqualTo(2);
        assertThat(err.toString().lines())
                .hasSize(2)
                .anyMatch(line ->
                        line.startsWith("service org.tamanoir.services.Filter: tried with its settings, init failed: "))
                .anyMatch(line -> line.startsWith(
                        "service org.tamanoir.services.Reflect: tried with its settings, init failed: to: "));
    }

    @Test
    void aServiceThatNobodyHasIsRefusedWhereNothingIsFetchedAndElseAWarning() throws IOException {
        String gateway = "127.0.0.1:9=127.0.0.1:10,octets,Montor";
        Path file = Files.writeString(folder.resolve("node.yaml"), "listen: {gateways: [\"" + gateway + "\"]}\n");
        assertThat(run("node", "--validate", "-c", file.toString())).isEqualTo(2);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith(file
                        + ":1: listen.gateways: 127.0.0.1:9=127.0.0.1:10,octets,org.tamanoir.services.Montor names "
                        + "service org.tamanoir.services.Montor, which nobody has: ")
                .contains("correct the name to org.tamanoir.services.Monitor");

        err.getBuffer().setLength(0);
        Path key = folder.resolve("key");
        assertThat(run("keygen", key.toString())).isZero();
        out.getBuffer().setLength(0);
        assertThat(run("node", "--validate", "-c", file.toString(), "--trust", key + ".pub=org.tamanoir.*"))
                .isZero();
        assertThat(out.toString()).endsWith(": OK\n");
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .startsWith("warning: " + file
                        + ":1: listen.gateways: service org.tamanoir.services.Montor is not on the class path, so "
                        + "neither its name nor its settings are checked until it is fetched");
    }

    @Test
    void anAddressStandsInOneListAndAnAccessLogInAFolder() throws IOException {
        Path log = folder.resolve("gone/access.log");
        Path file = Files.writeString(folder.resolve("node.yaml"), """
                listen:
                  tcp: [127.0.0.1:4000]
                  udp: [127.0.0.1:4000]
                  gateways:
                    - 127.0.0.1:4000=127.0.0.1:5000,octets
                    - 127.0.0.1:4001=127.0.0.1:5000,octets
                    - 127.0.0.1:4001=127.0.0.1:5001,lines
                    - udp:127.0.0.1:4000=127.0.0.1:5000,datagrams
                admin: {listen: 127.0.0.1:4001, access-log: %s}
                arena: %s
                hand-over: %s
                """.formatted(log, log, log));
        assertThat(run("node", "--validate", "-c", file.toString())).isEqualTo(2);
        String remedy = ", and one address takes one kind of traffic; remove one";
        assertThat(err.toString().lines())
                .containsExactlyInAnyOrder(
                        file + ":4: listen.gateways: 127.0.0.1:4000 is in listen.tcp too" + remedy,
                        file + ":4: listen.gateways: 127.0.0.1:4001 is there twice" + remedy,
                        file + ":4: listen.gateways: 127.0.0.1:4000 is in listen.udp too" + remedy,
                        file + ":9: admin.listen: 127.0.0.1:4001 is in listen.gateways too" + remedy,
                        file + ":9: admin.access-log: " + log + ": there is no folder " + log.getParent()
                                + "; make it, or name a file in another one",
                        file
                                + ":11: hand-over: the file of arena is one process' alone, and two have the node while it is"
                                + " handed over; remove one of the two");
    }

    @Test
    void aFolderThatTheServiceManagerMakesIsAWarning() throws IOException {
        Path arena = folder.resolve("gone/arena");
        Path file = Files.writeString(folder.resolve("node.yaml"), "arena: " + arena + "\n");
        assertThat(run("node", "--validate", "-c", file.toString())).isZero();
        assertThat(out.toString()).endsWith(": OK\n");
        assertThat(err.toString().lines())
                .containsExactly("warning: " + file + ":1: arena: " + arena + ": there is no folder "
                        + arena.getParent() + "; make it, or name a file in another one");
    }

    @Test
    void validationWithoutAFileChecksTheOptions() {
        assertThat(run("node", "--validate", "--listen", "0", "--direct", "127.0.0.0/8"))
                .isZero();
        assertThat(out.toString().lines()).containsExactly("command line: OK");
    }

    @Test
    void everyErrorOfFileAndOptionsIsALine() throws IOException {
        Path file = Files.writeString(folder.resolve("node.yaml"), "hop-budget: 0\ntransport: fast\n");
        assertThat(run("node", "--validate", "-c", file.toString(), "--tcp", "x:y", "--drain", "1"))
                .isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        file + ":1: hop-budget: 0 is out of bounds: 1 to 65535 are allowed",
                        file + ":2: transport: 'fast' is none of auto, native, nio",
                        "--tcp: port 'y' of 'x:y': a number from 0 to 65535 is wanted",
                        "--drain: '1' is no duration: a whole number with ms, s, m or h is wanted; add the unit, as "
                                + "in 1s");
        assertThat(out.toString()).isEmpty();
    }
}
