package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.Prefix;

class QosConfigTest {
    private static final List<TrafficClass> CLASSES =
            List.of(new TrafficClass("gold", Set.of(0), 70), new TrafficClass("rest", Set.of(), 30));
    private static final Link UPLINK = link("uplink", "wfq");

    private static Link link(String name, String discipline) {
        return new Link(name, List.of(Prefix.parse("10.0.0.0/8")), 1_000_000, 65_535, false, discipline, Map.of());
    }

    private static QosConfig config(List<ClassRule> rules, @Nullable PreProcessing pre, Link... links) {
        return new QosConfig(CLASSES, "rest", rules, pre, List.of(links));
    }

    private static QosConfig withClass(TrafficClass trafficClass) {
        return new QosConfig(List.of(trafficClass), trafficClass.name(), List.of(), null, List.of());
    }

    @Test
    void offHasNoProblems() {
        assertThat(QosConfig.OFF.problems()).isEmpty();
    }

    @Test
    void bothPointsAtOnceHaveNoProblems() {
        assertThat(config(List.of(), new PreProcessing("wfq", 2), UPLINK).problems())
                .isEmpty();
    }

    @Test
    void aChoiceNeedsPointsBeforeAndAfterProcessing() {
        QosConfig both = config(List.of(), new PreProcessing("wfq", 2), UPLINK);
        assertThat(chosen(both).problems()).isEmpty();
        assertThat(both.before().problems()).isEmpty();
        assertThat(both.after().problems()).isEmpty();
        String problem =
                "points 'auto': there is nothing to choose between: give both pre and links, or leave points out";
        assertThat(chosen(both.before()).problems()).containsExactly(problem);
        assertThat(chosen(both.after()).problems()).containsExactly(problem);
    }

    private static QosConfig chosen(QosConfig config) {
        return new QosConfig(
                config.classes(), config.defaultClass(), config.rules(), config.pre(), config.links(), QosPoints.AUTO);
    }

    @Test
    void everyProblemIsNamedAtOnce() {
        QosConfig config = new QosConfig(
                List.of(
                        new TrafficClass("Gold!", Set.of(0, 300), 0),
                        new TrafficClass("rest", Set.of(0), 1, 0, 1),
                        new TrafficClass("rest", Set.of(), 1_000_001)),
                "best",
                List.of(
                        new ClassRule(null, null, null, null, null, "rest"),
                        new ClassRule("org.example.A", null, null, 9L, 1L, "none")),
                new PreProcessing("wfq", Map.of(), 0, Duration.ofSeconds(2)),
                List.of(
                        new Link("pre", List.of(), 0, 1, false, "fifo", Map.of()),
                        new Link("pre", List.of(Prefix.parse("10.0.0.0/8")), 1, 256, false, "fifo", Map.of())));

        assertThat(config.problems())
                .containsExactly(
                        "class 'Gold!': a name has 1 to 63 lower-case letters, digits and hyphens",
                        "class 'Gold!': weight 0: must be 1 to 1000000",
                        "class 'Gold!': class-of-service 300: must be 0 to 255",
                        "class 'rest': limit-packets 0: must be 1 to 1000000",
                        "class 'rest': limit-bytes 1: must be 65536 to 1073741824",
                        "class 'rest': class-of-service 0 is class 'Gold!' already",
                        "class 'rest': there are two of this name: rename one",
                        "class 'rest': weight 1000001: must be 1 to 1000000",
                        "default-class 'best': there is no class of this name, there are [Gold!, rest, rest]",
                        "rule 1: it says nothing of packets: give service, source, destination or stream, "
                                + "or use default-class",
                        "rule 2: class 'none': there is no class of this name, there are [Gold!, rest, rest]",
                        "rule 2: stream 9-1: the first comes before the last",
                        "pre: processors 0: must be 1 to 1024",
                        "pre: quantum PT2S: must be PT0.00001S to PT1S",
                        "link 'pre': this name stands for the point before processing: choose another",
                        "link 'pre': next-hops: give at least one prefix",
                        "link 'pre': rate 0: must be 1 to 1000000000000",
                        "link 'pre': burst 1: must be 256 to 4294967296",
                        "link 'pre': there are two of this name: rename one",
                        "link 'pre': this name stands for the point before processing: choose another");
    }

    @Test
    void aDisciplineThatIsNotThereIsNamedWithThoseThatAre() {
        assertThat(config(List.of(), null, link("uplink", "wqf")).problems())
                .singleElement()
                .asString()
                .startsWith("link 'uplink': ")
                .contains("wqf", "fifo", "wfq");
    }

    @Test
    void aDisciplineThatDropsCannotOrderTurns() {
        assertThat(config(List.of(), new PreProcessing("codel", 1)).problems())
                .singleElement()
                .asString()
                .startsWith("pre: ")
                .contains("codel", "stfq");
    }

    @Test
    void noClassIsNoConfiguration() {
        assertThat(new QosConfig(List.of(), "", List.of(), null, List.of(UPLINK)).problems())
                .contains("classes: there are 0, must be 1 to 64");
    }

    @Test
    void halfARangeOfStreamsIsRefused() {
        assertThat(config(List.of(new ClassRule(null, null, null, 1L, null, "rest")), null)
                        .problems())
                .containsExactly("rule 1: stream: give both ends of the range");
    }

    @Test
    void aGoodClassAloneHasNoProblems() {
        assertThat(withClass(new TrafficClass("a", Set.of(255), 1_000_000)).problems())
                .isEmpty();
    }
}
