package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Tag("once")
@Tag("process")
class ManCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    private List<Path> pages() throws IOException {
        assertThat(run("man", "--dir", folder.toString())).isZero();
        assertThat(err.toString()).isEmpty();
        try (Stream<Path> pages = Files.list(folder)) {
            return pages.sorted().toList();
        }
    }

    @Test
    void everyCommandOfTheProgramHasAPage() throws IOException {
        List<String> names = Stream.concat(
                        Stream.of("tamanoir.1"),
                        Main.commandLine().getSubcommands().keySet().stream().map(name -> "tamanoir-" + name + ".1"))
                .toList();
        assertThat(pages())
                .extracting(page -> page.getFileName().toString())
                .containsExactlyInAnyOrderElementsOf(names);
    }

    @Test
    void aPageTellsOfEachOptionWithItsDefault() {
        assertThat(run("man", "node")).isZero();
        CommandLine node =
                Objects.requireNonNull(Main.commandLine("node").getSubcommands().get("node"));
        assertThat(node.getCommandSpec().options())
                .allSatisfy(option -> assertThat(out.toString())
                        .contains("\\fB" + option.longestName().replace("-", "\\-") + "\\fR"));
        assertThat(out.toString())
                .startsWith(".TH \"TAMANOIR\\-NODE\" 1 ")
                .contains(".SS \"tamanoir node capture\"", "1 to 65536. Default: 100.")
                .doesNotContain("${");
    }

    @Test
    void textThatRoffWouldTakeForARequestIsEscaped() {
        run("man", "completion");
        assertThat(out.toString().lines().filter(line -> line.startsWith(".")))
                .allMatch(line -> line.matches("\\.(TH|ad|nh|SH|SS|PP|HP|TP|BR)( .*)?"));
        assertThat(out.toString()).contains("java \\-jar tamanoir\\-node.jar\\(aq");
    }

    @Test
    void groffReadsEveryPageWithoutAWarning() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/groff")), "no /usr/bin/groff to read pages with");
        for (Path page : pages()) {
            Process groff = new ProcessBuilder("/usr/bin/groff", "-man", "-Tutf8", "-ww", "-z", page.toString())
                    .redirectErrorStream(true)
                    .start();
            assertThat(groff.inputReader().lines()).as("%s", page).isEmpty();
            assertThat(groff.waitFor()).isZero();
        }
    }

    @Test
    void aCommandThatThereIsNotIsMisuse() {
        assertThat(run("man", "nod")).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("no command 'nod'");
    }
}
