package org.tamanoir.cluster.element;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A ring that loses nothing, of units in this JVM, which one thread calls. Close ends the thread. */
final class ThreadRing implements AutoCloseable {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    final List<FctUnit> units = new ArrayList<>();

    ThreadRing(int size, Function<Integer, FctSettings> settings) {
        for (int i = 0; i < size; i++) {
            units.add(new FctUnit(settings.apply(i), new Port(i), () -> {}));
        }
    }

    /** Has the first unit begin as the master. */
    void begin() {
        for (int i = 0; i < units.size(); i++) {
            int index = i;
            thread.execute(() -> units.get(index).view(0, index == 0, units.size(), 0));
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }

    private final class Port implements RingPort {
        private final int index;
        private @Nullable Future<?> timer;

        Port(int index) {
            this.index = index;
        }

        @Override
        public void pass(Token token) {
            thread.execute(() -> units.get((index + 1) % units.size()).token(token));
        }

        @Override
        public synchronized void timer(long delayNs) {
            if (timer != null) {
                timer.cancel(false);
            }
            timer = thread.schedule(() -> units.get(index).timer(), delayNs, TimeUnit.NANOSECONDS);
        }

        @Override
        public void wake(long headRound) {
            thread.execute(() -> units.get(0).wake(headRound));
        }

        @Override
        public void drained() {}
    }
}
