package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.offload.PlainChange;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.support.TestNet;

/** Rules for plain IP that change while datagrams cross: each arrives once, as one of the sets of rules says. */
@Tag("namespace")
class PlainReloadTest {
    private static final int SOME = 500;
    private static final int RELOADS = 200;
    private static final int ONE = 1;
    private static final int OTHER = 2;
    private static final PlainRule BY_ONE = rule(PlainMatch.Protocol.UDP, "org.example.One", 5000, 5010);
    private static final PlainRule BY_OTHER = rule(PlainMatch.Protocol.UDP, "org.example.Other", 5004, 5020);

    private static PlainBed bed;

    @BeforeAll
    static void makeNet() throws Exception {
        bed = new PlainBed("plainr");
    }

    @AfterAll
    static void removeNet() {
        if (bed != null) {
            bed.close();
        }
    }

    @BeforeEach
    void serve() {
        bed.forget();
        bed.services()
                .add(TransitNode.definition(
                        "org.example.One", FailurePolicy.DROP, packet -> PlainDatagrams.mark(packet, ONE)));
        bed.services()
                .add(TransitNode.definition(
                        "org.example.Other", FailurePolicy.DROP, packet -> PlainDatagrams.mark(packet, OTHER)));
    }

    @AfterEach
    void stop() {
        bed.stop();
    }

    private static PlainRule rule(PlainMatch.Protocol protocol, String service, int firstPort, int lastPort) {
        return new PlainRule(
                new PlainMatch(protocol, null, null, firstPort, lastPort, PlainMatch.ANY, PlainMatch.ANY, null),
                service,
                ServiceKey.of(service),
                PlainMatch.ANY,
                FailurePolicy.DROP);
    }

    private static void start(PlainRule... rules) throws Exception {
        bed.start(new PlainConfig(
                new PlainRules(List.of(rules)),
                List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE),
                PlainConfig.DEFAULT_ALERTS));
    }

    /** Changes the rules while datagrams cross, and returns how many went through a service. */
    private static int change(int before, int after, PlainRule... rules) throws Exception {
        PlainDatagrams datagrams = new PlainDatagrams(bed);
        datagrams.awaitArrived(SOME);
        int last = datagrams.sent() - PlainDatagrams.UNDER_WAY;
        bed.change(rules);
        int first = datagrams.sent() + 1;
        datagrams.awaitArrived(first + SOME);
        List<Integer> through = datagrams.end();
        assertThat(through.subList(0, last)).containsOnly(before);
        assertThat(through.subList(first, through.size())).containsOnly(after);
        assertThat(through).containsOnly(before, after);
        int served = (int) through.stream().filter(octet -> octet != 0).count();
        assertThat(bed.balanced(served).packetsOut()).isEqualTo(served);
        return served;
    }

    @Test
    void aRuleIsAddedWhereThereWasNone() throws Exception {
        start();
        int served = change(PlainDatagrams.NONE, ONE, BY_ONE);
        assertThat(bed.plain().status().rules()).containsExactly(new PlainTraffic.RuleCount(served, served));
    }

    @Test
    void theLastRuleIsTakenAway() throws Exception {
        start(BY_ONE);
        change(ONE, PlainDatagrams.NONE);
        assertThat(bed.plain().status().rules()).isEmpty();
    }

    @Test
    void rulesThatChangePlacesKeepTheirCounts() throws Exception {
        start(BY_ONE, BY_OTHER);
        int served = change(ONE, OTHER, BY_OTHER, BY_ONE);
        List<PlainTraffic.RuleCount> counts = bed.plain().status().rules();
        assertThat(counts.get(0).up() + counts.get(1).up()).isEqualTo(served);
        assertThat(counts.get(1).up()).isGreaterThanOrEqualTo(SOME - PlainDatagrams.UNDER_WAY);
    }

    @Test
    void aRuleThatComesBackBeginsItsCountsAnew() throws Exception {
        start(BY_ONE);
        change(ONE, OTHER, BY_OTHER);
        bed.change(BY_ONE, BY_OTHER);
        List<PlainTraffic.RuleCount> counts = bed.plain().status().rules();
        assertThat(counts.get(0)).isEqualTo(new PlainTraffic.RuleCount(0, 0));
        assertThat(counts.get(1).up()).isPositive();
    }

    @Test
    void rulesThatAreNotToBeChangeNothing() throws Exception {
        start(BY_ONE);
        PlainDatagrams datagrams = new PlainDatagrams(bed);
        datagrams.awaitArrived(SOME);
        PlainRules other = new PlainRules(List.of(BY_OTHER, rule(PlainMatch.Protocol.TCP, "org.example.One", 80, 80)));
        bed.environment().stage(other, 1).abandon();
        datagrams.awaitArrived(datagrams.sent() + SOME);
        assertThat(datagrams.end()).containsOnly(ONE);
        assertThat(bed.plain().rules().rules()).containsExactly(BY_ONE);
        bed.change(BY_OTHER);
        PlainDatagrams after = new PlainDatagrams(bed);
        after.awaitArrived(SOME);
        assertThat(after.end()).containsOnly(OTHER);
    }

    @Test
    void whatCannotComeInForceAnyMoreSaysSo() throws Exception {
        start(BY_ONE);
        PlainChange change = bed.environment().stage(new PlainRules(List.of(BY_OTHER)), 1);
        bed.plain().close();
        assertThatThrownBy(change::commit).hasMessageContaining("closed");
        assertThat(bed.plain().rules().rules()).containsExactly(BY_ONE);
    }

    @Test
    void noDatagramIsLostOrComesTwiceInManyChanges() throws Exception {
        PlainRule web = rule(PlainMatch.Protocol.TCP, "org.example.One", 80, 80);
        List<PlainRule[]> sets = List.of(
                new PlainRule[] {BY_ONE, BY_OTHER, web},
                new PlainRule[] {},
                new PlainRule[] {BY_OTHER, BY_ONE},
                new PlainRule[] {web, BY_OTHER},
                new PlainRule[] {BY_ONE});
        start(BY_ONE);
        PlainDatagrams datagrams = new PlainDatagrams(bed);
        for (int i = 0; i < RELOADS; i++) {
            bed.change(sets.get(i % sets.size()));
            datagrams.awaitArrived(datagrams.sent() + 2 * PlainDatagrams.UNDER_WAY);
        }
        List<Integer> through = datagrams.end();
        assertThat(through).containsOnly(PlainDatagrams.NONE, ONE, OTHER);
        long served = through.stream().filter(octet -> octet != 0).count();
        assertThat(bed.balanced(served).packetsOut()).isEqualTo(served);
        assertThat(bed.met("up")).isEqualTo(served);
    }
}
