package org.tamanoir.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Seeds;
import picocli.CommandLine;

@Tag("once")
@Tag("process")
class SoakTest {
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G'};
    private static final Path NODE = Path.of("..", "tamanoir-node", "target", "tamanoir-node.jar");

    @TempDir
    private Path folder;

    /** What failed, the first difference and the seed stand in this test's output. */
    @Test
    void aShortRunPassesAndDrawsItsPlots() throws Exception {
        boolean hasNode = Files.isRegularFile(NODE) && Files.isDirectory(Path.of("/proc/self"));
        if (!hasNode) {
            System.out.println("skipped: the soak needs Linux and " + NODE + ": mvn package makes it");
        }
        Assumptions.assumeTrue(hasNode);

        int code = new CommandLine(new Soak())
                .execute(
                        "--minutes",
                        String.valueOf(Seeds.scaled(1) * 0.05), // traffic goes as fast as it can: it is processor time
                        "--seed",
                        String.valueOf(Seeds.ofCommit(SoakTest.class)),
                        "--node-jar",
                        NODE.toString(),
                        "--jvm=-XX:TieredStopAtLevel=1",
                        "--out",
                        folder.toString());

        assertThat(code).isZero();
        for (String plot : List.of("memory", "threads", "held", "rate")) {
            assertThat(Files.readAllBytes(folder.resolve(plot + ".png"))).startsWith(PNG);
        }
        assertThat(Files.readAllLines(folder.resolve("soak.csv")))
                .hasSizeGreaterThan(5)
                .first()
                .isEqualTo(Sample.HEAD);
    }

    @Test
    void wrongUsageIsNamedWithItsBounds() {
        StringWriter said = new StringWriter();
        int code = new CommandLine(new Soak()).setErr(new PrintWriter(said)).execute("--minutes", "0");

        assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(said.toString()).contains("--minutes 0.0: 0.05 to 1440");
    }
}
