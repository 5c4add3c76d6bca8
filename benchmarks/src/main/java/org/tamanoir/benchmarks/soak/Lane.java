package org.tamanoir.benchmarks.soak;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;

/** Writes the packets of a flow, its content in order. One thread. */
final class Lane {
    /** The largest payload. */
    static final int MAX_PAYLOAD_BYTES = 60_000;
    /** More than a packet ever has: header, payload, what gzip adds. */
    static final int MAX_PACKET_OCTETS = 1 << 16;

    final Flow flow;
    private final Content content;
    private final PacketBuilder builder;
    private final @Nullable Packer packer;
    private long position;

    /** @param packer compresses before sending; lanes of one service share one */
    Lane(Flow flow, Content content, PacketBuilder builder, @Nullable Packer packer) {
        this.flow = flow;
        this.content = content;
        this.builder = builder;
        this.packer = packer;
    }

    /** Writes one packet with so many bytes of content. */
    void write(ByteBuffer batch, int bytes) {
        byte[] payload = new byte[bytes];
        content.fill(flow.shape.id(), position, payload, 0, bytes);
        position += bytes;
        ByteBuffer packed = packer == null ? ByteBuffer.wrap(payload) : packer.pack(payload);
        flow.sent(bytes, builder.write(batch, packed));
    }

    /** Writes the packet that ends a compressed stream; nothing where the stream is not, or was ended by another lane. */
    void finish(ByteBuffer batch) {
        if (packer != null && packer.isOpen()) {
            flow.sent(0, builder.write(batch, packer.end()));
        }
    }

    /** Compresses the payloads of one connection into one gzip stream. One thread. */
    static final class Packer {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final GZIPOutputStream gzip;
        private boolean open;
        private boolean ended;

        Packer() {
            try {
                gzip = new GZIPOutputStream(out, 512, true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        boolean isOpen() {
            return open && !ended;
        }

        ByteBuffer pack(byte[] bytes) {
            try {
                open = true;
                gzip.write(bytes);
                gzip.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return taken();
        }

        ByteBuffer end() {
            try {
                ended = true;
                gzip.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return taken();
        }

        private ByteBuffer taken() {
            ByteBuffer taken = ByteBuffer.wrap(out.toByteArray());
            out.reset();
            return taken;
        }
    }
}
