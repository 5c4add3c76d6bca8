package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Sends packets of flows that a neighbour has bound with its selector in place of their header, and all others as they
 * are. A packet is of a flow when its header is the flow's, octet for octet but for its length: so what a service changes
 * from packet to packet keeps a flow ANEP, and the neighbour always gets back what would have been sent.
 *
 * <p>What leaves with a selector is copied to where it stands back to back, since the kernel takes datagrams of equal
 * length from there as one, and the memory of packets stays as it is for whoever sends it elsewhere, too. Packets that
 * come with a selector stand so already: in those that go on as they came the other one is written over it.
 *
 * <p>That memory is one of {@link BatchMemory}, from the first packet with a selector to the next flush, so that streams
 * which rest keep none; a packet that finds none goes as ANEP, as all do while there is none for messages. A service that
 * never returns from a batch keeps its own.
 *
 * <p>Thread contract: one thread.
 */
final class SapfSender implements UdpSender {
    /** Flows that are known at once, and headers that were seen once; a power of two. */
    private static final int FLOWS = 1_024;

    private static final int MEMORY_OCTETS = (128 << 10) - Octets.SLACK;

    private final Sapf sapf;
    private final UdpSocket socket;
    private final int scope;
    private final UdpSender sender;
    private final AskedSelectors asked;
    private final @Nullable Flow[] flows = new @Nullable Flow[FLOWS];
    private final SeenHeaders seen = new SeenHeaders(FLOWS);

    private final ScarceMemory scarce;
    /** Null while no packet with a selector waits for the flush. */
    private @Nullable Buffer batch;
    /** There was none since the last flush. */
    private boolean isWithout;

    /** Messages to neighbours; null before the first packet to one. */
    private @Nullable Control control;

    /** Where the next datagram is written, and where those begin that were not given on. */
    private int next;

    private int given;
    /** Of each of these. */
    private int runOctets;

    private long nowNs;
    private boolean isTimed;
    private long packets;
    /** Beside them: those that had come with another selector. */
    private long swapped;

    private @Nullable Neighbour lastTo;
    private long lastHigh;
    private long lastLow;
    private int lastPort = -1;
    // Where packets to others than neighbours leave from.
    private long ownHigh;
    private long ownLow;
    private int ownDevice;
    private boolean isFromOwn;
    private @Nullable Flow lastFlow;

    SapfSender(Sapf sapf, UdpSocket socket, int scope, UdpSender sender) {
        this.sapf = sapf;
        this.socket = socket;
        this.scope = scope;
        this.sender = sender;
        this.asked = sapf.asked();
        this.scarce = new ScarceMemory(sapf::nowNs);
    }

    @Override
    public void markAs(int trafficOctet) {
        sender.markAs(trafficOctet);
    }

    @Override
    public void from(long high, long low, int device) {
        ownHigh = high;
        ownLow = low;
        ownDevice = device;
        isFromOwn = (high | low | device) != 0;
        sender.from(high, low, device);
    }

    /** Has what goes to a neighbour leave from one address: its selectors are for that alone. */
    private void beginToNeighbour() {
        if (isFromOwn) {
            sender.from(0, 0, 0);
        }
    }

    private void endToNeighbour() {
        if (isFromOwn) {
            sender.from(ownHigh, ownLow, ownDevice);
        }
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        if (length == 0 || neighbour(high, low, port) == null) {
            sender.add(buffer, offset, length, high, low, port);
        } else {
            addRun(buffer, offset, length, length, high, low, port);
        }
    }

    @Override
    public void addRun(ByteBuffer buffer, int offset, int bytes, int segmentBytes, long high, long low, int port) {
        Neighbour to = neighbour(high, low, port);
        if (to == null || bytes == 0) {
            sender.addRun(buffer, offset, bytes, segmentBytes, high, low, port);
            return;
        }
        beginToNeighbour();
        for (int at = 0; at < bytes; at += segmentBytes) {
            add(to, buffer, offset + at, Math.min(segmentBytes, bytes - at));
        }
        giveOn(to);
        endToNeighbour();
    }

