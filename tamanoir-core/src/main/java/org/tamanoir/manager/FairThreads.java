package org.tamanoir.manager;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.ee.ExecutionEnvironment;

/**
 * Runs tasks on a bounded number of threads. Parties take turns, each at the head of a queue of its own, and have a
 * bounded number of tasks at work: who asks for much waits behind itself.
 *
 * <p>Thread contract: any thread. Threads are made when there is work, and end with it.
 */
final class FairThreads {
    private static final Logger LOG = LoggerFactory.getLogger(FairThreads.class);
    /** Tasks that wait, of all parties together. */
    private static final int MAX_WAITING = 1024;

    private final ExecutionEnvironment environment;
    private final String name;
    private final int maxThreads;
    private final int maxAtWork;
    private final int maxQueued;

    private final Map<Object, Party> parties = new HashMap<>();
    /** Those that have something waiting and may have more at work, in the order of their turns. */
    private final Deque<Party> turns = new ArrayDeque<>();

    private final Set<Thread> threads = new HashSet<>();
    private int waiting;
    private int threadsMade;
    private boolean closed;

    private static final class Party {
        final Object who;
        final Deque<Runnable> queue = new ArrayDeque<>();
        int atWork;

        Party(Object who) {
            this.who = who;
        }
    }

    /**
     * Begins with no thread.
     *
     * @param maxAtWork tasks of one party at once
     * @param maxQueued tasks of one party that wait
     */
    FairThreads(ExecutionEnvironment environment, String name, int maxThreads, int maxAtWork, int maxQueued) {
        this.environment = environment;
        this.name = name;
        this.maxThreads = maxThreads;
        this.maxAtWork = maxAtWork;
        this.maxQueued = maxQueued;
    }

    /** Has a task run when its party's turn comes; false when too many wait, or no thread is to be had. */
    synchronized boolean offer(Object who, Runnable task) {
        Party party = parties.computeIfAbsent(who, Party::new);
        boolean taken = !closed && waiting < MAX_WAITING && party.queue.size() < maxQueued;
        if (taken) {
            party.queue.addLast(task);
            waiting++;
            if (party.queue.size() == 1 && party.atWork < maxAtWork) {
                turns.addLast(party);
                taken = startThread();
                if (!taken) {
                    turns.removeLastOccurrence(party);
                    party.queue.clear();
                    waiting--;
                }
            }
        }
        forgetIfIdle(party);
        return taken;
    }

    /** Starts one more if there may be one; false when there is none at all. */
    private boolean startThread() {
        if (threads.size() < maxThreads) {
            Thread thread = environment.background(name + ++threadsMade, this::work);
            threads.add(thread);
            try {
                thread.start();
            } catch (OutOfMemoryError e) {
                threads.remove(thread); // No thread is to be had now: those that there are do the work.
            }
        }
        return !threads.isEmpty();
    }

    private record Work(Party party, Runnable task) {}

    private void work() {
        for (Work work = next(null); work != null; work = next(work.party)) {
            try {
                work.task.run();
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "{}: a fault of the node: {}",
                        Thread.currentThread().getName(),
                        e.getClass().getName(),
                        e);
            }
        }
    }

    /** Returns what this thread does next; null when it has nothing more to do, and ends. */
    private synchronized @Nullable Work next(@Nullable Party ended) {
        if (ended != null) {
            boolean hadAllAtWork = ended.atWork-- == maxAtWork;
            if (hadAllAtWork && !ended.queue.isEmpty()) {
                turns.addLast(ended);
            }
            forgetIfIdle(ended);
        }
        Party party = turns.pollFirst();
        if (party == null) {
            threads.remove(Thread.currentThread());
            return null;
        }
        waiting--;
        party.atWork++;
        Runnable task = party.queue.removeFirst();
        if (!party.queue.isEmpty() && party.atWork < maxAtWork) {
            turns.addLast(party);
        }
        if (!turns.isEmpty()) {
            startThread();
        }
        return new Work(party, task);
    }

    private void forgetIfIdle(Party party) {
        if (party.atWork == 0 && party.queue.isEmpty()) {
            parties.remove(party.who, party);
        }
    }

    /** Interrupts what runs; what waits is not run. */
    synchronized void close() {
        closed = true;
        turns.clear();
        for (Party party : parties.values()) {
            for (Runnable task : party.queue) {
                if (task instanceof Future<?> awaited) {
                    awaited.cancel(false);
                }
            }
            waiting -= party.queue.size();
            party.queue.clear();
        }
        threads.forEach(Thread::interrupt);
    }
}
