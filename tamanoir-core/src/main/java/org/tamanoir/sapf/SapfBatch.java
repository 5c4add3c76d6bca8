package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Fold;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.UdpBatch;

/**
 * A batch in which all packets are ANEP, or folded where its reader takes that. All stay where they are: a batch that came
 * as ANEP costs a look at the first octet of each datagram. A folded message becomes whole packets in this batch's own
 * memory, one behind the other, each behind the header that its selector stands for; those that find no room there end as
 * {@link DropReason#NO_MEMORY}. A reader that says when it is {@link #done} leaves the memory to others. Messages for this node itself, and what has to be dropped, are left out.
 *
 * <p>Thread contract: one thread at a time.
 */
final class SapfBatch implements UdpBatch {
    private final Sapf sapf;
    private final SapfSocket socket;
    private final UdpBatch under;
    private boolean leavesFolded;
    /** Null before the first that is needed. */
    private @Nullable Buffer own;

    /** Whether the messages are those of the batch under this, where they lie. */
    private boolean isAnep = true;

    private int[] starts = new int[64];
    private int[] ends = new int[64];
    private int[] segments = new int[64];
    /** The message of the batch under this that each came in. */
    private int[] origins = new int[64];
    /** Those of folded messages. */
    private @Nullable HeaderTemplate[] headers = new @Nullable HeaderTemplate[64];
    /** Whether each lies in this batch's own memory. */
    private boolean[] isOwn = new boolean[64];

