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
import org.tamanoir.ee.Origin;

/** Whom a node asks for code because of what a packet says: nobody but the stream's peer and its neighbours. */
class PreviousNodeTest {
    private static final List<InetSocketAddress> NEIGHBOURS =
            List.of(new InetSocketAddress("10.0.1.2", 3323), new InetSocketAddress("10.0.1.3", 3323));

    private static Origin origin(String peer, @Nullable String named, int port) throws UnknownHostException {
        return new Origin(InetAddress.getByName(peer), named == null ? null : new InetSocketAddress(named, port));
    }

    @ParameterizedTest
    @CsvSource({
        "the peer itself,               10.0.0.5,    10.0.0.5,    4711, http://10.0.0.5:4711/",
        "the peer by IPv6,              2001:db8::5, 2001:db8::5, 4711, http://[2001:db8:0:0:0:0:0:5]:4711/",
        "no address stands for the peer, 10.0.0.5,   0.0.0.0,     4711, http://10.0.0.5:4711/",
        "nor one by IPv6,               10.0.0.5,    ::,          4711, http://10.0.0.5:4711/",
        "a neighbour of another peer,   10.0.0.5,    10.0.1.2,    3323, http://10.0.1.2:3323/",
        "a neighbour at another port,   10.0.0.5,    10.0.1.2,    22,   ",
        "a stranger,                    10.0.0.5,    192.0.2.1,   3323, ",
        "loopback said by a stranger,   10.0.0.5,    127.0.0.1,   3325, ",
        "a neighbour is the peer,       10.0.1.3,    192.0.2.1,   3323, http://10.0.1.3:3323/",
        "no port,                       10.0.0.5,    10.0.0.5,    0,    ",
        "no port but a neighbour,       10.0.1.2,    10.0.1.2,    0,    http://10.0.1.2:3323/",
    })
    void theCodeServerToAsk(String what, String peer, String named, int port, @Nullable String url) throws Exception {
        assertThat(new PreviousNode(NEIGHBOURS, false).of(origin(peer, named, port)))
                .as(what)
                .isEqualTo(url == null ? null : java.net.URI.create(url));
    }

    @Test
    void withoutTheOptionOnlyNeighboursAreAsked() throws Exception {
        PreviousNode policy = new PreviousNode(NEIGHBOURS, true);
        assertThat(policy.of(origin("10.0.0.5", null, 0))).isNull();
        assertThat(policy.of(origin("10.0.1.2", null, 0))).hasToString("https://10.0.1.2:3323/");
    }
}
