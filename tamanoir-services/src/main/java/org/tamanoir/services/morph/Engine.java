package org.tamanoir.services.morph;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * What runs a plan for one instance, and goes over to another plan between two messages.
 *
 * <p>Messages that contexts have finished come back to the service's thread, since it alone may send. A message that
 * passes in {@code receive} alone is answered for at once, so that it leaves in the packet that it came in; of one that
 * goes to another context the instance is told that it is held, and its end later.
 *
 * <p>Thread contract: the service's thread, but for {@link #prepare}, {@link #propose}, {@link #wake} and what is read.
 */
public final class Engine {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    /** For contexts to come to an end when the plan changes; who takes longer is left behind. */
    static final long STOP_PATIENCE_NS = 5_000_000_000L;

    private static final long CLOSE_PATIENCE_MS = 1000;

    private final String name;
    private final Transport transport;
    private final HandlerMaker maker;
    private final LongSupplier clock;
    private final BooleanSupplier waker;
    private final boolean threads;
    private final AtomicBoolean wakePending = new AtomicBoolean();
    /** What happened to messages before handlers: those that no path takes are counted here. */
    final StageCounts entry = new StageCounts();
    /** Of handlers that are gone. */
    final StageCounts retired = new StageCounts();
    /** Messages that left. */
    final Counter left = new Counter("left");

    private volatile Chain chain;
    private volatile @Nullable Prepared pending;
    private volatile boolean adopting;
    private volatile boolean broken;
    private volatile @Nullable String lastProblem;
    private @Nullable Outlet service;
    private @Nullable Message deferred;
    private @Nullable Outcome callOutcome;
    private @Nullable String callReason;
    private boolean inCall;
    /** What the service itself threw while handlers were on the stack. */
    private @Nullable Throwable fault;
    /** Messages of which the service was told that they are held. */
    private long rootsAway;

    /** Handlers of a plan that were made beforehand; those that go on from the plan before are not among them. */
    record Prepared(Plan plan, long generation, Map<String, MessageHandler> made) {
        void close() {
            made.values().forEach(MessageHandler::close);
        }
    }

    /**
     * Makes an engine, and starts it.
     *
     * @param name of the instance, for its threads
     * @param waker has {@link #expire} called on the service's thread soon; false if that cannot be. Any thread
     * @param threads false: tests run contexts by hand
     * @throws IllegalArgumentException if a handler cannot be made
     */
    Engine(
            String name,
            Plan plan,
            long generation,
            HandlerMaker maker,
            Transport transport,
            LongSupplier clock,
            BooleanSupplier waker,
            boolean threads) {
        this.name = name;
        this.transport = transport;
        this.maker = maker;
        this.clock = clock;
        this.waker = waker;
        this.threads = threads;
        Map<String, MessageHandler> handlers = make(plan, Set.of());
        chain = new Chain(this, plan, generation, transport, handlers, Map.of(), threads);
        try {
            chain.start(name);
        } catch (Error e) { // No more threads.
            chain.close();
            handlers.values().forEach(Engine::closeQuietly);
            throw e;
        }
    }

    private Map<String, MessageHandler> make(Plan plan, Set<String> but) {
        Map<String, MessageHandler> made = new HashMap<>();
        try {
            for (StageSpec stage : plan.stages()) {
                if (!but.contains(stage.name())) {
                    made.put(stage.name(), make(plan, stage));
                }
            }
        } catch (RuntimeException | Error e) {
            made.values().forEach(MessageHandler::close);
            throw e;
        }
        return made;
    }

    private MessageHandler make(Plan plan, StageSpec stage) {
        String path = "handlers." + stage.name() + "." + stage.kind();
        return maker.make(path, stage.kind(), stage.settings(), plan.names());
    }

    // ---- messages -------------------------------------------------------------------------------------------

    /** Handles a message that came, and says what becomes of it. */
    public Outcome handle(Message message, Outlet outlet) {
        service = outlet;
        adoptPending();
        entry.in.add(1);
        deferred = null;
        callOutcome = null;
        callReason = null;
        inCall = true;
        try {
            chain.enter(message, entry);
        } finally {
            inCall = false;
        }
        Message last = deferred;
        if (last != null) {
            deferred = null;
            if (last != message) {
                outlet.replace(last);
            }
            return Outcome.FORWARD;
        }
        Outcome outcome = callOutcome;
        if (outcome == null) {
            throw new IllegalStateException("a message has no outcome: a handler of the plan lost it");
        }
        if (outcome == Outcome.HOLD) {
            rootsAway++;
        }
        return outcome == Outcome.DROP ? outlet.drop(callReason == null ? "DROPPED" : callReason) : outcome;
    }

    /** Does what is due: plans, messages that come back, windows of {@code receive}. Returns when to be called again. */
    public long expire(long nowNs, Outlet outlet) {
        service = outlet;
        adoptPending();
        if (wakePending.get()) {
            wakePending.set(false);
        }
        if (!chain.takeReturns()) {
            wake();
        }
        if (chain.isInline()) {
            long due = Long.MAX_VALUE;
            for (Context context : chain.contexts()) {
                due = Math.min(due, context.expire(nowNs));
            }
            return due; // Of contexts left behind nothing is due: their stages are not asked.
        }
        return chain.context(Plan.RECEIVE).expire(nowNs);
    }

