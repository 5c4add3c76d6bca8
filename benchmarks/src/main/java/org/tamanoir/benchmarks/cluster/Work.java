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

    /** What one write of a sender takes, in octets. */
    private static final int BATCH_OCTETS = 256 * 1024;

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
    ByteBuffer batch(InetAddress receiver, int streamId, int packetOctets, int maxPackets) {
        PacketBuilder builder = new PacketBuilder()
                .destination(receiver).service(service).classOfService(0, 0).stream(streamId)
                        .hopBudget(HOP_BUDGET);
        int payloadOctets = packetOctets - builder.headerLength();
        if (payloadOctets < 0 || packetOctets > 65_535) {
            throw new IllegalArgumentException(
                    "packets of " + packetOctets + " octets: " + builder.headerLength() + " to 65535 are possible");
        }
        int packets = Math.max(1, Math.min(maxPackets, BATCH_OCTETS / packetOctets));
        byte[] payloads = this == GZIP
                ? Corpus.octets(streamId % TEXTS, packets * payloadOctets)
                : new byte[packets * payloadOctets];
        ByteBuffer batch = ByteBuffer.allocateDirect(packets * packetOctets);
        for (int i = 0; i < packets; i++) {
            builder.write(batch, ByteBuffer.wrap(payloads, i * payloadOctets, payloadOctets));
        }
        return batch.flip();
    }
}
