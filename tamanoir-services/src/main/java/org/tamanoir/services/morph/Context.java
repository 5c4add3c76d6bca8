package org.tamanoir.services.morph;

import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.Message;
import org.tamanoir.service.Counter;

/**
 * A context where it runs: handlers, the rings that lead to them, and the thread that serves them. Number 0 is the
 * service's own thread, which has none of its own; what comes through its rings leaves.
 *
 * <p>Thread contract: its thread, but for what is said to be any thread's.
 */
final class Context implements Runnable {
    /** The service could not send it: its stream is broken, or the chain is gone. */
    static final String NOT_SENT = "NOT_SENT";

    /** Messages of one ring before the next has its turn. */
    private static final int TURN_MESSAGES = 64;
    /** Looks at empty rings before the thread parks: some microseconds. */
    private static final int SPINS = 100;

    private static final long LONGEST_PARK_NS = 1_000_000_000;
    private static final long RETRY_PARK_NS = 10_000_000;
    private static final long ROOM_PARK_NS = 20_000;

    final ContextSpec spec;
    final int number;
    final List<Stage> stages = new ArrayList<>();
    /** From other contexts; those of number 0 are emptied by the chain. */
    final List<Ring> inputs = new ArrayList<>();

    /** Times that a message had to wait for room behind this context, and how long in ns. */
    final Counter waits = new Counter("waits");

    final Counter waitNs = new Counter("waitNs");
    private final Chain chain;
    private final @Nullable Ring[] outputs;
    private @Nullable Thread thread;
    private volatile boolean parked;
    private volatile boolean stopping;
    private volatile boolean ended;
    /** It did not come to an end in time: whatever its thread still does is for nothing. */
    private volatile boolean abandoned;
    /** Since when it has been at work, 0 while it waits; and on which stage. For readers. */
    private volatile long busySinceNs;

    private int current = -1;

    /** Time is to be looked at: at first for what handlers brought along from the plan before. */
    private boolean touched = true;

    private long dueNs = Long.MAX_VALUE;
    /** Ends of roots that the instance has not been told. */
    private long endsPending;

    private @Nullable String endsReason;

    Context(Chain chain, int number, ContextSpec spec, int contexts) {
        this.chain = chain;
        this.number = number;
        this.spec = spec;
        this.outputs = new Ring[contexts];
    }

    void connect(int to, Ring ring) {
        outputs[to] = ring;
    }

    @Nullable
    Ring output(int to) {
        return outputs[to];
    }

    void start(String name) {
        Thread own = new Thread(this, name);
        own.setDaemon(true);
        thread = own;
        own.start();
    }

    /** Returns whether what it sends goes straight to the service, on whose thread it runs. */
    private boolean isDirect() {
        if (abandoned) {
            throw new ChainClosedException();
        }
        return number == Plan.RECEIVE || chain.isInline();
    }

    long nowNs() {
        return isDirect() ? chain.serviceNowNs() : chain.nowNs();
    }

    /** Notes which stage is at work, and that time is to be looked at. */
    void begin(int stage) {
        current = stage;
        touched = true;
    }

    // ---- the thread -----------------------------------------------------------------------------------------

    @Override
    public void run() {
        try {
            int idle = 0;
            while (!chain.isClosed()) {
                if (turn()) {
                    idle = 0;
                } else if (stopping && isEmpty()) {
                    break;
                } else if (++idle < SPINS) {
                    Thread.onSpinWait();
                } else {
                    park();
                }
            }
        } catch (ChainClosedException e) {
            // The chain is gone: what is left is counted there.
        } catch (Throwable e) {
            chain.contextFailed(this, e);
        } finally {
            busySinceNs = 0;
            ended = true;
            chain.wakeService();
        }
    }