    /** Gives out, or drops, all that is held: the stream has ended. Waits for contexts, a bounded time. */
    public void finish(Outlet outlet) {
        service = outlet;
        adoptPending();
        if (!chain.isInline()) {
            leaveBehind(chain, chain.stop(STOP_PATIENCE_NS));
        }
        for (Stage stage : chain.stages()) {
            if (!stage.abandoned) {
                stage.finish();
            }
        }
        if (rootsAway > 0) {
            rootsEnded(rootsAway, "FINISHED");
        }
    }

    /** Returns the bytes that handlers hold, and those in rings. Any thread. */
    public long heldBytes() {
        long bytes = 0;
        for (Stage stage : chain.stages()) {
            bytes += stage.counts.heldBytes.get();
        }
        for (Context context : chain.contexts()) {
            for (Ring ring : context.inputs) {
                bytes += ring.filled();
            }
        }
        return bytes;
    }

    /** Ends it at once, whatever it has. */
    void close() {
        broken = true;
        discardPending();
        chain.close();
        chain.join(CLOSE_PATIENCE_MS);
        for (Stage stage : chain.stages()) {
            if (stage.context.hasEnded()) {
                closeQuietly(stage.handler);
            }
        }
    }

    // ---- from chains ----------------------------------------------------------------------------------------

    /** Lets a message leave on the service's thread. */
    void leave(Message message, boolean root) {
        if (root && inCall) {
            deferred = message;
            left.add(1);
        } else {
            emit(message);
        }
    }

    /** Lets a message leave that came back from a context. */
    void returned(Message message, boolean root) {
        try {
            emit(message);
        } catch (Throwable e) {
            retired.drop(Context.NOT_SENT, 1);
            throw e;
        }
        if (root) {
            rootsEnded(1, null);
        }
    }

    private void emit(Message message) {
        try {
            outlet().emit(0, message);
        } catch (Throwable e) {
            fault = e;
            throw e;
        }
        left.add(1);
    }

    void rootHeldInCall() {
        callOutcome = Outcome.HOLD;
    }

    void rootEndedInCall(@Nullable String why) {
        callOutcome = why == null ? Outcome.MERGE : Outcome.DROP;
        callReason = why;
    }

    void rootsEnded(long roots, @Nullable String why) {
        long known = Math.min(roots, rootsAway);
        rootsAway -= known;
        if (known > 0) {
            outlet().release(known, why);
        }
    }

    private Outlet outlet() {
        if (service == null) {
            throw new IllegalStateException("messages can leave while the service has lent its outlet");
        }
        return service;
    }

    /** Throws on what came from the service or the chain, not from a handler. */
    void throwIfNotTheHandlers(Throwable e) {
        if (e == fault || e instanceof ChainClosedException) {
            fault = null;
            if (e instanceof Error error) {
                throw error;
            }
            throw e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
        }
    }

    void contextFailed(Context context, Throwable e) {
        lastProblem = "context " + context.spec.name() + " ended: " + Failures.text(e);
        LOG.warn("{}: context {} ended", name, context.spec.name(), e);
    }

    /** Returns the time of contexts. Any thread. */
    long nowNs() {
        return clock.getAsLong();
    }

    /** Returns the time as the service has it. */
    long serviceNowNs() {
        return outlet().nowNs();
    }

    /** Has the service's thread look at what contexts have finished. Any thread. */
    void wake() {
        // What is to be found is written before the flag is read: else each side may miss the other.
        VarHandle.fullFence();
        if (!wakePending.get() && wakePending.compareAndSet(false, true) && !waker.getAsBoolean()) {
            wakePending.set(false);
        }
    }

    // ---- changes --------------------------------------------------------------------------------------------

    /**
     * Makes what another plan needs beside what runs. Any thread.
     *
     * @throws IllegalArgumentException if a handler cannot be made: nothing has changed
     */
    Prepared prepare(Plan plan, long generation) {
        Set<String> going = new HashSet<>();
        Plan running = chain.plan;
        for (StageSpec stage : plan.stages()) {
            int before = running.stage(stage.name());
            if (before >= 0 && running.stages().get(before).isSameHandler(stage)) {
                going.add(stage.name());
            }
        }
        return new Prepared(plan, generation, make(plan, going));
    }

    /** Has the instance go over to a plan before its next message; at once, if it is idle. Any thread. */
    void propose(Prepared prepared) {
        Prepared before;
        synchronized (wakePending) {
            before = pending;
            pending = prepared;
        }
        if (before != null) {
            before.close();
        }
        if (broken) {
            discardPending();
        }
        wake();
    }

    /** Takes back a plan that has not been gone over to; null if there is none. Any thread. */
    @Nullable
    Prepared withdraw() {
        synchronized (wakePending) {
            Prepared before = pending;
            pending = null;
            return before;
        }
    }

