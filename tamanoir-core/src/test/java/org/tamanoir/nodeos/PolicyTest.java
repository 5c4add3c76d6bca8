package org.tamanoir.nodeos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyTest {
    @Test
    void aPolicyForwardsDropsOrSendsUp() {
        assertThat(Policy.forward())
                .isEqualTo(new Policy(Share.NONE, new Mark.None(), List.of(), false, new Fate.On()));
        assertThat(Policy.drop().fate()).isEqualTo(new Fate.Drop());
        assertThat(Policy.up().share()).isEqualTo(Share.ALL);
    }

    @Test
    void eachPartCanBeReplacedAlone() {
        Policy policy = Policy.forward()
                .share(Share.every(3))
                .markClass(7)
                .rules(List.of(Rule.all(false)), true)
                .fate(new Fate.Redirect("eth1"));

        assertThat(policy)
                .isEqualTo(new Policy(
                        Share.every(3),
                        new Mark.ClassOfService(7),
                        List.of(Rule.all(false)),
                        true,
                        new Fate.Redirect("eth1")));
        assertThat(policy.share(Share.NONE)
                        .mark(new Mark.None())
                        .rules(List.of(), false)
                        .fate(new Fate.On()))
                .isEqualTo(Policy.forward());
    }

    @Test
    void aPolicyHasAtMostSixteenRules() {
        List<Rule> rules = new ArrayList<>(Collections.nCopies(16, Rule.all(true)));
        assertThat(Policy.forward().rules(rules, false).rules()).hasSize(Policy.MAX_RULES);
        rules.add(Rule.all(true));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.forward().rules(rules, false))
                .withMessage("17 rules: a level takes at most 16");
    }

    @Test
    void rulesAreCopied() {
        List<Rule> rules = new ArrayList<>(List.of(Rule.all(true)));
        Policy policy = Policy.forward().rules(rules, false);
        rules.clear();
        assertThat(policy.rules()).containsExactly(Rule.all(true));
    }

    @Test
    void withoutRulesNoneCanBeMissed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.forward().rules(List.of(), true))
                .withMessage("no rules, and packets that meet none end: use drop()");
    }

    @Test
    void sharesCountFromOneTo32Bits() {
        assertThat(Share.every(1).number()).isEqualTo(1);
        assertThat(Share.first(0xFFFF_FFFFL).number()).isEqualTo(0xFFFF_FFFFL);
        for (long number : new long[] {0, -1, 0x1_0000_0000L}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Share.every(number))
                    .withMessage("share EVERY " + number + ": must be 1 to 4294967295");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Share.first(number))
                    .withMessage("share FIRST " + number + ": must be 1 to 4294967295");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Share(Share.Kind.ALL, 1))
                .withMessage("share ALL 1: must be 0");
    }

    @Test
    void marksFitTheHeaderThatLevelsRead() {
        assertThat(new Mark.At(8, 4, 0xFFFF_FFFFL).value()).isEqualTo(0xFFFF_FFFFL);
        assertThat(new Mark.At(252, 4, 0).offset()).isEqualTo(252);
        assertThat(new Mark.At(251, 1, 255).bytes()).isEqualTo(1);
        refused(() -> new Mark.At(8, 3, 0), "mark of 3 bytes: must be 1, 2 or 4");
        refused(() -> new Mark.At(7, 1, 0), "mark at byte 7: must be a multiple of 1 from 8 to 252");
        refused(() -> new Mark.At(253, 1, 0), "mark at byte 253: must be a multiple of 1 from 8 to 252");
        refused(() -> new Mark.At(10, 4, 0), "mark at byte 10: must be a multiple of 4 from 8 to 252");
        refused(() -> new Mark.At(8, 1, 256), "mark 256: must fit 1 bytes, unsigned");
        refused(() -> new Mark.At(8, 2, 0x1_0000), "mark 65536: must fit 2 bytes, unsigned");
        refused(() -> new Mark.At(8, 4, 0x1_0000_0000L), "mark 4294967296: must fit 4 bytes, unsigned");
        refused(() -> new Mark.At(8, 4, -1), "mark -1: must fit 4 bytes, unsigned");
    }

    @Test
    void aClassOfServiceIsAnByte() {
        assertThat(new Mark.ClassOfService(255).value()).isEqualTo(255);
        refused(() -> new Mark.ClassOfService(256), "class of service 256: must be 0 to 255");
        refused(() -> new Mark.ClassOfService(-1), "class of service -1: must be 0 to 255");
    }

    @Test
    void packetsAreSentToNumericAddressesAlone() {
        refused(
                () -> new Fate.To(InetSocketAddress.createUnresolved("host.example", 1)),
                "to host.example/<unresolved>:1: must be a numeric address");
    }

    private static void refused(Runnable making, String message) {
        assertThatIllegalArgumentException().isThrownBy(making::run).withMessage(message);
    }
}
