package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;

/**
 * Datagrams that a service holds: copies in a store, each until the service says what becomes of it, or its time is up.
 * Others go on meanwhile.
 *
 * <p>Thread contract: the service's thread; {@link #drop} also of the thread that gives the service up.
 */
final class HeldDatagrams {
    static final int MAX_PACKETS = 64;
    static final int MAX_BYTES = 4 << 20;
    /** As {@link #MAX_BYTES} take, and as much again for the gaps of those that went first. */
    private static final int MAX_CHUNKS = 2 * MAX_BYTES / (64 << 10);

    private final Platform platform;
    private final IoLoop loop;
    private final Owner owner;
    private final PacketStore store;
    private final List<Held> held = new ArrayList<>();
    private final List<Held> leaving = new ArrayList<>();
    private int bytes;

    /** Whose packets these are. */
    interface Owner {
        /** Goes on with a packet that is held no more; without a verdict its time is up. */
        void resumed(ClassQueues.Waiting packet, Suspended held, @Nullable Verdict verdict);

        /** Drops a packet that is held no more. */
        void drop(ClassQueues.Waiting packet, DropReason reason);
    }

    /** A datagram that is held; the future wakes the thread when its time is up. */
    private static final class Held {
        final ClassQueues.Waiting packet;
        final Suspended suspended;
        final Future<?> alarm;

        Held(ClassQueues.Waiting packet, Suspended suspended, Future<?> alarm) {
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
        return held.size();
    }

    /** Copies a packet that came from there; false where there is no room. */
    boolean keep(Packet packet, Arrival from, Suspended suspended) {
        packet.seal();
        int length = packet.length();
        if (held.size() == MAX_PACKETS || bytes + length > MAX_BYTES || !store.reserve(length, MAX_CHUNKS)) {
            return false;
        }
        ClassQueues.Waiting copy = new ClassQueues.Waiting(from);
        copy.length = length;
        store.put(copy, packet.buffer(), packet.offset(), length);
        long leftNs = Math.max(0, suspended.untilNs - platform.nanoTime());
        Future<?> alarm = loop.schedule(Duration.ofNanos(leftNs), () -> {});
        held.add(new Held(copy, suspended, alarm));
        bytes += length;
        return true;
    }

    /**
     * Goes on with those of which the service has said what becomes of them, or whose time is up.
     *
     * @return whether there were any: {@link #release} when they have left
     */
    boolean serve() {
        if (held.isEmpty()) {
            return false;
        }
        long nowNs = platform.nanoTime();
        for (int i = 0; i < held.size(); i++) {
            Held each = held.get(i);
            if (each.suspended.verdict() != null || nowNs - each.suspended.untilNs >= 0) {
                held.remove(i--);
                owner.resumed(each.packet, each.suspended, end(each));
            }
        }
        return !leaving.isEmpty();
    }

    /** Ends the hold of a packet that is not in the list any more; returns what its service has said. */
    private @Nullable Verdict end(Held each) {
        leaving.add(each);
        each.alarm.cancel(false);
        bytes -= each.packet.length;
        return each.suspended.end();
    }

    /**
     * Drops all, but for those of which the service has said what becomes of them.
     *
     * @param isOwnThread whether such packets can go on: to {@link #release} them is for later
     */
    void drop(DropReason reason, boolean isOwnThread) {
        while (!held.isEmpty()) {
            Held each = held.remove(0);
            Verdict said = end(each);
            if (said != null && isOwnThread) {
                owner.resumed(each.packet, each.suspended, said);
            } else {
                owner.drop(each.packet, reason);
            }
        }
    }

    /** Gives the memory back of those that have left. */
    void release() {
        leaving.forEach(each -> store.release(each.packet));
        leaving.clear();
    }
}
