package org.tamanoir.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsContext;

/**
 * The sockets of one thread's {@link IoLoop}.
 *
 * <p>Thread contract: the owning thread of the loop.
 */
public interface IoSockets {
    /** The longest wait for a far side to show that it speaks as a codec does. */
    Duration MAX_ANSWER = Duration.ofSeconds(1);

    /**
     * Begins to connect; {@link TcpConnection#isConnected} or {@link TcpConnection#failure} tells the outcome.
     *
     * @param address a {@link QuicAddress} is reached by QUIC, a {@link GatewayAddress} speaks as its gateway does
     * @param timeout for the connection, and again for the handshake
     * @param tls null = without
     * @throws UncheckedIOException if the system gives no socket, as when the process has no descriptors left
     */
    TcpConnection connect(InetSocketAddress address, Duration timeout, @Nullable TlsContext tls);

    /**
     * Begins to connect to who speaks as this codec does. The connection is {@linkplain TcpConnection#isConnected connected}
     * when the far side has shown that.
     *
     * @param timeout for the connection; the far side has half as long to show it, {@link #MAX_ANSWER} at most
     * @throws UncheckedIOException as the other one
     */
    default TcpConnection connectThrough(InetSocketAddress address, Duration timeout, StreamCodec codec) {
        throw new UncheckedIOException(new IOException("these sockets have no codecs"));
    }

    /** Takes over a connection that its former loop {@linkplain TcpConnection#leave left}. */
    void adopt(TcpConnection connection);

    /**
     * Listens at once.
     *
     * @param tls null = without; else connections become {@linkplain TcpConnection#isConnected connected} by and by
     * @param accepted gets each connection, inside {@link IoLoop#run}; it has not read anything yet
     * @throws IOException in one line, with the address, if it cannot be had
     */
    TcpListener listen(InetSocketAddress address, @Nullable TlsContext tls, Consumer<TcpConnection> accepted)
            throws IOException;

    /**
     * Listens where a gateway does, for connections of senders that do not speak in packets.
     *
     * @throws IOException as the other one
     */
    default TcpListener listen(StreamGateway gateway, Consumer<TcpConnection> accepted) throws IOException {
        throw new IOException("these sockets have no gateways");
    }

    /**
     * Listens inside the process for streams that came by QUIC.
     *
     * @param port knows who is behind each; others' connections are reset
     * @throws IOException in one line, if no port can be had
     */
    default TcpListener listenInside(QuicPort port, Consumer<TcpConnection> accepted) throws IOException {
        throw new IOException("these sockets have no QUIC");
    }

    /** Runs {@code readable} inside {@link IoLoop#run} while datagrams wait in {@code socket}. */
    UdpReadiness watch(UdpSocket socket, Runnable readable) throws IOException;
}
