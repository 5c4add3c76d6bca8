package org.tamanoir.ee;

import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;

/**
 * Control packets that wait for a UDP service beside its inbox, which may be full of others: those of class of service
 * {@value #CLASS_OF_SERVICE}, {@value #PACKETS} at most. They go first; while others wait, no more than their {@link ControlShare}.
 *
 * <p>Thread contract: {@link #offer} any thread, which a lock orders; all else the inbox's consumer.
 */
final class ControlRing {
    static final int CLASS_OF_SERVICE = 255;
    static final int PACKETS = 256;
    static final int BYTES = PacketRing.MIN_BYTES;

    private final PacketRing ring;
    /** Room for as many packets is left by what was put in and not yet released; guarded by this. */
    private int room = PACKETS;

    private int taken;
    private final ControlShare share = new ControlShare();

    /** @param memory of {@link #BYTES}; it stays the caller's */
    ControlRing(Buffer memory) {
        ring = new PacketRing(memory);
    }

    static boolean isControl(Packet packet) {
        return packet.classOfService() == CLASS_OF_SERVICE;
    }

    PacketRing ring() {
        return ring;
    }

    /** Copies a packet in; false when there is no room, or no more is taken. */
    synchronized boolean offer(Packet packet, Arrival from, int portAndSocket) {
        if (room == 0 || !ring.offer(packet.buffer(), packet.offset(), packet.length(), from, portAndSocket)) {
            return false;
        }
        room--;
        return true;
    }

    /** Returns whether a control packet is next, and moves to it. */
    boolean next(boolean othersWait) {
        if (ring.isEmpty() || (othersWait && !share.admits()) || !ring.next()) {
            return false;
        }
        taken++;
        share.control();
        return true;
    }

    /** Counts a packet of the inbox that was taken. */
    void other() {
        share.other();
    }

    /** Gives the room back of all that {@link #next} has moved to. */
    void release() {
        if (taken > 0) {
            ring.release();
            synchronized (this) {
                room += taken;
            }
            taken = 0;
        }
    }
}
