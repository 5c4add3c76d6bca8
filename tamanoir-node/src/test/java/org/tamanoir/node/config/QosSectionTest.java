package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.node.cli.Json;
import org.tamanoir.qdisc.ClassRule;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.Seeds;
import tools.jackson.databind.json.JsonMapper;

/** Quality of service as operators write it, read and written. */
@Tag("once")
class QosSectionTest {
    private static final String WHOLE = """
        classes:
          - name: video
            class-of-service: [0, 1, 4-7]
            weight: 70
            limit-packets: 500
            limit-bytes: 2MiB
          - {name: voice, class-of-service: 2}
          - {name: rest, weight: 30}
        default-class: voice
        rules:
          - service: Gzip
            source: 10.0.0.0/8
            destination: "2001:db8::/32"
            stream: 17
            class: video
          - {service: "org.example.Film:1.2", stream: 100-199, class: rest}
        pre:
          discipline: stfq
          processors: 2
          quantum: 250us
          options: {unit: 7}
        links:
          - name: uplink
            next-hops: [10.0.9.0/24, 10.0.8.1]
            rate: 10Mbit/s
            burst: 100KiB
            discipline: pq
            excess: drop
            options: {top-rate: 2Mbit/s, top-burst: 64KiB, more: 64k}
          - {name: rest, rate: 1.25MB/s}
        """;

    private static QosConfig parts(String yaml) {
        Problems problems = new Problems();
        QosConfig config = QosSection.readParts(section(yaml, problems));
        assertThat(problems.lines()).isEmpty();
        return config;
    }

    private static Section section(String yaml, Problems problems) {
        try {
            return new Section("f", "", YamlTree.parse(yaml), problems);
        } catch (YamlTree.SyntaxException e) {
            throw new AssertionError(yaml, e);
        }
    }

    private static List<String> problems(String yaml) {
        Problems problems = new Problems();
        QosSection.read(section(yaml, problems));
        return problems.lines();
    }

