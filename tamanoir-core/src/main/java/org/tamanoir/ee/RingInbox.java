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

/**
 * An inbox of one thread: a bounded ring of packets that other threads put in, and those that were held for the service's
 * first instance, which are older than all that stand in the ring behind them.
 *
 * <p>Thread contract: as {@link UdpInbox}.
 */
final class RingInbox implements UdpInbox {
    private final UdpIntake intake;
    private final Buffer memory;
    private final PacketRing ring;
    private final Queue<UdpIntake.Held> held = new ConcurrentLinkedQueue<>();
    private final Arrival.Sockets sockets = new Arrival.Sockets();

    RingInbox(UdpIntake intake, Buffer memory) {
        this.intake = intake;
        this.memory = memory;
        this.ring = new PacketRing(memory);
    }

    @Override
    public long mark() {
        return ring.mark();
    }

    @Override
    public boolean isPast(long mark) {
        return ring.isPast(mark);
    }

    @Override
    public void free(BufferPool pool) {
        pool.give(memory);
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
        if (ring.offer(packet.buffer(), packet.offset(), packet.length(), from, sockets.portAndSocket(from))) {
            return null;
        }
        return ring.isClosed() ? DropReason.SHUTDOWN : DropReason.INBOX_FULL;
    }

    @Override
    public void close() {
        synchronized (held) {
            ring.close();
        }
    }

    @Override
    public boolean isClosed() {
        return ring.isClosed();
    }

    @Override
    public boolean isEmpty() {
        return held.isEmpty() && ring.isEmpty();
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
        if (ring.isEmpty() || hasHeld() || !ring.next()) {
            return false;
        }
        arrival.set(ring, sockets);
        return true;
    }

    @Override
    public ByteBuffer bytes() {
        return memory.nio();
    }

    @Override
    public int offset() {
        return ring.offset();
    }

    @Override
    public int length() {
        return ring.length();
    }

    @Override
    public void release() {
        ring.release();
    }
}
