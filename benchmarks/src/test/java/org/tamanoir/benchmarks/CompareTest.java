package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CompareTest {
    private static final Path PAGE = Path.of("..", "docs", "benchmarks.md");

    @ParameterizedTest
    @CsvSource({
        "--rounds,0,1 to 100",
        "--many-streams,0,1 to 20000",
        "--window,0,0.1 to 600 s",
        "--sizes,63,64 to 65535"
    })
    void valueOutOfItsBoundsIsRefusedWithThem(String option, String value, String bounds) {
        StringWriter said = new StringWriter();
        int code = new CommandLine(new Compare()).setErr(new PrintWriter(said)).execute(option, value);

        assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(said.toString()).contains(option + " " + value, bounds);
    }

    @Test
    void pageNamesEveryScenario() throws Exception {
        assertThat(Files.readString(PAGE))
                .contains(Arrays.stream(Compare.Scenario.values())
                        .map(scenario -> "| `" + scenario + "` | ")
                        .toList());
    }

    @Test
    void pageNamesEveryForwarder(@TempDir Path folder) throws Exception {
        NodeCommand node = new NodeCommand(new NodeJvm(Processes.ownJava(), List.of(), NodeJvm.BUILT), 1, List.of());
        assertThat(Files.readString(PAGE))
                .contains(Peers.all(node, 1, folder).stream()
                        .map(forwarder -> "| " + forwarder.name() + " | ")
                        .toList());
    }

    @Test
    void phasesOfAMeasurementAreRowsOfTheirOwn() {
        Case one = Case.single("s", "200 B", List.of(), forwarder -> Map.of());
        assertThat(Set.of(one.row(""), one.row("warm"))).containsExactlyInAnyOrder("200 B", "200 B, warm");
    }
}
