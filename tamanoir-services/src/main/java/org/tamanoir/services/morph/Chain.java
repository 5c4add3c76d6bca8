package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * A plan as one instance runs it: its handlers, contexts and rings. It serves one generation of the plan; where the plan
 * changes, it is stopped between two messages and another begins with the handlers that stay.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
final class Chain {
    /** How long a datagram's message waits for room in a ring. */
    private static final long UDP_PATIENCE_NS = 2_000_000;
    /** How long what is to leave, or came over TCP, waits: a bound, so that nothing waits for good. */
    private static final long PATIENCE_NS = 60_000_000_000L;

    private static final int MAX_CLASSIFIED = 1024;
    private static final long STOP_PARK_NS = 50_000;
    private static final int RETURNS_AT_ONCE = 1024;

    private final Engine engine;
    final Plan plan;
    final long generation;
    private final List<Stage> stages = new ArrayList<>();
    private final List<Context> contexts = new ArrayList<>();
    private final List<Integer> contextOrder;
    private final Transport transport;
    private final boolean threads;
    private final Edge[][] entries;
    private final Map<Format, int[]> pathsByFormat = new HashMap<>();
    private @Nullable Format lastFormat;
    private int[] lastPaths = {};
    /** All contexts have stopped: the service's thread runs everything. */
    private volatile boolean inline;

    private volatile boolean closed;

    /**
     * Makes a chain that does not run yet.
     *
     * @param handlers by name
     * @param counts by name, of handlers that ran before
     * @param threads false: tests run contexts by hand
     */
    Chain(
            Engine engine,
            Plan plan,
            long generation,
            Transport transport,
            Map<String, MessageHandler> handlers,
            Map<String, Stage> before,
            boolean threads) {
        this.engine = engine;
        this.plan = plan;
        this.generation = generation;
        this.transport = transport;
        this.threads = threads;
        int contextCount = plan.contexts().size();
        for (int i = 0; i < contextCount; i++) {
            contexts.add(new Context(this, i, plan.contexts().get(i), contextCount));
        }
        for (int i = 0; i < plan.stages().size(); i++) {
            stages.add(stage(i, handlers, before));
        }
        contextOrder = Placement.order(plan.stages(), contextCount, new PlanGraph(plan.stages(), plan.paths()));
        for (Stage stage : stages) {
            for (int port = 0; port < stage.spec.next().size(); port++) {
                stage.connect(port, edges(stage.context, stage.spec.next().get(port)));
            }
        }
        entries = new Edge[plan.paths().size()][];
        for (int i = 0; i < entries.length; i++) {
            entries[i] = edges(contexts.get(Plan.RECEIVE), plan.paths().get(i).enter());
        }
        for (Context context : contexts) {
            if (context.number != Plan.RECEIVE && !context.stages.isEmpty()) {
                ring(context, contexts.get(Plan.RECEIVE));
            }
        }
    }

    private Stage stage(int number, Map<String, MessageHandler> handlers, Map<String, Stage> before) {
        StageSpec spec = plan.stages().get(number);
        MessageHandler handler = Objects.requireNonNull(handlers.get(spec.name()));
        Stage old = before.get(spec.name());
        Context context = contexts.get(spec.context());
        StageCounts counts = old == null ? new StageCounts() : old.counts;
        Stage stage = new Stage(number, spec, handler, counts, context, plan.emitLimit());
        if (old != null) {
            stage.takeOver(old);
        }
        context.stages.add(stage);
        return stage;
    }

    private Edge[] edges(Context from, List<Integer> next) {
        Edge[] edges = new Edge[next.size()];
        for (int i = 0; i < edges.length; i++) {
            Stage target = next.get(i) == Plan.OUT ? null : stages.get(next.get(i));
            edges[i] = new Edge(target);
            if (target != null && target.context != from) {
                ring(from, target.context);
            }
        }
        return edges;
    }

    private static void ring(Context from, Context to) {
        if (from.output(to.number) == null) {
            Ring ring = new Ring(to.number == Plan.RECEIVE ? from.spec.ringBytes() : to.spec.ringBytes());
            from.connect(to.number, ring);
            to.inputs.add(ring);
        }
    }

    /** Starts the threads of contexts that have handlers. */
    void start(String name) {
        for (Context context : contexts) {
            if (threads && context.number != Plan.RECEIVE && !context.stages.isEmpty()) {
                context.start(name + " " + context.spec.name());
            }
        }
    }

    // ---- messages -------------------------------------------------------------------------------------------

    /** Sends a message in, as the first path that fits it says; roots end by {@link Engine}. */
    void enter(Message message, StageCounts counts) {
        Format format = message.format();
        if (format != lastFormat) {
            lastPaths = paths(format);
            lastFormat = format;
        }
        for (int path : lastPaths) {
            if (plan.paths().get(path).fits(message)) {
                Edge[] edges = entries[path];
                if (edges.length > 1) {
                    counts.made.add(edges.length - 1);
                    contexts.get(Plan.RECEIVE).fanOut(edges, message, true, counts);
                } else {
                    contexts.get(Plan.RECEIVE).send(edges[0], message, true, counts);
                }
                return;
            }
        }
        if (plan.dropsByDefault()) {
            counts.drop("NO_PATH", 1);
            engine.rootEndedInCall("NO_PATH");
        } else {
            leave(message, true);
            counts.out.add(1);
        }
    }