    private void add(Neighbour to, ByteBuffer buffer, int at, int length) {
        Flow flow = flow(to, buffer, at, length);
        long selector = flow == null ? Selector.NONE : flow.selector(nowNs());
        if (flow == null || selector == Selector.NONE) {
            giveOn(to);
            sender.add(buffer, at, length, to.high, to.low, to.port);
            if (flow != null && flow.asks(nowNs())) {
                control().bind(flow.request, sapf.lifetimeS(), flow.header, to.high, to.low, to.port);
            }
            return;
        }
        Buffer own = room();
        if (own == null) {
            sender.add(buffer, at, length, to.high, to.low, to.port);
            return;
        }
        write(to, own.nio(), selector, buffer, at + flow.header.octets(), length - flow.header.octets());
        refresh(flow, selector);
    }

    @Override
    public boolean folds(ByteBuffer header, long high, long low, int port) {
        Flow flow = known(header, high, low, port);
        return flow != null && flow.isBound(sapf.nowNs());
    }

    /** Returns the flow of a header alone; null when it is none's yet. */
    private @Nullable Flow known(ByteBuffer header, long high, long low, int port) {
        Neighbour to = neighbour(high, low, port);
        int octets = header.getShort(Anep.LENGTH_AT) & 0xFFFF;
        return to == null ? null : find(to, header, 0, octets, seen.set(hash(to, header, 0, octets)));
    }

    @Override
    public boolean addFolded(
            ByteBuffer header,
            ByteBuffer buffer,
            int offset,
            int bytes,
            int segmentBytes,
            long high,
            long low,
            int port) {
        Flow flow = known(header, high, low, port);
        long selector = flow == null ? Selector.NONE : flow.selector(nowNs());
        if (flow == null || selector == Selector.NONE) {
            return false;
        }
        for (int at = offset; at < offset + bytes; at += segmentBytes) {
            buffer.putLong(at, selector);
            swapped++;
        }
        beginToNeighbour();
        sender.addRun(buffer, offset, bytes, segmentBytes, high, low, port);
        endToNeighbour();
        refresh(flow, selector);
        return true;
    }

    private void refresh(Flow flow, long selector) {
        if (flow.refreshes(nowNs())) {
            Neighbour to = flow.to;
            control().bound(Control.REFRESH, flow.request, selector, sapf.lifetimeS(), to.high, to.low, to.port);
        }
    }

    private @Nullable Buffer room() {
        if (batch == null && !isWithout) {
            batch = sapf.memory().spare(MEMORY_OCTETS + Octets.SLACK);
            isWithout = batch == null;
        }
        return batch;
    }

    private void write(
            Neighbour to, ByteBuffer memory, long selector, ByteBuffer buffer, int payload, int payloadOctets) {
        int octets = Selector.OCTETS + payloadOctets;
        if (octets != runOctets || next + octets > MEMORY_OCTETS) {
            giveOn(to);
            runOctets = octets;
        }
        if (next + octets > MEMORY_OCTETS) {
            sender.flush();
            next = 0;
            given = 0;
        }
        memory.putLong(next, selector);
        Octets.copy(buffer, payload, memory, next + Selector.OCTETS, payloadOctets);
        next += octets;
        packets++;
    }

    /** Gives on what was written, all of it of the same length. */
    private void giveOn(Neighbour to) {
        Buffer own = batch;
        if (own != null && next > given) {
            int at = given;
            given = next; // First: nobody else gets what this fails to give on.
            sender.addRun(own.nio(), at, next - at, runOctets, to.high, to.low, to.port);
        }
    }

    private @Nullable Neighbour neighbour(long high, long low, int port) {
        if (port != lastPort || low != lastLow || high != lastHigh) {
            lastPort = port;
            lastLow = low;
            lastHigh = high;
            lastTo = asked.neighbour(high, low, port);
            lastFlow = null;
        }
        return lastTo == null || hasControl() ? lastTo : null;
    }

