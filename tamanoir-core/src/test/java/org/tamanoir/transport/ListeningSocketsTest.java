package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.transport.ListeningSockets.Wanted;

@Timeout(240)
class ListeningSocketsTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress("127.0.0.1", 0);

    @TempDir
    Path folder;

    private final ListeningSockets given = new ListeningSockets(List.of(new Wanted("udp", ADDRESS)));
    private final ListeningSockets taken = new ListeningSockets(List.of(new Wanted("udp", ADDRESS)));

    @BeforeEach
    void need() {
        UdpTesting.assumeNative();
    }

    private static UdpSocket bind(ListeningSockets sockets) throws IOException {
        return Transport.of(TransportKind.NATIVE, sockets).bind(ADDRESS);
    }

    private void handOver() throws IOException {
        Path path = folder.resolve("socket");
        try (LocalSocket listener = LocalSocket.listen(path);
                LocalSocket taker = LocalSocket.connect(path, UdpTesting.PATIENCE);
                LocalSocket giver = listener.accept(UdpTesting.PATIENCE);
                ListeningSockets.Copies copies = given.share()) {
            copies.sendTo(giver);
            taken.adopt(taker.receiveDescriptor());
        }
    }

    /** What one process does with a socket of both must not be felt in the other. */
    private static void requireWhole(UdpSocket socket) throws IOException {
        ByteBuffer bytes = UdpTesting.pattern(100);
        try (UdpSocket other = UdpSockets.bind(TransportKind.NATIVE, ADDRESS)) {
            UdpSender here = other.newSender();
            UdpTesting.add(here, bytes, 0, 100, socket);
            here.flush();
            assertThat(UdpTesting.receive(socket, 1)).hasSize(1);
            assertThat(socket.awaitReadable(Duration.ZERO)).isFalse();
            UdpSender there = socket.newSender();
            UdpTesting.add(there, bytes, 0, 100, other);
            there.flush();
            assertThat(UdpTesting.receive(other, 1)).hasSize(1);
        }
    }

    @Test
    void aProcessThatFailsLeavesTheSocketAsItIs() throws IOException {
        try (UdpSocket old = bind(given)) {
            handOver();
            bind(taken).close();
            requireWhole(old);
        }
    }

    @Test
    void aProcessThatDrainsLeavesTheSocketAsItIs() throws IOException {
        UdpSocket old = bind(given);
        handOver();
        try (UdpSocket next = bind(taken)) {
            assertThat(next.localAddress()).isEqualTo(old.localAddress());
            old.close();
            requireWhole(next);
        }
    }

    @Test
    void aClosedSocketIsNotShared() throws IOException {
        bind(given).close();
        assertThatIOException().isThrownBy(given::share).withMessageStartingWith("udp 127.0.0.1:0 cannot be shared");
    }

    @Test
    void whateverHasTheNumberOfAClosedSocketIsNotShared() throws IOException {
        int first = LibC.socket(LibC.AF_INET, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0);
        given.opened("udp", ADDRESS, first);
        LibC.close(first);
        int second =
                LibC.socket(LibC.AF_INET, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0); // The lowest number that is free.
        try {
            assertThatIOException().isThrownBy(given::share).withMessageContaining("cannot be shared");
        } finally {
            LibC.close(second);
        }
    }

    @Test
    void whatWasNotOpenedIsNotShared() {
        assertThatIOException().isThrownBy(given::share).withMessageContaining("use the native transport");
    }

    @Test
    void whatNobodyTookIsClosed() throws IOException {
        try (UdpSocket old = bind(given)) {
            handOver();
            taken.closeRest();
            assertThat(taken.take("udp", ADDRESS)).isNegative();
            requireWhole(old);
        }
    }
}
