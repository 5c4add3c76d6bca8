package org.tamanoir.nodeos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class RuleTest {
    @Test
    void aPrefixIsNoLongerThanItsAddress() throws Exception {
        InetAddress v4 = InetAddress.getByName("10.0.0.0");
        InetAddress v6 = InetAddress.getByName("2001:db8::");
        assertThat(Rule.prefix(true, Rule.Subject.SOURCE, v4, 32).prefixBits()).isEqualTo(32);
        assertThat(Rule.prefix(true, Rule.Subject.DESTINATION, v6, 128).prefixBits())
                .isEqualTo(128);
        refused(() -> Rule.prefix(true, Rule.Subject.SOURCE, v4, 33), "prefix of 33 bits: must be 0 to 32");
        refused(() -> Rule.prefix(true, Rule.Subject.SOURCE, v6, 129), "prefix of 129 bits: must be 0 to 128");
        refused(() -> Rule.prefix(true, Rule.Subject.SOURCE, v6, -1), "prefix of -1 bits: must be 0 to 128");
    }

    @Test
    void onlyIdentifiersAreComparedWithPrefixes() throws Exception {
        InetAddress v4 = InetAddress.getByName("10.0.0.0");
        refused(() -> Rule.prefix(true, Rule.Subject.SIZE, v4, 8), "rule on SIZE: has none");
        refused(
                () -> new Rule(true, Rule.Subject.SOURCE, Rule.Comparison.EQUAL, 0, null, 0),
                "rule on SOURCE: needs an address");
        refused(
                () -> new Rule(true, Rule.Subject.ALL, Rule.Comparison.EQUAL, 0, null, 1),
                "prefix of 1 bits: must be 0 to 0");
    }

    @Test
    void numbersAreUnsignedAndOf32Bits() {
        assertThat(Rule.number(false, Rule.Subject.STREAM, Rule.Comparison.ABOVE, 0xFFFF_FFFFL)
                        .number())
                .isEqualTo(0xFFFF_FFFFL);
        refused(
                () -> Rule.number(false, Rule.Subject.STREAM, Rule.Comparison.ABOVE, 0x1_0000_0000L),
                "rule on STREAM 4294967296: must be 0 to 4294967295");
        refused(
                () -> Rule.number(false, Rule.Subject.CLASS, Rule.Comparison.ABOVE, -1),
                "rule on CLASS -1: must be 0 to 4294967295");
    }

    private static void refused(Runnable making, String message) {
        assertThatIllegalArgumentException().isThrownBy(making::run).withMessage(message);
    }
}
