package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.Main;
import org.tamanoir.node.Program;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code demo --morph}: five chains on a real node. */
@Tag("once")
@Tag("process")
@Timeout(240)
class MorphDemoTest {
    private static final int PATIENCE_S = 40;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void everyChainGivesTheRecordsThatItsPlanSays(String transport) {
        int code = run("demo", "--morph", "--json", "--transport", transport);

        assertThat(code).as("%s%s", out, err).isZero();
        JsonNode report = new JsonMapper().readTree(out.toString());
        assertThat(report.get("right").asBoolean()).isTrue();
        assertThat(report.get("node").get("unaccounted").asLong()).isZero();
        assertThat(report.get("scenes").values())
                .extracting(scene -> scene.get("service").asString())
                .containsExactly("all", "select", "offers", "private", "changed");
        for (JsonNode scene : report.get("scenes").values()) {
            assertThat(scene.get("in").asLong() + scene.get("made").asLong())
                    .as("%s", scene)
                    .isEqualTo(scene.get("out").asLong()
                            + scene.get("dropped").asLong()
                            + scene.get("merged").asLong()
                            + scene.get("held").asLong());
        }
        JsonNode select = report.get("scenes").get(1);
        assertThat(select.get("bytesOut").asLong())
                .isLessThan(select.get("bytesIn").asLong() / 20);
        assertThat(report.get("scenes").get(2).get("held").asInt()).isEqualTo(MorphScene.OFFERS.held());
    }

    @Test
    void whatBelongsToOtherDemosIsRefusedInOneLine() {
        assertThat(run("demo", "--morph", "--element")).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("tamanoir demo: --file, --element and --output are for the other demos: leave them out"
                        + " with --morph");
    }

    @Test
    void aKeptNodeTakesTheCommandsThatAreSuggested() throws Exception {
        Process demo = Program.start("demo", "--morph", "--keep");
        try (BufferedReader lines = demo.inputReader()) {
            String plans = next(lines, "plans: ").substring("plans: ".length());
            assertThat(Path.of(plans, "select.yaml")).exists();
            String show = command(lines, " ctl --admin ");
            String set = command(lines, " ctl --admin ");
            assertThat(run(words(set))).as("%s", err).isZero();
            assertThat(run(show.split(" "))).as("%s", err).isZero();
            assertThat(out.toString()).contains("delay > 60");
            demo.toHandle().destroy(); // SIGTERM; Process.destroy would close the pipe too
            assertThat(next(lines, "node, in packets: ")).contains(" + 0 held;");
            assertThat(demo.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
            for (String file : List.of(
                    "all.yaml",
                    "select.yaml",
                    "offers.yaml",
                    "private.yaml",
                    "node.yaml",
                    "airline.ffs",
                    "flights.ffs",
                    "admin.token")) {
                Files.delete(Path.of(plans, file));
            }
            Files.delete(Path.of(plans));
        } finally {
            demo.destroyForcibly();
        }
    }

    /** A shell's words, of which the last is quoted. */
    private static String[] words(String command) {
        int quote = command.indexOf('"');
        String[] words = command.substring(0, quote).split(" ");
        String[] all = Arrays.copyOf(words, words.length + 1);
        all[words.length] = command.substring(quote + 1, command.length() - 1);
        return all;
    }

    private static String command(BufferedReader lines, String part) throws IOException {
        String hint = next(lines, part);
        return hint.substring(hint.indexOf(part) + 1);
    }

    /** The next line with this in it; the test's time-out bounds the wait. */
    private static String next(BufferedReader lines, String part) throws IOException {
        String line = lines.readLine();
        while (line != null && !line.contains(part)) {
            line = lines.readLine();
        }
        assertThat(line).as("a line with '%s'", part).isNotNull();
        return String.valueOf(line);
    }
}
