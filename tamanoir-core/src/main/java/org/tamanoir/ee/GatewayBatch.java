package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.UdpBatch;

/**
 * A batch of a gateway's socket: each datagram is copied behind the header that makes it a packet. One that fits no
 * packet, or finds no memory, is left out, and counted as dropped.
 *
 * <p>Thread contract: one thread at a time.
 */
final class GatewayBatch implements UdpBatch {

    private final UdpGateway gateway;
    private final GatewayFlows flows;
    private final UdpBatch under;
    private final BatchMemory memory;
    /** Null before the first packet. */
    private @Nullable ByteBuffer packets;

    private int[] starts = new int[64];
    private int[] ends = new int[64];
    private int[] segments = new int[64];
    /** The message of the batch under this that each came in. */
    private int[] origins = new int[64];

    private byte @Nullable [] header;
    private long headerHigh;
    private long headerLow;

    GatewayBatch(UdpGateway gateway, GatewayFlows flows, BatchMemory memory, UdpBatch under) {
        this.gateway = gateway;
        this.flows = flows;
        this.memory = memory;
        this.under = under;
    }

    UdpBatch under() {
        return under;
    }

    /** Takes the messages that the batch under this has; returns how many are left of them. */
    int open(int count) {
        if (count > starts.length) {
            starts = Arrays.copyOf(starts, count);
            ends = Arrays.copyOf(ends, count);
            segments = Arrays.copyOf(segments, count);
            origins = Arrays.copyOf(origins, count);
        }
        int messages = 0;
        int next = 0;
        for (int m = 0; m < count; m++) {
            byte[] front = header(under.addressHigh(m), under.addressLow(m));
            int segment = Math.max(1, under.segmentBytes(m));
            int octets = under.end(m) - under.start(m);
            int datagrams = Math.max(1, (octets + segment - 1) / segment);
            if (front.length + Math.min(segment, octets) > Anep.MAX_PACKET_OCTETS) {
                flows.drop(DropReason.PACKET_TOO_LONG, datagrams, octets);
                continue;
            }
            ByteBuffer to = room(next, octets + datagrams * front.length);
            if (to == null) {
                flows.drop(DropReason.NO_MEMORY, datagrams, octets);
                continue;
            }
            starts[messages] = next;
            int at = under.start(m);
            do {
                int length = Math.min(segment, under.end(m) - at);
                if (!flows.admits(
                        under.buffer(m), at, length, under.addressHigh(m), under.addressLow(m), under.port(m))) {
                    at += segment;
                    continue;
                }
                to.put(next, front).putShort(next + Anep.LENGTH_AT, (short) (front.length + length));
                to.put(next + front.length, under.buffer(m), at, length);
                next += front.length + length;
                at += segment;
            } while (at < under.end(m));
            if (next == starts[messages]) {
                continue;
            }
            ends[messages] = next;
            segments[messages] = front.length + segment;
            origins[messages++] = m;
        }
        return messages;
    }

    /** Returns memory with room for so many octets more behind those; null when there is none. */
    private @Nullable ByteBuffer room(int used, int octets) {
        ByteBuffer known = packets;
        if (known == null || known.capacity() < used + octets) {
            known = memory.larger(known, used, used + octets);
            packets = known == null ? packets : known;
        }
        return known;
    }

    private byte[] header(long high, long low) {
        byte[] known = header;
        if (known == null || high != headerHigh || low != headerLow) {
            known = gateway.header(Addresses.of(high, low));
            header = known;
            headerHigh = high;
            headerLow = low;
        }
        return known;
    }

    @Override
    public void done() {
        if (packets != null) {
            memory.give(packets);
            packets = null;
        }
    }

    @Override
    public ByteBuffer buffer(int message) {
        ByteBuffer known = packets;
        return known == null ? under.buffer(origins[message]) : known;
    }

    @Override
    public int start(int message) {
        return starts[message];
    }

    @Override
    public int end(int message) {
        return ends[message];
    }

    @Override
    public int segmentBytes(int message) {
        return segments[message];
    }

    @Override
    public long addressHigh(int message) {
        return under.addressHigh(origins[message]);
    }

    @Override
    public long addressLow(int message) {
        return under.addressLow(origins[message]);
    }

    @Override
    public int port(int message) {
        return under.port(origins[message]);
    }
}
