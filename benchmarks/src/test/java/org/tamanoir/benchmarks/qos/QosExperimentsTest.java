package org.tamanoir.benchmarks.qos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.benchmarks.report.Numbers;
import picocli.CommandLine;

@Tag("once")
class QosExperimentsTest {
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G'};

    @TempDir
    private Path folder;

    private int run(String... args) {
        return new CommandLine(new QosExperiments()).execute(args);
    }

    @Test
    void reportHasThePapersFiguresBesideOursAPlotAndTheData() throws Exception {
        int code = run("--seconds", "0.8", "--only", "fig4,fig9,both", "--output", folder.toString());
        assertThat(code).isZero();
        String page = Files.readString(folder.resolve("qos.md"));
        assertThat(page)
                .startsWith("# Quality of service, ")
                .contains("## Figure 4: FIFO before processing", "## Figure 9: WFQ after processing")
                .contains("| fig4 | A beside B, TCP | A ≈ B ≈ 10 Mb/s | ")
                .contains("| placement | invocations | delivered A + C | wasted |")
                .contains("![Figure 4: FIFO before processing](fig4-tcp.png)", "[both.csv](both.csv)")
                .doesNotContain("## Failed", "NaN", "Infinity");
        assertThat(Files.readAllBytes(folder.resolve("fig4-tcp.png"))).startsWith(PNG);
        List<String> data = Files.readAllLines(folder.resolve("fig4-tcp.csv"));
        assertThat(data).hasSize(1 + 8).first().isEqualTo("second,A bytes,B bytes");
    }

    @Test
    void delaysAreTabledForEverySizeAndPlacement() throws Exception {
        int code = run("--seconds", "0.5", "--only", "table10,delay", "--output", folder.toString());
        assertThat(code).isZero();
        assertThat(Files.readAllLines(folder.resolve("table10.csv")))
                .hasSize(1 + 7 * 4)
                .anyMatch(line -> line.startsWith("64000,both,"));
        assertThat(Files.readString(folder.resolve("qos.md")))
                .contains("| 64,000 | both | 23,300 | ")
                .contains("| added at p50, both | ≤ 40 µs (paper: 2,300) | ");
    }

    @Test
    void unknownExperimentIsRefusedWithThoseThatThereAre() {
        StringWriter errors = new StringWriter();
        int code = new CommandLine(new QosExperiments())
                .setErr(new PrintWriter(errors))
                .execute("--only", "fig3", "--output", folder.toString());
        assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--only fig3: must be of fig4, fig5");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void jainsIndexIsOneForEqualsAndOneOverNForAMonopoly() {
        assertThat(Numbers.jain(10, 10, 10)).isEqualTo(1);
        assertThat(Numbers.jain(21.0 / 30, 49.0 / 70)).isCloseTo(1, within(1e-12));
        assertThat(Numbers.jain(21, 49)).isCloseTo(0.862069, within(1e-6));
        assertThat(Numbers.jain(15, 0)).isEqualTo(0.5);
        assertThat(Numbers.jain(8, 2)).isCloseTo(0.735294, within(1e-6));
        assertThat(Numbers.jain(1, 2, 3, 4)).isCloseTo(0.833333, within(1e-6));
    }
}
