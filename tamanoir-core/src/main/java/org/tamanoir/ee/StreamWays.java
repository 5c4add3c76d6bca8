package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.GatewayAddress;
import org.tamanoir.transport.TcpConnection;

/**
 * A stream's connections to its next hops: what leaves by them, and the replies that they bring for the sender.
 *
 * <p>Thread contract: the stream's thread.
 */
final class StreamWays {
    private static final Logger LOG = LoggerFactory.getLogger(StreamWays.class);

    private final StreamInstance instance;
    private final List<TcpEgress> ways;
    private final GuardView guard;
    private long repliesSeen;
    private int firstToReply;

    /** The way to the sender. */
    interface WayBack {
        /** Counts out what went back; returns whether it takes packets now. */
        boolean clear();

        /** Adds a packet that lies here; false when there is no room for it now. */
        boolean add(Buffer buffer, int offset, int bytes);

        /** Hands what was added on. */
        void flush();
    }

    StreamWays(StreamInstance instance) {
        this.instance = instance;
        this.ways = instance.connections.all();
        this.guard = new GuardView(instance.context);
    }

    /**
     * Sends what links have granted, counts out what has left, notes failures on the way, and watches what waits.
     *
     * @return whether everything has left that must before the memory may change
     */
    boolean advance() {
        instance.nextHops.flushGranted();
        boolean drained = true;
        for (int i = 0; i < ways.size(); i++) {
            TcpEgress way = ways.get(i);
            way.countOut();
            if (way.held() > 0) {
                way.watch();
                if (way.connection().failure() != null) {
                    lost(way);
                }
                drained &= !way.holdsMemory();
            }
        }
        return drained;
    }

    /** Sends what links have granted, and notes nothing else: the stream ends. */
    void writeGranted() {
        instance.nextHops.flushGranted();
        ways.forEach(TcpEgress::countOut);
    }

    private void lost(TcpEgress way) {
        TcpConnection connection = way.connection();
        instance.lost(
                way,
                StreamInstance.reasonOf(connection, DropReason.NEXT_HOP_LOST),
                "was lost: " + connection.failure());
    }

    /**
     * Takes whole packets of next hops back to the sender, as far as that one takes them: first of the next hop behind
     * the one whose packets went back last, so that each gets its turn.
     *
     * @return whether any went back
     */
    boolean relayReplies(WayBack back) {
        long before = repliesSeen;
        int begin = firstToReply;
        int count = ways.size();
        for (int i = 0; i < count; i++) {
            int index = (begin + i) % count;
            TcpEgress way = ways.get(index);
            if (way.isGone()) {
                continue;
            }
            TcpConnection from = way.connection();
            Buffer input = from.input();
            if (input != null && from.end() > from.start() && relay(way, from, input, back)) {
                firstToReply = index + 1;
            }
            if (from.isInputCut()) {
                lost(way);
            }
            if (!way.isGone()) {
                from.trim();
            }
        }
        return repliesSeen != before;
    }

    /** Takes back what one next hop has sent; returns whether there was a packet. */
    private boolean relay(TcpEgress way, TcpConnection from, Buffer input, WayBack back) {
        if (!back.clear()) {
            from.wantInput(false);
            way.relayed(0, true);
            return false;
        }
        long before = repliesSeen;
        ByteBuffer bytes = input.nio();
        int at = from.start();
        int length;
        boolean isGuarded = guard.isOn();
        while ((length = Framing.next(bytes, at, from.end())) > 0) {
            DropReason refusal = isGuarded ? guard.refusal(bytes, at, length) : null;
            if (refusal != null) {
                instance.path.drops().drop(refusal, bytes, at, length);
                if (instance.gateway != null) {
                    instance.abort(refusal, "its replies must be authenticated, and those of a gateway are not");
                }
            } else if (!back.add(input, at, length)) {
                break;
            } else if (isGuarded) {
                guard.take();
            }
            repliesSeen++;
            instance.traffic.in(length);
            Tap tap = instance.context.tap();
            if (tap.watchesArrivals()) {
                tap.arrived(StreamInfo.Transport.TCP, from.remoteAddress(), from.localAddress(), bytes, at, length);
            }
            at += length;
        }
        from.consumed(at);
        back.flush();
        way.relayed(repliesSeen - before, length > 0);
        if (length == Framing.BROKEN) {
            broken(way, from, bytes, at);
        } else {
            from.wantInput(length == Framing.MORE);
        }
        return repliesSeen != before;
    }

    private void broken(TcpEgress way, TcpConnection from, ByteBuffer bytes, int at) {
        ParseFault fault = Framing.fault(bytes, at);
        int rest = from.end() - at;
        instance.traffic.in(1, rest);
        instance.traffic.drop(
                fault == null ? DropReason.HEADER_LENGTH : DropReason.of(fault),
                from.remoteAddress(),
                ServiceKey.NONE,
                rest);
        from.consumed(from.end());
        LOG.info(
                "{}: next hop {} sent back no ANEP packet ({}): connection reset",
                instance.thread.name(),
                from.remoteAddress(),
                fault);
        instance.lost(way, DropReason.NEXT_HOP_LOST, "sent back no ANEP packet");
        from.reset();
    }

    /** Returns how many replies came so far. */
    long repliesSeen() {
        return repliesSeen;
    }

    /** Returns whether every next hop has ended its side. */
    boolean repliesEnded() {
        return ways.stream().allMatch(TcpEgress::hasEnded);
    }

    /** Returns whether the far side of the stream's gateway has ended its side, and all its packets have been taken. */
    boolean hasFarSideEnded() {
        for (int i = 0; i < ways.size(); i++) {
            if (ways.get(i).connection().remoteAddress() instanceof GatewayAddress) {
                return ways.get(i).hasEnded();
            }
        }
        return false;
    }

    /** Ends this side towards all next hops. */
    void shutdown() {
        for (TcpEgress each : ways) {
            if (!each.isGone()) {
                each.connection().shutdownOutput();
            }
        }
    }

    /** Returns whether all far sides will know of the end, which with TLS the operating system may not take at once. */
    boolean isShutDown() {
        return ways.stream().allMatch(each -> each.connection().isOutputEnded());
    }

    /** Closes all connections so that their far sides know that something is missing. */
    void reset(DropReason reason) {
        ways.forEach(each -> each.reset(reason));
        instance.nextHops.closeUnflushed(reason);
    }
}
