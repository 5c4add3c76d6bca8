package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;

/** Rules for plain IP in a configuration file. */
class PlainTableTest {
    private static List<String> problems(String text, NodeConfigBuilder[] read) {
        Problems problems = new Problems();
        read[0] = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, read[0]);
        read[0].check();
        return problems.lines();
    }

    @Test
    void aRuleIsRead() {
        NodeConfigBuilder[] read = new NodeConfigBuilder[1];
        assertThat(problems("""
                        plain:
                          - {match: {protocol: udp, destination: 10.0.0.0/8, ports: 5004-5010, dscp: 46}, service: org.example.Voice, class: 3}
                          - {match: {protocol: udp, source: "2001:db8::/32", ports: 9, fwmark: 0x10, router-alert: true}, service: Monitor, on-failure: drop}
                        plain-interfaces: [eth1]
                        """, read)).isEmpty();
        assertThat(read[0].build().get(NodeSettings.PLAIN))
                .containsExactly(
                        new PlainRule(
                                new PlainMatch(
                                        PlainMatch.Protocol.UDP,
                                        null,
                                        Prefix.parse("10.0.0.0/8"),
                                        5004,
                                        5010,
                                        46,
                                        -1,
                                        null),
                                "org.example.Voice",
                                ServiceKey.of("org.example.Voice"),
                                3,
                                FailurePolicy.PASS),
                        new PlainRule(
                                new PlainMatch(
                                        PlainMatch.Protocol.UDP,
                                        Prefix.parse("2001:db8::/32"),
                                        null,
                                        9,
                                        9,
                                        -1,
                                        16,
                                        true),
                                "org.tamanoir.services.Monitor",
                                ServiceKey.of("org.tamanoir.services.Monitor"),
                                -1,
                                FailurePolicy.DROP));
    }

    @Test
    void whatIsWrittenIsReadAsTheSame() {
        assertWrittenAsRead(new PlainMatch(
                PlainMatch.Protocol.TCP, Prefix.parse("10.1.0.0/16"), null, 5, 9, 0, 4294967295L, false));
        assertWrittenAsRead(icmp(Set.of(IcmpType.ECHO_REPLY, IcmpType.PACKET_TOO_BIG)));
    }

    private static void assertWrittenAsRead(PlainMatch match) {
        PlainRule rule =
                new PlainRule(match, "org.example.Voice", ServiceKey.of("org.example.Voice"), 0, FailurePolicy.DROP);
        String text = Yaml.of(java.util.Map.of("plain", List.of(PlainTable.RULES.data(rule))));
        NodeConfigBuilder[] read = new NodeConfigBuilder[1];
        assertThat(problems(text + "plain-interfaces: [eth1]\n", read)).isEmpty();
        assertThat(read[0].build().get(NodeSettings.PLAIN)).containsExactly(rule);
    }

    private static PlainMatch icmp(Set<IcmpType> types) {
        return new PlainMatch(PlainMatch.Protocol.ICMP, null, null, 0, 65_535, types, -1, -1, null);
    }

    @Test
    void aRuleForIcmpWithoutTypesIsForAll() {
        NodeConfigBuilder[] read = new NodeConfigBuilder[1];
        assertThat(problems("""
                        plain: [{match: {protocol: icmp}, service: a.B}]
                        plain-interfaces: [eth1]
                        """, read)).isEmpty();
        assertThat(read[0].build().get(NodeSettings.PLAIN))
                .singleElement()
                .extracting(PlainRule::match)
                .isEqualTo(icmp(Set.of(IcmpType.values())));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{match: {protocol: udp, ports: 9-8}, service: a.B}|9-8: the first port must not be above the last",
                "{match: {protocol: sctp}, service: a.B}|sctp",
                "{match: {protocol: icmp, ports: 5}, service: a.B}|ICMP has no ports: write types",
                "{match: {protocol: udp, types: [echo-reply]}, service: a.B}|only ICMP has types: write ports",
                "{match: {protocol: icmp, types: [router-advertisement]}, service: a.B}|'router-advertisement' is no type that rules are for: must be one of echo-request",
                "{match: {protocol: icmp, types: []}, service: a.B}|name at least one, or leave types out",
                "{match: {protocol: icmp, router-alert: true}, service: a.B}|no Router Alert",
                "{match: {protocol: udp, dscp: 64}, service: a.B}|64",
                "{match: {protocol: udp, source: 10.0.0.0/8, destination: '::/0'}, service: a.B}|both must be of one family",
                "{match: {protocol: udp}, service: a.B, on-failure: close}|close",
                "{match: {protocol: udp, fwmark: -1}, service: a.B}|must be 0 to 4294967295",
                "{service: a.B}|match",
            })
    void aWrongRuleIsOneLine(String rule, String expected) {
        assertThat(problems("plain: [" + rule + "]\nplain-interfaces: [eth1]\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains(expected);
    }

    @Test
    void rulesNeedAnInterface() {
        assertThat(problems("plain: [{match: {protocol: udp}, service: a.B}]\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains("plain-interfaces");
    }
}
