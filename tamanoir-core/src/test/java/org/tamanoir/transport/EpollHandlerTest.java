package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Waiting;

/** What a loop on epoll costs, and that it is woken. */
class EpollHandlerTest {
    private static final int LOOPS = 200;
    private static final int WAKES = 5000;

    private final BufferPool pool = new BufferPool(1);

    @BeforeAll
    static void onEpollAlone() {
        Assumptions.assumeTrue(
                UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE, "needs the native transport");
    }

    @Test
    void aLoopHasOneDescriptor() throws IOException {
        end(new NettyLoop(TransportKind.NATIVE, pool)); // What all have in common is there.
        long before = loopDescriptors();
        List<NettyLoop> loops = new ArrayList<>();
        for (int i = 0; i < LOOPS; i++) {
            loops.add(new NettyLoop(TransportKind.NATIVE, pool));
        }
        // Loops of other tests may end meanwhile, and none begins.
        assertThat(loopDescriptors() - before).isLessThanOrEqualTo(LOOPS);
        loops.forEach(EpollHandlerTest::end);
        assertThat(loopDescriptors()).isLessThanOrEqualTo(before);
    }

    private static void end(NettyLoop loop) {
        loop.own();
        loop.close();
    }

    private static long loopDescriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(EpollHandlerTest::isOfLoop).count();
        }
    }

    private static boolean isOfLoop(Path descriptor) {
        try {
            String what = Files.readSymbolicLink(descriptor).toString();
            return what.contains("eventpoll") || what.contains("eventfd") || what.contains("timerfd");
        } catch (IOException e) {
            return false; // Closed meanwhile.
        }
    }

    @Test
    void eachWakeUpEndsAWait() throws Exception {
        NettyLoop loop = new NettyLoop(TransportKind.NATIVE, pool);
        AtomicInteger seen = new AtomicInteger();
        CompletableFuture<Void> waiting = Waiting.async(() -> {
            loop.own();
            while (seen.get() < WAKES) {
                loop.run();
                seen.incrementAndGet();
            }
            loop.close();
        });
        long endNs = System.nanoTime() + Waiting.PATIENCE.toNanos();
        for (int i = 0; i < WAKES; i++) {
            loop.wakeup();
            while (seen.get() <= i && System.nanoTime() - endNs < 0) {
                Thread.onSpinWait();
            }
        }
        assertThat(seen).hasValue(WAKES);
        waiting.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aLoopEndsWhileOthersWakeIt() throws Exception {
        for (int i = 0; i < LOOPS; i++) {
            NettyLoop ending = new NettyLoop(TransportKind.NATIVE, pool);
            CyclicBarrier start = new CyclicBarrier(2);
            CompletableFuture<Void> waking = Waiting.async(() -> {
                start.await(40, TimeUnit.SECONDS);
                for (int wake = 0; wake < 100; wake++) {
                    ending.wakeup();
                }
            });
            ending.own();
            start.await(40, TimeUnit.SECONDS);
            ending.run(1_000_000);
            ending.close();
            waking.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }
}
