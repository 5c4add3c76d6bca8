package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A view of a part of a buffer; the same object again and again while the buffer is the same. */
final class BufferView {
    static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private ByteBuffer view = NOTHING;
    private ByteBuffer of = NOTHING;

    /** Returns the view, big-endian, from position to limit. */
    ByteBuffer over(ByteBuffer memory, int from, int to) {
        if (of != memory) {
            view = memory.duplicate();
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
