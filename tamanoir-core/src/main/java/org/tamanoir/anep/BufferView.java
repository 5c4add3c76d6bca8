package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A view of a part of a buffer; the same object again and again while the buffer is the same. */
final class BufferView {
    static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final boolean readOnly;
    private ByteBuffer view = NOTHING;
    private ByteBuffer of = NOTHING;

    BufferView() {
        this(false);
    }

    private BufferView(boolean readOnly) {
        this.readOnly = readOnly;
    }

    /** Makes a view through which nothing can be changed. */
    static BufferView readOnly() {
        return new BufferView(true);
    }

    /** Returns the view, big-endian, from position to limit. */
    ByteBuffer over(ByteBuffer memory, int from, int to) {
        if (of != memory) {
            view = readOnly ? memory.asReadOnlyBuffer() : memory.duplicate();
            of = memory;
        }
        return view.order(ByteOrder.BIG_ENDIAN).limit(to).position(from);
    }

    /** Leaves the buffer. */
    void forget() {
        view = NOTHING;
        of = NOTHING;
    }
}
