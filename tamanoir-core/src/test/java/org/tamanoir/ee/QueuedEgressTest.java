package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.UdpTestNode.at;
import static org.tamanoir.ee.UdpTestNode.builder;
import static org.tamanoir.ee.UdpTestNode.packet;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Tiers;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/** A TCP next hop of datagrams while the process has no descriptor left, in a process of its own with few of them. */
@Tag("process")
class QueuedEgressTest {
    private static final int DESCRIPTORS = 160;
    /** More than a departure waits between attempts: a timer of the same loop that expires behind its own. */
    private static final Duration LATER = Duration.ofMillis(800);

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void isConnectedAgainWhenDescriptorsThatWereExhaustedAreBack(TransportKind kind, @TempDir Path folder)
            throws Exception {
        if (kind == TransportKind.NATIVE) {
            boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
            Tiers.require("native", works, UdpSockets.explain(TransportKind.AUTO));
        }
        assertThat(FewDescriptors.run(WithFewDescriptors.class, DESCRIPTORS, folder, kind.name()))
                .anyMatch(line -> line.contains("Too many open files"))
                .endsWith("connected again, bytes equal");
    }

    /** The process: drives one departure by hand, on the thread that would be the service's. */
    static final class WithFewDescriptors {
        private static final byte[] PACKET = packet(builder(at("127.0.0.1", 9), "", 1), 1000);

        private final FewDescriptors none = new FewDescriptors();
        private final IoLoop loop;
        private final BufferPool pool = new BufferPool(4);
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final QueuedEgress departure;

        private WithFewDescriptors(TransportKind kind) throws IOException {
            loop = Transport.of(kind).newLoop(pool);
            loop.own();
            listener.setSoTimeout(40_000);
            Tap tap =
                    new ExecutionEnvironment(UdpTestNode.config(kind), new RoutingTable(), new ServiceCatalog()).tap();
            departure = new QueuedEgress(
                    loop,
                    pool,
                    (InetSocketAddress) listener.getLocalSocketAddress(),
                    null,
                    Duration.ofSeconds(5),
                    new Traffic(tap, "test"));
        }

        public static void main(String[] args) throws Exception {
            WithFewDescriptors process = new WithFewDescriptors(TransportKind.valueOf(args[0]));
            process.lose(process.carries());
            Socket second = process.carries(); // That has loaded the classes that need files.
            process.none.take();
            process.lose(second);
            process.loop.poll(); // NIO closes a channel's descriptor when its selector runs the next time.
            process.loop.poll();
            process.none.take();
            process.pass(LATER);
            process.none.close();
            process.lose(process.carries());
            System.out.println("connected again, bytes equal");
            System.exit(0);
        }

        /** Breaks the connection and waits until the departure has noticed. */
        private void lose(Socket socket) throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
            until(() -> add() == DropReason.NEXT_HOP_UNREACHABLE);
        }

        /** Sends a packet, once one is taken, and compares what comes. */
        private Socket carries() throws IOException {
            until(() -> add() == null);
            Socket socket = listener.accept();
            until(() -> departure.held() == 0);
            byte[] came = socket.getInputStream().readNBytes(PACKET.length);
            if (!Arrays.equals(came, PACKET)) {
                throw new AssertionError("other bytes");
            }
            return socket;
        }

        private @Nullable DropReason add() {
            return departure.add(ByteBuffer.wrap(PACKET), 0, PACKET.length, NextHopResolver.straight((InetSocketAddress)
                    listener.getLocalSocketAddress()));
        }

        private void pass(Duration time) {
            AtomicBoolean over = new AtomicBoolean();
            loop.schedule(time, () -> over.set(true));
            until(over::get);
        }

        private void until(BooleanSupplier condition) {
            long deadlineNs = System.nanoTime() + Duration.ofSeconds(40).toNanos();
            loop.schedule(Duration.ofSeconds(40), () -> {}); // So that the loop returns.
            departure.flush();
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw new AssertionError("not in time");
                }
                loop.run();
                departure.flush();
            }
        }
    }
}
