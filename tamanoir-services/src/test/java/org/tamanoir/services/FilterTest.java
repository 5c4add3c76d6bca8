package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.testkit.ServiceHarness;

class FilterTest {
    private static final ByteBuffer HELLO = ByteBuffer.wrap("hello, node".getBytes(StandardCharsets.UTF_8));

    private static Packet ipv4() {
        return Packets.full("org.tamanoir.services.Filter").build(HELLO);
    }

    private static Packet ipv6() {
        return new PacketBuilder()
                        .source(Packets.address("2001:db8::1"))
                        .destination(Packets.address("2001:db8:1::2"))
                        .classOfService(3, 0)
                        .stream(0xFFFF_FFFF)
                        .build(HELLO);
    }

    private static Packet bare() {
        return new PacketBuilder().build(HELLO);
    }

    private static List<String> drops(String rules, Packet packet) {
        return ServiceHarness.run(new Filter(), Transport.UDP, Map.of("rules", rules), List.of(packet))
                .drops();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "drop all",
                "drop source 10.0.0.0/8",
                "drop source 10.0.1.2",
                "drop source 10.255.255.255/8",
                "drop destination 10.0.2.6/31",
                "drop destination 0.0.0.0/0",
                "drop destination ::ffff:10.0.2.7",
                "drop destination ::/0",
                "drop class 0",
                "drop stream 7",
                "drop size > 90",
                "drop size = 95",
                "drop size < 96",
                "drop payload-contains \"hello\"",
                "drop payload-contains \", n\"",
                "drop payload-contains \"node\"",
                "  drop   size  >  90  ",
            })
    void dropsWhatARuleNames(String rule) {
        assertThat(ipv4().length()).isEqualTo(95);
        assertThat(drops(rule, ipv4())).containsExactly("rule 1: " + rule.strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "pass all",
                "pass all; drop all",
                "drop source 10.0.1.3",
                "drop source 11.0.0.0/8",
                "drop source 2001:db8::/32; drop source 8000::/1",
                "drop destination 10.0.1.2",
                "drop class 1",
                "drop stream 8",
                "drop size > 95",
                "drop size = 94",
                "drop size < 95",
                "drop payload-contains \"nodes\"",
                "drop payload-contains \"Hello\"",
                "drop payload-contains \"hello, node and more than there is\"",
            })
    void passesWhatNoRuleNames(String rules) {
        assertThat(drops(rules, ipv4())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "drop source 2001:db8::/32,1",
        "drop source 2001:db8::/127,1",
        "drop source 2001:db8::/128,0",
        "drop destination 2001:db8:1::2,1",
        "drop destination 2001:db8:0:8000::/49,0",
        "drop destination 0.0.0.0/0,0",
        "drop class 3,1",
        "drop stream 4294967295,1",
    })
    void matchesIpv6AndLargeNumbers(String rule, int expected) {
        assertThat(drops(rule, ipv6())).hasSize(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "drop source ::/0",
                "drop destination 0.0.0.0/0",
                "drop class 0",
                "drop stream 0",
                "drop size > 20"
            })
    void passesPacketsWithoutWhatTheRuleLooksAt(String rule) {
        assertThat(drops(rule, bare())).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void theFirstRuleThatMatchesDecides(Transport transport) {
        String rules = "pass class 3\n drop source 10.0.0.0/8 ;; drop size > 10\n";
        ServiceHarness host =
                ServiceHarness.run(new Filter(), transport, Map.of("rules", rules), List.of(ipv4(), ipv6(), bare()));
        assertThat(host.drops()).containsExactly("rule 2: drop source 10.0.0.0/8", "rule 3: drop size > 10");
        assertThat(host.packets()).hasSize(1);
        assertThat(host.outputs().get(0).payload()).isEqualTo(HELLO.array());
        assertThat(host.count("packets")).isEqualTo(3);
        assertThat(host.count("passed")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void closesAndResetsStreamsByRuleAndByDefault(Transport transport) {
        Map<String, String> config =
                Map.of("rules", "reset source 10.0.0.0/8; pass payload-contains \"h\"", "default", "close");
        ServiceHarness host = ServiceHarness.run(
                new Filter(),
                transport,
                config,
                List.of(ipv4(), bare(), new PacketBuilder().build(ByteBuffer.allocate(1))));
        assertThat(host.endings()).containsExactly(Verdict.RESET, Verdict.CLOSE);
        assertThat(host.drops()).containsExactly("rule 1: reset source 10.0.0.0/8", "no rule matched");
        assertThat(host.packets()).hasSize(1);
    }

    /** Levels below handle UDP, where there is no stream to end. */
    @Test
    void belowTheJvmRulesThatEndStreamsDrop() {
        assertThat(below("reset class 3; close class 4; pass class 5"))
                .isEqualTo(below("drop class 3; drop class 4; pass class 5"));
    }

    private static Policy below(String rules) {
        try (ServiceHarness host =
                ServiceHarness.startWithLevels(new Filter(), Transport.UDP, Map.of("rules", rules, "offload", "all"))) {
            return host.levels().offloads().get(0).policy();
        }
    }

    @Test
    void dropsTheRestWhereThatIsTheDefault() {
        Map<String, String> config = Map.of("rules", "pass class 3", "default", "drop");
        ServiceHarness host = ServiceHarness.run(new Filter(), Transport.TCP, config, List.of(ipv4(), ipv6()));
        assertThat(host.drops()).containsExactly("no rule matched");
        assertThat(host.packets()).hasSize(1);
    }

    @Test
    void separatorsAndEscapesMayStandInQuotes() {
        Packet packet = new PacketBuilder().build(ByteBuffer.wrap("x;\"\\y".getBytes(StandardCharsets.UTF_8)));
        assertThat(drops("drop payload-contains \"x;\\\"\\\\y\"", packet)).hasSize(1);
    }

    @Test
    void longRulesAreCutInTheReason() {
        String rule = "drop payload-contains \"" + "o".repeat(200) + "\"";
        Packet packet = new PacketBuilder().build(ByteBuffer.wrap(rule.getBytes(StandardCharsets.UTF_8)));
        assertThat(drops(rule, packet).get(0)).hasSize(8 + 80 + 1).endsWith("…");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "drip all|rules: rule 1 (drip all), column 1: \"drip\": must be drop, close, reset or pass",
                "drop|rules: rule 1 (drop), column 5: nothing there: must be one of all, source, destination, class,"
                        + " stream, size, payload-contains",
                "pass all; drop clas 3|rules: rule 2 (drop clas 3), column 6: \"clas\": must be one of all, source,"
                        + " destination, class, stream, size, payload-contains",
                "drop class 256|rules: rule 1 (drop class 256), column 12: \"256\": must be a whole number from 0 to 255",
                "drop stream -1|rules: rule 1 (drop stream -1), column 13: \"-1\": must be a whole number from 0 to"
                        + " 4294967295",
                "drop size 1400|rules: rule 1 (drop size 1400), column 11: \"1400\": must be <, = or >",
                "drop size > 70000|rules: rule 1 (drop size > 70000), column 13: \"70000\": must be a whole number from"
                        + " 0 to 65535",
                "drop source 10.0.0.0/33|rules: rule 1 (drop source 10.0.0.0/33), column 13: \"10.0.0.0/33\": must be an"
                        + " address or prefix such as 10.0.0.0/8 or 2001:db8::/32 (prefix length 33 is not 0 to 32)",
                "drop source 10.0.0.256|rules: rule 1 (drop source 10.0.0.256), column 13: \"10.0.0.256\": must be an"
                        + " address or prefix such as 10.0.0.0/8 or 2001:db8::/32 ('10.0.0.256' is no IPv4"
                        + " address: an octet is a decimal number from 0 to 255, without zeros in front; write all four,"
                        + " as in 127.0.0.1)",
                "drop source localhost|rules: rule 1 (drop source localhost), column 13: \"localhost\": must be an"
                        + " address or prefix such as 10.0.0.0/8 or 2001:db8::/32 ('localhost' is no"
                        + " address: write one as 10.0.0.1 or 2001:db8::1)",
                "drop source 1:2:3|rules: rule 1 (drop source 1:2:3), column 13: \"1:2:3\": must be an address or prefix"
                        + " such as 10.0.0.0/8 or 2001:db8::/32 ('1:2:3' is no"
                        + " IPv6 address: it has 3 of 8 groups, 5 lack; write '::' in place of zeros, as in ::1)",
                "drop all packets|rules: rule 1 (drop all packets), column 10: \"packets\": must be the end of the rule:"
                        + " ; or a new line",
                "drop payload-contains x|rules: rule 1 (drop payload-contains x), column 23: \"x\": must be text in"
                        + " double quotes",
                "drop payload-contains \"x|rules: rule 1 (drop payload-contains \"x), column 23: no closing quote: end"
                        + " the text with \"",
                "drop payload-contains \"\"|rules: rule 1 (drop payload-contains \"\"), column 23: text of 0 bytes: must"
                        + " be 1 to 1024",
            })
    void saysWhereARuleIsWrongAndWhatIsAllowed(String rules, String message) {
        assertThatThrownBy(() -> new Filter().init(new ServiceConfig(Map.of("rules", rules))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void boundsTheNumberOfRules() {
        assertThat(FilterParser.parse("drop all;".repeat(256))).hasSize(256);
        assertThatThrownBy(() -> FilterParser.parse("drop all;".repeat(257)))
                .hasMessage("rules: rule 257 (drop all), column 1: one rule too many: at most 256");
    }

    @Test
    void allocatesNothingPerPacket() {
        String rules = "drop source 192.168.0.0/16; drop destination 2001:db8::/32; drop class 3; drop stream 9;"
                + " drop size > 1400; drop payload-contains \"no such text\"; drop size < 400";
        assertThat(Allocation.perPacket(
                        new Filter(), Map.of("rules", rules), Packets.full("org.tamanoir.services.Filter")))
                .isLessThan(1);
    }
}
