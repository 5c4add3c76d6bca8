package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;

/**
 * Packets that wait for the thread of a UDP service: a bounded ring of those that other threads put in, and those that
 * were held for the service's first instance, which are older than all that stand in the ring behind them.
 *
 * <p>Thread contract: {@link #takeHeld} and {@link #offer} any thread, everything else the service's thread; where that
 * does not return, {@link #close} and the taking of packets are the thread's that gives the instance up.
 */
final class UdpInbox {
    private final UdpIntake intake;
    private final Buffer memory;
    private final PacketRing ring;
    private final Queue<UdpIntake.Held> held = new ConcurrentLinkedQueue<>();
    private final Arrival.Sockets sockets = new Arrival.Sockets();

    UdpInbox(UdpIntake intake, Buffer memory) {
        this.intake = intake;
        this.memory = memory;
        this.ring = new PacketRing(memory);
    }

    PacketRing ring() {
        return ring;
    }

    Buffer memory() {
        return memory;
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
        if (ring.offer(packet.buffer(), packet.offset(), packet.length(), from, sockets.portAndSocket(from))) {
            return null;
        }
        return ring.isClosed() ? DropReason.SHUTDOWN : DropReason.INBOX_FULL;
    }

    /** Takes no more. */
    void close() {
        synchronized (held) {
            ring.close();
        }
    }

    boolean isClosed() {
        return ring.isClosed();
    }

    boolean isEmpty() {
        return held.isEmpty() && ring.isEmpty();
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

    /** Goes to the next packet of the ring; false when there is none, or when {@link #nextHeld} has older ones. */
    boolean next(Arrival arrival) {
        // In this order: what was held is put in before what stands behind it in the ring.
        if (ring.isEmpty() || hasHeld() || !ring.next()) {
            return false;
        }
        arrival.set(ring, sockets);
        return true;
    }

    /** Returns the memory in which the ring's packets lie, each until {@link #release}. */
    ByteBuffer bytes() {
        return memory.nio();
    }

    /** Returns where the packet that {@link #next} found begins. */
    int offset() {
        return ring.offset();
    }

    int length() {
        return ring.length();
    }

    /** Gives the room back of all that {@link #next} has found. */
    void release() {
        ring.release();
    }
}
