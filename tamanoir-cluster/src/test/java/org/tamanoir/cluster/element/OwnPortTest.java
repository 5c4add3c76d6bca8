package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.transport.TransportKind;

class OwnPortTest {
    private static InetSocketAddress at(String host, int port) {
        return new InetSocketAddress(host, port);
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1,127.0.0.1", "0.0.0.0,127.0.0.1", "0.0.0.0,0.0.0.0", "127.0.0.1,0.0.0.0", "0.0.0.0,127.9.9.9"
    })
    void whatReachesTheOwnPortIsRefused(String bound, String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OwnPort.refuse(at(bound, 5005), "receiver", at(address, 5005)))
                .withMessage("receiver " + address
                        + ":5005: is where this listens itself, packets would go round for ever; give another port");
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1,127.0.0.1,5006", "127.0.0.2,127.0.0.1,5005", "0.0.0.0,198.51.100.7,5005"})
    void othersAreNot(String bound, String address, int port) {
        assertThatCode(() -> OwnPort.refuse(at(bound, 5005), "receiver", at(address, port)))
                .doesNotThrowAnyException();
    }

    @Test
    void neitherEndSendsToItself() throws Exception {
        InetSocketAddress free;
        try (DatagramSocket socket = Sockets.open()) {
            free = Sockets.address(socket);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Aggregator.between(free, free).anep().open())
                .withMessageStartingWith("receiver ");
        try (Sprayer sprayer = Sprayer.over(List.of(new Unit(0, free, 1))).open()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Distributor(
                            free, TransportKind.AUTO, sprayer, Distributor.Key.SOURCE, Distributor.Membership.ALL))
                    .withMessageStartingWith("unit 0 at ");
        }
    }
}
