package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.catalog.Origin;

/** Whom a node asks for code because of what a packet says: nobody but the stream's peer and its neighbours. */
class UpstreamCodeServersTest {
    private static final List<InetSocketAddress> NEIGHBOURS =
            List.of(new InetSocketAddress("10.0.1.2", 3323), new InetSocketAddress("10.0.1.3", 3323));

    private static Origin origin(String peer, @Nullable String named, int port) throws UnknownHostException {
        return new Origin(InetAddress.getByName(peer), named == null ? null : new InetSocketAddress(named, port), true);
    }

    @ParameterizedTest
    @CsvSource({
        "the peer itself,               10.0.0.5,    10.0.0.5,    4711, http://10.0.0.5:4711/,                      false",
        "the peer by IPv6,              2001:db8::5, 2001:db8::5, 4711, http://[2001:db8:0:0:0:0:0:5]:4711/, false",
        "no address stands for the peer, 10.0.0.5,   0.0.0.0,     4711, http://10.0.0.5:4711/, false",
        "nor one by IPv6,               10.0.0.5,    ::,          4711, http://10.0.0.5:4711/, false",
        "a neighbour of another peer,   10.0.0.5,    10.0.1.2,    3323, http://10.0.1.2:3323/, true",
        "a neighbour at another port,   10.0.0.5,    10.0.1.2,    22,, false",
        "a stranger,                    10.0.0.5,    192.0.2.1,   3323,, false",
        "loopback said by a stranger,   10.0.0.5,    127.0.0.1,   3325,, false",
        "a neighbour is the peer,       10.0.1.3,    192.0.2.1,   3323, http://10.0.1.3:3323/, true",
        "no port,                       10.0.0.5,    10.0.0.5,    0,, false",
        "no port but a neighbour,       10.0.1.2,    10.0.1.2,    0,    http://10.0.1.2:3323/, true",
    })
    void theCodeServerToAsk(String what, String peer, String named, int port, @Nullable String url, boolean isNeighbour)
            throws Exception {
        assertThat(new UpstreamCodeServers(NEIGHBOURS, false).of(origin(peer, named, port)))
                .as(what)
                .isEqualTo(url == null ? null : new UpstreamCodeServers.Server(java.net.URI.create(url), isNeighbour));
    }

    @Test
    void withoutTheOptionOnlyNeighboursAreAsked() throws Exception {
        UpstreamCodeServers policy = new UpstreamCodeServers(NEIGHBOURS, true);
        assertThat(policy.of(origin("10.0.0.5", null, 0))).isNull();
        assertThat(policy.of(origin("10.0.1.2", null, 0)))
                .isEqualTo(new UpstreamCodeServers.Server(java.net.URI.create("https://10.0.1.2:3323/"), true));
    }
}
