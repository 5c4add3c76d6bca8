package org.tamanoir.offload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Anep;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.service.FailurePolicy;

/** Which sockets listen while rules come and go; they are numbered as they are opened. */
class PlainListenersTest {
    private static final PlainRule VOICE = rule(PlainMatch.Protocol.UDP, 5004);
    private static final PlainRule WEB = rule(PlainMatch.Protocol.TCP, 80);
    private static final PlainRule MAIL = rule(PlainMatch.Protocol.TCP, 25);

    private final TreeSet<Integer> open = new TreeSet<>();
    private int opened;
    private int refused = -1;

    private final PlainListeners listeners = new PlainListeners(gateway -> listen(), true, Anep.DEFAULT_TYPE_ID, 0);

    private static PlainRule rule(PlainMatch.Protocol protocol, int port) {
        return new PlainRule(
                new PlainMatch(protocol, null, null, port, port, PlainMatch.ANY, PlainMatch.ANY, null),
                "a.B",
                7,
                PlainMatch.ANY,
                FailurePolicy.PASS);
    }

    private Levels.Listening listen() throws IOException {
        int port = ++opened;
        if (port == refused) {
            throw new IOException("no more sockets");
        }
        open.add(port);
        return new Levels.Listening() {
            @Override
            public int port() {
                return port;
            }

            @Override
            public void close() {
                open.remove(port);
            }
        };
    }

    @Test
    void aRuleThatStaysKeepsItsSockets() throws IOException {
        List<PlainRule> before = List.of(VOICE, WEB);
        assertThat(listeners.open(before)).containsExactly(WEB);
        listeners.inForce(before);
        List<PlainRule> after = List.of(MAIL, WEB, VOICE);
        assertThat(listeners.open(after)).containsExactly(MAIL);
        assertThat(listeners.ports(after).v4()).containsExactly(3, 1, 0);
        assertThat(listeners.ports(after).v6()).containsExactly(4, 2, 0);
    }

    @Test
    void whereOneCannotBeHadNoneIsOpened() throws IOException {
        listeners.open(List.of(WEB));
        listeners.inForce(List.of(WEB));
        refused = 6; // The second socket of the second rule that lacks them.
        assertThatThrownBy(() -> listeners.open(List.of(MAIL, rule(PlainMatch.Protocol.TCP, 22), WEB)))
                .hasMessage("no more sockets");
        assertThat(open).containsExactly(1, 2);
    }

    @Test
    void socketsOfTheLastRulesThatLeftStay() throws IOException {
        List<PlainRule> gone = new ArrayList<>();
        for (int port = 1; port <= 66; port++) {
            PlainRule rule = rule(PlainMatch.Protocol.TCP, port);
            gone.add(rule);
            listeners.open(List.of(rule));
            listeners.inForce(List.of(rule));
        }
        assertThat(open).as("65 rules, one of them in force").hasSize(130).doesNotContain(1, 2);
        assertThat(listeners.open(List.of(gone.get(1))))
                .as("the eldest that is there")
                .isEmpty();
        assertThat(listeners.open(List.of(gone.get(0)))).hasSize(1);
    }
}
