package org.tamanoir.benchmarks.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Tag("once")
class ElementExperimentsTest {
    @TempDir
    private Path folder;

    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return new CommandLine(new ElementExperiments())
                .setErr(new PrintWriter(errors))
                .execute(arguments);
    }

    @Test
    void reportHasThePapersFiguresBesideOursPlotsAndTheData() throws Exception {
        assertThat(run("--quick", "--only", "tables,fig7,fig8", "--output", folder.toString()))
                .isZero();

        String page = Files.readString(folder.resolve("fct.md"));
        assertThat(page)
                .startsWith("# The distributed active element, ")
                .contains("| 3 | 300 | -376, -28,171, 1,230 | -5, -606, 432 | 0.022, 0.35 | ")
                .contains("| tables | n = 6, FCT: longest step back over all rates | -11; -11 asked | ")
                .contains("| tables | EXACT: steps back, over all runs | 0 asked | 0 |")
                .contains("![Figure 7: loss and jitter without synchronisation](fig7-loss.png)")
                .doesNotContain("## Failed", "NaN", "Infinity");
        assertThat(Files.readAllLines(folder.resolve("tables.csv"))).hasSize(1 + 50);
        assertThat(Files.readAllLines(folder.resolve("fig7.csv"))).hasSize(1 + 60);
        assertThat(Files.readAllLines(folder.resolve("fig8.csv"))).hasSize(1 + 50);
        for (String plot : List.of("tables", "fig7-loss", "fig7-jitter", "fig8-loss", "fig8-jitter")) {
            assertThat(folder.resolve(plot + ".png")).isNotEmptyFile();
        }
    }

    @Test
    void unknownExperimentIsRefusedWithThoseThatThereAre() {
        assertThat(run("--only", "fig9", "--output", folder.toString())).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--only fig9: must be of tables, fig7, fig8, hop, units, ends");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void missingNodeEndsItWithTheRemedy() {
        int code = run("--node", folder.resolve("none.jar").toString(), "--output", folder.toString());
        assertThat(code).isEqualTo(CommandLine.ExitCode.SOFTWARE);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void optionsOutsideTheirBoundsAreRefused() {
        assertThat(run("--rate", "99")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--rate 99: 100 to 200000");
        assertThat(run("--seed", "x")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--seed", "'x'");
    }
}
