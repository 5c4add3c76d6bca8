package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.support.Seeds;

class MembershipWelcomeTest {
    private static final String TEXT = new String(MembershipWelcome.json(Welcomes.FULL), StandardCharsets.UTF_8);

    private static Welcome parse(String json) throws ClusterException {
        return MembershipWelcome.parse(json);
    }

    @Test
    void whatADirectorSaysIsReadAsItWasSaid() throws Exception {
        assertThat(parse(TEXT)).isEqualTo(Welcomes.FULL);
    }

    @Test
    void fieldsThatAreNotKnownArePassedOver() throws Exception {
        assertThat(parse(TEXT.replaceFirst("\\{", "{\"later\": {\"a\": [1]}, ")
                        .replace("\"port\"", "\"x\": 1, \"port\"")))
                .isEqualTo(Welcomes.FULL);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            "dir-1"|7|director: a text is wanted
            "dir-1"|""|director '': 1 to 128 characters of one line are wanted
            "dir-1"|"a\\u0007b"|director 'a b': 1 to 128 characters of one line are wanted
            "joining"|"asleep"|state 'asleep': no state of a back-end
            "connections":7|"connections":-1|connections '-1': a whole number from 0 to 9223372036854775807 is wanted
            "intervalMs":200|"intervalMs":1e9|intervalMs
            "intervalMs":200|"intervalMs":99999999999999999999|intervalMs
            "10.9.0.1"|"localhost"|address 'localhost': it cannot be a virtual address
            "10.9.0.1"|"127.0.0.1"|address '127.0.0.1': it cannot be a virtual address
            "10.9.0.1"|"0.0.0.0"|address '0.0.0.0': it cannot be a virtual address
            "10.9.0.1"|"224.0.0.1"|address '224.0.0.1': it cannot be a virtual address
            "10.9.0.1"|"10.0.0.0/8"|address '10.0.0.0/8': it cannot be a virtual address
            "10.9.0.1"|"10.0.0.1; reboot"|address '10.0.0.1; reboot': it cannot be a virtual address
            "port":3322|"port":0|port '0': a whole number from 1 to 65535 is wanted
            "backEndPort":3322|"backEndPort":70000|backEndPort '70000': a whole number from 1 to 65535 is wanted
            ["tcp","udp"]|[]|service 'video': it has no protocol
            ["tcp","udp"]|["sctp"]|'sctp' must be tcp or udp
            ["tcp","udp"]|["tcp","udp","tcp"]|protocols: a list of at most 2 is wanted
            "direct"|"magic"|'magic' must be nat, direct or tunnel
            "http://10.9.0.2:8080"|"file:///etc/passwd"|repository 'file:///etc/passwd': http:// or https:// is wanted
            "http://10.9.0.2:8080"|"http://a:b@c/"|repository 'http://a:b@c/': http:// or https:// is wanted
            "http://10.9.0.2:8080"|" "|Illegal character
            -----BEGIN PUBLIC KEY-----|-----BEGIN PRIVATE KEY-----|publisher: no PEM text
            "org.example.*"|"*.*"|publisher: service pattern '*.*'
            "org.example.Shout"|"../../etc"|service name '../../etc'
            "org.example.Shout"|"org.example.Shout:../1"|version '../1'
            """)
    void whatCannotBeIsRefusedInOneLine(String good, String bad, String problem) {
        assertThat(TEXT).contains(good);
        assertThatThrownBy(() -> parse(TEXT.replace(good, bad)))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining(problem)
                .hasMessageNotContainingAny("\n", "\r", "\u0007");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "7", "{", "{}", "{\"code\": 1}", "\u0000", "<html>"})
    void whatIsNoWelcomeIsRefused(String text) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(ClusterException.class);
    }

    @Test
    void listsAndNestingAreBounded() {
        String many = "\"org.example.A\",".repeat(256) + "\"org.example.Shout\"";
        assertThatThrownBy(() -> parse(TEXT.replace("\"org.example.Shout\"", many)))
                .hasMessage("services: a list of at most 256 is wanted");
        assertThatThrownBy(() -> parse("[".repeat(100_000))).isInstanceOf(ClusterException.class);
    }

    @Test
    void damageNeverDoesMoreThanRefuse() {
        long seed = Seeds.ofCommit(MembershipWelcomeTest.class);
        Random random = new Random(seed);
        byte[] good = TEXT.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < Seeds.scaled(2_000); i++) {
            byte[] bad = good.clone();
            for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            }
            try {
                MembershipWelcome.parse(new String(bad, StandardCharsets.UTF_8));
            } catch (ClusterException e) {
                assertThat(e.getMessage()).as("seed %d, turn %d", seed, i).doesNotContain("\n");
            }
        }
    }
}
