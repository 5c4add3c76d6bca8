package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.Main;
import org.tamanoir.node.Program;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code demo --element}, with three nodes in processes of their own. */
@Tag("once")
@Tag("process")
@Timeout(300)
class ElementDemoTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    @Test
    void aStreamGoesOnWithoutTheKilledUnitInEachOrder() throws Exception {
        Path png = folder.resolve("steps.png");
        Path log = folder.resolve("log");
        Process demo = Program.sharing(Program.builder("demo", "--element", "--json", "--output", png.toString()))
                .redirectError(log.toFile())
                .start();
        String said;
        try {
            said = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(demo.waitFor()).as("%s%s", said, Files.readString(log)).isZero();
        } finally {
            demo.destroy(); // in order: it ends its nodes
        }
        JsonNode report = new JsonMapper().readTree(said);
        assertThat(report.get("right").asBoolean()).isTrue();
        assertThat(report.get("phases").values())
                .extracting(phase -> phase.get("order").asString())
                .containsExactly("NONE", "FCT", "EXACT");
        for (JsonNode phase : report.get("phases").values()) {
            assertThat(phase.get("wrong").asLong()).as("%s", phase).isZero();
            assertThat(phase.get("twice").asLong()).as("%s", phase).isZero();
            assertThat(phase.get("arrived").asLong() + phase.get("lost").asLong())
                    .isEqualTo(phase.get("sent").asLong());
            assertThat(phase.get("steps").get("1").asLong()).as("%s", phase).isPositive();
        }
        assertThat(report.get("phases").get(2).get("stepsBack").asLong()).isZero();
        assertThat(ImageIO.read(png.toFile()).getWidth()).isPositive();
    }

    @Test
    void whatBelongsToTheOtherDemoIsRefusedInOneLine() {
        assertThat(run("demo", "--element", "--keep")).isEqualTo(2);
        assertThat(run("demo", "--output", "steps.png")).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        "tamanoir demo: --file and --keep are for two nodes: leave them out with --element",
                        "tamanoir demo: --output is for the histogram of --element: give both or neither");
    }
}
