package org.tamanoir.services.morph;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.service.Allowance;

/**
 * A handler where it runs: calls it, sends on what it gives, and counts. Handlers behind it in the same context run before
 * it returns; nothing is allocated for a message.
 *
 * <p>A message is a <em>root</em> if it is what became of one that the instance was given, of which the instance wants to
 * know the end; copies and made ones are not.
 *
 * <p>Thread contract: the thread of its context; counts and {@link #rows} any.
 */
final class Stage implements Outlet {
    /** Formats that a handler is prepared for at a time; the one that was not used for longest gives way. */
    static final int MAX_FORMATS = 1024;

    /** One message in so many is timed. */
    private static final int SAMPLE_MASK = 63;
    /** Messages that a handler may make when time has passed, or at the end: all that it holds. */
    private static final int EMITS_AT_ONCE = 1_000_000;

    private static final long RETRY_NS = 1_000_000_000;

    final StageSpec spec;
    final MessageHandler handler;
    final StageCounts counts;
    final Context context;
    final int number;
    private final int emitLimit;
    private final Edge[][] ports;
    /** In the order of use. */
    private final Map<Format, Row> rowByFormat = new LinkedHashMap<>(16, 0.75f, true);
    /** For readers: replaced as a whole. */
    private volatile List<Row> rows = List.of();

    /** Its context did not come to an end and was left behind: nothing of it counts any more. */
    volatile boolean abandoned;

    /** Roots among the messages that the handler holds. */
    long rootsHeld;

    /** What may leave on account of the message in hand; between messages nothing bounds it. */
    private Allowance allowance = Allowance.FREE;
    /** The same of messages that the handler has held or merged: it pays for what is made of them. */
    private Allowance kept = Allowance.FREE;
    /** A message came since time was looked at last. */
    private boolean touched = true;

    private long dueNs = Long.MAX_VALUE;

    private int calls;
    private long toPorts;
    private @Nullable Message replacement;
    private @Nullable String reason;
    private int emitsLeft;
    /** The call in hand is timed; what is behind the handler does not count. */
    private boolean isTimed;

    private long behindNs;

    Stage(int number, StageSpec spec, MessageHandler handler, StageCounts counts, Context context, int emitLimit) {
        this.number = number;
        this.spec = spec;
        this.handler = handler;
        this.counts = counts;
        this.context = context;
        this.emitLimit = emitLimit;
        this.ports = new Edge[spec.next().size()][];
    }

    void connect(int port, Edge[] edges) {
        ports[port] = edges;
    }

    /** Goes on where the handler was before, in another chain. */
    void takeOver(Stage before) {
        rootsHeld = before.rootsHeld;
        kept = before.kept;
    }

    /** Returns how messages of a format come in. */
    Row row(Format format) {
        Row known = rowByFormat.get(format);
        if (known != null) {
            return known;
        }
        Row row;
        try {
            row = new Row(format, Entrance.of(handler, format));
        } catch (Throwable e) {
            counts.lastFailure = Failures.text(e);
            row = new Row(format, "FORMAT");
        }
        List<Row> more = new ArrayList<>(rows);
        if (rowByFormat.size() == MAX_FORMATS) {
            Iterator<Row> longestUnused = rowByFormat.values().iterator();
            more.remove(longestUnused.next());
            longestUnused.remove();
        }
        rowByFormat.put(format, row);
        more.add(row);
        rows = List.copyOf(more);
        return row;
    }

    /** Returns the formats that came. Any thread. */
    List<Row> rows() {
        return rows;
    }

    /** Handles a message. */
    void accept(Message message, Row row, boolean root) {
        counts.in.add(1);
        touched = true;
        context.begin(number);
        Bound bound = row.bound;
        if (bound == null) {
            fail(message, row.misfit, root);
            return;
        }
        begin(emitLimit);
        Allowance paying = message.allowance();
        allowance = paying == null ? Allowance.FREE : paying;
        isTimed = (calls++ & SAMPLE_MASK) == 0;
        long begunNs = isTimed ? System.nanoTime() : 0;
        Message entering;
        Outcome outcome;
        try {
            entering = row.entering(message);
            outcome = bound.handle(entering, this);
        } catch (Throwable e) {
            fail(message, reasonOf(e), root);
            return;
        }
        if (isTimed) {
            isTimed = false;
            counts.sample(Math.max(1, System.nanoTime() - begunNs - behindNs));
        }
        Message result = replacement == null ? entering : replacement;
        replacement = null;
        if (result != entering) {
            result.setAllowance(paying()); // Stays: it may leave when this has returned.
        }
        conclude(outcome, result, root);
    }

    private String reasonOf(Throwable e) {
        try {
            return context.failure(e, counts);
        } catch (Throwable notTheHandlers) {
            isTimed = false;
            counts.drop(Context.NOT_SENT, 1);
            throw notTheHandlers;
        }
    }

    private void begin(int limit) {
        toPorts = 1;
        replacement = null;
        reason = null;
        emitsLeft = limit;
        behindNs = 0;
    }

