package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.routing.RoutingTable;

@Timeout(240)
class FairThreadsTest {
    private final ExecutionEnvironment environment =
            new ExecutionEnvironment(EeConfig.defaults(), new RoutingTable(List.of()), new ServiceCatalog());
    private final List<String> done = new CopyOnWriteArrayList<>();
    private final AtomicInteger atWork = new AtomicInteger();
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void end() {
        go.countDown();
    }

    private FairThreads threads(int maxThreads, int maxAtWork, int maxQueued) {
        return new FairThreads(environment, "fair-", maxThreads, maxAtWork, maxQueued);
    }

    /** Holds its thread until {@link #go}. */
    private Runnable held(String what) {
        return () -> {
            atWork.incrementAndGet();
            try {
                go.await();
                done.add(what);
            } catch (InterruptedException e) {
                done.add(what + " interrupted");
            }
        };
    }

    private void awaitAtWork(int tasks) {
        eventually().untilAtomic(atWork, org.hamcrest.Matchers.is(tasks));
    }

    @Test
    void partiesTakeTurnsHoweverMuchOneAsksFor() {
        FairThreads threads = threads(1, 1, 10);
        threads.offer("a", held("a1"));
        awaitAtWork(1);
        for (String task : List.of("a2", "a3", "a4", "b1", "b2", "c1")) {
            assertThat(threads.offer(task.substring(0, 1), () -> done.add(task)))
                    .isTrue();
        }
        go.countDown();
        eventually().until(() -> done.size() == 7);
        assertThat(done).containsExactly("a1", "b1", "c1", "a2", "b2", "a3", "a4");
    }

    @Test
    void onePartyHasNoMoreAtWorkThanItMay() {
        FairThreads threads = threads(3, 2, 10);
        for (int i = 0; i < 5; i++) {
            threads.offer("a", held("a"));
        }
        awaitAtWork(2);
        threads.offer("b", held("b"));
        awaitAtWork(3);
        go.countDown();
        eventually().until(() -> done.size() == 6);
    }

    @Test
    void whatIsTooMuchForAPartyIsRefusedAndOthersAreTaken() {
        FairThreads threads = threads(1, 1, 2);
        threads.offer("a", held("a"));
        awaitAtWork(1);
        assertThat(threads.offer("a", held("a"))).isTrue();
        assertThat(threads.offer("a", held("a"))).isTrue();
        assertThat(threads.offer("a", held("a"))).isFalse();
        assertThat(threads.offer("b", held("b"))).isTrue();
        go.countDown();
        eventually().until(() -> done.size() == 4);
    }

    @Test
    void aTaskThatThrowsHoldsUpNobody() {
        FairThreads threads = threads(1, 1, 3);
        threads.offer("a", held("a"));
        awaitAtWork(1);
        threads.offer("a", () -> {
            throw new StackOverflowError("of the test");
        });
        threads.offer("a", () -> done.add("next"));
        go.countDown();
        eventually().until(() -> done.equals(List.of("a", "next")));
    }

    @Test
    void closingInterruptsWhatRunsAndCancelsWhatWaits() {
        FairThreads threads = threads(1, 1, 3);
        threads.offer("a", held("a"));
        awaitAtWork(1);
        FutureTask<String> waiting = new FutureTask<>(() -> "never");
        threads.offer("b", waiting);
        threads.close();
        eventually().until(() -> done.equals(List.of("a interrupted")));
        assertThat(waiting.isCancelled()).isTrue();
        assertThat(threads.offer("b", () -> {})).isFalse();
    }
}
