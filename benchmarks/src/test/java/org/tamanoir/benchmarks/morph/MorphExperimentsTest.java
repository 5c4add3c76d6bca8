package org.tamanoir.benchmarks.morph;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Seeds;
import picocli.CommandLine;

@Tag("once")
class MorphExperimentsTest {
    @TempDir
    private Path folder;

    private final StringWriter errors = new StringWriter();

    /** Runs experiments, with few records unless more than usual is to be played. */
    private int runExperiments(String only) {
        List<String> arguments = new ArrayList<>(List.of("--only", only, "--output", folder.toString()));
        if (Seeds.scaled(1) == 1) {
            arguments.add("--quick");
        }
        return run(arguments.toArray(String[]::new));
    }

    private int run(String... arguments) {
        return new CommandLine(new MorphExperiments())
                .setErr(new PrintWriter(errors))
                .execute(arguments);
    }

    @Test
    void ordersAndMergesAreInTheReportWithPlotsAndData() throws Exception {
        assertThat(runExperiments("fig3,fig4")).isZero();

        assertThat(Files.readString(folder.resolve("morph.md")))
                .startsWith("# Data morphing, ")
                .doesNotContain("## Failed", "NaN", "Infinity");
        assertThat(Files.readAllLines(folder.resolve("fig3.csv"))).hasSize(1 + 6);
        assertThat(Files.readAllLines(folder.resolve("fig4.csv"))).hasSize(1 + 3);
        assertThat(folder.resolve("fig3.png")).isNotEmptyFile();
        assertThat(folder.resolve("fig4.png")).isNotEmptyFile();
    }

    @Test
    void fourStreamsNeedMoreMemoryThanThree() throws Exception {
        assertThat(runExperiments("fig4")).isZero();

        List<String> rows = Files.readAllLines(folder.resolve("fig4.csv"));
        assertThat(rows.get(2)).startsWith("3,").endsWith(",100.0");
        assertThat(rows.get(3)).startsWith("4,").doesNotEndWith(",100.0");
    }

    @Test
    void unknownExperimentIsRefusedWithThoseThatThereAre() {
        assertThat(run("--only", "fig9", "--output", folder.toString())).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--only fig9: must be of table1, fig3, fig4, fig5, handlers, peers");
        assertThat(folder).isEmptyDirectory();
    }
}
