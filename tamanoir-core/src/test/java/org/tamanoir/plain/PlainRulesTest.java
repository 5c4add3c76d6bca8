package org.tamanoir.plain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PlainHeaders;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;

/** What rules for plain IP say, and the packets that stand for datagrams. */
class PlainRulesTest {
    private static final PlainMatch VOICE = new PlainMatch(
            PlainMatch.Protocol.UDP, null, Prefix.parse("10.0.0.0/8"), 5004, 5010, 46, PlainMatch.ANY, null);
    private static final PlainMatch ALL = match(0, 65_535);
    private static final PlainRules RULES = new PlainRules(List.of(rule(VOICE, "a.Voice"), rule(ALL, "a.Rest")));

    private static PlainMatch match(int first, int last) {
        return new PlainMatch(PlainMatch.Protocol.UDP, null, null, first, last, PlainMatch.ANY, PlainMatch.ANY, null);
    }

    private static PlainRule rule(PlainMatch match, String service) {
        return new PlainRule(match, service, 7, 3, FailurePolicy.PASS);
    }

    private static PlainFlow flow(String to, int port, int dscp) throws Exception {
        InetAddress destination = InetAddress.getByName(to);
        return new PlainFlow(
                PlainMatch.Protocol.UDP,
                0,
                0,
                Addresses.high(destination),
                Addresses.low(destination),
                port,
                null,
                dscp,
                0,
                false);
    }

    @Test
    void theFirstRuleThatFitsCounts() throws Exception {
        assertThat(RULES.find(flow("10.1.2.3", 5004, 46))).isZero();
        assertThat(RULES.find(flow("10.1.2.3", 5011, 46))).isEqualTo(1);
        assertThat(PlainRules.NONE.find(flow("10.1.2.3", 5004, 46))).isEqualTo(PlainRules.NO_RULE);
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 5004, 46, destination 192.0.2.1 is not in 10.0.0.0/8",
        "10.1.2.3, 5003, 46, destination port 5003 is not 5004-5010",
        "10.1.2.3, 5004, 0, DSCP 0 is not 46",
    })
    void aRuleSaysWhyItIsNotForAFlow(String to, int port, int dscp, String why) throws Exception {
        assertThat(RULES.explain(flow(to, port, dscp)))
                .containsExactly("rule 1, a.Voice: not, " + why, "rule 2, a.Rest: fits");
    }

    @Test
    void aRuleIsForItsProtocolAlone() throws Exception {
        PlainMatch web =
                new PlainMatch(PlainMatch.Protocol.TCP, null, null, 0, 65_535, PlainMatch.ANY, PlainMatch.ANY, null);
        assertThat(new PlainRules(List.of(rule(web, "a.Web"))).explain(flow("10.1.2.3", 80, 0)))
                .containsExactly("rule 1, a.Web: not, protocol udp is not tcp");
    }

    @Test
    void aRuleForIcmpIsForItsTypesWithoutRouterAlert() {
        PlainMatch errors = icmp(Set.of(IcmpType.TIME_EXCEEDED, IcmpType.UNREACHABLE), null);
        assertThat(errors.whyNot(icmp(IcmpType.UNREACHABLE, false))).isNull();
        assertThat(errors.whyNot(icmp(IcmpType.ECHO_REPLY, false)))
                .isEqualTo("type echo-reply is not unreachable, time-exceeded");
        assertThat(errors.whyNot(icmp(null, false)))
                .isEqualTo("type of another kind is not unreachable, time-exceeded");
        assertThat(errors.whyNot(icmp(IcmpType.UNREACHABLE, true))).isEqualTo("it has a Router Alert");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> icmp(Set.of(IcmpType.UNREACHABLE), true))
                .withMessageContaining("no Router Alert");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> icmp(Set.of(), null))
                .withMessageContaining("of icmp types are wanted");
    }

    private static PlainMatch icmp(Set<IcmpType> types, @Nullable Boolean alert) {
        return new PlainMatch(
                PlainMatch.Protocol.ICMP, null, null, 0, 65_535, types, PlainMatch.ANY, PlainMatch.ANY, alert);
    }

    private static PlainFlow icmp(@Nullable IcmpType type, boolean alert) {
        return new PlainFlow(PlainMatch.Protocol.ICMP, 0, 1, 0, 2, 0, type, 0, 0, alert);
    }

    @Test
    void boundsAreSaidWithTheirValues() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> match(5010, 5004))
                .withMessage("ports 5010-5004: must be 0 to 65535, the first not above the last");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PlainRules(Collections.nCopies(65, rule(ALL, "a.Rest"))))
                .withMessage("65 rules for plain IP: at most 64; join prefixes or ports");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PlainRule(ALL, "a.Rest", 7, 3, FailurePolicy.CLOSE))
                .withMessageContaining("must be pass or drop");
    }

    @ParameterizedTest
    @CsvSource({"10.1.1.1, 10.2.2.2, 3", "2001:db8::1, 2001:db8::2, 3", "10.1.1.1, 10.2.2.2, -1", "::1:2, ::3:4, -1"})
    void aDatagramsHeaderIsOneThatPacketsHave(String from, String to, int classOfService) throws Exception {
        PlainHeaders headers = new PlainRules(
                        List.of(new PlainRule(ALL, "a.Any", 0x1122334455667788L, classOfService, FailurePolicy.PASS)))
                .headers(Anep.DEFAULT_TYPE_ID);
        InetAddress source = InetAddress.getByName(from);
        InetAddress destination = InetAddress.getByName(to);
        boolean isIpv6 = source.getAddress().length == 16;
        int bytes = headers.bytes(0, isIpv6);
        ByteBuffer memory = ByteBuffer.allocate(bytes + 10);
        headers.put(
                memory,
                0,
                0,
                isIpv6,
                10,
                Addresses.high(source),
                Addresses.low(source),
                Addresses.high(destination),
                Addresses.low(destination),
                65_000);
        Packet packet = new Packet();
        assertThat(packet.parse(memory, 0, memory.capacity())).isNull();
        assertThat(packet.payloadLength()).isEqualTo(10);
        assertThat(packet.source()).isEqualTo(source);
        assertThat(packet.destination()).isEqualTo(destination);
        assertThat(packet.destinationPort()).isEqualTo(65_000);
        assertThat(packet.serviceKey()).isEqualTo(0x1122334455667788L);
        assertThat(packet.has(org.tamanoir.anep.Option.CLASS_OF_SERVICE)).isEqualTo(classOfService >= 0);
        assertThat(bytes).isLessThanOrEqualTo(PlainHeaders.MAX_BYTES);
    }
}
