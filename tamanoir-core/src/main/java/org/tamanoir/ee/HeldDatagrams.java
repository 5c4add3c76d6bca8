package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Verdict;

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

    private final UdpService service;
    private final PacketStore store;
    private final List<Held> held = new ArrayList<>();
    private final List<Held> leaving = new ArrayList<>();
    private int bytes;

    /** A datagram that is held; the future wakes the thread when its time is up. */
    private static final class Held {
        final ClassQueues.Waiting packet;
        final Suspended suspended;
        final Future<?> alarm;
        final long untilNs;

        Held(ClassQueues.Waiting packet, Suspended suspended, Future<?> alarm, long untilNs) {
            this.packet = packet;
            this.suspended = suspended;
            this.alarm = alarm;
            this.untilNs = untilNs;
        }
    }

    HeldDatagrams(UdpService service) {
        this.service = service;
        this.store = new PacketStore(service.context.pool(), this);
    }

    /** Returns how many are held. */
    int count() {
        return held.size();
    }

    /** Copies the packet in hand; drops it where there is no room. */
    void keep(Packet packet, Suspended suspended) {
        packet.seal();
        int length = packet.length();
        if (held.size() == MAX_PACKETS || bytes + length > MAX_BYTES || !store.reserve(length, MAX_CHUNKS)) {
            suspended.end();
            service.path.drop(DropReason.HOLD_FULL, packet);
            return;
        }
        ClassQueues.Waiting copy = new ClassQueues.Waiting(service.inHand.arrival);
        copy.length = length;
        store.put(copy, packet.buffer(), packet.offset(), length);
        service.inHand.setAside();
        long untilNs = now() + suspended.atMost.toNanos();
        Future<?> alarm = service.loop.schedule(suspended.atMost, () -> {});
        held.add(new Held(copy, suspended, alarm, untilNs));
        bytes += length;
    }

    /** Goes on with those of which the service has said what becomes of them, and drops what is late; whether there were any. */
    boolean serve() {
        if (held.isEmpty()) {
            return false;
        }
        long nowNs = now();
        for (int i = 0; i < held.size(); i++) {
            Held each = held.get(i);
            if (each.suspended.verdict() != null || nowNs - each.untilNs >= 0) {
                held.remove(i--);
                goOn(each);
            }
        }
        if (leaving.isEmpty()) {
            return false;
        }
        service.nextHops.flush();
        release();
        return true;
    }

    private void goOn(Held each) {
        Verdict verdict = take(each);
        try {
            if (verdict == null) {
                drop(each, DropReason.HOLD_EXPIRED);
            } else {
                ClassQueues.Waiting packet = each.packet;
                service.path.handleResumed(packet.memory(), packet.offset, packet.length, verdict);
            }
        } catch (RuntimeException | VirtualMachineError e) {
            service.unfit(e);
        }
    }

    /** Takes one that is held no more into hand; returns what its service has said. */
    private @Nullable Verdict take(Held each) {
        leaving.add(each);
        each.alarm.cancel(false);
        bytes -= each.packet.length;
        service.inHand.arrival.set(each.packet.from);
        service.inHand.take();
        return each.suspended.end();
    }

    private void drop(Held each, DropReason reason) {
        service.path.drops().drop(reason, each.packet.memory(), each.packet.offset, each.packet.length);
    }

    /** Drops all. */
    void drop(DropReason reason) {
        while (!held.isEmpty()) {
            Held each = held.remove(held.size() - 1);
            take(each);
            drop(each, reason);
        }
    }

    /** Gives the memory back of those that have left. */
    void release() {
        leaving.forEach(each -> store.release(each.packet));
        leaving.clear();
    }

    private long now() {
        return service.context.platform().nanoTime();
    }
}
