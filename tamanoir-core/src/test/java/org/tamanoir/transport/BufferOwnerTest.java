package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection sends its own stream's bytes, while they are what they were, and no others. */
class BufferOwnerTest {
    private static final String STREAM = "stream 1";
    private final BufferPool pool = new BufferPool(4);
    private final NettyLoop loop = new NettyLoop(UdpSockets.resolve(TransportKind.AUTO), pool);
    private final ServerSocket far = listen();
    private TcpConnection connection;

    private static ServerSocket listen() {
        try {
            return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void connect() {
        loop.own();
        connection = loop.connect(
                new InetSocketAddress(far.getInetAddress(), far.getLocalPort()), Duration.ofSeconds(10), null);
        while (!connection.isConnected()) {
            loop.run();
        }
        connection.ownedBy(STREAM);
    }

    @AfterEach
    void close() throws IOException {
        connection.close();
        loop.close();
        far.close();
        pool.close();
    }

    @Test
    void itSendsItsOwn() throws IOException {
        Buffer own = pool.take(BufferPool.SMALL_BYTES, 1).ownedBy(STREAM);
        own.nio().put(7, (byte) 42);
        connection.write(own, own.generation(), 7, 8);
        connection.flush();
        assertThat(connection.isDrained()).isTrue();
        pool.give(own);
        try (Socket peer = far.accept()) {
            assertThat(peer.getInputStream().read()).isEqualTo(42);
        }
    }

    @Test
    void itRefusesAnothersBytes() {
        Buffer others = pool.take(BufferPool.SMALL_BYTES, 1).ownedBy("stream 2");
        assertThatThrownBy(() -> connection.write(others, others.generation(), 0, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("belongs to stream 2")
                .hasMessageContaining("belonged to stream 1");
        pool.give(others);
    }

    @Test
    void itRefusesWhatWasGivenBackSince() {
        Buffer own = pool.take(BufferPool.SMALL_BYTES, 1).ownedBy(STREAM);
        int generation = own.generation();
        pool.give(own);
        Buffer again = pool.take(BufferPool.SMALL_BYTES, 1).ownedBy(STREAM);
        assertThat(again).isSameAs(own);
        assertThatThrownBy(() -> connection.write(again, generation, 0, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bytes to send are gone");
        pool.give(again);
    }

    @Test
    void whatIsWrittenAndNotFlushedHasNotLeft() {
        Buffer own = pool.take(BufferPool.SMALL_BYTES, 1).ownedBy(STREAM);
        connection.write(own, own.generation(), 0, 1);
        assertThat(connection.isDrained()).isFalse();
        connection.flush();
        assertThat(connection.isDrained()).isTrue();
        pool.give(own);
    }
}
