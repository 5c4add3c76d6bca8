package org.tamanoir.offload;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;

/**
 * One policy as a service sees it. Packets name a service by several keys, with its version and without one: the policy
 * is for all of them together, so that none overtakes another that came by another key.
 *
 * <p>Where packets of a level's come to the service again, by an end or a change, the caller rests until those that the
 * level has handled are out: the service's thread reads on behind them.
 *
 * <p>Thread contract: any thread; {@link #catchUp} the service's.
 */
public final class KeyedOffload implements Offload {
    private static final Logger LOG = LoggerFactory.getLogger(KeyedOffload.class);

    private final NodeOs levels;
    private final Flow flow;
    private List<Long> keys = List.of();
    /** Why it does not work for keys that it was to follow; empty if it does. */
    private String refused = "";

    private @Nullable Offload placed;
    private Policy policy;
    private volatile boolean closed;
    private volatile Runnable beforeClosing = () -> {};
    private volatile CatchUp stage = CatchUp.DONE;
    /** Whether the sockets have been read since {@link CatchUp#UP}; whether all is out since {@link CatchUp#SENT}. */
    private BooleanSupplier isOver = () -> false;

    /** How far packets from before the policy are. */
    private enum CatchUp {
        /** Some may be in a level's hands. */
        BEGUN,
        /** They were some when the service's thread began to wait for all levels. */
        PASSING,
        /** All are in the node's sockets, or behind. */
        UP,
        /** All have been read from them. */
        READ,
        /** All have left the service's queues, or ended; the thread flushes what has left them before it looks again. */
        SENT,
        /** All are out of the host's queues. */
        DONE
    }

    public KeyedOffload(NodeOs levels, Flow flow, Policy policy) {
        this.levels = levels;
        this.flow = flow;
        this.policy = policy;
    }

    /** Puts it to work for all keys, or for none. Once. */
    public synchronized void begin(List<Long> keys, Set<Level> allowed, boolean isOrdered) throws LevelException {
        placed = levels.offload(keys, flow, policy, allowed, isOrdered);
        this.keys = List.copyOf(keys);
        fallBehind();
    }

    private void fallBehind() {
        if (isOrdered()) {
            stage = CatchUp.BEGUN;
        }
    }

    /** Returns whether its packets keep order: those of connections that begin have none. */
    boolean isOrdered() {
        return flow.protocol() == Flow.Protocol.UDP;
    }

    /**
     * Works for these keys from now on and for no other; a level may refuse some that are new.
     *
     * @return whether it works for all of them, so that it need not be asked again
     */
    synchronized boolean follow(List<Long> now, String label) {
        Offload at = placed;
        if (closed || at == null) {
            return true;
        }
        List<Long> added = new ArrayList<>(now);
        added.removeAll(keys);
        String why = follow(at, keys.stream().filter(now::contains).toList());
        for (Long key : added) {
            List<Long> more = new ArrayList<>(keys);
            more.add(key);
            String refusal = follow(at, more);
            why = refusal.isEmpty() ? why : refusal;
        }
        if (!why.equals(refused)) {
            refused = why;
            if (!why.isEmpty()) {
                LOG.info("service {}: UDP packets of new keys stay in the JVM: {}", label, why);
            }
        }
        return why.isEmpty();
    }

