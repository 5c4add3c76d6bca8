package org.tamanoir.benchmarks.cluster;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.PacketBuilder;

/** What nodes do with packets, and the packets that ask for it. */
enum Work {
    /** Marks, counts, forwards. */
    MONITOR("org.tamanoir.services.Monitor"),
    /** Compresses. */
    GZIP("org.tamanoir.services.Gzip");

    /** What one write of a sender takes, in bytes. */
    private static final int BATCH_BYTES = 256 * 1024;

    private static final int HOP_BUDGET = 16;
    /** Streams with these many ids between them have the same text. */
    private static final int TEXTS = 64;

    private final String service;

    Work(String service) {
        this.service = service;
    }

    /** As questions and reports name it. */
    String label() {
        return service.substring(service.lastIndexOf('.') + 1);
    }

    /** Packets back to back, at most {@code maxPackets}; the payloads of Gzip are text. Direct. */
    ByteBuffer batch(InetAddress receiver, int streamId, int packetBytes, int maxPackets) {
        PacketBuilder builder = new PacketBuilder()
                .destination(receiver).service(service).classOfService(0, 0).stream(streamId)
                        .hopBudget(HOP_BUDGET);
        int payloadBytes = packetBytes - builder.headerLength();
        if (payloadBytes < 0 || packetBytes > 65_535) {
            throw new IllegalArgumentException(
                    "packets of " + packetBytes + " bytes: " + builder.headerLength() + " to 65535 are possible");
        }
        int packets = Math.max(1, Math.min(maxPackets, BATCH_BYTES / packetBytes));
        byte[] payloads = this == GZIP
                ? Corpus.bytes(streamId % TEXTS, packets * payloadBytes)
                : new byte[packets * payloadBytes];
        ByteBuffer batch = ByteBuffer.allocateDirect(packets * packetBytes);
        for (int i = 0; i < packets; i++) {
            builder.write(batch, ByteBuffer.wrap(payloads, i * payloadBytes, payloadBytes));
        }
        return batch.flip();
    }
}
