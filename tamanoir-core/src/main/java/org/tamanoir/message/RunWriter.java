package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.RecordView;

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
    private int from;
    private int room;
    private int filled;
    private boolean changed;

    RunWriter(Segmenter segmenter) {
        this.segmenter = segmenter;
    }

    /** Begins with a packet's run of items. */
    void begin(Packet packet, ByteBuffer source, int from) {
        this.packet = packet;
        this.source = source;
        this.from = from;
        room = segmenter.runRoom(packet);
        filled = 0;
        changed = false;
    }

    /** Keeps the item at this place. */
    void keep(int at, int bytes) {
        if (changed) {
            append(Objects.requireNonNull(source), at, bytes);
        }
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
            segmenter.sendRun(Objects.requireNonNull(packet), memory(), filled);
            filled = 0;
        }
        return filled + bytes <= room;
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