    /** Handles what waits, up to a bound; false if there was nothing to do. */
    boolean turn() {
        boolean worked = false;
        for (int i = 0; i < inputs.size(); i++) {
            worked |= serve(inputs.get(i));
        }
        long nowNs = nowNs();
        if (worked || touched || nowNs >= dueNs) {
            expire(nowNs);
        }
        flushEnds();
        if (busySinceNs != 0) {
            busySinceNs = 0;
        }
        return worked;
    }

    private boolean serve(Ring ring) {
        int served = 0;
        while (served < TURN_MESSAGES && ring.next()) {
            if (served++ == 0) {
                busySinceNs = nowNs();
            }
            try {
                Stage stage = chain.stage(ring.stage());
                Message message = ring.message();
                stage.accept(message, stage.row(message.format()), ring.isRoot());
            } finally {
                ring.release();
            }
        }
        return served > 0;
    }

    /** Returns when time is to be looked at again. */
    long expire(long nowNs) {
        if (touched || nowNs >= dueNs) {
            touched = false;
            long due = Long.MAX_VALUE;
            for (int i = 0; i < stages.size(); i++) {
                Stage stage = stages.get(i);
                due = stage.abandoned ? due : Math.min(due, stage.expire(nowNs));
            }
            touched = false; // By what expired itself, which has been looked at where it is behind.
            dueNs = due;
        }
        return dueNs;
    }

    private boolean isEmpty() {
        for (int i = 0; i < inputs.size(); i++) {
            if (!inputs.get(i).isDrained()) {
                return false;
            }
        }
        return true;
    }

    private void park() {
        parked = true;
        VarHandle.fullFence();
        if (isEmpty() && !stopping && !chain.isClosed()) {
            long ns = dueNs == Long.MAX_VALUE ? LONGEST_PARK_NS : dueNs - nowNs();
            boolean unread = number != Plan.RECEIVE && !chain.returns(number).isDrained();
            if (unread) {
                chain.wakeService(); // Again: it may have been too busy to be told.
            }
            if (ns > 0) {
                LockSupport.parkNanos(this, Math.min(ns, unread ? RETRY_PARK_NS : LONGEST_PARK_NS));
            }
        }
        parked = false;
    }