    /** Works for these keys from now on; returns why not, or nothing. */
    private String follow(Offload at, List<Long> now) {
        if (now.equals(keys)) {
            return "";
        }
        try {
            levels.follow(at, now);
            boolean hasNew = !keys.containsAll(now);
            keys = List.copyOf(now);
            if (hasNew) {
                fallBehind();
            }
            return "";
        } catch (LevelException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Returns whether packets go up until the node has caught up with those from before. */
    boolean isBehind() {
        return stage != CatchUp.DONE && !closed;
    }

    /**
     * Returns whether packets may be in a level's hands that it has found no policy for, or another: the caller waits for
     * them next. A change meanwhile makes others.
     */
    synchronized boolean beginPassing() {
        if (stage == CatchUp.BEGUN && !closed) {
            stage = CatchUp.PASSING;
        }
        return stage == CatchUp.PASSING;
    }

    /**
     * Has the level begin, if nothing of before is left: when no packet is in its hands since {@link #beginPassing}, then when none is in a socket, and
     * in a later call, when what was in the sockets is in the service's hands, none in its queues, and at last, when what it
     * has sent is out of the host's.
     *
     * @param holdsBack whether packets wait in the service's queues
     * @param outflow makes one of what the service's thread sends
     */
    synchronized void catchUp(boolean holdsBack, Supplier<Outflow> outflow) {
        Offload at = placed;
        if (!isBehind() || at == null) {
            return;
        }
        if (stage == CatchUp.PASSING) {
            stage = CatchUp.UP;
            isOver = levels.awaitRead();
        }
        if (stage == CatchUp.UP && isOver.getAsBoolean()) {
            stage = CatchUp.READ;
        } else if (stage == CatchUp.READ && !holdsBack) {
            isOver = outflow.get().awaitOut();
            stage = CatchUp.SENT;
        } else if (stage == CatchUp.SENT && isOver.getAsBoolean()) {
            levels.caughtUp(at);
            stage = CatchUp.DONE;
        }
    }

    @Override
    public synchronized long serviceKey() {
        return keys.isEmpty() ? 0 : keys.get(0);
    }

    @Override
    public Flow flow() {
        return flow;
    }

    @Override
    public synchronized Level level() {
        return placed == null ? Level.JVM : placed.level();
    }

    @Override
    public synchronized Policy policy() {
        return policy;
    }

    @Override
    public void change(Policy now) throws LevelException {
        boolean isOtherShare;
        synchronized (this) {
            Offload at = placed;
            if (closed || at == null) {
                throw new LevelException("the offload is closed: ask for another one");
            }
            isOtherShare = !now.share().equals(policy.share());
            at.change(now);
            policy = now;
            if (isOtherShare) {
                fallBehind();
            }
        }
        if (isOtherShare && isOrdered()) {
            Outflow.rest(levels);
        }
    }

    /** Does something else from now on, on one of these levels. */
    void move(Policy now, Set<Level> allowed, boolean isOrdered) throws LevelException {
        synchronized (this) {
            Offload at = placed;
            if (closed || at == null) {
                throw new LevelException("the offload is closed: ask for another one");
            }
            levels.move(at, now, allowed, isOrdered);
            policy = now;
            fallBehind();
        }
        Outflow.rest(levels);
    }

    @Override
    public synchronized LevelCounters counters() {
        return placed == null ? LevelCounters.ZERO : placed.counters();
    }

    /** Returns the opposite of {@link #isClosed}, but does not look whether the level is still there. */
    boolean isAtWork() {
        return !closed;
    }

    /** Returns true also when the level has gone. */
    @Override
    public synchronized boolean isClosed() {
        if (!closed && placed != null) {
            closed = placed.isClosed();
        }
        return closed;
    }

    /** Has this done before it is closed: packets of its flow go to other policies by then. */
    void beforeClosing(Runnable step) {
        beforeClosing = step;
    }

    /**
     * Lets packets go up again until the node has caught up, since those of another policy may come to this one; the first n
     * of a share are counted anew. A policy of which all or every k-th packet goes up goes on.
     */
    synchronized void beginAnew() {
        Offload at = placed;
        boolean waits = policy.share().equals(Share.NONE) || policy.share().kind() == Share.Kind.FIRST;
        if (at == null || isClosed() || !isOrdered() || !waits) {
            return;
        }
        try {
            levels.move(at, policy, Set.of(at.level()), true);
            fallBehind();
        } catch (LevelException e) {
            LOG.debug("{} does not wait for packets of another policy: {}", at, e.getMessage());
        }
    }

    @Override
    public void close() {
        if (!closed) {
            beforeClosing.run();
        }
        if (end() && isOrdered()) {
            Outflow.rest(levels);
        }
    }

    /** Ends it, as {@link #close}, but does not rest; returns whether it was at work. */
    synchronized boolean end() {
        boolean wasAtWork = placed != null && !isClosed();
        closed = true;
        if (placed != null) {
            placed.close();
        }
        return wasAtWork;
    }
}