    private int[] paths(Format format) {
        int[] known = pathsByFormat.get(format);
        if (known == null) {
            List<PathRule> rules = plan.paths();
            known = IntStream.range(0, rules.size())
                    .filter(i -> rules.get(i).fits(format, transport))
                    .toArray();
            if (pathsByFormat.size() >= MAX_CLASSIFIED) {
                pathsByFormat.clear();
            }
            pathsByFormat.put(format, known);
        }
        return known;
    }

    void leave(Message message, boolean root) {
        engine.leave(message, root);
    }

    void rootAway() {
        engine.rootHeldInCall();
    }

    void rootHeldInCall() {
        engine.rootHeldInCall();
    }

    void rootEndedInCall(@Nullable String why) {
        engine.rootEndedInCall(why);
    }

    void rootsEnded(long roots, @Nullable String why) {
        engine.rootsEnded(roots, why);
    }

    /** Gives out what contexts have finished; a bound at a time. Returns whether all is out. */
    boolean takeReturns() {
        boolean all = true;
        for (Context context : contexts) {
            Ring ring = context.output(Plan.RECEIVE);
            if (ring == null || context.isAbandoned()) {
                continue;
            }
            int taken = 0;
            while (taken < RETURNS_AT_ONCE && ring.next()) {
                taken++;
                try {
                    if (ring.stage() == Ring.RELEASE) {
                        engine.rootsEnded(ring.releases(), ring.reason());
                    } else {
                        engine.returned(ring.message(), ring.isRoot());
                    }
                } finally {
                    ring.release();
                }
            }
            all &= ring.isDrained();
        }
        return all;
    }

    // ---- for contexts, any thread ---------------------------------------------------------------------------

    long nowNs() {
        return engine.nowNs();
    }

    long serviceNowNs() {
        return engine.serviceNowNs();
    }

    boolean isInline() {
        return inline;
    }

    boolean isClosed() {
        return closed;
    }

    Stage stage(int number) {
        return stages.get(number);
    }

    Context context(int number) {
        return contexts.get(number);
    }

    List<Stage> stages() {
        return stages;
    }

    List<Context> contexts() {
        return contexts;
    }

    /** Returns the ring by which what leaves comes from a context. */
    Ring returns(int context) {
        return Objects.requireNonNull(contexts.get(context).output(Plan.RECEIVE));
    }

    void wakeService() {
        engine.wake();
    }

    long roomPatienceNs(int to) {
        return transport == Transport.UDP && to != Plan.RECEIVE ? UDP_PATIENCE_NS : PATIENCE_NS;
    }

    /** In tests without threads: runs the context that has to make room. */
    boolean runsByHand(int context) {
        if (threads) {
            return false;
        }
        if (context == Plan.RECEIVE) {
            takeReturns();
        } else {
            contexts.get(context).turn();
        }
        return true;
    }

    void throwIfNotTheHandlers(Throwable e) {
        engine.throwIfNotTheHandlers(e);
    }

    void contextFailed(Context context, Throwable e) {
        engine.contextFailed(context, e);
    }

    // ---- ends -----------------------------------------------------------------------------------------------

    /**
     * Stops all contexts, each when its rings are empty; then the service's thread runs all. What they finish leaves
     * meanwhile.
     *
     * @return the contexts that have not come to an end in time; they, and what they were given, are lost
     */
    Set<Context> stop(long patienceNs) {
        Set<Context> stalled = new HashSet<>();
        for (int number : contextOrder) {
            Context context = contexts.get(number);
            if (number != Plan.RECEIVE && !stop(context, System.nanoTime() + patienceNs)) {
                context.abandon();
                stalled.add(context);
            }
        }
        while (!takeReturns()) {
            // Bounded by the rings, which nobody fills any more.
        }
        inline = true;
        return stalled;
    }

    private boolean stop(Context context, long untilNs) {
        if (!threads) {
            while (context.turn()) {
                takeReturns();
            }
            takeReturns();
            return true;
        }
        context.stop();
        while (!context.hasEnded()) {
            takeReturns();
            if (System.nanoTime() - untilNs > 0) {
                return false;
            }
            LockSupport.parkNanos(this, STOP_PARK_NS);
        }
        return true;
    }

    /** Has contexts end at once, whatever they have. */
    void close() {
        closed = true;
        for (Context context : contexts) {
            Thread thread = context.thread();
            if (thread != null && !context.hasEnded()) {
                LockSupport.unpark(thread);
            }
        }
    }

    /** Waits a time for the threads of contexts that were told to end. */
    void join(long patienceMs) {
        try {
            for (Context context : contexts) {
                Thread thread = context.thread();
                if (thread != null && !context.hasEnded()) {
                    thread.join(patienceMs);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the messages that lie in rings. Any thread: exact where nobody is at work. */
    long queued() {
        long queued = 0;
        for (Context context : contexts) {
            for (Ring ring : context.inputs) {
                queued += ring.queued();
            }
        }
        return queued;
    }
}
