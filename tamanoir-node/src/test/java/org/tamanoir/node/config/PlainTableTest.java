package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.support.SecretFile;

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
                          - {match: {protocol: udp, destination: 10.0.0.0/8, ports: 5004-5010, dscp: 46}, service: org.tamanoir.services.Impair, class: 3}
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
                                "org.tamanoir.services.Impair",
                                ServiceKey.of("org.tamanoir.services.Impair"),
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
        PlainRule rule = new PlainRule(
                match,
                "org.tamanoir.services.Impair",
                ServiceKey.of("org.tamanoir.services.Impair"),
                0,
                FailurePolicy.DROP);
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
                        plain: [{match: {protocol: icmp}, service: Impair}]
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
                "{match: {protocol: udp, ports: 9-8}, service: Impair}|9-8: the first port must not be above the last",
                "{match: {protocol: sctp}, service: Impair}|sctp",
                "{match: {protocol: icmp, ports: 5}, service: Impair}|ICMP has no ports: write types",
                "{match: {protocol: udp, types: [echo-reply]}, service: Impair}|only ICMP has types: write ports",
                "{match: {protocol: icmp, types: [router-advertisement]}, service: Impair}|'router-advertisement' is no type that rules are for: must be one of echo-request",
                "{match: {protocol: icmp, types: []}, service: Impair}|name at least one, or leave types out",
                "{match: {protocol: icmp, router-alert: true}, service: Impair}|no Router Alert",
                "{match: {protocol: udp, dscp: 64}, service: Impair}|64",
                "{match: {protocol: udp, source: 10.0.0.0/8, destination: '::/0'}, service: Impair}|both must be of one family",
                "{match: {protocol: udp}, service: Impair, on-failure: close}|close",
                "{match: {protocol: udp, fwmark: -1}, service: Impair}|0 to 4294967295 are allowed",
                "{match: {protocol: udp, fwmark: '010'}, service: Impair}|'010' is no whole number: one from 0 to 4294967295 is wanted",
                "{match: {protocol: udp, fwmark: '#10'}, service: Impair}|'#10' is no whole number: one from 0 to 4294967295 is wanted",
                "{service: Impair}|match",
            })
    void aWrongRuleIsOneLine(String rule, String expected) {
        assertThat(problems("plain: [" + rule + "]\nplain-interfaces: [eth1]\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains(expected);
    }

    @Test
    void aServiceThatNobodyHasIsAProblem() {
        assertThat(problems(
                        "plain: [{match: {protocol: udp}, service: Monitor}, {match: {protocol: tcp}, service: Montor}]\n"
                                + "plain-interfaces: [eth1]\n",
                        new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .startsWith("f:1: plain: plain[1] names service org.tamanoir.services.Montor, which nobody has: ")
                .contains("correct the name to org.tamanoir.services.Monitor");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "limits: {udp-amplifiers: {Montor: 4}}|limits.udp-amplifiers|limits.udp-amplifiers",
                "admin: {control: [TOKEN=Montor]}|admin.control|TOKEN",
                "qos: {classes: [{name: a}], rules: [{service: Montor, class: a}]}|qos.rules|a rule",
                "qos: {classes: [{name: a}], rules: [{service: 'Montor:1.0', class: a}]}|qos.rules|a rule",
            })
    void eachKeyThatNamesAServiceWhichNobodyHasIsAProblem(String text, String where, String what, @TempDir Path folder)
            throws IOException {
        String token = SecretFile.write(folder.resolve("token"), "0123456789abcdef-control")
                .toString();
        String wrong = text.replace("TOKEN", token);
        assertThat(problems(wrong + "\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .startsWith("f:1: " + where + ": " + what.replace("TOKEN", token)
                        + " names service org.tamanoir.services.Montor, which nobody has: ")
                .contains("correct the name to org.tamanoir.services.Monitor");
        assertThat(problems(wrong.replace("Montor", "Monitor") + "\n", new NodeConfigBuilder[1]))
                .isEmpty();
    }

    @Test
    void theCommonPackageMakesNoServiceAlike() {
        String wrong =
                "listen: {gateways: ['127.0.0.1:0=127.0.0.1:9,octets,Monitor', '127.0.0.1:0=127.0.0.1:9,octets,%s']}\n";
        assertThat(problems(wrong.formatted("Nope"), new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains("org.tamanoir.services.Nope, which nobody has: ", "correct the name, or");
        assertThat(problems(wrong.formatted("org.tamanoir.service.Ecko"), new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains("correct the name to org.tamanoir.services.Echo, or");
    }

    /** A node may order by services that others have. */
    @Test
    void aRuleOfQualityOfServiceMayNameAServiceThatPacketsAreForwardedFor() {
        assertThat(problems(
                        "unknown-service: pass\nqos: {classes: [{name: a}], rules: [{service: Montor, class: a}]}\n",
                        new NodeConfigBuilder[1]))
                .isEmpty();
    }

    @Test
    void aRuleWantsItsService() {
        NodeConfigBuilder[] read = new NodeConfigBuilder[1];
        problems("plain: [{match: {protocol: udp}, service: a.B}]\nplain-interfaces: [eth1]\n", read);
        assertThat(read[0].build().wanted()).containsEntry("a.B", "rule plain[0]");
    }

    @Test
    void rulesNeedAnInterface() {
        assertThat(problems("plain: [{match: {protocol: udp}, service: Impair}]\n", new NodeConfigBuilder[1]))
                .singleElement()
                .asString()
                .contains("plain-interfaces");
    }
}
