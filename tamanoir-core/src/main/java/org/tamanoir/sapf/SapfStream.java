package org.tamanoir.sapf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.routing.Addresses;
import org.tamanoir.sapf.StreamFlows.StreamFlow;
import org.tamanoir.transport.StreamCodec;

/**
 * The packets of one TCP connection in SAPF. Either way begins with the four octets {@code SAP1}; then stand packets, each
 * behind its length.
 *
 * <pre>
 *  octet 0          4               12
 *       +----------+---------------+---------
 *       |  length  | selector      | payload      the length is that of selector and payload
 *       +----------+---------------+---------
 * </pre>
 *
 * The end that connected asks for selectors, the other one issues them, for this connection. What is sent the way back, and
 * what has no selector, is tunnelled. The end that connected sends no packet before the other one has answered
 * {@code SAP1}, so nothing is lost where that closes the connection; and a release of no selector behind its own
 * {@code SAP1}, so that a node which reads a basic header of ANEP, 8 octets, sees at once that this is none.
 *
 * <p>What breaks the framing becomes a basic header of ANEP that is broken, at which the stream ends as it does in ANEP.
 *
 * <p>Thread contract: the connection's thread.
 */
final class SapfStream implements StreamCodec {
    private static final Logger LOG = LoggerFactory.getLogger(SapfStream.class);
    private static final int OPENING = 'S' << 24 | 'A' << 16 | 'P' << 8 | '1';
    private static final int OPENING_OCTETS = 4;
    private static final int LENGTH_OCTETS = StreamControl.LENGTH_OCTETS;
    /** Before the payload. */
    private static final int HEAD_OCTETS = LENGTH_OCTETS + Selector.OCTETS;

    private static final int MAX_LENGTH = Selector.OCTETS + Anep.MAX_PACKET_OCTETS;
    /**
     * Octets of units that become no packet, before the first that does: as of requests for all selectors of a connection.
     * One thread reads all connections that have sent none.
     */
    private static final int MAX_BEFORE_PACKETS =
            StreamSelectors.MOST * (LENGTH_OCTETS + Control.BIND_HEADER + HeaderTemplate.MAX_OCTETS);

    private final Sapf sapf;
    private final InetSocketAddress peer;
    private final long high;
    private final long low;
    private final int port;
    /** Who is asked for selectors; null = this end issues them. */
    private final @Nullable Neighbour neighbour;

    private final @Nullable StreamFlows flows;
    private final StreamControl control;

    /** The far side's opening has come. */
    private boolean isOpen;

    /** The unit in hand breaks the framing. */
    private boolean isBroken;
    /** One did: what comes behind it is nothing. */
    private boolean isOver;

    /** The far side, which connected, has sent a packet; and octets before. */
    private boolean hasSentPackets;

    private int octetsBefore;
    private boolean isEnding;
    private boolean hasSpoken;
    private boolean isClosed;
    /** What the selector of the unit in hand stands for; null = it is tunnelled. */
    private @Nullable HeaderTemplate header;
    /** The flow of the packet in hand; null = it has no selector. */
    private @Nullable StreamFlow flow;

    private long packetsIn;
    private long packetsOut;

    /** @param neighbour who is asked for selectors; null = this end issues them */
    SapfStream(Sapf sapf, InetSocketAddress peer, @Nullable Neighbour neighbour) {
        this.sapf = sapf;
        this.peer = peer;
        this.high = Addresses.high(peer.getAddress());
        this.low = Addresses.low(peer.getAddress());
        this.port = peer.getPort();
        this.neighbour = neighbour;
        this.flows = neighbour == null ? null : new StreamFlows(sapf.askedByStreams());
        this.control = new StreamControl(sapf, OPENING, flows);
    }

    /** Returns whether what a peer has sent begins with its opening. */
    static boolean begins(ByteBuffer input, int start, int end) {
        return end - start >= OPENING_OCTETS && input.getInt(start) == OPENING;
    }

