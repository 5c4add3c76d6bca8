package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.TransportKind;

/** What others ask of a reception that is not there any more. */
@Timeout(240)
class AcceptorTest {
    @Test
    void whoWantsToListenIsToldThatTheNodeStops() throws Exception {
        ExecutionEnvironment environment = new ExecutionEnvironment(
                UdpTestNode.config(TransportKind.NIO), new RoutingTable(), new ServiceCatalog());
        Acceptor reception = new Acceptor(
                environment.context, environment.streams, environment.udp, new Traffic(environment.tap(), "test"));
        reception.start();
        reception.stop();
        assertThatThrownBy(() -> reception.listen(new InetSocketAddress("127.0.0.1", 0), null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot listen on TCP")
                .hasMessageEndingWith("the node stops");
        assertThat(reception.acceptInTransit()).isEqualTo("the node stops");
    }
}
