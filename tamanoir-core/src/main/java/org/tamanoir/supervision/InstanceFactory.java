package org.tamanoir.supervision;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.Throttle;
import org.tamanoir.catalog.Transit;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceStopped;

/**
 * Makes instances of services, and starts their threads, away from those that carry packets: a constructor or a static
 * initialiser is foreign code, and may not return; nor does a start while somebody holds the instance's monitor. For
 * each service one thread makes one instance after another, for as long as some are wanted, so that a constructor that
 * hangs costs one thread and no other service anything.
 *
 * <p>Thread contract: any thread; outcomes come on the maker's thread or on that of {@link #sweep}, or on the
 * caller's, and must not block.
 */
public final class InstanceFactory implements AutoCloseable {
    /** Services whose instances are made at the same time. */
    private static final int MAX_THREADS = 64;
    /** How long a service whose constructor does not return is left alone. */
    private static final Duration QUARANTINE = Duration.ofMinutes(1);
    /** To tell somebody of an instance, when that fails for want of memory: for 5 s. */
    private static final int ATTEMPTS = 100;

    private static final long AGAIN_NS = 50_000_000;

    private final long timeoutNs;
    private final CoreThreads core;
    private final Platform platform;
    private final Map<ServiceDefinition, Line> lines = new HashMap<>();
    private final Executor threads;
    private final Consumer<ServiceDefinition> listener;
    private boolean closed;

    /**
     * @param timeout of one constructor
     * @param listener is told of each instance that was made, on the maker's thread, before who wants it; may be told twice
     */
    public InstanceFactory(Duration timeout, CoreThreads core, Consumer<ServiceDefinition> listener) {
        this.core = core;
        this.listener = listener;
        this.timeoutNs = timeout.toNanos();
        this.platform = core.platform();
        this.threads = platform.newPool("maker", MAX_THREADS);
    }

    /**
     * Starts a thread, which waits from then on for what it serves. A virtual one is started with that, since its start
     * takes no monitor of the service.
     */
    private static void beginThread(@Nullable Service service, String name, ThreadKind kind) {
        if (service == null) {
            throw new NullPointerException("its factory gave null");
        }
        if (kind == ThreadKind.VIRTUAL) {
            service.runOn(VirtualThreads.newThread("service " + name, service));
            return;
        }
        service.setDaemon(true);
        service.setName("service " + name);
        try {
            service.start();
        } catch (OutOfMemoryError e) {
            // No thread is to be had, which is not the service's fault: who attaches it finds it not started.
            service.setName("service " + name + ", not started");
        }
    }

    private static ThreadKind kindOf(ServiceDefinition definition, ThreadKind wanted) {
        Throttle limits = definition.health().throttle();
        boolean isCounted = limits != null && limits.limitsAllocation()
                || definition.health().packetBudgetNs() > 0;
        return isCounted ? ThreadKind.PLATFORM : wanted;
    }

    /**
     * What came of it: one of the two is null, and nothing of the failure is foreign code. Who does not attach the
     * service {@linkplain Service#dismiss dismisses} it, or its thread would wait.
     */
    public interface Outcome {
        void made(@Nullable Service service, @Nullable Throwable failure);
    }

    /** Makes an instance of {@link Transit}, which needs no thread of this. */
    public static Service newTransit(ThreadKind kind) {
        Service transit = new Transit();
        if (kind == ThreadKind.VIRTUAL) {
            transit.runOn(VirtualThreads.newThread("transit", transit));
        }
        return transit;
    }

    /** Makes an instance on a thread of the operating system and gives it to {@code then}, in bounded time. */
    public void make(ServiceDefinition definition, Outcome then) {
        make(definition, ThreadKind.PLATFORM, then);
    }

    /**
     * Makes likewise one on a thread of this kind. A service with a limit of allocation, or a budget for a packet,
     * always has threads of the operating system: the JVM counts what others allocate not at all, and of what they use of
     * a processor no more is known than the time from one rest to the next.
     */
    public void make(ServiceDefinition definition, ThreadKind kind, Outcome then) {
        if (definition == Transit.DEFINITION) {
            then.made(newTransit(kind), null);
            return;
        }
        Throwable failure = null;
        synchronized (this) {
            Line line = lines.get(definition);
            if (line == null) {
                line = new Line(definition);
                try {
                    if (closed) {
                        throw new RejectedExecutionException("the node stops");
                    }
                    Line wants = line;
                    core.starter().run(() -> threads.execute(wants));
                    lines.put(definition, line);
                } catch (RejectedExecutionException | IllegalStateException | OutOfMemoryError e) {
                    failure = e;
                }
            } else if (line.stuck) {
                failure = line.late();
            }
            if (failure == null) {
                line.wanted.put(then, kind);
            }
        }
        if (failure != null) {
            then.made(null, failure);
        }
    }

    /** Takes an order back that nobody waits for any more. Its outcome may come all the same, if it is in the making. */
    public synchronized void cancel(ServiceDefinition definition, Outcome then) {
        Line line = lines.get(definition);
        if (line != null) {
            line.wanted.remove(then);
        }
    }

    /** The instances of one service that are wanted. Guarded by the maker. */
    private final class Line implements Runnable, Checkpoint.Keeper {
        final ServiceDefinition definition;
        /** In the order of their coming. */
        final Map<Outcome, ThreadKind> wanted = new LinkedHashMap<>();

        @Nullable
        Outcome current;

        ThreadKind currentKind = ThreadKind.PLATFORM;

        @Nullable
        Thread thread;

        long sinceNs;
        boolean stuck;
        boolean interrupting;
        /** What the constructor is stopped by at its next checkpoint. */
        volatile @Nullable ServiceStopped stop;