    private void discardPending() {
        Prepared waiting = withdraw();
        if (waiting != null) {
            waiting.close();
        }
    }

    private void adoptPending() {
        if (pending != null) {
            adopting = true;
            try {
                Prepared next = withdraw();
                if (next != null) {
                    adopt(next);
                }
            } finally {
                adopting = false;
            }
        }
    }

    private void adopt(Prepared next) {
        Chain old = chain;
        Map<String, Stage> moving = new HashMap<>();
        for (Stage stage : old.stages()) {
            int number = next.plan.stage(stage.spec.name());
            if (number >= 0 && stage.spec.isSameHandler(next.plan.stages().get(number))) {
                moving.put(stage.spec.name(), stage);
            }
        }
        Map<String, MessageHandler> handlers = new HashMap<>(next.made);
        try {
            for (StageSpec stage : next.plan.stages()) {
                if (!moving.containsKey(stage.name()) && !handlers.containsKey(stage.name())) {
                    handlers.put(stage.name(), make(next.plan, stage)); // The plan before was another than expected.
                }
            }
        } catch (RuntimeException | LinkageError e) {
            handlers.values().forEach(Engine::closeQuietly);
            lastProblem = "generation " + next.generation + " refused: " + e.getMessage();
            return;
        }
        if (!old.isInline()) {
            leaveBehind(old, old.stop(STOP_PATIENCE_NS));
        }
        lastProblem = null;
        for (Stage stage : old.stages()) {
            if (stage.abandoned) {
                if (moving.remove(stage.spec.name()) != null) {
                    handlers.computeIfAbsent(stage.spec.name(), key -> remake(next.plan, key));
                }
            } else if (!moving.containsKey(stage.spec.name())) {
                stage.finish();
            }
        }
        for (Stage stage : old.stages()) {
            if (moving.containsKey(stage.spec.name())) {
                MessageHandler unused = handlers.put(stage.spec.name(), stage.handler);
                if (unused != null && unused != stage.handler) {
                    closeQuietly(unused);
                }
            } else if (!stage.abandoned) {
                retired.add(stage.counts);
                closeQuietly(stage.handler);
            }
        }
        old.close();
        Chain fresh = new Chain(this, next.plan, next.generation, transport, handlers, moving, threads);
        chain = fresh;
        fresh.start(name);
    }

    /** Makes what takes the place of a handler that was left behind; if that cannot be, all its messages are failures. */
    private MessageHandler remake(Plan plan, String handler) {
        try {
            return make(plan, plan.stages().get(plan.stage(handler)));
        } catch (RuntimeException | LinkageError e) {
            String problem = handler + " was left behind and cannot be made anew: " + e.getMessage();
            lastProblem = problem;
            return format -> {
                throw new IllegalStateException(problem);
            };
        }
    }

    /** Counts what stalled contexts have as dropped, and lets go of them: their threads end when they return. */
    private void leaveBehind(Chain of, Set<Context> stalled) {
        if (stalled.isEmpty()) {
            return;
        }
        long held = 0;
        for (Stage stage : of.stages()) {
            held += stage.rootsHeld;
            if (stalled.contains(stage.context)) {
                held -= stage.rootsHeld;
                stage.abandoned = true;
                StageCounts snapshot = new StageCounts();
                snapshot.add(stage.counts);
                long lost = snapshot.held.get();
                snapshot.held.set(0);
                snapshot.drop("CONTEXT_STALLED", lost);
                retired.add(snapshot);
            }
        }
        for (Context context : stalled) {
            for (Ring ring : context.inputs) {
                retired.drop("CONTEXT_STALLED", ring.queued()); // With the message in hand.
            }
            retired.drop("CONTEXT_STALLED", of.returns(context.number).queued());
            LOG.warn(
                    "{}: context {} is left behind: {} has not returned",
                    name,
                    context.spec.name(),
                    context.currentStage());
        }
        of.close();
        stalled.forEach(Context::interrupt);
        rootsEnded(Math.max(0, rootsAway - held), "CONTEXT_STALLED");
    }

    private static void closeQuietly(MessageHandler handler) {
        try {
            handler.close();
        } catch (RuntimeException | Error e) {
            LOG.warn("a handler could not be closed", e);
        }
    }

    // ---- what is read ---------------------------------------------------------------------------------------

    /** Returns the chain that runs. Any thread. */
    Chain chain() {
        return chain;
    }

    /** Returns whether a plan waits to be gone over to, or is being. Any thread. */
    boolean isChanging() {
        return pending != null || adopting;
    }

    boolean isClosed() {
        return broken;
    }

    /** Returns what went wrong last; null if nothing did. Any thread. */
    @Nullable
    String lastProblem() {
        return lastProblem;
    }

    String name() {
        return name;
    }

    /** Returns all counts of messages: of the entry, of handlers that run, of those that are gone. Any thread. */
    List<StageCounts> counts() {
        List<StageCounts> all = new ArrayList<>();
        all.add(entry);
        chain.stages().stream().filter(stage -> !stage.abandoned).forEach(stage -> all.add(stage.counts));
        all.add(retired);
        return all;
    }
}