    private static List<Prefix> prefixes(String... texts) {
        return List.of(texts).stream().map(Prefix::parse).toList();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "63, 63", "ef, 46", "cs0, 0", "cs5, 40", "af11, 10", "af23, 22", "af43, 38"})
    void codePointsHaveNames(String text, int dscp) {
        QosConfig config = parts("classes: [{name: a, dscp: " + text + "}]");
        assertThat(config.classes().get(0).dscp()).isEqualTo(dscp);
        assertThat(config.isOff()).isEqualTo(dscp == 0);
    }

    @Test
    void everyKeyIsMapped() {
        assertThat(parts(WHOLE))
                .isEqualTo(new QosConfig(
                        List.of(
                                new TrafficClass("video", Set.of(0, 1, 4, 5, 6, 7), 70, 500, 2 << 20),
                                new TrafficClass("voice", Set.of(2), 1),
                                new TrafficClass("rest", Set.of(), 30)),
                        "voice",
                        List.of(
                                new ClassRule(
                                        "org.tamanoir.services.Gzip",
                                        Prefix.parse("10.0.0.0/8"),
                                        Prefix.parse("2001:db8::/32"),
                                        17L,
                                        17L,
                                        "video"),
                                new ClassRule("org.example.Film:1.2", null, null, 100L, 199L, "rest")),
                        new PreProcessing("stfq", Map.of("unit", "7"), 2, Duration.ofNanos(250_000)),
                        List.of(
                                new Link(
                                        "uplink",
                                        prefixes("10.0.9.0/24", "10.0.8.1"),
                                        1_250_000,
                                        100 << 10,
                                        true,
                                        "pq",
                                        Map.of("top-rate", "250000", "top-burst", "65536", "more", "64k")),
                                new Link(
                                        "rest",
                                        prefixes("0.0.0.0/0", "::/0"),
                                        1_250_000,
                                        65_535,
                                        false,
                                        "wfq",
                                        Map.of()))));
    }

    @Test
    void whatIsLeftOutHasItsDefault() {
        QosConfig config = parts("classes: [{name: a}, {name: b}]\npre: {}\nlinks: [{name: l, rate: 1Gbit/s}]");
        assertThat(config.defaultClass()).isEqualTo("b");
        assertThat(config.classes().get(0)).isEqualTo(new TrafficClass("a", Set.of(), 1, 1000, 1 << 20));
        assertThat(config.pre())
                .isEqualTo(new PreProcessing("wfq", Runtime.getRuntime().availableProcessors()));
        assertThat(config.links().get(0).burst()).isEqualTo(1_250_000);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = "''@qos: {}@qos:")
    void nothingIsOff(String empty, String none, String nothing) {
        for (String yaml : List.of(empty, none, nothing)) {
            Problems problems = new Problems();
            NodeConfigBuilder settings = new NodeConfigBuilder(problems);
            ConfigFile.parse("f", yaml, settings);
            assertThat(problems.lines()).isEmpty();
            assertThat(settings.build().qos()).isEqualTo(QosConfig.OFF);
        }
    }

    /** Every kind of error a value can have, and where it stands. */
    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = """
        clases: [] @ f:1: clases: unknown key; did you mean 'classes'?
        classes: [{weight: 2}] @ f:1: classes[0].name: is missing: add it, as in 'name: video'
        classes: [{name: a, wieght: 2}] @ f:1: classes[0].wieght: unknown key; did you mean 'weight'?
        classes: [{name: a, weight: 0}] @ f:1: classes[0].weight: 0 is out of bounds: 1 to 1000000 are allowed
        classes: [{name: a, class-of-service: 256}] @ f:1: classes[0].class-of-service: 256 is out of bounds: 0 to 255 are allowed
        classes: [{name: a, class-of-service: 7-4}] @ f:1: classes[0].class-of-service: 7-4 is an empty range: write 4-7
        classes:|- name: a|  class-of-service:|    - 1|    - high @ f:5: classes[0].class-of-service[1]: 'high' is no number and no range: one from 0 to 255, or two as in 4-7, is wanted
        classes: [{name: a, limit-packets: 0}] @ f:1: classes[0].limit-packets: 0 is out of bounds: 1 to 1000000 are allowed
        classes: [{name: a, limit-bytes: 1KiB}] @ f:1: classes[0].limit-bytes: 1KiB is out of bounds: 64KiB to 1GiB are allowed
        classes: [{name: a, dscp: 64}] @ f:1: classes[0].dscp: 64 is out of bounds: 0 to 63 are allowed
        classes: [{name: a, dscp: af44}] @ f:1: classes[0].dscp: 'af44' is no code point: 0 to 63, ef, cs0 to cs7, or af11 to af43 is wanted
        classes:|- {name: a}|- {name: A b} @ f:3: classes[1]: class 'A b': a name has 1 to 63 lower-case letters, digits and hyphens
        classes:|- {name: a}|- {name: a} @ f:3: classes[1]: class 'a': there are two of this name: rename one
        classes:|- {name: a, class-of-service: 1}|- {name: b, class-of-service: 0-2} @ f:3: classes[1]: class 'b': class-of-service 1 is class 'a' already
        classes:|- {name: a}|default-class: b @ f:3: default-class 'b': there is no class of this name, there are [a]
        classes:|- {name: a}|rules:|- {stream: 1, class: b} @ f:4: rules[0]: rule 1: class 'b': there is no class of this name, there are [a]
        classes:|- {name: a}|rules:|- {stream: 1} @ f:4: rules[0].class: is missing: add it, as in 'class: video'
        classes:|- {name: a}|rules:|- {class: a} @ f:4: rules[0]: rule 1: it says nothing of packets: give service, source, destination or stream, or use default-class
        classes:|- {name: a}|rules:|- {class: a, stream: 4294967296} @ f:4: rules[0].stream: 4294967296 is out of bounds: 0 to 4294967295 are allowed
        classes:|- {name: a}|rules:|- {class: a, source: 10.0.0.1/8} @ f:4: rules[0].source: 10.0.0.1/8: bits behind the prefix must be zero: write 10.0.0.0/8, or 10.0.0.1/32
        """)
    void anErrorNamesItsLineItsPathItsValueAndItsRemedy(String yaml, String error) {
        List<String> problems = problems(yaml.replace('|', '\n'));
        assertThat(problems).contains(error.replace("f:3: default-class 'b'", "f:3: default-class: 'b'"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = """
        pre: {processors: 0} @ f:2: pre.processors: 0 is out of bounds: 1 to 1024 are allowed
        pre: {quantum: 5us} @ f:2: pre.quantum: 5us is out of bounds: 10us to 1s are allowed
        pre: {quantum: 5} @ f:2: pre.quantum: '5' is no duration: a whole number with us, ms or s is wanted; add the unit, as in 5ms
        links: [{name: l}] @ f:2: links[0].rate: is missing: add it, as in 'rate: 10Mbit/s'
        links: [{rate: 1}] @ f:2: links[0].name: is missing: add it, as in 'name: uplink'
        links: [{name: l, rate: 10Mbps}] @ f:2: links[0].rate: '10Mbps' is no rate: one as in 10Mbit/s or 1.25MB/s, or a number of bytes a second, is wanted
        links: [{name: l, rate: 1, burst: 9}] @ f:2: links[0].burst: 9 is out of bounds: 256 bytes to 4GiB are allowed
        links: [{name: l, rate: 1, excess: keep}] @ f:2: links[0].excess: 'keep' is none of drop, wait
        links: [{name: l, rate: 1, next-hops: [10.0.0.0/33]}] @ f:2: links[0].next-hops[0]: 10.0.0.0/33: the length behind the slash must be 0 to 32
        links: [{name: l, rate: 1, next-hops: []}] @ f:2: links[0]: link 'l': next-hops: give at least one prefix
        links: [{name: pre, rate: 1}] @ f:2: links[0]: link 'pre': this name stands for the point before processing: choose another
        """)
    void anErrorOfAPointIsTheOnlyOne(String yaml, String error) {
        assertThat(problems("classes: [{name: a}]\n" + yaml)).containsExactly(error);
    }

    @Test
    void whereThereAreNoClassesOneLineSaysSo() {
        assertThat(problems("classes: []\npre: {discipline: wfq}"))
                .containsExactly("f:1: classes: there are 0, must be 1 to 64");
    }

    @Test
    void aDisciplineThatIsNotThereIsSaidWhereItStands() {
        assertThat(problems(
                        "classes: [{name: a}]\npre:\n  discipline: wqf\nlinks:\n- {name: l, rate: 1, discipline: x}"))
                .hasSize(2)
                .satisfies(lines -> {
                    assertThat(lines.get(0))
                            .startsWith("f:3: pre: ")
                            .doesNotContain("pre: pre")
                            .contains("wqf", "stfq");
                    assertThat(lines.get(1))
                            .startsWith("f:5: links[0]: link 'l': ")
                            .contains("fq-codel");
                });
    }

    @Test
    void allErrorsAreReportedAtOnceEachWithItsLine() {
        String broken = """
            type-id: 0
            qos:
              classes:
                - {name: video, weight: none}
                - {name: video}
              default-class: best
              rules:
                - {source: here, class: best}
              pre:
                processors: 0
                quantum: soon
              links:
                - {name: uplink, excess: wiat}
                - {name: UP, rate: 1, next-hops: 10.0.0.1}
              more: 1
            """;
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", broken, settings);
        assertThat(problems.lines())
                .extracting(line -> line.split(": ")[0] + " " + line.split(": ")[1])
                .containsExactlyInAnyOrder(
                        "f:1 type-id",
                        "f:4 qos.classes[0].weight",
                        "f:5 qos.classes[1]",
                        "f:6 qos.default-class",
                        "f:8 qos.rules[0].source",
                        "f:8 qos.rules[0]",
                        "f:10 qos.pre.processors",
                        "f:11 qos.pre.quantum",
                        "f:13 qos.links[0].rate",
                        "f:13 qos.links[0].excess",
                        "f:14 qos.links[1].next-hops",
                        "f:14 qos.links[1]",
                        "f:15 qos.more");
    }

    @Test
    void aFileOfTheCommandLineTakesThePlaceOfTheSection(@TempDir Path folder) throws Exception {
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", "qos: {classes: [{name: a}]}", settings);
        Overrides overrides = new Overrides(settings);
        overrides.qos(null);
        assertThat(settings.qos.defaultClass()).isEqualTo("a");
        overrides.qos(Files.writeString(folder.resolve("good"), "classes: [{name: b}]"));
        assertThat(settings.qos).isEqualTo(parts("classes: [{name: b}]"));
        overrides.qos(Files.writeString(folder.resolve("bad"), "qos:\n  classes: []"));
        overrides.qos(folder.resolve("none"));
        assertThat(problems.lines())
                .containsExactly(
                        folder + "/bad:1: qos: unknown key; known: classes, default-class, links, points, pre, rules",
                        folder + "/none: cannot be read: there is no such file");
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    @Test
    void itIsWrittenAsPeopleWouldWriteIt() {
        assertThat(Yaml.of(QosTable.data(parts(WHOLE)))).isEqualTo("""
            classes:
              - name: video
                class-of-service: [0, 1, 4-7]
                weight: 70
                limit-packets: 500
                limit-bytes: 2MiB
                dscp: 0
              - name: voice
                class-of-service: [2]
                weight: 1
                limit-packets: 1000
                limit-bytes: 1MiB
                dscp: 0
              - name: rest
                weight: 30
                limit-packets: 1000
                limit-bytes: 1MiB
                dscp: 0
            default-class: voice
            rules:
              - service: org.tamanoir.services.Gzip
                source: 10.0.0.0/8
                destination: "2001:db8::/32"
                stream: 17
                class: video
              - service: "org.example.Film:1.2"
                stream: 100-199
                class: rest
            pre:
              discipline: stfq
              processors: 2
              quantum: 250us
              options:
                unit: 7
            links:
              - name: uplink
                next-hops: [10.0.9.0/24, 10.0.8.1/32]
                rate: 10Mbit/s
                burst: 100KiB
                discipline: pq
                excess: drop
                options:
                  more: 64k
                  top-burst: 65536
                  top-rate: 250000
              - name: rest
                next-hops: [0.0.0.0/0, "::/0"]
                rate: 10Mbit/s
                burst: 65535
                discipline: wfq
                excess: wait
            """);
        assertThat(Yaml.of(QosTable.data(QosConfig.OFF))).isEmpty();
    }

    @Test
    void whatIsWrittenAsYamlOrJsonIsReadAsTheSame() {
        long seed = Seeds.ofCommit(QosSectionTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(500); i++) {
            QosConfig config = random(random);
            Map<String, @Nullable Object> fields = QosTable.data(config);
            assertThat(parts(Yaml.of(fields))).as("seed %d, %d", seed, i).isEqualTo(config);
            String json = Json.of(fields);
            assertThat(parts(json)).as("seed %d, %d: %s", seed, i, json).isEqualTo(config);
            Problems problems = new Problems();
            QosConfig read = QosSection.readParts(
                    new Section("", "qos", QosSection.tree(new JsonMapper().readTree(json)), problems));
            assertThat(problems.lines()).isEmpty();
            assertThat(read).as("seed %d, %d: %s", seed, i, json).isEqualTo(config);
        }
    }

    private static QosConfig random(Random random) {
        List<TrafficClass> classes = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            Set<Integer> values = new HashSet<>();
            random.ints(random.nextInt(40), 0, 256).forEach(values::add);
            classes.add(new TrafficClass(
                    "c" + i,
                    values,
                    1 + random.nextInt(1_000_000),
                    1 + random.nextInt(1_000_000),
                    random.nextBoolean() ? 65_536 << random.nextInt(15) : 65_536 + random.nextInt(1 << 24)));
        }
        List<ClassRule> rules = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            boolean streams = random.nextBoolean();
            long first = random.nextInt() & 0xFFFF_FFFFL;
            rules.add(new ClassRule(
                    random.nextBoolean() ? null : "org.example.S" + i + (random.nextBoolean() ? "" : ":1." + i),
                    random.nextBoolean() ? null : Prefix.parse("10." + i + ".0.0/16"),
                    random.nextBoolean() ? null : Prefix.parse("2001:db8:" + i + "::/48"),
                    streams ? (Long) first : null,
                    streams ? (Long) (random.nextBoolean() ? first : 0xFFFF_FFFFL) : null,
                    classes.get(0).name()));
        }
        Map<String, String> options = Map.of(
                "a-b",
                "null",
                "c",
                "~",
                "d",
                "true",
                "e: f",
                "",
                "g",
                "x: [y] # \"z\"\\\n\u00e9\u20ac\uD83D\uDE00",
                "h",
                "-1.50");
        PreProcessing pre = random.nextBoolean()
                ? null
                : new PreProcessing(
                        "stfq", options, 1 + random.nextInt(1024), Duration.ofNanos(10_000 + random.nextInt(1 << 29)));
        List<Link> links = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            links.add(new Link(
                    "link-" + i,
                    prefixes("10.0." + i + ".0/24", "::/0"),
                    random.nextBoolean() ? 1 + random.nextInt(1 << 30) : 125L * (1 + random.nextInt(1 << 20)),
                    256 + (random.nextInt() & 0xFFFF_FFFFL) / 2,
                    random.nextBoolean(),
                    "fq-codel",
                    random.nextBoolean() ? options : Map.of()));
        }
        return new QosConfig(
                classes, classes.get(random.nextInt(classes.size())).name(), rules, pre, links);
    }
}
