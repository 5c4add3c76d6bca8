package org.tamanoir.services;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;

/**
 * Takes a new payload of unknown length for a packet, and writes it where the packet will lie. What does not fit one
 * packet leaves first, in packets like it, so that the order of bytes is kept; the packet itself carries the end.
 *
 * <pre>
 *   begin · (write into room())* · finish
 * </pre>
 *
 * <p>When a packet's room is full, up to {@value #AHEAD_BYTES} bytes more are taken before a packet is sent for it:
 * a payload that fits exactly makes no further packet.
 *
 * <p>Thread contract: one thread.
 */
final class PayloadWriter {
    /** Reason for a drop when {@link #begin} refuses. */
    static final String NO_ROOM = "header leaves no room for a payload";

    /** The least room that is worked with, in bytes: what was taken ahead must fit. */
    static final int AHEAD_BYTES = 512;

    private final int maxPacketBytes;
    private final NextService next;
    private final Consumer<Packet> emit;
    private final ByteBuffer ahead = ByteBuffer.allocate(AHEAD_BYTES);

    private Packet packet = new Packet();
    private ByteBuffer room = ByteBuffer.allocate(0);
    private int roomStart;
    private boolean trial;
    private int rolls;
    private long bytes;

    /**
     * @param datagrams whether packets must fit datagrams
     * @param next what packets shall name when they leave
     * @param emit sends a packet
     */
    PayloadWriter(boolean datagrams, NextService next, Consumer<Packet> emit) {
        this.maxPacketBytes = datagrams ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        this.next = next;
        this.emit = emit;
    }

    /**
     * Returns the largest payload that one packet with this one's header can carry away, in bytes; may be negative.
     */
    int capacity(Packet packet) {
        return maxPacketBytes - packet.headerLength() - next.extraBytes(packet);
    }

    /**
     * Starts a new payload; the present one can be read until {@link #finish}.
     *
     * @param expectedBytes room to start with; more than fits one packet means one packet's
     * @return false when the packet's header leaves less than {@value #AHEAD_BYTES} bytes
     */
    boolean begin(Packet packet, int expectedBytes) {
        return begin(packet, expectedBytes, false);
    }

    /** Does what {@link #begin} does, but what does not fit one packet is thrown away: see {@link #isWhole}. */
    boolean tryOut(Packet packet) {
        return begin(packet, Integer.MAX_VALUE, true);
    }

    private boolean begin(Packet packet, int expectedBytes, boolean trial) {
        int capacity = capacity(packet);
        if (capacity < AHEAD_BYTES) {
            return false;
        }
        this.packet = packet;
        this.trial = trial;
        rolls = 0;
        bytes = 0;
        ahead.clear();
        open(Math.max(AHEAD_BYTES, Math.min(capacity, expectedBytes)));
        return true;
    }

    private void open(int roomBytes) {
        room = packet.newPayload(roomBytes);
        roomStart = room.position();
    }

    /** Returns where the next bytes go: has room, at least one byte, until {@code finish}. */
    ByteBuffer room() {
        if (room.hasRemaining()) {
            return room;
        }
        if (ahead.position() > 0) {
            roll();
            return room;
        }
        return ahead;
    }

    /** Sends what the room holds in a packet of its own, and goes on in a new one. */
    void roll() {
        rolls++;
        bytes += room.position() - roomStart;
        if (trial) {
            room.position(roomStart);
        } else {
            Packet extra =
                    PacketBuilder.like(packet).build(room.limit(room.position()).position(roomStart));
            next.name(extra);
            emit.accept(extra);
            open(capacity(packet));
        }
        room.put(ahead.flip());
        ahead.clear();
    }

    /** Returns how many packets have been sent since {@code begin}. */
    int rolls() {
        return rolls;
    }

    /** Returns whether everything since {@code begin} or {@code tryOut} fits one packet. */
    boolean isWhole() {
        return rolls == 0 && ahead.position() == 0;
    }

    /** Ends the payload and names the next service. */
    void finish() {
        if (ahead.position() > 0) {
            roll();
        }
        int end = room.position() - roomStart;
        bytes += end;
        packet.commitPayload(end);
        next.name(packet);
    }

    /** Bytes of all payloads since {@code begin}; right after {@link #finish}. */
    long bytes() {
        return bytes;
    }
}
