package org.tamanoir.cluster.element.ring;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/**
 * A ring of units of one JVM, as {@link TokenRing} but that messages go through a queue. One thread calls all senders:
 * a token that is passed at once is with the next unit without another thread being woken. It looks for more for 20 µs
 * before it sleeps.
 *
 * <p>Thread contract: any thread; senders are called on the ring's thread.
 */
public final class MemoryRing implements AutoCloseable {
    /** A ring of 64 units has a token and a few messages of each under way; what is more is lost, as on a network. */
    private static final int MAX_MESSAGES = 1024;

    private static final long SPIN_NS = 20_000;
    private static final long JOIN_MS = 5_000;

    private final RingPlan plan;
    private final long startNs = System.nanoTime();
    private final BlockingQueue<Letter> letters = new ArrayBlockingQueue<>(MAX_MESSAGES);
    private final Map<Integer, Seat> seats = new HashMap<>();
    private final Map<Integer, Party> parties = new ConcurrentHashMap<>();
    private final Thread thread = new Thread(this::run, "ring-in-memory");
    private volatile boolean sleeping;
    private volatile boolean changed;
    private volatile boolean open = true;

    private record Letter(
            int from,
            int to,
            @Nullable Token token,
            @Nullable Message message) {}

    /** Makes a ring; none of its units has begun. */
    public MemoryRing(RingPlan plan) {
        this.plan = plan;
        for (int unit : plan.units()) {
            seats.put(unit, new Seat(plan, unit, RunStart.SAME, this::nowNs, new Slot(unit), this::wake));
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** Sends what one party says. */
    private final class Slot implements Wire {
        private final int from;

        Slot(int from) {
            this.from = from;
        }

        @Override
        public void send(int to, Token token) {
            post(new Letter(from, to, token, null));
        }

        @Override
        public void send(int to, Message message) {
            post(new Letter(from, to, null, message));
        }
    }

    private long nowNs() {
        return System.nanoTime() - startNs;
    }

    private void post(Letter letter) {
        letters.offer(letter); // or it is lost
        unpark();
    }

    /** Has the thread ask for deadlines again. */
    private void wake() {
        changed = true;
        unpark();
    }

    private void unpark() {
        if (sleeping) {
            LockSupport.unpark(thread);
        }
    }

    /** Returns a unit's place. */
    public RingPort port(int unit) {
        return seat(unit);
    }

    /** Has a unit look for the ring, for this sender. */
    public void start(int unit, RingMember sender) {
        Seat seat = seat(unit);
        seat.start(sender);
        parties.put(unit, seat);
        wake();
    }

    /** Takes a unit out at once: to the others it is dead, unless it has left. */
    public void remove(int unit) {
        parties.remove(unit);
    }

    /**
     * Begins to watch the ring for its distributor, once.
     *
     * @param round gives the last round that was sent; any thread
     */
    public RingWatch watch(LongSupplier round) {
        RingWatch watch = new RingWatch(
                plan,
                RunStart.SAME,
                round,
                this::nowNs,
                new Slot(RingPlan.DISTRIBUTOR),
                () -> remove(RingPlan.DISTRIBUTOR));
        parties.put(RingPlan.DISTRIBUTOR, watch.party());
        wake();
        return watch;
    }

    /** As {@link TokenRing#announceLeaving}. */
    public void announceLeaving(int unit) {
        seat(unit).announceLeaving();
    }

    public RingStatus status(int unit) {
        return seat(unit).status();
    }

    private Seat seat(int unit) {
        return Objects.requireNonNull(
                seats.get(unit), () -> "unit " + unit + " is none of the ring's " + seats.keySet());
    }

    private void run() {
        long busyNs = nowNs();
        long dueNs = 0;
        while (open) {
            Letter letter = letters.poll();
            if (letter != null) {
                dueNs = Math.min(dueNs, deliver(letter));
                busyNs = nowNs();
            } else if (nowNs() - busyNs < SPIN_NS) {
                Thread.onSpinWait();
            } else {
                sleep(dueNs);
                busyNs = nowNs();
            }
            if (changed || dueNs <= nowNs()) {
                changed = false;
                dueNs = expire();
            }
        }
    }

    /** Returns the receiver's next deadline. */
    private long deliver(Letter letter) {
        Party to = parties.get(letter.to());
        if (to == null) {
            return Long.MAX_VALUE;
        }
        if (letter.token() != null) {
            to.token(letter.from(), letter.token());
        } else if (letter.message() != null) {
            to.message(letter.from(), letter.message());
        }
        return to.deadlineNs();
    }

    /** Returns the next deadline of all. */
    private long expire() {
        long dueNs = Long.MAX_VALUE;
        for (Party party : parties.values()) {
            if (party.deadlineNs() <= nowNs()) {
                party.expire();
            }
            dueNs = Math.min(dueNs, party.deadlineNs());
        }
        return dueNs;
    }

    private void sleep(long dueNs) {
        sleeping = true;
        if (letters.isEmpty() && !changed && open) {
            LockSupport.parkNanos(dueNs - nowNs());
        }
        sleeping = false;
    }

    /** Ends the ring's thread, and waits 5 s at most for it: to the senders nothing is said. */
    @Override
    public void close() {
        open = false;
        wake();
        try {
            if (Thread.currentThread() != thread) {
                thread.join(JOIN_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
