package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.support.Waiting;

/** Connections that were accepted, and of which their user wants nothing. */
@Timeout(240)
class TcpListenerTest {
    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aConnectionWhoseUserFailsIsClosedAndTheNextOneIsAccepted(TransportKind wanted) throws Exception {
        List<TcpConnection> accepted = new ArrayList<>();
        try (NettyLoop loop = new NettyLoop(UdpSockets.resolve(wanted), new BufferPool(1))) {
            loop.own();
            TcpListener listener = loop.listen(new InetSocketAddress("127.0.0.1", 0), null, connection -> {
                accepted.add(connection);
                if (accepted.size() == 1) {
                    throw new IllegalStateException("on purpose");
                }
            });
            try (Socket bad = new Socket("127.0.0.1", listener.localAddress().getPort());
                    Socket good =
                            new Socket("127.0.0.1", listener.localAddress().getPort())) {
                CompletableFuture<Integer> end = Waiting.async(() -> read(bad));
                while (!end.isDone() || accepted.size() < 2) {
                    loop.run(Duration.ofMillis(10).toNanos());
                }
                assertThat(end.get()).isNegative();
                assertThat(good.isConnected()).isTrue();
                assertThat(accepted.get(1).failure()).isNull();
            }
            accepted.forEach(TcpConnection::close);
            listener.close();
        }
    }

    private static int read(Socket socket) {
        try {
            return socket.getInputStream().read();
        } catch (java.io.IOException e) {
            return -1; // A reset is an end as well.
        }
    }
}
