package org.tamanoir.benchmarks.levels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.nodeos.Level;
import org.tamanoir.support.Tiers;
import picocli.CommandLine;

@Tag("once")
@Tag("namespace")
class LevelExperimentsTest {

    @TempDir
    private Path folder;

    private static List<String> namespaces() throws Exception {
        if (!Files.isDirectory(Path.of("/run/netns"))) {
            return List.of();
        }
        String own = "tamanoir-levels-" + ProcessHandle.current().pid() + "-";
        try (Stream<Path> files = Files.list(Path.of("/run/netns"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(own))
                    .toList();
        }
    }

    /** The way of datagrams through the network without a node, and what changes of a policy do to them. */
    @Test
    void packetsCrossTheNetworkAndItIsRemovedAfterwards() throws Exception {
        Tiers.require("bpf", Network.missing().isEmpty(), Network.missing());
        Tiers.require("bpf", LibBpf.missing().isEmpty(), LibBpf.missing());
        Path anyJar = Files.createFile(folder.resolve("node.jar"));
        int code = new CommandLine(new LevelExperiments())
                .execute(
                        "--only",
                        "change",
                        "--levels",
                        "tc,jvm",
                        "--seconds",
                        "0.2",
                        "--node",
                        anyJar.toString(),
                        "--output",
                        folder.toString());
        String page = Files.readString(folder.resolve("levels.md"));
        assertThat(code).as(page).isZero();
        assertThat(page)
                .startsWith("# Levels below the Java virtual machine, ")
                .contains(
                        "| change | tc, of 2000 packets meanwhile | nothing lost asked | 0 lost, 0 out of order, 0 duplicates |")
                .doesNotContain("## Failed", "NaN");
        assertThat(Files.readAllLines(folder.resolve("change.csv")))
                .first()
                .isEqualTo("level,change,call us,effect us");
        assertThat(namespaces()).isEmpty();
    }

    @Test
    void unknownExperimentAndLevelAreRefusedWithThoseThatThereAre() {
        assertThat(refusal("--only", "fig10")).contains("--only fig10: must be of fig11, fig12");
        assertThat(refusal("--levels", "fpga")).contains("level \"fpga\": must be one of jvm, module, tc, xdp");
        assertThat(refusal("--seconds", "0")).contains("--seconds 0.0: 0.1 to 600.0");
        assertThat(folder).isEmptyDirectory();
    }

    private String refusal(String... arguments) {
        StringWriter errors = new StringWriter();
        CommandLine command = new CommandLine(new LevelExperiments()).setErr(new PrintWriter(errors));
        List<String> all = Stream.concat(Stream.of(arguments), Stream.of("--output", folder.toString()))
                .toList();
        assertThat(command.execute(all.toArray(String[]::new))).isEqualTo(CommandLine.ExitCode.USAGE);
        return errors.toString();
    }

    @Test
    void nodeIsConfiguredForItsLevel() {
        assertThat(NodeFactory.Work.allAt(Level.JVM).yaml())
                .contains("allowed: [jvm, module, tc]", "unknown: up", "{name: Monitor, level: jvm}");
        assertThat(NodeFactory.Work.allAt(Level.XDP).yaml())
                .contains("allowed: [jvm, xdp]", "unknown: on", "{name: Monitor, level: xdp}");
        assertThat(new NodeFactory.Work(Level.TC, "first 500").yaml())
                .contains("allowed: [jvm, tc]", "unknown: up", "{name: Monitor, config: {offload: \"first 500\"}}");
    }
}
