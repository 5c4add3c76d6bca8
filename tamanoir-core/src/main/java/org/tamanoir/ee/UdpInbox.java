package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.NoMemoryException;

/**
 * Packets that wait for the thread of a UDP service: a bounded ring of those that other threads put in, a small one of
 * control packets, which go first, and those that were held for the service's first instance, which are older than all
 * that stand in the rings behind them.
 *
 * <p>Thread contract: {@link #takeHeld} and {@link #offer} any thread, everything else the service's thread; where that
 * does not return, {@link #close} and the taking of packets are the thread's that gives the instance up.
 */
final class UdpInbox {
    private final UdpIntake intake;
    private final Buffer memory;
    private final PacketRing ring;
    private final Buffer controlMemory;
    private final ControlRing control;
    /** The one of the two rings that has the packet that {@link #next} found. */
    private PacketRing found;

    private Buffer foundMemory;
    private final Queue<UdpIntake.Held> held = new ConcurrentLinkedQueue<>();
    private final Arrival.Sockets sockets = new Arrival.Sockets();

    /**
     * Makes an empty one in memory of the pool.
     *
     * @param bytes a power of two from {@link PacketRing#MIN_BYTES} on
     * @throws NoMemoryException if there is not enough; none is kept then
     */
    UdpInbox(UdpIntake intake, BufferPool pool, int bytes) {
        this.intake = intake;
        this.memory = pool.take(bytes, bytes);
        try {
            this.controlMemory = pool.take(ControlRing.BYTES, ControlRing.BYTES);
        } catch (NoMemoryException e) {
            pool.give(memory);
            throw e;
        }
        this.ring = new PacketRing(memory);
        this.control = new ControlRing(controlMemory);
        this.found = ring;
        this.foundMemory = memory;
    }

    /** Gives the memory back; the last that is done with it. */
    void free(BufferPool pool) {
        pool.give(memory);
        pool.give(controlMemory);
    }

    /** Returns how far the ring is filled now, for {@link #isPast}. */
    long mark() {
        return ring.mark();
    }

    /** Returns whether every packet that was in when the mark was made has been taken out. */
    boolean isPast(long mark) {
        return ring.isPast(mark) && control.ring().isEmpty();
    }

    /** Takes packets that were held, in their order; false when it takes no more. */
    boolean takeHeld(List<UdpIntake.Held> packets) {
        synchronized (held) {
            if (ring.isClosed()) {
                return false;
            }
            held.addAll(packets);
            return true;
        }
    }

    /**
     * Puts a packet into the ring.
     *
     * @return null, or why it was not taken
     */
    @Nullable
    DropReason offer(Packet packet, Arrival from) {
        int portAndSocket = sockets.portAndSocket(from);
        boolean taken = ControlRing.isControl(packet)
                ? control.offer(packet, from, portAndSocket)
                : ring.offer(packet.buffer(), packet.offset(), packet.length(), from, portAndSocket);
        if (taken) {
            return null;
        }
        return ring.isClosed() ? DropReason.SHUTDOWN : DropReason.INBOX_FULL;
    }

    /** Takes no more. */
    void close() {
        synchronized (held) {
            ring.close();
            control.ring().close();
        }
    }

    boolean isClosed() {
        return ring.isClosed();
    }

    boolean isEmpty() {
        return held.isEmpty() && ring.isEmpty() && control.ring().isEmpty();
    }

    boolean hasHeld() {
        return !held.isEmpty();
    }

    /** Takes out the oldest packet that was held; null when there is none. */
    byte @Nullable [] nextHeld(Arrival arrival) {
        UdpIntake.Held oldest = held.poll();
        if (oldest == null) {
            return null;
        }
        arrival.set(oldest.from());
        intake.handled(oldest);
        return oldest.bytes();
    }

    /** Goes to the next packet of the rings; false when there is none, or when {@link #nextHeld} has older ones. */
    boolean next(Arrival arrival) {
        // In this order: what was held is put in before what stands behind it in the ring.
        boolean waiting = !ring.isEmpty();
        boolean urgent = !control.ring().isEmpty();
        if (!waiting && !urgent || hasHeld()) {
            return false;
        }
        if (urgent && control.next(waiting)) {
            found = control.ring();
            foundMemory = controlMemory;
        } else if (ring.next()) {
            control.other();
            found = ring;
            foundMemory = memory;
        } else {
            return false;
        }
        arrival.set(found, sockets);
        return true;
    }

    /** Returns the memory in which the packet lies that {@link #next} found, until {@link #release}. */
    ByteBuffer bytes() {
        return foundMemory.nio();
    }

    /** Returns where the packet that {@link #next} found begins. */
    int offset() {
        return found.offset();
    }

    int length() {
        return found.length();
    }

    /** Gives the room back of all that {@link #next} has found. */
    void release() {
        ring.release();
        control.release();
    }
}
