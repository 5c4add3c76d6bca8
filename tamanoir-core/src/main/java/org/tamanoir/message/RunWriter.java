package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.RecordView;
import org.tamanoir.service.Allowance;

/**
 * A run of items on its way through a handler: stays where it lies until one of them changes. What no longer fits the
 * packet leaves in one of its own before.
 *
 * <p>Thread contract: the service's thread.
 */
final class RunWriter {
    private final Segmenter segmenter;
    private @Nullable ByteBuffer memory;
    private @Nullable Packet packet;
    private @Nullable ByteBuffer source;
    private Allowance allowance = Allowance.FREE;
    private @Nullable Left left;
    private int records;
    private int from;
    private int room;
    private int filled;
    private boolean changed;

    /** Is told of records that do not go with the packet. */
    interface Left {
        /** So many have left in a packet of their own; or, where that may not be, have ended. */
        void left(int records, boolean sent);
    }

    RunWriter(Segmenter segmenter) {
        this.segmenter = segmenter;
    }

    /** Begins with a packet's run of items; what leaves of it before is charged to the allowance. */
    void begin(Packet packet, ByteBuffer source, int from, Allowance allowance, Left left) {
        this.allowance = allowance;
        this.left = left;
        records = 0;
        this.packet = packet;
        this.source = source;
        this.from = from;
        room = segmenter.runRoom(packet);
        filled = 0;
        changed = false;
    }

    /** Keeps the item at this place. */
    void keep(int at, int bytes, boolean isRecord) {
        if (changed) {
            append(Objects.requireNonNull(source), at, bytes);
        }
        records += isRecord ? 1 : 0;
    }

    /** Leaves the item at this place out. */
    void cut(int at) {
        if (!changed) {
            changed = true;
            if (memory == null) {
                memory = ByteBuffer.allocate(1 << 16);
            }
            append(Objects.requireNonNull(source), from, at - from);
        }
    }

    /** Puts a record in the place of the item here; false if it is too long for a run. */
    boolean put(int at, RecordView record) {
        cut(at);
        int bytes = Items.HEAD + record.length();
        if (!makeRoom(bytes)) {
            return false;
        }
        memory().putInt(filled, Items.DATA << 24).putInt(filled + 4, record.length());
        memory().put(filled + Items.HEAD, record.memory(), record.start(), record.length());
        filled += bytes;
        records++;
        return true;
    }

    private void append(ByteBuffer from, int at, int bytes) {
        makeRoom(bytes);
        memory().put(filled, from, at, bytes);
        filled += bytes;
    }

    private ByteBuffer memory() {
        return Objects.requireNonNull(memory);
    }

    /** Sends what is there if no more fits with it; false if this alone is too long. */
    private boolean makeRoom(int bytes) {
        if (filled > 0 && filled + bytes > room) {
            boolean sent = segmenter.sendRun(Objects.requireNonNull(packet), memory(), filled, allowance);
            Objects.requireNonNull(left).left(records, sent);
            records = 0;
            filled = 0;
        }
        return filled + bytes <= room;
    }

    /** Returns how many records go with the packet. */
    int records() {
        return records;
    }

    /** Returns how long the packet is with what goes with it. */
    int packetBytes() {
        Packet header = Objects.requireNonNull(packet);
        return changed ? header.headerLength() + filled : header.length();
    }

    /** Has an allowance pay as well for what leaves from now on. */
    void charge(Allowance to) {
        if (to != allowance) {
            allowance = to.join(allowance, 1);
        }
    }

    /** Returns what pays for what leaves. */
    Allowance allowance() {
        return allowance;
    }

    boolean isChanged() {
        return changed;
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** Puts the run, or what is left of it, into the packet. */
    void intoPacket() {
        Packet header = Objects.requireNonNull(packet);
        ByteBuffer room = header.newPayload(filled);
        room.put(room.position(), memory(), 0, filled);
        header.commitPayload(filled);
    }
}
