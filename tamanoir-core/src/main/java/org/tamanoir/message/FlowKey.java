package org.tamanoir.message;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * The stream that a packet belongs to: its source and stream id, as they are claimed. All 0 where the packet names none.
 *
 * <p>Thread contract: one thread.
 */
final class FlowKey {
    long high;
    long low;
    int stream;

    FlowKey set(Packet packet) {
        boolean known = packet.hasInternetSource();
        high = known ? packet.sourceHigh() : 0;
        low = known ? packet.sourceLow() : 0;
        stream = packet.streamId();
        return this;
    }

    FlowKey clear() {
        high = 0;
        low = 0;
        stream = 0;
        return this;
    }

    FlowKey set(FlowKey other) {
        high = other.high;
        low = other.low;
        stream = other.stream;
        return this;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FlowKey key && key.high == high && key.low == low && key.stream == stream;
    }

    @Override
    public int hashCode() {
        return Long.hashCode((high * 31 + low) * 31 + stream);
    }
}
