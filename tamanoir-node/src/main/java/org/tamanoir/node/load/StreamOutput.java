package org.tamanoir.node.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * Writes the payloads of one stream: as they come over TCP, which keeps their order; over UDP by their numbers,
 * within a {@link ReorderWindow}.
 *
 * <p>Thread contract: one thread.
 */
final class StreamOutput implements PacketOutput {
    private static final int BUFFER_BYTES = 256 * 1024;

    private final WritableByteChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final @Nullable ReorderWindow window;
    private ByteBuffer view = ByteBuffer.allocate(0);
    private ByteBuffer viewOf = view;

    StreamOutput(WritableByteChannel channel, boolean byNumber) {
        this.channel = channel;
        this.window = byNumber ? new ReorderWindow(this::append) : null;
    }

    @Override
    public void write(Packet packet, long sequence, boolean repeated) throws IOException {
        if (repeated && window != null) {
            return;
        }
        if (viewOf != packet.buffer()) {
            viewOf = packet.buffer();
            view = viewOf.duplicate();
        }
        int start = packet.payloadOffset();
        view.limit(start + packet.payloadLength()).position(start);
        if (window != null && sequence >= 0) {
            window.accept(sequence, view);
        } else {
            append(view);
        }
    }

    private void append(ByteBuffer payload) throws IOException {
        if (buffer.remaining() < payload.remaining()) {
            flush();
        }
        buffer.put(payload);
    }

    @Override
    public void flush() throws IOException {
        buffer.flip();
        try {
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } finally {
            buffer.clear();
        }
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            if (window != null) {
                window.end();
            }
            flush();
        }
    }

    @Override
    public long leftOut() {
        return window == null ? 0 : window.leftOut();
    }
}
