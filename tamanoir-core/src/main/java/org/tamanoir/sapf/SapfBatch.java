package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.transport.UdpBatch;

/**
 * A batch in which all packets are ANEP. One that came so stays where it is, which costs a look at the first octet of
 * each datagram. Where one came otherwise, all are written into this batch's own memory, one behind the other: those
 * that came with a selector behind the header that it stands for. Messages for this node itself, and what has to be
 * dropped, are left out. What finds no room there ends as {@link DropReason#NO_MEMORY}.
 *
 * <p>Thread contract: one thread at a time.
 */
final class SapfBatch implements UdpBatch {
    private final Sapf sapf;
    private final SapfSocket socket;
    private final UdpBatch under;
    /** Null before the first that is needed. */
    private @Nullable ByteBuffer own;

    /** Whether the messages are those of the batch under this, where they lie. */
    private boolean isAnep = true;

    private int[] starts = new int[64];
    private int[] ends = new int[64];
    private int[] segments = new int[64];
    /** The message of the batch under this that each came in. */
    private int[] origins = new int[64];

    private int messages;
    /** Where the next datagram is written. */
    private int next;

    private long nowNs;
    private boolean isTimed;
    private long packets;

    SapfBatch(Sapf sapf, SapfSocket socket, UdpBatch under) {
        this.sapf = sapf;
        this.socket = socket;
        this.under = under;
    }

    UdpBatch under() {
        return under;
    }

    /** Takes the messages that the batch under this has; returns how many there are then. */
    int open(int count) {
        isAnep = isAnep(count);
        if (isAnep) {
            return count;
        }
        messages = 0;
        next = 0;
        isTimed = false;
        packets = 0;
        ByteBuffer from = under.buffer();
        for (int m = 0; m < count; m++) {
            if (isAnep(from, m)) {
                copy(m, from, under.start(m), under.end(m), under.segmentBytes(m));
                continue;
            }
            int end = under.end(m);
            int segment = under.segmentBytes(m);
            for (int at = under.start(m); at < end; ) {
                at = take(m, from, at, Math.min(segment, end - at), end);
            }
        }
        sapf.received(packets);
        return messages;
    }

    private boolean isAnep(int count) {
        ByteBuffer from = under.buffer();
        for (int m = 0; m < count; m++) {
            if (!isAnep(from, m)) {
                return false;
            }
        }
        return true;
    }

    private boolean isAnep(ByteBuffer from, int m) {
        int end = under.end(m);
        int segment = Math.max(1, under.segmentBytes(m));
        for (int at = under.start(m); at < end; at += segment) {
            if (Selector.begins(from.get(at))) {
                return isInTransit(m);
            }
        }
        return true;
    }

    /** Returns whether a level sent the message up, which may be for another host: its selectors are not this node's. */
    private boolean isInTransit(int message) {
        return under.mark(message) != 0;
    }

    /** Takes the datagram that lies there, and those behind it that go with it; returns where the next one begins. */
    private int take(int m, ByteBuffer from, int at, int length, int end) {
        if (!Selector.begins(from.get(at))) {
            copy(m, from, at, at + length, length);
        } else if (length < Selector.OCTETS) {
            drop(m, DropReason.SHORT, length);
        } else {
            long selector = from.getLong(at);
            if (Selector.isIssued(selector)) {
                return expand(m, selector, from, at, length, end);
            }
            takeWellKnown(m, selector, from, at, length);
        }
        return at + length;
    }

    private void takeWellKnown(int m, long selector, ByteBuffer from, int at, int length) {
        if (selector == Selector.TUNNEL) {
            copy(m, from, at + Selector.OCTETS, at + length, length - Selector.OCTETS);
        } else if (selector == Selector.CONTROL) {
            sapf.control(socket, from, at, length, under.addressHigh(m), under.addressLow(m), under.port(m), nowNs());
        } else {
            drop(m, selector == Selector.RAW_IP ? DropReason.RAW_IP : DropReason.SELECTOR, length);
        }
    }

