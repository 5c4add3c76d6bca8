package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.UdpTesting.Side;

class UdpCloseTest {
    /** The common pool may have a single thread, and each of these tasks keeps its own busy. */
    private static final Executor OWN_THREAD = task -> new Thread(task).start();

    static Stream<Side> sides() {
        return UdpTesting.sides();
    }

    @ParameterizedTest
    @MethodSource("sides")
    void closingEndsAWaitOnAnotherThread(Side side) throws Exception {
        UdpSocket socket = side.open();
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                result.complete(socket.awaitReadable(Duration.ofSeconds(60)));
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        });
        waiter.start();
        eventually().until(() -> inACall(waiter));
        socket.close();
        assertThat(result.get(40, TimeUnit.SECONDS)).isFalse();
        waiter.join(40_000);
    }

    /** The thread sits in poll, or in the selector. */
    private static boolean inACall(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0
                && (stack[0].getMethodName().equals("poll")
                        || stack[0].getMethodName().equals("wait"));
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aClosedSocketIsNeverUsed(Side side) throws IOException {
        UdpSocket socket = side.open();
        UdpSender sender = socket.newSender();
        UdpBatch batch = socket.newBatch();
        socket.close();
        socket.close();
        // Takes the descriptor's number over: whatever went out by mistake would come from here.
        try (UdpSocket next = side.open()) {
            UdpTesting.add(sender, UdpTesting.pattern(10), 0, 10, next);
            sender.flush();
            assertThat(sender.failedPackets()).isEqualTo(1);
            assertThat(sender.lastError()).contains("closed");
            assertThat(next.receive(next.newBatch())).isZero();
            String name = UdpAddress.text(socket.localAddress());
            assertThatThrownBy(() -> socket.receive(batch))
                    .isInstanceOf(IOException.class)
                    .hasMessage("UDP socket " + name + " is closed");
            assertThatThrownBy(() -> socket.awaitReadable(Duration.ZERO))
                    .isInstanceOf(IOException.class)
                    .hasMessage("UDP socket " + name + " is closed");
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void closingWhileOthersReceiveAndSendEndsThemCleanly(Side side) throws Exception {
        for (int round = 0; round < 20; round++) {
            UdpSocket socket = side.open();
            UdpSocket target = side.open();
            CompletableFuture<Throwable> receiverEnd = Waiting.async(() -> receiveUntilError(socket));
            CompletableFuture<UdpSender> senderEnd = Waiting.async(() -> sendUntilFailure(socket, target));
            eventually().until(() -> target.awaitReadable(Duration.ZERO));
            socket.close();
            assertThat(receiverEnd.get(40, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
            assertThat(senderEnd.get(40, TimeUnit.SECONDS).failedPackets()).isPositive();
            target.close();
        }
    }

    private static Throwable receiveUntilError(UdpSocket socket) {
        UdpBatch batch = socket.newBatch();
        try {
            for (; ; ) {
                socket.receive(batch);
            }
        } catch (Throwable t) {
            return t;
        }
    }

    private static UdpSender sendUntilFailure(UdpSocket socket, UdpSocket target) {
        UdpSender sender = socket.newSender();
        while (sender.failedPackets() == 0) {
            UdpTesting.add(sender, UdpTesting.pattern(10), 0, 10, target);
            sender.flush();
        }
        return sender;
    }
}