    private int messages;
    /** Of all folded messages, when they have become whole packets. */
    private int unfoldedOctets;
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
        unfoldedOctets = 0;
        next = 0;
        isTimed = false;
        packets = 0;
        for (int m = 0; m < count; m++) {
            ByteBuffer from = under.buffer(m);
            if (isAnep(from, m)) {
                add(m, under.start(m), under.end(m), under.segmentBytes(m), null);
                continue;
            }
            int end = under.end(m);
            int segment = under.segmentBytes(m);
            for (int at = under.start(m); at < end; ) {
                at = take(m, from, at, Math.min(segment, end - at), end);
            }
        }
        sapf.received(packets);
        if (!leavesFolded) {
            unfoldAll();
        }
        return messages;
    }

    /** Makes whole packets of all, and leaves out those that there is no memory for. */
    private void unfoldAll() {
        int left = 0;
        for (int i = 0; i < messages; i++) {
            if (unfold(i, starts[i])) {
                starts[left] = starts[i];
                ends[left] = ends[i];
                segments[left] = segments[i];
                origins[left] = origins[i];
                headers[left] = null;
                isOwn[left++] = isOwn[i];
            }
        }
        messages = left;
    }

    private boolean isAnep(int count) {
        for (int m = 0; m < count; m++) {
            if (!isAnep(under.buffer(m), m)) {
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
            add(m, at, at + length, length, null);
        } else if (length < Selector.OCTETS) {
            drop(m, DropReason.SHORT, length);
        } else {
            long selector = from.getLong(at);
            if (Selector.isIssued(selector)) {
                return admit(m, selector, from, at, length, end);
            }
            takeWellKnown(m, selector, from, at, length);
        }
        return at + length;
    }

    private void takeWellKnown(int m, long selector, ByteBuffer from, int at, int length) {
        if (selector == Selector.TUNNEL) {
            add(m, at + Selector.OCTETS, at + length, length - Selector.OCTETS, null);
        } else if (selector == Selector.CONTROL) {
            answerFrom(m);
            sapf.control(socket, from, at, length, under.addressHigh(m), under.addressLow(m), under.port(m), nowNs());
        } else {
            drop(m, selector == Selector.RAW_IP ? DropReason.RAW_IP : DropReason.SELECTOR, length);
        }
    }

    /** Takes the packet, and those of the same selector and length behind it in its message, as one message. */
    private int admit(int m, long selector, ByteBuffer from, int at, int length, int end) {
        Binding binding = admit(m, selector, length);
        if (binding == null) {
            return at + length;
        }
        int octets = binding.header.octets() + length - Selector.OCTETS;
        if (octets > Anep.MAX_PACKET_OCTETS) {
            drop(m, DropReason.PACKET_TOO_LONG, length);
            return at + length;
        }
        int behind = at + length;
        while (behind + length <= end && from.getLong(behind) == selector) {
            behind += length;
        }
        int taken = (behind - at) / length;
        add(m, at, behind, length, binding.header);
        unfoldedOctets += taken * octets;
        packets += taken;
        return behind;
    }

    @Override
    public boolean unfold(int message, int from) {
        HeaderTemplate header = isAnep ? null : headers[message];
        if (header == null) {
            return true;
        }
        int length = segments[message];
        int end = ends[message];
        int payload = length - Selector.OCTETS;
        int octets = header.octets() + payload;
        ByteBuffer folded = under.buffer(origins[message]);
        ByteBuffer to = room((end - from) / length * octets);
        if (to == null) {
            dropAll(origins[message], (end - from) / length, length);
            return false;
        }
        starts[message] = next;
        for (int read = from; read < end; read += length) {
            header.write(to, next, octets);
            Octets.copy(folded, read + Selector.OCTETS, to, next + header.octets(), payload);
            next += octets;
        }
        ends[message] = next;
        segments[message] = octets;
        headers[message] = null;
        isOwn[message] = true;
        return true;
    }

    /** Returns the binding of a selector that this source may use now; else null, and the packet is dropped. */
    private @Nullable Binding admit(int m, long selector, int length) {
        long high = under.addressHigh(m);
        long low = under.addressLow(m);
        int port = under.port(m);
        Binding binding = sapf.issued().find(selector);
        if (binding == null) {
            drop(m, DropReason.MISS, length);
            answerFrom(m);
            sapf.miss(socket, selector, length, high, low, port, nowNs());
        } else if (!binding.isFrom(high, low, port)) {
            drop(m, DropReason.SOURCE, length);
        } else if (binding.isExpired(nowNs())) {
            drop(m, DropReason.EXPIRED, length);
            answerFrom(m);
            sapf.miss(socket, selector, length, high, low, port, nowNs());
        } else {
            if (!binding.isProven) {
                sapf.issued().prove(binding);
            }
            return binding;
        }
        return null;
    }

    /** Has what is answered leave from where the message was sent. */
    private void answerFrom(int m) {
        socket.answers().from(under.ownHigh(m), under.ownLow(m), under.ownDevice(m));
    }

    private void drop(int m, DropReason reason, int octets) {
        sapf.drop(reason, under.addressHigh(m), under.addressLow(m), under.port(m), octets);
    }

    private void dropAll(int m, int datagrams, int octets) {
        for (int i = 0; i < datagrams; i++) {
            drop(m, DropReason.NO_MEMORY, octets);
        }
    }

    private void add(int m, int start, int end, int segment, @Nullable HeaderTemplate header) {
        if (messages == starts.length) {
            grow(2 * messages);
        }
        starts[messages] = start;
        ends[messages] = end;
        segments[messages] = segment;
        headers[messages] = header;
        isOwn[messages] = false;
        origins[messages++] = m;
    }

    private void grow(int size) {
        starts = Arrays.copyOf(starts, size);
        ends = Arrays.copyOf(ends, size);
        segments = Arrays.copyOf(segments, size);
        origins = Arrays.copyOf(origins, size);
        headers = Arrays.copyOf(headers, size);
        isOwn = Arrays.copyOf(isOwn, size);
    }

    /**
     * Returns memory with room for so many octets more, and what a copy writes behind them; null when there is none. It
     * grows before the first packet of a batch alone: those that lie in it may be on their way out.
     */
    private @Nullable ByteBuffer room(int octets) {
        int wanted = next + octets + Octets.SLACK;
        Buffer known = own;
        if (next == 0 && (known == null || known.capacity() < unfoldedOctets + Octets.SLACK)) {
            Buffer larger = null;
            for (int most = unfoldedOctets + Octets.SLACK; larger == null && most >= wanted; most /= 2) {
                larger = sapf.memory().larger(known, 0, most); // All, or as much of it as there is.
            }
            known = larger == null ? known : larger;
            own = known;
        }
        return known == null || known.capacity() < wanted ? null : known.nio();
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
    public void leaveFolded(boolean folded) {
        leavesFolded = folded;
    }

    @Override
    public @Nullable Fold fold(int message) {
        return isAnep ? null : headers[message];
    }

    @Override
    public void done() {
        if (own != null) {
            sapf.memory().give(own);
            own = null;
        }
    }

    @Override
    public ByteBuffer buffer(int message) {
        Buffer known = own;
        return isAnep || known == null || !isOwn[message] ? under.buffer(origin(message)) : known.nio();
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
    public boolean tellsOwn() {
        return under.tellsOwn();
    }

    @Override
    public long ownHigh(int message) {
        return under.ownHigh(origin(message));
    }

    @Override
    public long ownLow(int message) {
        return under.ownLow(origin(message));
    }

    @Override
    public int ownDevice(int message) {
        return under.ownDevice(origin(message));
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
