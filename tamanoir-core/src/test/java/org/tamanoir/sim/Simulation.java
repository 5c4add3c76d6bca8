package org.tamanoir.sim;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Platform;

/**
 * Virtual time, and a baton that one thread has at a time. A thread that waits gives the baton to one that can go on,
 * chosen at random; when none can, time jumps to the next event. Everything that happens is mixed into a hash, so that
 * two runs of a seed can be compared.
 *
 * <p>No thread gives the baton away while it holds a monitor of the node: the places where it does are waits, reads,
 * writes, and what services of the simulation call. So nobody ever waits for a monitor, and nothing but random numbers decide
 * who is next.
 *
 * <p>Thread contract: whoever has the baton, but for {@link #run}, which a thread of none of the nodes calls.
 */
final class Simulation implements Platform {
    /** More steps than any schedule takes that comes to an end. */
    private static final long MOST_STEPS = 400_000;

    /** Between two looks of the conductor whether there was a step. */
    private static final long LOOK_NS = 100_000_000;

    private static final int MOST_LOOKS = 600;
    private static final Instant EPOCH = Instant.parse("2030-01-01T00:00:00Z");

    final SplittableRandom random;
    /** Services take long. */
    boolean isCrowded;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final Map<Thread, Task> tasks = new ConcurrentHashMap<>();
    private final List<Task> runnable = new ArrayList<>();
    /** In the order in which they came, so that nothing depends on addresses. */
    private final List<Task> living = new ArrayList<>();

    private final Thread conductor;
    private volatile @Nullable Task current;
    private volatile @Nullable Task dying;
    private volatile @Nullable Throwable failure;
    private volatile boolean over;
    private long nowNs = 1_000_000_000;
    private long sequence;
    private volatile long steps;
    private long hash = 17;

    Simulation(long seed) {
        this.random = new SplittableRandom(seed);
        this.conductor = Thread.currentThread();
    }

    /** Something that happens at its time, by whoever has the baton then; it must not wait. */
    final class Event implements Comparable<Event> {
        final long timeNs;
        final int lot = random.nextInt();
        final long number = sequence++;
        private @Nullable Runnable action;

        Event(long timeNs, Runnable action) {
            this.timeNs = timeNs;
            this.action = action;
        }

        void cancel() {
            action = null;
        }

        boolean isPending() {
            return action != null;
        }

