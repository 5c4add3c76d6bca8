package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * Datagrams of one class that wait for a turn of their service, in the order in which they came. It takes memory in
 * pieces as it fills, and packets are processed and sent from where they lie.
 *
 * <p>Thread contract: the service's thread.
 */
final class ClassQueue {
    private final BufferPool pool;
    private final int limitPackets;
    private final long limitOctets;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
    /** Read to their end; what lay in them may not have left. */
    private final ArrayDeque<Piece> done = new ArrayDeque<>();

    private int packets;
    private long octets;
    private long waitsSinceNs;
    private long droppedPackets;
    private long droppedOctets;
    private long toldPackets;
    private long toldOctets;

    /** A part of the memory. */
    private static final class Piece {
        final Buffer memory;
        final PacketRing ring;

        Piece(BufferPool pool) {
            memory = pool.take(BufferPool.LARGE_OCTETS, PacketRing.MIN_OCTETS);
            ring = new PacketRing(memory);
        }
    }

    ClassQueue(BufferPool pool, TrafficClass limits) {
        this.pool = pool;
        this.limitPackets = limits.limitPackets();
        this.limitOctets = limits.limitOctets();
    }

    boolean isEmpty() {
        return packets == 0;
    }

    long octets() {
        return octets;
    }

    int packets() {
        return packets;
    }

    /** Notes when it was empty last. */
    void waitsSince(long nowNs) {
        waitsSinceNs = nowNs;
    }

    /** When it was empty last. */
    long waitsSinceNs() {
        return waitsSinceNs;
    }

    /**
     * Copies a packet in; false, and it counts as dropped, when it is full.
     *
     * @param portAndArrival as {@link PacketRing#offer}
     */
    boolean offer(ByteBuffer buffer, int offset, int length, Arrival from, int portAndArrival) {
        if (packets >= limitPackets || octets + length > limitOctets) {
            droppedPackets++;
            droppedOctets += length;
            return false;
        }
        Piece last = pieces.peekLast();
        if (last == null || !last.ring.offer(buffer, offset, length, from, portAndArrival)) {
            last = new Piece(pool);
            pieces.add(last);
            if (!last.ring.offer(buffer, offset, length, from, portAndArrival)) {
                throw new IllegalStateException("a packet of " + length + " octets does not fit an empty ring");
            }
        }
        packets++;
        octets += length;
        return true;
    }

    /** Moves all packets of another queue behind its own, whatever the limits say. */
    void takeOver(ClassQueue other) {
        other.release();
        pieces.addAll(other.pieces);
        other.pieces.clear();
        if (packets == 0) {
            waitsSinceNs = other.waitsSinceNs;
        }
        packets += other.packets;
        octets += other.octets;
        other.packets = 0;
        other.octets = 0;
    }

    /** Moves to the next packet; null when none waits. The ring stands at it. */
    @Nullable
    PacketRing next() {
        Piece piece = pieces.peek();
        while (piece != null && !piece.ring.next()) {
            if (pieces.size() == 1) {
                return null;
            }
            done.add(pieces.remove());
            piece = pieces.peek();
        }
        if (piece == null) {
            return null;
        }
        packets--;
        octets -= piece.ring.length();
        return piece.ring;
    }

    /** Frees the room of packets that {@link #next} gave: they have left. */
    void release() {
        Piece piece = pieces.peek();
        if (piece != null) {
            piece.ring.release();
        }
        while ((piece = done.poll()) != null) {
            pool.give(piece.memory);
        }
    }

    /** Gives its memory back if it is empty, and what was in it has left. */
    void trim() {
        if (packets == 0) {
            release();
            for (Piece piece = pieces.poll(); piece != null; piece = pieces.poll()) {
                pool.give(piece.memory);
            }
        }
    }

    /** Tells the scheduling point what has changed since this was called last. */
    void tell(TurnScheduler scheduler, QosConfig config, int classIndex) {
        if (packets != toldPackets || octets != toldOctets) {
            scheduler.queued(config, classIndex, packets - toldPackets, octets - toldOctets);
            toldPackets = packets;
            toldOctets = octets;
        }
        if (droppedPackets > 0) {
            scheduler.dropped(config, classIndex, DropReason.TURN_QUEUE_FULL, droppedPackets, droppedOctets);
            droppedPackets = 0;
            droppedOctets = 0;
        }
    }
}
