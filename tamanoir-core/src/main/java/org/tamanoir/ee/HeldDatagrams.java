package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;

/**
 * Datagrams that a service holds: copies in a store, each until the service says what becomes of it, or its time is up.
 * Others go on meanwhile. They go on in the order in which they are resumed, where that happens one after the other.
 *
 * <p>Thread contract: the service's thread; {@link #drop} also of the thread that gives the service up.
 */
final class HeldDatagrams {
    static final int MAX_PACKETS = 64;
    static final int MAX_BYTES = 4 << 20;
    private static final Comparator<Held> LAST_RESUMED_FIRST =
            Comparator.<Held>comparingLong(each -> each.suspended.number()).reversed();

    private final Platform platform;
    private final IoLoop loop;
    private final Owner owner;
    private final PacketStore store;
    private final List<Held> held = new ArrayList<>();
    /** Datagrams that were resumed and go on next, the last one first. */
    private final List<Held> due = new ArrayList<>();

    private final List<Held> leaving = new ArrayList<>();
    private int bytes;
    /** Whether nothing is held beyond {@link #endNs}, in ns, whatever time it was given. */
    private boolean isEnding;

    private long endNs;

    /** Whose packets these are. */
    interface Owner {
        /** Goes on with a packet that is held no more; without a verdict its time is up. */
        void resumed(ClassQueues.Waiting packet, Suspended held, @Nullable Verdict verdict);

        /** Drops a packet that is held no more. */
        void drop(ClassQueues.Waiting packet, DropReason reason);
    }

    /** A datagram that is held; the future wakes the thread when its time is up, null when it was resumed before. */
    private static final class Held {
        final ClassQueues.Waiting packet;
        final Suspended suspended;
        final @Nullable Future<?> alarm;

        Held(ClassQueues.Waiting packet, Suspended suspended, @Nullable Future<?> alarm) {
            this.packet = packet;
            this.suspended = suspended;
            this.alarm = alarm;
        }
    }

    HeldDatagrams(BufferPool pool, Platform platform, IoLoop loop, Owner owner) {
        this.platform = platform;
        this.loop = loop;
        this.owner = owner;
        this.store = new PacketStore(pool, this);
    }

    /** Returns how many are held. */
    int count() {
        return held.size() + due.size();
    }

    /**
     * Returns whether a datagram that is held was resumed and has not gone on. Looks at no more than {@link #MAX_PACKETS}
     * and one: beyond these only datagrams that were resumed are kept.
     */
    boolean isAnyResumed() {
        for (int i = held.size() - 1; i >= 0; i--) {
            if (held.get(i).suspended.verdict() != null) {
                return true;
            }
        }
        return false;
    }

    /**
     * Makes room for a copy of a packet; false when no memory is left. It stays until {@link #keep} takes it, or {@link
     * #release} gives it back. Each chunk but one has a packet, so the bounds of what is held are theirs, too.
     */
    boolean reserve(int length) {
        try {
            return store.reserve(length, Integer.MAX_VALUE);
        } catch (NoMemoryException e) {
            return false;
        }
    }

    /**
     * Copies a packet that came from there; returns why not where there is no room, and nothing more can be said of it. A
     * packet that was resumed already is kept beyond the bounds of what is held, behind the others that go on: it leaves before the
     * next batch is read.
     */
    @Nullable
    DropReason keep(Packet packet, Arrival from, Suspended suspended) {
        packet.seal();
        int length = packet.length();
        boolean isFull = held.size() >= MAX_PACKETS || bytes + length > MAX_BYTES;
        if (isFull && suspended.endUnlessSaid() == null) {
            return DropReason.HOLD_FULL;
        }
        if (suspended.isOver() || !reserve(length)) {
            suspended.endUnlessSaid();
            return DropReason.NO_MEMORY;
        }
        ClassQueues.Waiting copy = new ClassQueues.Waiting(from);
        copy.length = length;
        store.put(copy, packet.buffer(), packet.offset(), length);
        held.add(new Held(copy, suspended, suspended.verdict() == null ? alarm(suspended) : null));
        bytes += length;
        return null;
    }

    /** Has nothing be held for longer than this from now on: the instance was replaced, or taken away. */
    void endIn(Duration patience) {
        isEnding = true;
        endNs = platform.nanoTime() + patience.toNanos();
        loop.schedule(patience, () -> {});
    }

    /** Returns whether {@link #endIn} was called. */
    boolean isEnding() {
        return isEnding;
    }

    /** Wakes the thread when a datagram's time is up. */
    private Future<?> alarm(Suspended suspended) {
        long leftNs = Math.max(0, suspended.untilNs - platform.nanoTime());
        return loop.schedule(Duration.ofNanos(leftNs), () -> {});
    }

    /**
     * Goes on with those of which the service has said what becomes of them, or whose time is up.
     *
     * @param resumptions the number of the last that was resumed, read before this: any that is resumed meanwhile is left
     *     for the next time, since one that was looked at before it may have been resumed before it, too
     * @return whether there were any, or are meanwhile: {@link #release} when they have left
     */
    boolean serve(long resumptions) {
        if (held.isEmpty()) {
            return store.hasUnused();
        }
        goOn(resumptions);
        boolean isMore = false;
        long nowNs = platform.nanoTime();
        for (int i = 0; i < held.size(); i++) {
            Held each = held.get(i);
            boolean isLate = nowNs - each.suspended.untilNs >= 0 || isEnding && nowNs - endNs >= 0;
            if (isLate && each.suspended.endUnlessSaid() == null) {
                held.remove(i--);
                owner.resumed(each.packet, each.suspended, end(each));
            } else {
                isMore |= each.suspended.verdict() != null;
            }
        }
        return isMore || !leaving.isEmpty();
    }

    /** Goes on with those that were resumed up to this number, in their order. */
    private void goOn(long resumptions) {
        held.removeIf(each -> isResumed(each, resumptions) && due.add(each));
        due.sort(LAST_RESUMED_FIRST);
        while (!due.isEmpty()) {
            Held next = due.remove(due.size() - 1);
            owner.resumed(next.packet, next.suspended, end(next));
        }
    }

    private static boolean isResumed(Held each, long resumptions) {
        long number = each.suspended.number();
        return number > 0 && number <= resumptions;
    }

    /** Ends the hold of a packet that is not in the list any more; returns what its service has said. */
    private @Nullable Verdict end(Held each) {
        leaving.add(each);
        if (each.alarm != null) {
            each.alarm.cancel(false);
        }
        bytes -= each.packet.length;
        return each.suspended.end();
    }

    /**
     * Drops all, but for those of which the service has said what becomes of them.
     *
     * @param isOwnThread whether such packets can go on: to {@link #release} them is for later
     */
    void drop(DropReason reason, boolean isOwnThread) {
        held.forEach(each -> each.suspended.endUnlessSaid()); // From now on nothing more is said.
        if (isOwnThread) {
            goOn(Long.MAX_VALUE);
        }
        held.addAll(due);
        due.clear();
        while (!held.isEmpty()) {
            Held each = held.remove(0);
            end(each);
            owner.drop(each.packet, reason);
        }
    }

    /** Gives the memory back of those that have left, and what was reserved. */
    void release() {
        leaving.forEach(each -> store.release(each.packet));
        leaving.clear();
        store.trim();
    }
}
