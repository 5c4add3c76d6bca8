package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.node.tc.TcRule;

/** Rules for the host's traffic control in a configuration file. */
class TcTableTest {
    private static List<String> problems(String text, NodeConfigBuilder[] read) {
        Problems problems = new Problems();
        read[0] = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, read[0]);
        read[0].check();
        return problems.lines();
    }

    @Test
    void whatIsWrittenIsReadAsTheSame() {
        TcRule rule = new TcRule(
                "eth1",
                "1:1f",
                new TcRule.Trigger("video", Duration.ofMillis(20), 100, 65_536L),
                1_000_000,
                1_125_000L,
                Duration.ofSeconds(2),
                Duration.ofSeconds(20));
        String text = Yaml.of(Map.of("traffic-control", List.of(TcTable.RULES.data(rule))));
        NodeConfigBuilder[] read = new NodeConfigBuilder[1];
        assertThat(problems(text, read)).isEmpty();
        assertThat(read[0].build().get(NodeSettings.TRAFFIC_CONTROL)).containsExactly(rule);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{interface: e, class: '1:0', when: {drops-over: 1}, rate: 1Mbit/s}|'1:0' is no class",
                "{interface: e, class: '1:1', when: {}, rate: 1Mbit/s}|nothing is congestion",
                "{interface: e, class: '1:1', when: {delay-over: 1ms}, rate: 1Mbit/s}|add qos-class",
                "{interface: e, class: '1:1', when: {drops-over: 1}, rate: 2Mbit/s, ceil: 1Mbit/s}|below the rate of 2Mbit/s",
                "{interface: e, class: '1:1', when: {drops-over: 1}, rate: 2bit/s}|out of bounds",
            },
            quoteCharacter = '"')
    void whatIsWrongIsSaid(String rule, String problem) {
        assertThat(problems("traffic-control:\n  - " + rule + "\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains(problem);
    }
}
