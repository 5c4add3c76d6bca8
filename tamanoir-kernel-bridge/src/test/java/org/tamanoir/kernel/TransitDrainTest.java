package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.TransitNode.PORT;
import static org.tamanoir.kernel.TransitNode.at;
import static org.tamanoir.kernel.TransitNode.packet;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.nodeos.Level;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** A node that stops finishes what came up through tc, while what is new goes by it. */
@Tag("namespace")
class TransitDrainTest {
    private static final String NAME = "org.example.Service";
    private static final int BYTES = 400;
    private static final int TIMEOUT_MS = (int) Waiting.PATIENCE.toMillis();

    private static Socket connect(TestNet net) throws Exception {
        return net.namespaces().in(net.client(), () -> {
            Socket client = new Socket();
            client.connect(at(TestNet.SERVER4, PORT), TIMEOUT_MS);
            client.setSoTimeout(TIMEOUT_MS);
            return client;
        });
    }

    private static Socket accept(ServerSocket server) throws Exception {
        Socket accepted = server.accept();
        accepted.setSoTimeout(TIMEOUT_MS);
        return accepted;
    }

    private static String hostOf(Socket accepted) {
        return ((InetSocketAddress) accepted.getRemoteSocketAddress())
                .getAddress()
                .getHostAddress();
    }

    private static void assertCrosses(Socket from, Socket to, int number) throws Exception {
        byte[] bytes = packet(NAME, number, BYTES);
        from.getOutputStream().write(bytes);
        InputStream in = to.getInputStream();
        assertThat(in.readNBytes(BYTES)).isEqualTo(bytes);
    }

    @Test
    void aStreamThatIsUpEndsInOrderWhileNewOnesGoByTheNode() throws Exception {
        BpfBed.require();
        ServiceCatalog services = new ServiceCatalog();
        services.add(TransitNode.definition(NAME, FailurePolicy.DROP, packet -> Verdict.FORWARD));
        ExecutionEnvironment node = new ExecutionEnvironment(
                TransitNode.config(1 << 20, TransportKind.NATIVE), new RoutingTable(), services);
        try (TestNet net = new TestNet("drain")) {
            net.namespaces().in(net.router(), () -> {
                node.levels(KernelBridge.open(new KernelConfig(
                        EnumSet.of(Level.JVM, Level.TC), List.of(TestNet.ROUTER_CLIENT_DEVICE), true)));
                node.start();
                return node;
            });
            ServerSocket server = net.namespaces()
                    .in(
                            net.server(),
                            () -> new ServerSocket(
                                    PORT, 8, at(TestNet.SERVER4, 0).getAddress()));
            server.setSoTimeout(TIMEOUT_MS);
            try (server;
                    Socket client = connect(net)) {
                client.getOutputStream().write(packet(NAME, 0, BYTES));
                try (Socket up = accept(server)) {
                    assertThat(hostOf(up)).as("comes from the node").isEqualTo("10.71.2.1");
                    assertThat(up.getInputStream().readNBytes(BYTES)).hasSize(BYTES);
                    CompletableFuture<Integer> cut = Waiting.async(() -> node.stop(Waiting.PATIENCE.multipliedBy(2)));
                    server.setSoTimeout(1_000);
                    awaitGoingBy(net, server);
                    assertCrosses(client, up, 1);
                    client.shutdownOutput();
                    assertThat(up.getInputStream().read()).isEqualTo(-1);
                    up.shutdownOutput();
                    assertThat(cut.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                            .as("streams that were cut")
                            .isZero();
                }
            }
        } finally {
            node.stop(Duration.ZERO);
        }
    }

    /** Until the node has closed its listener, so that a new connection reaches the server itself. */
    private static void awaitGoingBy(TestNet net, ServerSocket server) {
        // One that comes as the node begins to drain may be reset, and never arrives.
        eventually().ignoreExceptionsInstanceOf(IOException.class).untilAsserted(() -> {
            try (Socket late = connect(net)) {
                late.getOutputStream().write(packet(NAME, 9, BYTES));
                try (Socket arrived = accept(server)) {
                    assertThat(hostOf(arrived)).isEqualTo(TestNet.CLIENT4);
                }
            }
        });
    }
}
