package org.tamanoir.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsSession;

class TlsLayerTest {
    private static final Duration PATIENCE = Waiting.PATIENCE;
    private static final int RECORD_BYTES = 1000;
    private static final int ROOM_BYTES = 10;

    @TempDir
    private Path folder;

    @Test
    void aRecordThatComesInTwoHalvesIsAwaitedThoughItsReaderHasLittleRoom() throws Exception {
        TestAuthority authority = new TestAuthority(folder, "authority");
        TlsContext server = TlsContext.of(authority.files("server"));
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            SocketChannel raw = SocketChannel.open(address);
            CompletableFuture<TlsSession> sender = Waiting.async(() -> handshaken(raw, authority));
            try (raw;
                    BlockingConnection reader = new BlockingConnection(listener.accept(), PATIENCE, server.server())) {
                reader.shakeHands(PATIENCE);
                ByteBuffer record = ByteBuffer.allocate(1 << 15);
                sender.get(40, TimeUnit.SECONDS).send(ByteBuffer.allocate(RECORD_BYTES), record);
                int bytes = record.position();
                raw.write(record.limit(bytes / 2).position(0));

                ByteBuffer target = ByteBuffer.allocate(ROOM_BYTES);
                assertThat(inVain(reader, target).get(40, TimeUnit.SECONDS)).isZero();
                raw.write(record.limit(bytes));
                int read = 0;
                while (read < RECORD_BYTES) {
                    read += reader.read(target.clear(), PATIENCE.toNanos());
                }
                assertThat(read).isEqualTo(RECORD_BYTES);
            }
        }
    }

    /** On another thread: what this is about would never return. */
    private static CompletableFuture<Integer> inVain(BlockingConnection reader, ByteBuffer target) {
        return Waiting.async(() -> {
            try {
                return reader.read(target, TimeUnit.MILLISECONDS.toNanos(200));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static TlsSession handshaken(SocketChannel channel, TestAuthority authority) {
        try {
            TlsSession session =
                    TlsContext.of(authority.trusting()).client((InetSocketAddress) channel.getRemoteAddress());
            ByteBuffer arrived = ByteBuffer.allocate(1 << 16).limit(0);
            ByteBuffer leaving = ByteBuffer.allocate(1 << 16);
            while (!session.isEstablished()) {
                TlsSession.Need need = session.receive(arrived, ByteBuffer.allocate(0));
                if (need == TlsSession.Need.OUTPUT) {
                    session.send(ByteBuffer.allocate(0), leaving.clear());
                    channel.write(leaving.flip());
                } else if (!session.isEstablished()) {
                    arrived.compact();
                    assertThat(channel.read(arrived)).isPositive();
                    arrived.flip();
                }
            }
            return session;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
