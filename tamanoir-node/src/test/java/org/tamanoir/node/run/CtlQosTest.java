package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.qdisc.QosConfig;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code ctl qos} against a real node. */
@Tag("once")
@Timeout(120)
class CtlQosTest {
    private static final String YAML = """
            classes:
              - {name: video, class-of-service: [0, 1], weight: 70}
              - {name: rest, weight: 30}
            pre: {discipline: stfq, processors: 2}
            links:
              - {name: uplink, rate: 100Mbit/s, next-hops: ["::/0"]}
            """;

    @TempDir
    Path folder;

    private LiveNode node;

    @BeforeEach
    void start() throws Exception {
        node = LiveNode.start(folder.resolve("node"), "qos:\n" + YAML.indent(2));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private String file(String text) throws Exception {
        return Files.writeString(folder.resolve("qos"), text).toString();
    }

    private QosConfig now() {
        return node.node.environment().qos();
    }

    @Test
    void theTableHasEachClassOfEachPoint() {
        String table = node.ctl(ExitCode.OK, "qos");
        assertThat(table.lines()).hasSize(5);
        assertThat(table.lines().findFirst().orElse(""))
                .matches("POINT +DISCIPLINE +CLASS +WAITING +TURNS +SERVED +DROPPED +SHARE +P50 +P99");
        assertThat(table)
                .containsPattern("\npre +stfq +video +0 +0 +0 +0 +\\S+% +- +-\n")
                .containsPattern("\nuplink +wfq +rest +0 +0 +0 +0 +\\S+% +- +-\n");
        assertThat(node.ctl(ExitCode.OK, "qos", "status")).isEqualTo(table);
        JsonNode json = new JsonMapper().readTree(node.ctl(ExitCode.OK, "qos", "--json"));
        assertThat(json.get("points").size()).isEqualTo(2);
    }

    @Test
    void whatIsShownCanBeSetAgain() throws Exception {
        QosConfig before = now();
        String yaml = node.ctl(ExitCode.OK, "qos", "show");
        String json = node.ctl(ExitCode.OK, "qos", "show", "--json");
        assertThat(yaml).startsWith("classes:\n  - name: video\n    class-of-service: [0, 1]\n");
        for (String shown :
                new String[] {yaml, json, new JsonMapper().readTree(json).toPrettyString()}) {
            node.ctl(ExitCode.OK, "qos", "off");
            assertThat(now()).isEqualTo(QosConfig.OFF);
            assertThat(node.ctl(ExitCode.OK, "qos", "set", file(shown)))
                    .isEqualTo("quality of service set" + System.lineSeparator() + yaml);
            assertThat(now()).isEqualTo(before);
        }
        String answer = node.ctl(ExitCode.OK, "qos", "set", "--json", file(yaml.replace("weight: 70", "weight: 7")));
        assertThat(new JsonMapper()
                        .readTree(answer)
                        .get("classes")
                        .get(0)
                        .get("weight")
                        .asInt())
                .isEqualTo(7);
    }

    @Test
    void offIsSaid() throws Exception {
        assertThat(node.ctl(ExitCode.OK, "qos", "off").strip()).isEqualTo("quality of service is off");
        assertThat(node.ctl(ExitCode.OK, "qos").strip()).isEqualTo("quality of service is off");
        String shown = node.ctl(ExitCode.OK, "qos", "show");
        assertThat(shown.strip()).isEqualTo("# quality of service is off");
        assertThat(node.ctl(ExitCode.OK, "qos", "set", file(shown)).strip()).isEqualTo("quality of service is off");
    }

    @Test
    void theConfigurationInForceHasItAndCanBeReadAgain() {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        String text = node.ctl(ExitCode.OK, "config");
        ConfigFile.parse("config", text, settings);
        assertThat(problems.lines()).as(text).isEmpty();
        assertThat(settings.qos).isEqualTo(now());
        node.ctl(ExitCode.OK, "qos", "off");
        assertThat(node.ctl(ExitCode.OK, "config")).contains("\nqos: {}\n");
    }

    @Test
    void everyErrorOfAFileIsToldWithItsLineBeforeTheNodeIsAsked() throws Exception {
        QosConfig before = now();
        String file = file("classes:\n- {name: a, weight: 0}\nlinks:\n- {name: l, rate: fast}\n");
        assertThat(node.ctl(ExitCode.USAGE, "qos", "set", file).lines())
                .containsExactly(
                        "tamanoir ctl qos set: " + file + " is no quality of service",
                        "  " + file + ":2: classes[0].weight: 0 is out of bounds: 1 to 1000000 are allowed",
                        "  " + file + ":4: links[0].rate: 'fast' is no rate: one as in 10Mbit/s or 1.25MB/s, or a "
                                + "number of bytes a second, is wanted");
        assertThat(node.ctl(ExitCode.USAGE, "qos", "set", file("classes: [")).lines())
                .hasSize(2);
        assertThat(node.ctl(ExitCode.USAGE, "qos", "set", folder + "/none")).contains("there is no such file");
        assertThat(now()).isEqualTo(before);
    }

    @Test
    void everyErrorThatTheNodeFindsIsTold() throws Exception {
        QosConfig before = now();
        String file = file("classes: [{name: a}, {name: a}]\ndefault-class: b\npre: {discipline: none}");
        assertThat(node.ctl(ExitCode.FAILED, "qos", "set", file).lines())
                .hasSize(4)
                .contains(
                        "tamanoir ctl qos set: the configuration is refused and nothing is changed; 3 things are wrong",
                        "  qos.classes[1]: class 'a': there are two of this name: rename one")
                .anyMatch(line -> line.startsWith("  qos.default-class: 'b'"))
                .anyMatch(line -> line.startsWith("  qos.pre: ") && line.contains("none"));
        assertThat(now()).isEqualTo(before);
    }
}
