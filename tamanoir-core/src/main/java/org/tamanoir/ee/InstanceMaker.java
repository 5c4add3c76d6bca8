package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Service;

/**
 * Makes instances of services away from the threads that carry packets: a constructor or a static initialiser is
 * foreign code, and may not return. For each service one thread makes one instance after another, for as long as
 * some are wanted, so that a constructor that hangs costs one thread and no other service anything.
 *
 * <p>Thread contract: any thread; outcomes come on the maker's thread or on that of {@link #sweep}, or on the
 * caller's, and must not block.
 */
final class InstanceMaker implements AutoCloseable {
    /** Services whose instances are made at the same time. */
    private static final int MAX_THREADS = 64;
    /** How long a service whose constructor does not return is left alone. */
    private static final Duration QUARANTINE = Duration.ofMinutes(1);

    private final long timeoutNs;
    private final Map<ServiceDefinition, Line> lines = new HashMap<>();
    private final ThreadPoolExecutor threads;

    /**
     * @param timeout of one constructor
     */
    InstanceMaker(Duration timeout) {
        this.timeoutNs = timeout.toNanos();
        this.threads = new ThreadPoolExecutor(
                0, MAX_THREADS, 2, TimeUnit.SECONDS, new SynchronousQueue<>(), InstanceMaker::thread);
    }

    private static Thread thread(Runnable body) {
        Thread thread = new Thread(body, "maker");
        thread.setDaemon(true);
        return thread;
    }

    /** What came of it: one of the two is null. */
    interface Outcome {
        void made(@Nullable Service service, @Nullable Throwable failure);
    }

    /** Makes an instance and gives it to {@code then}, in bounded time. */
    void make(ServiceDefinition definition, Outcome then) {
        if (definition == Transit.DEFINITION) {
            then.made(new Transit(), null);
            return;
        }
        Throwable failure = null;
        synchronized (this) {
            Line line = lines.get(definition);
            if (line == null) {
                line = new Line(definition);
                try {
                    threads.execute(line);
                    lines.put(definition, line);
                } catch (RejectedExecutionException | OutOfMemoryError e) {
                    failure = e;
                }
            } else if (line.stuck) {
                failure = line.late();
            }
            if (failure == null) {
                line.wanted.add(then);
            }
        }
        if (failure != null) {
            then.made(null, failure);
        }
    }

    /** The instances of one service that are wanted. Guarded by the maker. */
    private final class Line implements Runnable {
        final ServiceDefinition definition;
        final Queue<Outcome> wanted = new ArrayDeque<>();

        @Nullable
        Outcome current;

        @Nullable
        Thread thread;

        long sinceNs;
        boolean stuck;

        Line(ServiceDefinition definition) {
            this.definition = definition;
        }

        @Override
        public void run() {
            Outcome then;
            while ((then = next()) != null) {
                Service service = null;
                Throwable failure = null;
                try {
                    service = definition.factory().get();
                } catch (Throwable e) {
                    failure = e;
                }
                if (!finished()) {
                    return;
                }
                if (service == null && failure == null) {
                    failure = new NullPointerException("its factory gave null");
                }
                then.made(service, failure);
            }
        }

        private @Nullable Outcome next() {
            synchronized (InstanceMaker.this) {
                current = wanted.poll();
                sinceNs = System.nanoTime();
                thread = Thread.currentThread();
                if (current == null) {
                    lines.remove(definition, this);
                }
                return current;
            }
        }

        /** False when nobody waits for the instance any more. */
        private boolean finished() {
            synchronized (InstanceMaker.this) {
                if (stuck) {
                    lines.remove(definition, this);
                    Thread.interrupted();
                }
                current = null;
                return !stuck;
            }
        }

        Throwable late() {
            return new TimeoutException("neither it nor a static initialiser it needs has returned in "
                    + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms");
        }
    }

    /** Gives constructors up that have not returned in time. To be called regularly. */
    void sweep() {
        Map<Line, List<Outcome>> late = new HashMap<>();
        synchronized (this) {
            long now = System.nanoTime();
            for (Line line : lines.values()) {
                Outcome current = line.current;
                if (current != null && !line.stuck && now - line.sinceNs >= timeoutNs) {
                    late.put(line, giveUp(line, current));
                }
            }
        }
        late.forEach((line, waiting) -> {
            line.definition.life().quarantine(QUARANTINE, "its constructor did not return in time");
            waiting.forEach(then -> then.made(null, line.late()));
        });
    }

    private static List<Outcome> giveUp(Line line, Outcome current) {
        line.stuck = true;
        List<Outcome> waiting = new ArrayList<>();
        waiting.add(current);
        waiting.addAll(line.wanted);
        line.wanted.clear();
        if (line.thread != null) {
            line.thread.interrupt();
        }
        return waiting;
    }

    /** Makes no more. A constructor that does not return keeps its thread. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