    /** Writes the packet, and those of the same selector and length behind it in its message, as one message. */
    private int expand(int m, long selector, ByteBuffer from, int at, int length, int end) {
        Binding binding = admit(m, selector, length);
        if (binding == null) {
            return at + length;
        }
        HeaderTemplate header = binding.header;
        int payload = length - Selector.OCTETS;
        int octets = header.octets() + payload;
        if (octets > Anep.MAX_PACKET_OCTETS) {
            drop(m, DropReason.PACKET_TOO_LONG, length);
            return at + length;
        }
        int behind = at + length;
        while (behind + length <= end && from.getLong(behind) == selector) {
            behind += length;
        }
        int taken = (behind - at) / length;
        ByteBuffer to = room(taken * octets);
        if (to == null) {
            dropAll(m, at, behind, length);
            return behind;
        }
        int start = next;
        int write = start;
        for (int read = at; read < behind; read += length) {
            header.write(to, write, octets);
            Octets.copy(from, read + Selector.OCTETS, to, write + header.octets(), payload);
            write += octets;
        }
        next = write;
        add(m, start, write, octets);
        binding.packets += taken;
        binding.octets += behind - at;
        packets += taken;
        return behind;
    }

    /** Returns the binding of a selector that this source may use now; else null, and the packet is dropped. */
    private @Nullable Binding admit(int m, long selector, int length) {
        long high = under.addressHigh(m);
        long low = under.addressLow(m);
        int port = under.port(m);
        Binding binding = sapf.issued().find(selector);
        if (binding == null) {
            drop(m, DropReason.MISS, length);
            sapf.miss(socket, selector, length, high, low, port, nowNs());
        } else if (!binding.isFrom(high, low, port)) {
            drop(m, DropReason.SOURCE, length);
        } else if (binding.isExpired(nowNs())) {
            drop(m, DropReason.EXPIRED, length);
            sapf.miss(socket, selector, length, high, low, port, nowNs());
        } else {
            if (!binding.isProven) {
                sapf.issued().prove(binding);
            }
            return binding;
        }
        return null;
    }

    private void drop(int m, DropReason reason, int octets) {
        sapf.drop(reason, under.addressHigh(m), under.addressLow(m), under.port(m), octets);
    }

    private void dropAll(int m, int at, int end, int segment) {
        for (int each = at; each < end; each += Math.max(1, segment)) {
            drop(m, DropReason.NO_MEMORY, Math.min(segment, end - each));
        }
    }

    private void copy(int m, ByteBuffer from, int at, int end, int segment) {
        ByteBuffer to = room(end - at);
        if (to == null) {
            dropAll(m, at, end, segment);
            return;
        }
        Octets.copy(from, at, to, next, end - at);
        add(m, next, next + end - at, segment);
        next += end - at;
    }

    private void add(int m, int start, int end, int segment) {
        if (messages == starts.length) {
            grow(2 * messages);
        }
        starts[messages] = start;
        ends[messages] = end;
        segments[messages] = segment;
        origins[messages++] = m;
    }

    private void grow(int size) {
        starts = Arrays.copyOf(starts, size);
        ends = Arrays.copyOf(ends, size);
        segments = Arrays.copyOf(segments, size);
        origins = Arrays.copyOf(origins, size);
    }

    /** Returns memory with room for so many octets more, and what a copy writes behind them; null when there is none. */
    private @Nullable ByteBuffer room(int octets) {
        int wanted = next + octets + Octets.SLACK;
        ByteBuffer known = own;
        if (known == null || known.capacity() < wanted) {
            known = sapf.memory().larger(known, next, wanted);
            own = known == null ? own : known;
        }
        return known;
    }

    private long nowNs() {
        if (!isTimed) {
            isTimed = true;
            nowNs = sapf.nowNs();
        }
        return nowNs;
    }

    private int origin(int message) {
        return isAnep ? message : origins[message];
    }

    @Override
    public ByteBuffer buffer() {
        ByteBuffer known = own;
        return isAnep || known == null ? under.buffer() : known;
    }

    @Override
    public int start(int message) {
        return isAnep ? under.start(message) : starts[message];
    }

    @Override
    public int end(int message) {
        return isAnep ? under.end(message) : ends[message];
    }

    @Override
    public int segmentBytes(int message) {
        return isAnep ? under.segmentBytes(message) : segments[message];
    }

    @Override
    public long addressHigh(int message) {
        return under.addressHigh(origin(message));
    }

    @Override
    public long addressLow(int message) {
        return under.addressLow(origin(message));
    }

    @Override
    public int port(int message) {
        return under.port(origin(message));
    }

    @Override
    public int mark(int message) {
        return under.mark(origin(message));
    }

    @Override
    public long destinationHigh(int message) {
        return under.destinationHigh(origin(message));
    }

    @Override
    public long destinationLow(int message) {
        return under.destinationLow(origin(message));
    }

    @Override
    public int hopsLeft(int message) {
        return under.hopsLeft(origin(message));
    }

    @Override
    public int trafficClass(int message) {
        return under.trafficClass(origin(message));
    }
}