    @Override
    public boolean isEstablished() {
        return isOpen || neighbour == null;
    }

    @Override
    public int decodedOctets(ByteBuffer units, int start, int end) throws IOException {
        if (!isOpen) {
            if (end > start && !isPartOfOpening(units, start, end)) {
                throw new IOException("no SAP1 in answer: it does not speak SAPF");
            }
            return 0;
        }
        int available = end - start;
        isBroken = false;
        if (isOver || available == 0) {
            return 0;
        }
        long length = available < LENGTH_OCTETS ? 0 : units.getInt(start) & 0xFFFF_FFFFL;
        if (length > MAX_LENGTH || octetsBefore > MAX_BEFORE_PACKETS) {
            isBroken = true;
            return Anep.BASIC_HEADER_OCTETS;
        }
        if (available < LENGTH_OCTETS + length || available < LENGTH_OCTETS) {
            return isEnding ? Math.min(available, Anep.BASIC_HEADER_OCTETS - 1) : 0;
        }
        return length < Selector.OCTETS ? 0 : packetOctets(units, start, (int) length);
    }

    private static boolean isPartOfOpening(ByteBuffer units, int start, int end) {
        for (int i = 0; i < Math.min(OPENING_OCTETS, end - start); i++) {
            if (units.get(start + i) != (byte) (OPENING >> 24 - 8 * i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the octets of the packet that a whole unit becomes; 0 = none. */
    private int packetOctets(ByteBuffer units, int start, int length) {
        long selector = units.getLong(start + LENGTH_OCTETS);
        int payload = length - Selector.OCTETS;
        header = null;
        if (selector == Selector.TUNNEL) {
            int at = start + HEAD_OCTETS;
            isBroken = payload == 0 || Framing.next(units, at, at + payload) != payload;
            return isBroken ? Anep.BASIC_HEADER_OCTETS : payload;
        }
        header = control.find(selector);
        int octets = header == null ? 0 : header.octets() + payload;
        return octets > Anep.MAX_PACKET_OCTETS ? 0 : octets;
    }

    @Override
    public int decode(ByteBuffer units, int start, int end, ByteBuffer packets, int at) {
        int available = end - start;
        if (isBroken) {
            isOver = true;
            packets.putLong(at, brokenHeader(units, start, available));
            return available;
        }
        int unit = available < LENGTH_OCTETS ? Integer.MAX_VALUE : LENGTH_OCTETS + units.getInt(start);
        if (available < unit) {
            for (int i = 0; i < Math.min(available, Anep.BASIC_HEADER_OCTETS - 1); i++) {
                packets.put(at + i, (byte) Anep.VERSION); // Part of a packet, since it came in part.
            }
            return available;
        }
        hasSentPackets = true;
        int payload = unit - HEAD_OCTETS;
        HeaderTemplate known = header;
        if (known == null) {
            packets.put(at, units, start + HEAD_OCTETS, payload);
        } else {
            known.writeExactly(packets, at, known.octets() + payload);
            packets.put(at + known.octets(), units, start + HEAD_OCTETS, payload);
            packetsIn++;
        }
        return unit;
    }

    /** Returns the basic header of what was tunnelled, if that is what is broken; else one whose lengths cannot be. */
    private static long brokenHeader(ByteBuffer units, int start, int available) {
        boolean isTunnelled = available >= HEAD_OCTETS + Anep.BASIC_HEADER_OCTETS
                && Integer.compareUnsigned(units.getInt(start), MAX_LENGTH) <= 0
                && units.getLong(start + LENGTH_OCTETS) == Selector.TUNNEL
                && Framing.fault(units, start + HEAD_OCTETS) != null;
        return isTunnelled ? units.getLong(start + HEAD_OCTETS) : (long) Anep.VERSION << 56;
    }

    @Override
    public int takenOctets(ByteBuffer units, int start, int end) {
        int available = end - start;
        if (!isOpen) {
            isOpen = available >= OPENING_OCTETS;
            return isOpen ? OPENING_OCTETS : 0;
        }
        if (isOver) {
            return available;
        }
        if (available < LENGTH_OCTETS || available < LENGTH_OCTETS + units.getInt(start)) {
            return 0;
        }
        int length = units.getInt(start);
        if (neighbour == null && !hasSentPackets) {
            octetsBefore += LENGTH_OCTETS + length;
        }
        take(units, start + LENGTH_OCTETS, length);
        return LENGTH_OCTETS + length;
    }

    /** Takes what becomes no packet. */
    private void take(ByteBuffer units, int at, int length) {
        if (length < Selector.OCTETS) {
            drop(DropReason.SHORT, length);
            return;
        }
        long selector = units.getLong(at);
        if (selector == Selector.CONTROL) {
            control.take(units, at, length);
        } else if (!Selector.isIssued(selector)) {
            drop(selector == Selector.RAW_IP ? DropReason.RAW_IP : DropReason.SELECTOR, length);
        } else if (header != null) {
            drop(DropReason.PACKET_TOO_LONG, length);
        } else {
            drop(DropReason.MISS, length);
            control.miss(selector);
        }
    }

    private void drop(DropReason reason, int octets) {
        sapf.drop(reason, high, low, port, octets);
    }

    @Override
    public void unitsEnd() {
        isEnding = true;
    }

    @Override
    public int saidOctets() {
        if (packetsIn > 0) {
            sapf.received(packetsIn);
            packetsIn = 0;
        }
        if (packetsOut > 0) {
            sapf.sent(packetsOut, 0);
            packetsOut = 0;
        }
        return control.saidOctets();
    }

    @Override
    public void say(ByteBuffer units, int at) {
        hasSpoken = true;
        control.say(units, at);
    }

    @Override
    public boolean awaitsAnswer() {
        return flows != null && flows.isAsking();
    }

    @Override
    public int encodedOctets(ByteBuffer packets, int start) {
        int length = Framing.claimedLength(packets, start);
        flow = flows == null ? null : flows.flow(packets, start, length);
        StreamFlow known = flow;
        if (known == null) {
            return HEAD_OCTETS + length;
        }
        return known.selector != Selector.NONE
                ? HEAD_OCTETS + length - known.header.octets()
                : HEAD_OCTETS + length + askingOctets(known);
    }

    private int askingOctets(StreamFlow known) {
        return known.isNew ? StreamControl.askingOctets(known.header, known.released) : 0;
    }

    @Override
    public int encode(ByteBuffer packets, int start, ByteBuffer units, int at) {
        int length = Framing.claimedLength(packets, start);
        StreamFlow known = flow;
        if (known != null && known.selector != Selector.NONE) {
            put(units, at, known.selector, packets, start + known.header.octets(), length - known.header.octets());
            packetsOut++;
        } else {
            int asking = 0;
            if (known != null && known.isNew) {
                asking = askingOctets(known);
                StreamControl.ask(units, at, known.header, known.request, known.released);
                known.isNew = false;
            }
            put(units, at + asking, Selector.TUNNEL, packets, start, length);
        }
        return length;
    }

    private static void put(ByteBuffer units, int at, long selector, ByteBuffer packets, int payload, int octets) {
        units.putInt(at, Selector.OCTETS + octets).putLong(at + LENGTH_OCTETS, selector);
        units.put(at + HEAD_OCTETS, packets, payload, octets);
    }

    @Override
    public void failed(String why) {
        boolean isNoAnswer = hasSpoken && !isOpen && !isClosed;
        if (neighbour != null && isNoAnswer && neighbour.leaveAnep(sapf.nowNs() + Sapf.STREAM_REST.toNanos())) {
            LOG.warn(
                    "SAPF: {} did not answer over TCP: {}; it gets ANEP for {} s",
                    Addresses.text(peer),
                    why,
                    Sapf.STREAM_REST.toSeconds());
        }
    }

    @Override
    public void closed() {
        if (!isClosed) {
            isClosed = true;
            saidOctets();
            control.close();
        }
    }
}
