package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.support.Waiting;

/** What becomes of tasks at a loop's end. */
class IoLoopTest {
    private static final int LOOPS = 300;

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aTaskThatIsTakenWhileTheLoopClosesRuns(TransportKind wanted) throws Exception {
        TransportKind kind = UdpSockets.resolve(wanted);
        BufferPool pool = new BufferPool(1);
        for (int i = 0; i < LOOPS; i++) {
            NettyLoop loop = new NettyLoop(kind, pool);
            CyclicBarrier start = new CyclicBarrier(2);
            AtomicInteger run = new AtomicInteger();
            CompletableFuture<Integer> taken = Waiting.async(() -> {
                int tasks = 0;
                await(start);
                while (loop.execute(run::incrementAndGet)) {
                    tasks++;
                }
                return tasks;
            });
            loop.own();
            await(start);
            loop.poll();
            loop.close();
            assertThat(run).hasValue(taken.get(40, TimeUnit.SECONDS));
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(40, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
