package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.transport.UdpTesting.Side;

class UdpReadinessTest {

    static Stream<Side> sides() {
        return UdpTesting.sides();
    }

    /** An event loop on a thread of its own. */
    private static final class Loop implements AutoCloseable {
        final ManualIoEventLoop events;
        private final Thread thread;
        private volatile boolean stopped;

        Loop(TransportKind kind) {
            IoHandlerFactory factory =
                    kind == TransportKind.NATIVE ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
            thread = new Thread(this::run);
            events = new ManualIoEventLoop(thread, factory);
            thread.start();
        }

        private void run() {
            while (!stopped) {
                events.run(TimeUnit.SECONDS.toNanos(1), 0);
            }
            events.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            while (!events.isTerminated()) {
                events.runNow();
            }
        }

        <T> T call(Callable<T> task) throws InterruptedException, ExecutionException, TimeoutException {
            CompletableFuture<T> result = new CompletableFuture<>();
            events.execute(() -> {
                try {
                    result.complete(task.call());
                } catch (Throwable t) {
                    result.completeExceptionally(t);
                }
            });
            return result.get(40, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            stopped = true;
            events.wakeup();
            eventually().until(events::isTerminated);
        }
    }

    private static Runnable counting(UdpSocket socket, AtomicInteger received, Thread expected) {
        UdpBatch batch = socket.newBatch();
        return () -> {
            assertThat(Thread.currentThread()).isSameAs(expected);
            try {
                int count = socket.receive(batch);
                for (int m = 0; m < count; m++) {
                    int bytes = batch.end(m) - batch.start(m);
                    received.addAndGet(bytes / batch.segmentBytes(m));
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        };
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aSocketMovesBetweenLoopsAndNothingIsLost(Side side) throws Exception {
        try (UdpSocket socket = side.open();
                UdpSocket sending = side.open();
                Loop first = new Loop(side.kind());
                Loop second = new Loop(side.kind())) {
            AtomicInteger received = new AtomicInteger();
            UdpSender sender = sending.newSender();
            int sent = 0;
            for (int round = 0; round < 40; round++) {
                Loop loop = round % 2 == 0 ? first : second;
                sent += send(sender, socket); // waits while nobody watches
                Runnable readable = counting(socket, received, loop.thread);
                UdpReadiness readiness = loop.call(() -> NettyReadiness.register(loop.events, socket, readable));
                sent += send(sender, socket);
                int expected = sent;
                eventually().untilAtomic(received, value -> assertThat(value).isEqualTo(expected));
                sent += send(sender, socket); // perhaps seen before the cancellation, perhaps after the next move
                loop.call(() -> {
                    readiness.cancel();
                    readiness.cancel();
                    return true;
                });
            }
            assertThat(received.get()
                            + UdpTesting.receive(socket, sent - received.get()).size())
                    .isEqualTo(sent);
        }
    }

    private static int send(UdpSender sender, UdpSocket to) {
        for (int i = 0; i < 5; i++) {
            UdpTesting.add(sender, UdpTesting.pattern(20), 0, 20, to);
        }
        sender.flush();
        return 5;
    }

    @ParameterizedTest
    @MethodSource("sides")
    void readinessComesAgainUntilAllIsRead(Side side) throws Exception {
        try (UdpSocket socket = side.open();
                Loop loop = new Loop(side.kind())) {
            AtomicInteger calls = new AtomicInteger();
            UdpBatch batch = socket.newBatch();
            UdpSender sender = socket.newSender();
            send(sender, socket);
            loop.call(() -> NettyReadiness.register(loop.events, socket, () -> {
                try {
                    if (calls.incrementAndGet() > 3) {
                        socket.receive(batch);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }));
            eventually().until(() -> calls.get() > 3);
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aSocketClosedUnderTheLoopGivesItsPortBack(Side side) throws Exception {
        try (Loop loop = new Loop(side.kind())) {
            UdpSocket socket = side.open();
            AtomicInteger calls = new AtomicInteger();
            UdpReadiness readiness =
                    loop.call(() -> NettyReadiness.register(loop.events, socket, calls::incrementAndGet));
            socket.close();
            loop.events.wakeup();
            eventually().ignoreExceptions().until(() -> {
                UdpSockets.bind(side.kind(), socket.localAddress()).close();
                return true;
            });
            assertThat(calls).hasValue(0);
            loop.call(() -> {
                readiness.cancel();
                return true;
            });
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aLoopThatEndsLetsTheSocketLive(Side side) throws Exception {
        UdpSocket socket = side.open();
        try (Loop loop = new Loop(side.kind())) {
            loop.call(() -> NettyReadiness.register(loop.events, socket, () -> {}));
        }
        try (socket) {
            UdpSender sender = socket.newSender();
            UdpTesting.add(sender, UdpTesting.pattern(20), 0, 20, socket);
            sender.flush();
            assertThat(UdpTesting.receive(socket, 1)).hasSize(1);
        }
        UdpSockets.bind(side.kind(), socket.localAddress()).close();
    }

    @Test
    void aLoopOfTheOtherKindAndAStrangeThreadAreRefused() throws Exception {
        UdpTesting.assumeNative();
        Side side = new Side(TransportKind.NATIVE, "127.0.0.1");
        UdpSocket socket = side.open();
        try (socket;
                Loop loop = new Loop(TransportKind.NIO)) {
            assertThatThrownBy(() -> loop.call(() -> NettyReadiness.register(loop.events, socket, () -> {})))
                    .hasRootCauseMessage(
                            "this event loop cannot watch a native UDP socket; use one transport kind for both");
            assertThatThrownBy(() -> NettyReadiness.register(loop.events, socket, () -> {}))
                    .isInstanceOf(IllegalStateException.class);
        }
        UdpSockets.bind(side.kind(), socket.localAddress()).close(); // the refusal kept nothing
    }
}