    /** Goes on if it is parked. Any thread: what it is to find has been written before. */
    void wake() {
        VarHandle.fullFence();
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Has the thread end when its rings are empty. Any thread. */
    void stop() {
        stopping = true;
        LockSupport.unpark(thread);
    }

    /** Returns whether it has no thread any more. Any thread. */
    boolean hasEnded() {
        return ended || thread == null;
    }

    /** Lets nothing of what its thread still does count. Any thread. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    /** Interrupts what its thread is at. Any thread. */
    void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    @Nullable
    Thread thread() {
        return thread;
    }

    /** Returns since when it has been at work on what it is at, 0 if it waits. Any thread. */
    long busySinceNs() {
        return busySinceNs;
    }

    /** Returns the name of the stage that it was at last. Any thread: a guess. */
    String currentStage() {
        int stage = current;
        return stage < 0 ? "" : chain.stage(stage).spec.name();
    }

    // ---- what stages send -----------------------------------------------------------------------------------

    /** Sends copies of a message to several, the root to the last. */
    void fanOut(Edge[] edges, Message message, boolean root, StageCounts counts) {
        InetSocketAddress destination = message.destination();
        for (int i = 0; i < edges.length; i++) {
            // Before each, not behind the last: a root may leave later, with the one that it was given.
            message.setDestination(destination);
            send(edges[i], message, root && i == edges.length - 1, counts);
        }
    }

    /** Sends a message on: calls the handler behind, copies it into a ring, or lets it leave. */
    void send(Edge edge, Message message, boolean root, StageCounts counts) {
        Stage target = edge.target;
        String refused = null;
        if (target == null) {
            if (isDirect()) {
                leave(message, root, counts);
            } else {
                refused = cross(Plan.RECEIVE, Ring.LEAVES, message, root);
            }
        } else if (target.abandoned) {
            refused = "CONTEXT_STALLED";
        } else if (target.context == this || chain.isInline()) {
            counts.out.add(1);
            target.accept(message, edge.row(target, message.format()), root);
            return;
        } else {
            refused = cross(target.context.number, target.number, message, root);
        }
        if (refused == null) {
            counts.out.add(1);
        } else {
            counts.drop(refused, 1);
            if (root) {
                rootEnded(refused);
            }
        }
    }

    private void leave(Message message, boolean root, StageCounts counts) {
        try {
            chain.leave(message, root);
        } catch (Throwable e) {
            counts.drop(NOT_SENT, 1);
            throw e;
        }
    }

    /** Copies a message into a ring; waits for room. Returns why it could not, null if it could. */
    private @Nullable String cross(int to, int stage, Message message, boolean root) {
        Ring ring = ring(to);
        if (abandoned || chain.isClosed()) {
            throw new ChainClosedException();
        }
        if (!ring.offer(message, stage, root)) {
            if (!ring.canHold(message)) {
                return "RING_TOO_SMALL";
            }
            long begunNs = System.nanoTime();
            waits.add(1);
            boolean done = false;
            while (!done && awaitRoom(to, begunNs)) {
                done = ring.offer(message, stage, root);
            }
            waitNs.add(System.nanoTime() - begunNs);
            if (!done) {
                return "RING_FULL";
            }
        }
        if (root && number == Plan.RECEIVE) {
            chain.rootAway();
        }
        tell(to);
        return null;
    }

    private Ring ring(int to) {
        Ring ring = outputs[to];
        if (ring == null) {
            throw new IllegalStateException("no ring from " + spec.name() + " to context " + to);
        }
        return ring;
    }

    private void tell(int to) {
        if (to == Plan.RECEIVE) {
            chain.wakeService();
        } else {
            chain.context(to).wake();
        }
    }

    /** Lets some time pass in which room may come; false when that has taken too long. */
    private boolean awaitRoom(int to, long begunNs) {
        if (chain.isClosed()) {
            throw new ChainClosedException();
        }
        tell(to);
        if (System.nanoTime() - begunNs > chain.roomPatienceNs(to)) {
            return false;
        }
        if (number == Plan.RECEIVE) {
            chain.takeReturns();
        }
        if (!chain.runsByHand(to)) {
            LockSupport.parkNanos(this, ROOM_PARK_NS);
            return !Thread.currentThread().isInterrupted();
        }
        return true;
    }

    // ---- roots ----------------------------------------------------------------------------------------------

    /** Notes that a root is held here. */
    void rootHeld() {
        if (isDirect()) {
            chain.rootHeldInCall();
        }
    }

    /** Notes that the root in hand has ended. */
    void rootEnded(@Nullable String why) {
        if (isDirect()) {
            chain.rootEndedInCall(why);
        } else {
            ended(1, why);
        }
    }

    /** Notes that roots which were held have ended. */
    void ended(long roots, @Nullable String why) {
        if (isDirect()) {
            chain.rootsEnded(roots, why);
            return;
        }
        if (endsPending > 0 && (why == null ? endsReason != null : !why.equals(endsReason))) {
            flushEnds();
        }
        endsReason = why;
        endsPending += roots;
    }

    private void flushEnds() {
        if (endsPending == 0) {
            return;
        }
        Ring ring = ring(Plan.RECEIVE);
        long begunNs = System.nanoTime();
        while (!ring.offerRelease(endsPending, endsReason)) {
            if (!awaitRoom(Plan.RECEIVE, begunNs)) {
                return; // Next time.
            }
        }
        endsPending = 0;
        chain.wakeService();
    }

    /** Counts a failure of a handler, and returns the reason; what is not the handler's is thrown on. */
    String failure(Throwable e, StageCounts counts) {
        chain.throwIfNotTheHandlers(e);
        String reason = Failures.reason(e);
        counts.lastFailure = Failures.text(e);
        return reason;
    }
}