        private boolean isReminded;

        Line(ServiceDefinition definition) {
            this.definition = definition;
        }

        @Override
        public void run() {
            core.groups().stayOut();
            Checkpoint.keep(this);
            try {
                make();
            } finally {
                Checkpoint.release(this);
                remind(false);
                forsake();
            }
        }

        @Override
        public @Nullable ServiceStopped atCheckpoint() {
            return stop;
        }

        /** Has one that does not return look, every other time, whether it is to stop. */
        void remind(boolean on) {
            synchronized (InstanceFactory.this) {
                isReminded = on && !isReminded;
                Checkpoint.want(this, isReminded);
            }
        }

        /** Whatever ended the thread, the next order begins another; those that wait are told. */
        private void forsake() {
            List<Outcome> waiting;
            synchronized (InstanceFactory.this) {
                if (!lines.remove(definition, this)) {
                    return;
                }
                waiting = new ArrayList<>(wanted.keySet());
                wanted.clear();
                if (current != null) {
                    waiting.add(0, current);
                }
            }
            waiting.forEach(then -> tellOf(new IllegalStateException("its maker's thread has ended"), then));
        }

        private void make() {
            Outcome then;
            while ((then = next()) != null) {
                Service service = null;
                Throwable failure = null;
                try {
                    service = definition.factory().get();
                    beginThread(service, definition.name(), kindOf(definition, currentKind));
                } catch (Throwable e) {
                    service = null;
                    failure = ForeignFailure.of(e);
                }
                if (!finished()) {
                    if (service != null) {
                        service.dismiss();
                    }
                    return;
                }
                tell(then, service, failure);
            }
        }

        /**
         * Whoever waits for an instance waits until it is told: what fails for want of memory is tried again. Another
         * failure is a fault of the node, which would come again, and hold up those that wait behind.
         */
        private void tell(Outcome then, @Nullable Service service, @Nullable Throwable failure) {
            for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
                try {
                    if (service != null) {
                        listener.accept(definition);
                    }
                    then.made(service, failure);
                    return;
                } catch (Throwable e) {
                    core.survived("maker of " + definition.name(), attempt, e);
                    if (!(e instanceof OutOfMemoryError)) {
                        return;
                    }
                    platform.park(this, AGAIN_NS);
                }
            }
        }

        private @Nullable Outcome next() {
            synchronized (InstanceFactory.this) {
                Iterator<Map.Entry<Outcome, ThreadKind>> first =
                        wanted.entrySet().iterator();
                Map.Entry<Outcome, ThreadKind> order = first.hasNext() ? first.next() : null;
                current = order == null ? null : order.getKey();
                sinceNs = platform.nanoTime();
                thread = Thread.currentThread();
                if (order == null) {
                    lines.remove(definition, this);
                } else {
                    currentKind = order.getValue();
                    first.remove();
                }
                return current;
            }
        }

        /** Ends the making of one; returns false when nobody waits for the instance any more. */
        private boolean finished() {
            boolean late;
            synchronized (InstanceFactory.this) {
                late = stuck;
                current = null;
                if (late) {
                    lines.remove(definition, this);
                }
            }
            if (late) {
                awaitInterruption();
            }
            return !late;
        }

        void interrupt(Thread maker) {
            interrupting = Interruption.begin(platform, maker, () -> {
                synchronized (InstanceFactory.this) {
                    interrupting = false;
                }
                platform.unpark(maker);
            });
        }

        /** Waits for the interrupt: what this thread makes next is not to be hit in its place. */
        private void awaitInterruption() {
            boolean ignored = false;
            while (isInterrupting()) {
                platform.park(this, AGAIN_NS);
                ignored = Thread.interrupted(); // That is what it waits for.
            }
            ignored = Thread.interrupted();
        }

        private boolean isInterrupting() {
            synchronized (InstanceFactory.this) {
                return interrupting;
            }
        }

        /** Tells one of them; what that one fails with is no matter of the next. */
        void tellOf(Throwable failure, Outcome then) {
            try {
                then.made(null, failure);
            } catch (Throwable e) {
                core.survived("maker of " + definition.name(), 1, e);
            }
        }

        Throwable late() {
            return new TimeoutException("neither it nor a static initialiser it needs has returned in "
                    + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms");
        }
    }

    /** Gives constructors up that have not returned in time. To be called regularly. */
    public void sweep() {
        Map<Line, List<Outcome>> late = new HashMap<>();
        synchronized (this) {
            long now = platform.nanoTime();
            for (Line line : lines.values()) {
                Outcome current = line.current;
                if (line.stuck) {
                    line.remind(true);
                } else if (current != null && now - line.sinceNs >= timeoutNs) {
                    late.put(line, giveUp(line, current));
                }
            }
        }
        late.forEach((line, waiting) -> {
            line.definition.health().quarantine(QUARANTINE, "its constructor did not return in time");
            waiting.forEach(then -> line.tellOf(line.late(), then));
        });
    }

    private static List<Outcome> giveUp(Line line, Outcome current) {
        line.stuck = true;
        line.stop = new ServiceStopped("its constructor has not returned in time");
        line.remind(true);
        List<Outcome> waiting = new ArrayList<>();
        waiting.add(current);
        waiting.addAll(line.wanted.keySet());
        line.wanted.clear();
        if (line.thread != null) {
            line.interrupt(line.thread);
        }
        return waiting;
    }

    /** Makes no more. A constructor that does not return keeps its thread. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            for (Line line : lines.values()) {
                if (line.thread != null && !line.interrupting) {
                    line.interrupt(line.thread);
                }
            }
        }
    }
}
