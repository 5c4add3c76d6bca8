package org.tamanoir.gateway.udp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PlainHeaders;
import org.tamanoir.gateway.PacketHeader;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpPacket;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.UdpBatch;

/**
 * A batch of a gateway's socket: each datagram is copied behind the header that makes it a packet. One that fits no
 * packet, or finds no memory, is left out, and counted as dropped.
 *
 * <p>Thread contract: one thread at a time.
 */
final class GatewayBatch implements UdpBatch {

    private final GatewaySocket socket;
    private final UdpGateway gateway;
    private final RtpPacket rtp = new RtpPacket();
    private final UdpBatch under;
    private final BatchMemory memory;
    /** Null before the first packet. */
    private @Nullable Buffer packets;

    private int[] starts = new int[64];
    private int[] ends = new int[64];
    private int[] segments = new int[64];
    /** The message of the batch under this that each came in. */
    private int[] origins = new int[64];

    /** Null before the first datagram. */
    private @Nullable PacketHeader header;

    GatewayBatch(GatewaySocket socket, UdpGateway gateway, BatchMemory memory, UdpBatch under) {
        this.socket = socket;
        this.gateway = gateway;
        this.memory = memory;
        this.under = under;
    }

    UdpBatch under() {
        return under;
    }

    /** Takes the messages that the batch under this has; returns how many are left of them. */
    int open(int count) {
        if (count == 0) {
            return 0;
        }
        if (count > starts.length) {
            starts = Arrays.copyOf(starts, count);
            ends = Arrays.copyOf(ends, count);
            segments = Arrays.copyOf(segments, count);
            origins = Arrays.copyOf(origins, count);
        }
        int messages = 0;
        int next = 0;
        if (packets == null) {
            packets = memory.larger(null, 0, wholeOctets(count)); // Else it grows, as far as it can.
        }
        for (int m = 0; m < count; m++) {
            PacketHeader front = header(under.addressHigh(m), under.addressLow(m));
            int head = front.length();
            int segment = Math.max(1, under.segmentBytes(m));
            int octets = under.end(m) - under.start(m);
            int datagrams = Math.max(1, (octets + segment - 1) / segment);
            if (head + Math.min(segment, octets) > Anep.MAX_PACKET_OCTETS) {
                drop(DropReason.PACKET_TOO_LONG, datagrams, octets, m);
                continue;
            }
            Buffer room = room(next, octets + datagrams * head);
            if (room == null) {
                drop(DropReason.NO_MEMORY, datagrams, octets, m);
                continue;
            }
            ByteBuffer to = room.nio();
            starts[messages] = next;
            int at = under.start(m);
            do {
                int length = Math.min(segment, under.end(m) - at);
                ByteBuffer from = under.buffer(m);
                if (socket.admits(rtp, from, at, length, under.addressHigh(m), under.addressLow(m), under.port(m))) {
                    front.put(to, next, length);
                    to.put(next + head, from, at, length);
                    next += head + length;
                    socket.admitted(length);
                } else {
                    drop(length == 0 ? DropReason.SHORT : DropReason.RTP, 1, length, m);
                }
                at += segment;
            } while (at < under.end(m));
            if (next == starts[messages]) {
                continue;
            }
            ends[messages] = next;
            segments[messages] = head + segment;
            origins[messages++] = m;
        }
        if (messages == 0) {
            done(); // Nobody else says so.
        }
        return messages;
    }

    /** Returns the octets that all packets of a batch have at most. */
    private int wholeOctets(int count) {
        int whole = 0;
        for (int m = 0; m < count; m++) {
            int octets = under.end(m) - under.start(m);
            whole += octets + (octets / Math.max(1, under.segmentBytes(m)) + 1) * PlainHeaders.MAX_BYTES;
        }
        return whole;
    }

    /** Returns memory with room for so many octets more behind those; null when there is none. */
    private @Nullable Buffer room(int used, int octets) {
        Buffer known = packets;
        if (known == null || known.capacity() < used + octets) {
            known = memory.larger(known, used, used + octets);
            packets = known == null ? packets : known;
        }
        return known;
    }

    private void drop(DropReason reason, int datagrams, int octets, int m) {
        socket.drop(reason, datagrams, octets, under.addressHigh(m), under.addressLow(m), under.port(m));
    }

    private PacketHeader header(long high, long low) {
        PacketHeader known = header;
        if (known == null || !known.isFor(high, low)) {
            known = gateway.header(Addresses.of(high, low));
            header = known;
        }
        known.from(high, low);
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
        Buffer known = packets;
        return known == null ? under.buffer(origins[message]) : known.nio();
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

    @Override
    public boolean tellsOwn() {
        return under.tellsOwn();
    }

    @Override
    public long ownHigh(int message) {
        return under.ownHigh(origins[message]);
    }

    @Override
    public long ownLow(int message) {
        return under.ownLow(origins[message]);
    }

    @Override
    public int ownDevice(int message) {
        return under.ownDevice(origins[message]);
    }
}
