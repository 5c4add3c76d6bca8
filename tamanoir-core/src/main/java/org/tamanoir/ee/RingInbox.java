package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.NoMemoryException;

/**
 * An inbox of one thread: a bounded ring of packets that other threads put in, a small one of control packets, which go
 * first, and those that were held for the service's first instance, which are older than all that stand in the rings
 * behind them.
 *
 * <p>Thread contract: as {@link UdpInbox}.
 */
final class RingInbox implements UdpInbox {
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
    RingInbox(UdpIntake intake, BufferPool pool, int bytes) {
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

    @Override
    public BooleanSupplier mark() {
        long others = ring.mark();
        long urgent = control.ring().mark();
        return () -> ring.isPast(others) && control.ring().isPast(urgent);
    }

    @Override
    public void free(BufferPool pool, boolean wasGivenUp) {
        pool.give(memory);
        pool.give(controlMemory);
    }

    @Override
    public boolean takeHeld(List<UdpIntake.Held> packets) {
        synchronized (held) {
            if (ring.isClosed()) {
                return false;
            }
            held.addAll(packets);
            return true;
        }
    }

    @Override
    public @Nullable DropReason offer(Packet packet, Arrival from) {
        int portAndSocket = sockets.portAndSocket(from);
        boolean taken = ControlRing.isControl(packet)
                ? control.offer(packet, from, portAndSocket)
                : ring.offer(packet.buffer(), packet.offset(), packet.length(), from, portAndSocket);
        if (taken) {
            return null;
        }
        return ring.isClosed() ? DropReason.SHUTDOWN : DropReason.INBOX_FULL;
    }

    @Override
    public void close() {
        synchronized (held) {
            ring.close();
            control.ring().close();
        }
    }

    @Override
    public boolean isClosed() {
        return ring.isClosed();
    }

    @Override
    public boolean isEmpty() {
        return held.isEmpty() && ring.isEmpty() && control.ring().isEmpty();
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public boolean hasHeld() {
        return !held.isEmpty();
    }

    @Override
    public byte @Nullable [] nextHeld(Arrival arrival) {
        UdpIntake.Held oldest = held.poll();
        if (oldest == null) {
            return null;
        }
        arrival.set(oldest.from());
        intake.handled(oldest);
        return oldest.bytes();
    }

    @Override
    public boolean next(Arrival arrival) {
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

    @Override
    public ByteBuffer bytes() {
        return foundMemory.nio();
    }

    @Override
    public int offset() {
        return found.offset();
    }

    @Override
    public int length() {
        return found.length();
    }

    @Override
    public void release() {
        ring.release();
        control.release();
    }
}