    private boolean hasControl() {
        return control != null || makeControl();
    }

    private boolean makeControl() {
        try {
            control = scarce.make(() -> new Control(socket, scope));
            return true;
        } catch (NoMemoryException e) {
            return false;
        }
    }

    /** Returns the flow of a packet; null when it is none's. */
    private @Nullable Flow flow(Neighbour to, ByteBuffer buffer, int at, int length) {
        Flow last = lastFlow;
        if (last != null && last.header.isOf(buffer, at, length)) {
            return last;
        }
        int octets = HeaderTemplate.octets(buffer, at, length);
        if (octets == 0 || (buffer.getShort(at + Anep.LENGTH_AT) & 0xFFFF) != length) {
            return null;
        }
        long hash = hash(to, buffer, at, octets);
        int set = seen.set(hash);
        Flow flow = find(to, buffer, at, length, set);
        if (flow == null && seen.wasSeen(hash, set)) {
            flow = begin(to, buffer, at, length, set);
        }
        lastFlow = flow;
        return flow;
    }

    /** Returns the hash of a header on its way to a neighbour: others have their own, as when its route changes. */
    private static long hash(Neighbour to, ByteBuffer buffer, int at, int octets) {
        return HeaderTemplate.hash(buffer, at, octets) ^ to.hash;
    }

    private @Nullable Flow find(Neighbour to, ByteBuffer buffer, int at, int length, int set) {
        for (int place = set; place < set + SeenHeaders.WAYS; place++) {
            Flow flow = flows[place];
            if (flow != null && flow.to == to && flow.header.isOf(buffer, at, length)) {
                return flow;
            }
        }
        return null;
    }

    private @Nullable Flow begin(Neighbour to, ByteBuffer buffer, int at, int length, int set) {
        int place = placeIn(set);
        HeaderTemplate header = place < 0 ? null : HeaderTemplate.of(buffer, at, length);
        if (header == null) {
            return null;
        }
        Flow before = flows[place];
        if (before != null) {
            release(before);
        }
        Flow flow = asked.begin(to, header, nowNs());
        flows[place] = flow;
        return flow;
    }

    /** Returns the place of a set that one more flow of it gets; -1 = none yet. */
    private int placeIn(int set) {
        for (int place = set; place < set + SeenHeaders.WAYS; place++) {
            Flow flow = flows[place];
            if (flow == null || flow.isIdle(nowNs())) {
                return place;
            }
        }
        return -1;
    }

    private void release(Flow flow) {
        long issued = flow.issued();
        if (issued != Selector.NONE) {
            control().selector(Control.RELEASE, issued, flow.to.high, flow.to.low, flow.to.port);
        }
        asked.end(flow);
    }

    private Control control() {
        return Objects.requireNonNull(control); // There are flows to neighbours alone.
    }

    private long nowNs() {
        if (!isTimed) {
            isTimed = true;
            nowNs = sapf.nowNs();
        }
        return nowNs;
    }

    @Override
    public void flush() {
        sender.flush();
        giveBack();
        if (control != null) {
            control.flush();
        }
        if (packets + swapped > 0) {
            sapf.sent(packets + swapped, swapped);
            packets = 0;
            swapped = 0;
        }
    }

    @Override
    public void discard() {
        sender.discard();
        giveBack();
        packets = 0;
        swapped = 0;
    }

    /** Gives the memory back, to which nothing that waits refers any more. */
    private void giveBack() {
        next = 0;
        given = 0;
        if (batch != null) {
            sapf.memory().give(batch);
            batch = null;
        }
        isWithout = false;
        isTimed = false;
    }

    @Override
    public long sentPackets() {
        return sender.sentPackets();
    }

    @Override
    public long sentBytes() {
        return sender.sentBytes();
    }

    @Override
    public long failedPackets() {
        return sender.failedPackets();
    }

    @Override
    public String lastError() {
        return sender.lastError();
    }
}
