package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostNamesTest {
    private final List<String> lookedUp = new ArrayList<>();
    private long nowNs;
    private long tookNs;
    private final HostNames names = new HostNames(this::lookUp, () -> nowNs);

    private InetAddress lookUp(Endpoint endpoint) {
        lookedUp.add(endpoint.host());
        nowNs += tookNs;
        if (endpoint.host().startsWith("unknown")) {
            throw new IllegalArgumentException("unknown");
        }
        return InetAddress.getLoopbackAddress();
    }

    private void ask(String host) {
        names.apply(new Endpoint(host, 1));
    }

    @Test
    void eachNameIsLookedUpOnce() {
        for (int i = 0; i < 4; i++) {
            ask("a.example");
            ask("b.example");
        }
        assertThat(lookedUp).containsExactly("a.example", "b.example");
    }

    @Test
    void namesAreBoundedInNumberButNotAddresses() {
        for (int i = 0; i < HostNames.MAX_NAMES; i++) {
            ask("h" + i + ".example");
        }
        assertThatThrownBy(() -> ask("more.example"))
                .hasMessage("host 'more.example' is one name more than 1024; write addresses in place of names");
        ask("h0.example");
        ask("10.0.0.1");
        ask("2001:db8::1");
        assertThat(lookedUp).endsWith("h1023.example", "10.0.0.1", "2001:db8::1");
    }

    @Test
    void namesAreBoundedInTimeWhetherTheyAreKnownOrNot() {
        tookNs = HostNames.MAX_TIME.toNanos() / 2;
        ask("a.example");
        assertThatThrownBy(() -> ask("unknown.example")).hasMessage("unknown");
        assertThatThrownBy(() -> ask("b.example"))
                .hasMessage("host 'b.example' is not looked up, since other names took 30 s;"
                        + " write addresses in place of names");
        ask("a.example");
        ask("10.0.0.1");
        assertThat(lookedUp).containsExactly("a.example", "unknown.example", "10.0.0.1");
    }
}