        void happen() {
            Runnable does = action;
            if (does != null) {
                action = null;
                does.run();
            }
        }

        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(timeNs, other.timeNs);
            int byLot = byTime != 0 ? byTime : Integer.compare(lot, other.lot);
            return byLot != 0 ? byLot : Long.compare(number, other.number);
        }
    }

    /** A thread of the simulation. */
    static final class Task {
        final Thread thread;
        final int number;
        final boolean looksAtOthers;
        volatile boolean interrupted;
        long processorNs;
        long allocatedBytes;
        boolean waiting;
        boolean permit;
        /** Interrupts end its wait. */
        boolean interruptible;

        @Nullable
        Object mainLoop;

        @Nullable
        Event alarm;

        Task(Thread thread, int number) {
            this.thread = thread;
            this.number = number;
            this.looksAtOthers =
                    thread.getName().equals("watchdog") || thread.getName().equals("qos timer");
        }
    }

    // ---- the run ---------------------------------------------------------------------------------------------------

    /** Runs a first thread, and all that it brings about, to the end. The thread that made this. */
    void run(Runnable first) {
        Task task = enter(newThread("operator", first));
        task.thread.start();
        runnable.remove(task);
        current = task;
        LockSupport.unpark(task.thread);
        long stepsBefore = 0;
        int looks = 0;
        while (!over) {
            Task ends = dying;
            if (ends != null) {
                bury(ends);
            } else if (looks > MOST_LOOKS) {
                fail(new AssertionError("the thread with the baton does not come back: " + describe()));
            } else {
                LockSupport.parkNanos(this, LOOK_NS);
                looks = steps == stepsBefore ? looks + 1 : 0;
                stepsBefore = steps;
            }
        }
    }

    private void bury(Task ends) {
        try {
            ends.thread.join(40_000);
        } catch (InterruptedException e) {
            fail(e);
        }
        if (ends.thread.isAlive()) {
            fail(new AssertionError(ends.thread.getName() + " has closed its loop and does not end"));
        }
        tasks.remove(ends.thread);
        SIMULATIONS.remove(ends.thread);
        living.remove(ends);
        dying = null;
        for (Task task : living) {
            if (task.waiting && task.mainLoop == null && task.interruptible) {
                wake(task); // It may wait for this end.
            }
        }
        if (living.isEmpty() || failure != null) {
            over = true;
        } else {
            giveTo(next());
        }
    }

    /** Ends the simulation: what runs yet is left where it is. */
    void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        over = true;
        LockSupport.unpark(conductor);
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Threads that have not ended. */
    List<String> threads() {
        return living.stream().map(task -> task.thread.getName()).toList();
    }

    long hash() {
        return hash;
    }

    long steps() {
        return steps;
    }

    /** Mixes what happens into the trace. */
    void note(String what, long number) {
        if (TRACE) {
            Task task = current;
            System.out.println(
                    nowNs / 1000 + " [" + (task == null ? "-" : task.thread.getName()) + "] " + what + " " + number);
        }
        hash = (hash ^ what.hashCode() ^ number << 32 ^ nowNs) * 0x9E37_79B9_7F4A_7C15L;
        hash ^= hash >>> 29;
    }

    private static final Map<Thread, Simulation> SIMULATIONS = new ConcurrentHashMap<>();

    /** Returns the simulation that a thread belongs to; null = none. */
    static @Nullable Simulation ofThread(Thread thread) {
        return SIMULATIONS.get(thread);
    }

    static final boolean TRACE = Boolean.getBoolean("tamanoir.sim.trace");

    // ---- the baton -------------------------------------------------------------------------------------------------

    private Task enter(Thread thread) {
        Task task = tasks.get(thread);
        if (task == null) {
            task = new Task(thread, (int) sequence++);
            tasks.put(thread, task);
            SIMULATIONS.put(thread, this);
            living.add(task);
            runnable.add(task);
        }
        return task;
    }

    Task self() {
        Task task = current;
        if (task == null || task.thread != Thread.currentThread()) {
            throw new IllegalStateException(Thread.currentThread().getName() + " does not have the baton");
        }
        return task;
    }

    boolean hasBaton() {
        Task task = current;
        return task != null && task.thread == Thread.currentThread();
    }

    /** A thread of the node, begun elsewhere, waits for its first turn. */
    void arrive() {
        awaitBaton();
    }

    private void awaitBaton() {
        Thread self = Thread.currentThread();
        Task task = tasks.get(self);
        while (task == null || current != task) {
            LockSupport.park(this);
            if (task == null) {
                task = tasks.get(self);
            }
            if (self.isInterrupted()) {
                if (task != null) {
                    task.interrupted = true;
                }
                boolean ignored = Thread.interrupted();
            }
        }
        if (task.interrupted) {
            task.interrupted = false;
            self.interrupt();
        }
    }

    private void giveTo(Task task) {
        current = task;
        LockSupport.unpark(task.thread);
    }

    /** Gives the baton to somebody who can go on, and waits until it comes back. */
    private void pass() {
        Task self = self();
        Task next = next();
        if (next != self) {
            giveTo(next);
            awaitBaton();
            if (self.looksAtOthers) {
                quiesce(self);
            }
        }
    }

    /** Waits until all others really wait: who looks at threads is not to see how fast they are at that. */
    private void quiesce(Task self) {
        for (Task task : living) {
            while (task != self && task.thread.getState() == Thread.State.RUNNABLE) {
                Thread.yield();
            }
        }
    }

    private Task next() {
        while (true) {
            steps = steps + 1;
            if (steps > MOST_STEPS) {
                throw halt("it does not come to an end: ");
            }
            for (int i = 0; i < living.size(); i++) {
                Task task = living.get(i);
                if (task.waiting && task.interruptible && (task.interrupted || task.thread.isInterrupted())) {
                    wake(task);
                }
            }
            Event event = events.peek();
            if (event != null && !event.isPending()) {
                events.poll();
                continue;
            }
            boolean eventFirst = event != null && event.timeNs <= nowNs + 20_000 && random.nextInt(4) == 0;
            if (!runnable.isEmpty() && !eventFirst) {
                int lot = random.nextInt(runnable.size());
                Task task = runnable.get(lot);
                runnable.set(lot, runnable.get(runnable.size() - 1));
                runnable.remove(runnable.size() - 1);
                nowNs += random.nextInt(2_000);
                task.processorNs += 1_000;
                note("goes", task.number);
                return task;
            }
            if (event == null) {
                throw halt("nobody can go on: ");
            }
            events.poll();
            nowNs = Math.max(nowNs, event.timeNs);
            event.happen();
        }
    }

    /** Ends the simulation, and stops the thread for good: the node would make the best of an error. */
    Error halt(String why) {
        fail(new AssertionError(why + describe()));
        while (true) {
            LockSupport.park(this);
            boolean ignored = Thread.interrupted();
        }
    }

    /** Lets others go first, at random. */
    void pause() {
        if (random.nextInt(4) == 0) {
            Task self = self();
            runnable.add(self);
            pass();
        }
    }

    /** Waits until it is woken or, where that is not negative, so much time has passed. */
    void await(long ns, boolean interruptible) {
        Task self = self();
        if (interruptible && self.thread.isInterrupted()) {
            return;
        }
        self.waiting = true;
        self.interruptible = interruptible;
        if (ns >= 0) {
            self.alarm = at(ns, () -> wake(self));
        }
        pass();
        Event alarm = self.alarm;
        if (alarm != null) {
            alarm.cancel();
            self.alarm = null;
        }
    }

    /** Lets a thread go on that waits. */
    void wake(Task task) {
        if (task.waiting) {
            task.waiting = false;
            runnable.add(task);
        }
    }

    /** The thread ends: nobody goes on before it has. */
    void dies() {
        dying = self();
        LockSupport.unpark(conductor);
    }

    // ---- time ------------------------------------------------------------------------------------------------------

    /** Has something happen so much later. */
    Event at(long delayNs, Runnable action) {
        Event event = new Event(nowNs + Math.max(0, delayNs), action);
        events.add(event);
        return event;
    }

    /** Lets so much time pass for the calling thread, which uses a processor. */
    void work(long ns) {
        self().processorNs += ns;
        sleep(ns, false);
    }

    /** Counts bytes of heap as allocated by the calling thread. */
    void allocate(long bytes) {
        self().allocatedBytes += bytes;
    }

    /** Lets so much time pass for the calling thread; returns false when an interrupt has ended that. */
    boolean sleep(long ns, boolean interruptible) {
        long endNs = nowNs + ns;
        while (nowNs < endNs) {
            await(endNs - nowNs, interruptible);
            if (interruptible && Thread.interrupted()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long nanoTime() {
        return nowNs;
    }

    @Override
    public Instant now() {
        return EPOCH.plusNanos(nowNs);
    }

    @Override
    public long processorNs() {
        Task task = current;
        return task == null ? 0 : task.processorNs;
    }

    @Override
    public long processorNs(Thread thread) {
        Task task = tasks.get(thread);
        return task == null ? 0 : task.processorNs;
    }

    @Override
    public long allocatedBytes(Thread thread) {
        Task task = tasks.get(thread);
        return task == null ? 0 : task.allocatedBytes;
    }

    // ---- threads ---------------------------------------------------------------------------------------------------

    @Override
    public Thread newThread(String name, Runnable body) {
        Thread thread = new Thread(name) {
            @Override
            public void start() {
                if (current != null) {
                    enter(this);
                }
                super.start();
            }

            @Override
            public void run() {
                awaitBaton();
                try {
                    body.run();
                } catch (Throwable e) {
                    fail(e);
                } finally {
                    if (!over) {
                        dies();
                    }
                }
            }
        };
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public Executor newPool(String name, int mostThreads) {
        return body -> newThread(name, body).start();
    }

    @Override
    public void park(Object blocker, long ns) {
        Task self = current;
        if (self == null || self.thread != Thread.currentThread()) {
            return; // A constructor on a thread outside, or one that runs out.
        }
        if (self.permit) {
            self.permit = false;
        } else {
            await(ns, true);
            self.permit = false;
        }
    }

    @Override
    public void unpark(Thread thread) {
        if (!tasks.containsKey(thread) && !thread.isAlive()) {
            return;
        }
        Task task = enter(thread);
        if (task.waiting && task.interruptible) {
            wake(task);
        } else {
            task.permit = true;
        }
    }

    @Override
    public boolean join(Thread thread, long ns) {
        long endNs = nowNs + ns;
        boolean interrupted = false;
        while (tasks.containsKey(thread) && nowNs < endNs) {
            await(endNs - nowNs, true);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !tasks.containsKey(thread);
    }

    String describe() {
        StringBuilder text = new StringBuilder("at " + nowNs / 1_000_000 + " ms");
        for (Task task : new ArrayList<>(living)) {
            text.append("\n  ")
                    .append(task.thread.getName())
                    .append(task == current ? " has the baton" : task.waiting ? " waits" : " could go on");
            StackTraceElement[] stack = task.thread.getStackTrace();
            for (int i = 0; i < Math.min(stack.length, 14); i++) {
                text.append("\n      at ").append(stack[i]);
            }
        }
        return text.toString();
    }
}
