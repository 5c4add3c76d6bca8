package org.tamanoir.benchmarks.soak;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The packets of one connection: several lanes, to several next hops and services, mixed by chance. One thread.
 */
final class Mix {
    /** Kinds of connections; see {@link #of}. */
    static final int KINDS = 8;

    /** What one batch holds at most. */
    static final int BATCH_BYTES = 1 << 18;

    private static final String MONITOR = "org.tamanoir.services.Monitor";
    private static final String GZIP = "org.tamanoir.services.Gzip";
    private static final String GUNZIP = "org.tamanoir.services.Gunzip";
    private static final String ECHO = "org.tamanoir.services.Echo";
    private static final String TRANSIT = "";
    private static final int MAX_RUN_PACKETS = 8;
    private static final int STALL_BYTES = 4 << 20;
    private static final int STALL_MS = 2000;

    private final Bed bed;
    private final Random random;
    private final boolean isWhole;
    final String name;
    private final List<Lane> lanes = new ArrayList<>();
    final List<Flow> flows = new ArrayList<>();
    private Lane.@Nullable Packer packer;

    private Mix(Bed bed, Random random, boolean isWhole, String name) {
        this.bed = bed;
        this.random = random;
        this.isWhole = isWhole;
        this.name = name;
    }

    /** One of the kinds; the last is for connections inside TLS. The first lane begins the connection. */
    static Mix of(Bed bed, int kind, Random random, String name) {
        Mix mix = new Mix(bed, random, true, name);
        switch (kind) {
            case 0 -> mix.add(MONITOR, 0, true).add(MONITOR, 1).replied();
            case 1 -> mix.add(MONITOR, 0).add(MONITOR, 1).add(MONITOR, 2, true);
            case 2 -> mix.add(TRANSIT, 0).add(TRANSIT, 1).add(TRANSIT, 2);
            case 3 -> mix.add(GZIP, 0).add(TRANSIT, 1).add(TRANSIT, 2);
            case 4 -> mix.add(GUNZIP, 0).add(GUNZIP, 1).add(GUNZIP, 2);
            case 5 -> mix.add(MONITOR, 0).add(MONITOR, 1).add(ECHO, Flow.CLIENT);
            case 6 -> mix.add(MONITOR, 1).add(MONITOR, 2).add(GZIP, 0).add(GUNZIP, 2, true);
            default -> {
                int far = bed.tls == null ? 2 : Bed.TLS_END;
                mix.add(MONITOR, 0).add(MONITOR, far).replied();
            }
        }
        return mix;
    }

    /** All services on one connection that will be cut, in an order by chance. */
    static Mix toBeCut(Bed bed, Random random, String name) {
        Mix mix = new Mix(bed, random, false, name);
        mix.add(MONITOR, 0)
                .add(MONITOR, 1)
                .add(GUNZIP, 2)
                .add(ECHO, Flow.CLIENT)
                .add(GZIP, 0)
                .add(TRANSIT, 1);
        Collections.shuffle(mix.lanes, random);
        return mix;
    }

    /** One service to two next hops. */
    static Mix by(Bed bed, String service, Random random, String name) {
        return new Mix(bed, random, true, name).add(service, 0).add(service, 1);
    }

    private Mix add(String service, int end) {
        return add(service, end, false);
    }

    private Mix add(String service, int end, boolean stalls) {
        String label = name + ", " + (service.isEmpty() ? "transit" : service.substring(service.lastIndexOf('.') + 1))
                + (end == Flow.CLIENT ? ", back" : " to " + end);
        boolean inflates = service.equals(GZIP);
        Flow flow = bed.flows.add(label, end, Bed.classOfService(random), isWhole, inflates);
        if (stalls) {
            flow.stalling(STALL_BYTES, STALL_MS);
        }
        if (service.equals(GUNZIP) && packer == null) {
            packer = new Lane.Packer();
        }
        flows.add(flow);
        lanes.add(bed.lane(flow, service, Math.max(end, 0), service.equals(GUNZIP) ? packer : null));
        return this;
    }

    /** Has the far end of the last lane reply. */
    private Mix replied() {
        Lane last = lanes.get(lanes.size() - 1);
        Flow replies = bed.flows.add(
                "replies to " + last.flow.shape.label(), Flow.CLIENT, last.flow.shape.classOfService(), isWhole, false);
        flows.add(replies);
        last.flow.repliedBy(replies);
        return this;
    }

    /** Writes packets until about so many bytes are there: runs for one lane, then for another. */
    void fill(ByteBuffer batch, int bytes) {
        int enough = Math.min(bytes, batch.capacity() - Lane.MAX_PACKET_OCTETS);
        do {
            Lane lane = lanes.get(random.nextInt(lanes.size()));
            int size = size();
            for (int run = 1 + random.nextInt(MAX_RUN_PACKETS); run > 0 && batch.position() < enough; run--) {
                lane.write(batch, size);
            }
        } while (batch.position() < enough);
    }

    /** Writes one packet for each lane, the first lane's first. */
    void touchAll(ByteBuffer batch) {
        lanes.forEach(lane -> lane.write(batch, random.nextInt(200)));
    }

    private int size() {
        int kind = random.nextInt(100);
        if (kind < 30) {
            return random.nextInt(200);
        }
        if (kind < 75) {
            return 100 + random.nextInt(1400);
        }
        return kind < 97 ? random.nextInt(16_000) : random.nextInt(Lane.MAX_PAYLOAD_BYTES);
    }

    /** Writes what ends compressed streams. */
    void finish(ByteBuffer batch) {
        lanes.forEach(lane -> lane.finish(batch));
    }

    /** Returns what was sent to the node and came from it, replies included. */
    Ledger.Entry counts() {
        long packetsIn = 0;
        long bytesIn = 0;
        long packetsOut = 0;
        long bytesOut = 0;
        for (Flow flow : flows) {
            packetsIn += flow.sentPackets();
            bytesIn += flow.sentPacketBytes();
            packetsOut += flow.packets();
            bytesOut += flow.packetBytes();
        }
        return new Ledger.Entry(packetsIn, bytesIn, packetsOut, bytesOut);
    }
}
