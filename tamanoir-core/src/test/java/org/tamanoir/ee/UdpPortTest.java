package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.UdpTestNode.at;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** A port that cannot be read for a while. */
@Timeout(240)
class UdpPortTest {
    private final AtomicInteger looks = new AtomicInteger();
    private final List<String> refusals = new ArrayList<>();
    private int received;

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void isLeftAloneForAWhileAndThenReadAgain(TransportKind wanted) throws Exception {
        TransportKind kind = UdpSockets.resolve(wanted);
        UdpSocket socket = UdpSockets.bind(kind, at("127.0.0.1", 0));
        try (IoLoop loop = Transport.of(kind).newLoop(new BufferPool(1));
                DatagramSocket sender = new DatagramSocket()) {
            loop.own();
            UdpPort port = new UdpPort(socket);
            UdpBatch batch = socket.newBatch();
            port.watch(loop, () -> read(port, loop, batch));
            InetSocketAddress to = socket.localAddress();
            sender.send(new DatagramPacket(new byte[] {1}, 1, to));
            while (received == 0) {
                loop.run(Duration.ofMillis(10).toNanos());
            }
            assertThat(received).isEqualTo(1);
            assertThat(looks).hasValue(3);
            port.release();
        } finally {
            socket.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void isReadWhenThereIsMemoryForItAgain(TransportKind wanted) throws Exception {
        TransportKind kind = UdpSockets.resolve(wanted);
        UdpSocket socket = UdpSockets.bind(kind, at("127.0.0.1", 0));
        try (IoLoop loop = Transport.of(kind).newLoop(new BufferPool(1));
                DatagramSocket sender = new DatagramSocket()) {
            loop.own();
            UdpPort port = new UdpPort(scarce(socket));
            port.watch(loop, () -> readByPort(port, loop));
            sender.send(new DatagramPacket(new byte[] {1}, 1, socket.localAddress()));
            while (received == 0) {
                loop.run(Duration.ofMillis(10).toNanos());
            }
            assertThat(refusals)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("of a test")
                    .contains("-XX:MaxDirectMemorySize");
            port.release();
        } finally {
            socket.close();
        }
    }

    /** Makes a socket over this one for whose first batch there is no memory. */
    private UdpSocket scarce(UdpSocket real) {
        return (UdpSocket) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {UdpSocket.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("newBatch") && looks.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("of a test");
                    }
                    return method.invoke(real, arguments);
                });
    }

    private void readByPort(UdpPort port, IoLoop loop) {
        try {
            received += port.receive();
        } catch (IOException e) {
            refusals.add(e.getMessage());
            port.backOff(loop, () -> readByPort(port, loop), e);
        }
    }

    /** Fails twice, and takes what waits. */
    private void read(UdpPort port, IoLoop loop, UdpBatch batch) {
        try {
            if (looks.incrementAndGet() < 3) {
                throw new IOException("on purpose");
            }
            received += port.socket().receive(batch);
        } catch (IOException e) {
            port.backOff(loop, () -> read(port, loop, batch), e);
        }
    }
}
