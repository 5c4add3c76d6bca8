package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

class PrefixTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.0.0.0/8",
        "10.0.2.7, 10.0.2.7/32",
        "0.0.0.0/0, 0.0.0.0/0",
        "255.255.255.255/32, 255.255.255.255/32",
        "128.0.0.0/1, 128.0.0.0/1",
        "::/0, ::/0",
        "::1, ::1/128",
        "8000::/1, 8000::/1",
        "2001:DB8:0:0::/32, 2001:db8::/32",
        "2001:db8:0:1::/64, 2001:db8:0:1::/64",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1/128",
        "1:0:2:3:4:5:6:7, 1:0:2:3:4:5:6:7/128",
        "1:2:3:4:5:6:0:0/112, 1:2:3:4:5:6::/112",
        "::ffff:0:0/96, 0.0.0.0/0",
        "::ffff:10.0.0.0/104, 10.0.0.0/8",
        "::/64, ::/64",
        "fe80::/10, fe80::/10",
    })
    void writesTheCanonicalText(String text, String canonical) {
        Prefix prefix = Prefix.parse(text);

        assertThat(prefix).hasToString(canonical);
        assertThat(Prefix.parse(canonical)).isEqualTo(prefix);
    }

    @Test
    void keepsIpv4AsMappedAddress() {
        assertThat(Prefix.parse("10.0.2.0/24")).isEqualTo(new Prefix(0, 0xFFFF_0A00_0200L, 120));
        assertThat(Prefix.parse("2001:db8::5")).isEqualTo(new Prefix(0x2001_0DB8_0000_0000L, 5, 128));
    }

    @Test
    void takesAWholeAddress() throws Exception {
        assertThat(Prefix.of(InetAddress.getByName("10.0.2.7"))).hasToString("10.0.2.7/32");
        assertThat(Prefix.of(InetAddress.getByName("2001:db8::7"))).hasToString("2001:db8::7/128");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.1/8 | 10.0.0.1/8: bits behind the prefix must be zero: write 10.0.0.0/8, or 10.0.0.1/32",
                "2001:db8::1/32 | 2001:db8::1/32: bits behind the prefix must be zero: write 2001:db8::/32, or 2001:db8::1/128",
                "10.0.0.0/33 | 10.0.0.0/33: the length behind the slash must be 0 to 32",
                "::/129 | ::/129: the length behind the slash must be 0 to 128",
                "10.0.0.0/ | 10.0.0.0/: the length behind the slash must be 0 to 32",
                "10.0.0.0/+8 | 10.0.0.0/+8: the length behind the slash must be 0 to 32",
            })
    void saysWhatIsWrongAndHowToPutItRight(String text, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Prefix.parse(text))
                .withMessage(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/8",
                "10",
                "10/8",
                "10.0.0",
                "10.0.0.256",
                "010.0.0.0/8",
                "1.2.3.4.5",
                "example.org",
                "cafe",
                "dead.beef",
                ":",
                ":::",
                "1::2::3",
                "fe80::1%lo",
                "[::1]",
                "g::1",
                "1:2",
                "::1.2.3.256",
                " 10.0.0.0/8"
            })
    void refusesWhatIsNoAddressWithoutAskingANameServer(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Prefix.parse(text))
                .withMessageContaining("no address prefix; write it as 10.0.0.0/8");
    }

    @Test
    void readsBackWhateverItWrites() {
        long seed = Seeds.ofCommit(PrefixTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(10_000); i++) {
            int length = random.nextInt(129);
            // Few set bits make runs of zero groups.
            long high = sparse(random) & Prefix.highMask(length);
            long low = sparse(random) & Prefix.lowMask(length);
            Prefix prefix = new Prefix(high, low, length);
            assertThat(Prefix.parse(prefix.toString()))
                    .as("seed %d, round %d", seed, i)
                    .isEqualTo(prefix);
        }
    }

    private static long sparse(Random random) {
        long bits = random.nextLong();
        bits &= random.nextLong();
        return bits & random.nextLong();
    }

    @Test
    void refusesNextHopPortsOutOfRange() {
        for (int port : new int[] {-1, 65_536}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new NextHop(null, port, NextHop.Transport.SAME, NextHop.Kind.HOST))
                    .withMessage(
                            "next hop port " + port + ": must be 0 to 65535; 0 takes the port that the packet names");
        }
        assertThat(new NextHop(InetAddress.getLoopbackAddress(), 0, NextHop.Transport.UDP, NextHop.Kind.HOST).port())
                .isZero();
    }
}