    private void conclude(@Nullable Outcome outcome, Message result, boolean root) {
        if (outcome == Outcome.FORWARD) {
            forward(result, toPorts, root);
        } else if (outcome == Outcome.DROP) {
            drop(reason == null ? "no reason given" : reason, root);
        } else if (outcome == Outcome.HOLD) {
            counts.held.add(1);
            keep();
            if (root) {
                rootsHeld++;
                context.rootHeld();
            }
        } else if (outcome == Outcome.MERGE) {
            counts.merged.add(1);
            keep();
            if (root) {
                context.rootEnded(null);
            }
        } else {
            drop("no outcome", root);
        }
    }

    /** Keeps what may leave on account of the message in hand, for what the handler makes of it. */
    private void keep() {
        if (allowance != Allowance.FREE) {
            kept = kept.join(allowance, counts.held.get());
        }
    }

    /** Returns what pays for a message that the handler has made: of the one in hand, and of those that it holds or has merged. */
    private Allowance paying() {
        if (kept != Allowance.FREE && allowance != Allowance.FREE) {
            kept = kept.join(allowance, 1 + counts.held.get());
            return kept;
        }
        return allowance;
    }

    private void drop(String why, boolean root) {
        counts.drop(why, 1);
        if (root) {
            context.rootEnded(why);
        }
    }

    private void fail(Message message, String why, boolean root) {
        isTimed = false;
        counts.failed.add(1);
        if (spec.passesFailed()) {
            forward(message, 1, root);
        } else {
            drop(why, root);
        }
    }

    private void forward(Message message, long to, boolean root) {
        if (to == 1) {
            send(ports[0], message, root);
            return;
        }
        long left = ports.length == Long.SIZE ? to : to & (1L << ports.length) - 1;
        if (left == 0) {
            drop(to == 0 ? "no port" : "no such port", root);
            return;
        }
        counts.made.add(Long.bitCount(left) - 1);
        InetSocketAddress destination = message.destination();
        while (left != 0) {
            int port = Long.numberOfTrailingZeros(left);
            left &= left - 1;
            message.setDestination(destination);
            send(ports[port], message, root && left == 0);
        }
    }

    /** Sends a message to all that is behind a port: copies first, the root last. */
    private void send(Edge[] edges, Message message, boolean root) {
        if (edges.length == 1) {
            context.send(edges[0], message, root, counts);
            return;
        }
        counts.made.add(edges.length - 1);
        context.fanOut(edges, message, root, counts);
    }

    /** Returns when the handler wants to be called again; calls it if that is now, or a message came. */
    long expire(long nowNs) {
        if (touched || nowNs >= dueNs) {
            touched = false;
            begin(EMITS_AT_ONCE);
            allowance = Allowance.FREE;
            context.begin(number);
            try {
                dueNs = handler.expire(nowNs, this);
                counts.heldBytes.set(handler.heldBytes());
            } catch (Throwable e) {
                context.failure(e, counts);
                counts.failed.add(1);
                dueNs = nowNs + RETRY_NS;
            }
        }
        return dueNs;
    }

    /** Has the handler give out or drop what it holds; what it still has is dropped. */
    void finish() {
        begin(EMITS_AT_ONCE);
        allowance = Allowance.FREE;
        try {
            handler.finish(this);
            counts.heldBytes.set(handler.heldBytes());
        } catch (Throwable e) {
            context.failure(e, counts);
            counts.failed.add(1);
        }
        long left = counts.held.get();
        if (left > 0) {
            release(left, "FINISHED");
        }
    }

    // ---- for the handler ------------------------------------------------------------------------------------

    @Override
    public long nowNs() {
        return context.nowNs();
    }

    @Override
    public void to(long to) {
        toPorts = to;
    }

    @Override
    public void replace(Message record) {
        replacement = record;
    }

    @Override
    public Outcome drop(String why) {
        reason = why;
        return Outcome.DROP;
    }

    @Override
    public void emit(int port, Message made) {
        if (port < 0 || port >= ports.length) {
            throw new IllegalArgumentException(
                    spec.name() + " emits at port " + port + ": it has 0 to " + (ports.length - 1));
        }
        counts.made.add(1);
        if (--emitsLeft < 0) {
            counts.drop(EmitLimitException.REASON, 1);
            throw new EmitLimitException();
        }
        boolean timed = isTimed;
        long begunNs = timed ? System.nanoTime() : 0;
        InetSocketAddress destination = made.destination();
        Allowance own = made.allowance();
        made.setAllowance(paying()); // Whatever it was made like.
        send(ports[port], made, false);
        made.setDestination(destination);
        made.setAllowance(own);
        if (timed) {
            behindNs += System.nanoTime() - begunNs;
        }
    }

    @Override
    public void release(long messages, @Nullable String droppedFor) {
        if (messages < 0 || messages > counts.held.get()) {
            throw new IllegalArgumentException(
                    spec.name() + " releases " + messages + " messages: it holds " + counts.held.get());
        }
        counts.held.add(-messages);
        if (droppedFor == null) {
            counts.merged.add(messages);
        } else {
            counts.drop(droppedFor, messages);
        }
        long roots = Math.min(messages, rootsHeld);
        rootsHeld -= roots;
        if (roots > 0) {
            context.ended(roots, droppedFor);
        }
    }
}
