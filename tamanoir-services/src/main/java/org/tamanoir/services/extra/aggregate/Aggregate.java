package org.tamanoir.services.extra.aggregate;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Puts small packets of a flow into one ({@link AggregateHeader}), which {@link Split} on a node further on takes apart;
 * so what costs by the packet, in nodes, routers and system calls, is paid once for many. A flow is what has the same
 * {@linkplain Header header}; its order is kept.
 *
 * <p>Packets wait until the next one does not fit, {@code delay-us} at most. The one that leaves has the header of the
 * first. A packet too large to be with others goes on by itself, 4 bytes longer, behind those that waited. Memory: {@code
 * flows} times {@code max-payload} at most.
 *
 * <p>Counters: {@code packets} (that were put into others), {@code aggregates}, {@code aggregates-refused} (by the node:
 * their packets are lost), {@code singles}. Drops: {@code header leaves no room for the aggregate's}.
 */
@Setting(
        name = "max-payload",
        kind = Setting.Kind.NUMBER,
        standard = "1400",
        min = 64,
        max = 65_000,
        text = "bytes of packets that leave as one")
@Setting(
        name = "delay-us",
        kind = Setting.Kind.NUMBER,
        standard = "1000",
        min = 1,
        max = 1_000_000,
        text = "the longest that a packet waits")
@Setting(
        name = "flows",
        kind = Setting.Kind.NUMBER,
        standard = "1024",
        min = 1,
        max = 65_536,
        text =
                "flows at once, with max-payload at most 256 MiB; what the one that was silent for longest has leaves for a new one")
@Setting(
        name = "next",
        standard = "org.tamanoir.services.extra.aggregate.Split",
        text = "name of the service that the next node shall run; none: the packet names no service from here on")
@ChangesSize(SizeEffect.SHRINKS)
public final class Aggregate extends Service {
    private static final long MAX_MEMORY = 256 << 20;

    private final MadePacket made = new MadePacket();
    private FlowTable<Collected> flows = new FlowTable<>(1, this::begin, this::send);
    private Deadlines<Collected> waiting = waiting(Duration.ZERO);
    private NextService next = new NextService(0);
    private int maxPacketBytes;
    private int maxBytes = 64;
    private Counter packets = new Counter("packets");
    private Counter aggregates = new Counter("aggregates");
    private Counter aggregatesRefused = new Counter("aggregates-refused");
    private Counter singles = new Counter("singles");

    @Override
    public void init(ServiceConfig config) {
        config.allow("max-payload", "delay-us", "flows", "next");
        maxBytes = (int) config.number("max-payload", 1400, 64, 65_000);
        waiting = waiting(Duration.ofNanos(config.number("delay-us", 1000, 1, 1_000_000) * 1000));
        int maxFlows = (int) config.number("flows", 1024, 1, 65_536);
        if ((long) maxFlows * maxBytes > MAX_MEMORY) {
            throw new IllegalArgumentException("flows: " + maxFlows + " of max-payload " + maxBytes
                    + " bytes take more than " + MAX_MEMORY + "; lower one of them");
        }
        flows = new FlowTable<>(maxFlows, this::begin, this::send);
        next = NextService.of(config, "next", "org.tamanoir.services.extra.aggregate.Split");
        maxPacketBytes = stream().transport() == Transport.UDP ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        packets = counter("packets");
        aggregates = counter("aggregates");
        aggregatesRefused = counter("aggregates-refused");
        singles = counter("singles");
    }

    private Deadlines<Collected> waiting(Duration delay) {
        return new Deadlines<>(delay, this::nanoTime, this::after, this::send);
    }

    private Collected begin(Header header) {
        return new Collected(header, maxBytes);
    }

    @Override
    public Verdict process(Packet packet) {
        int header = packet.headerLength() + next.extraBytes(packet) + AggregateHeader.BYTES;
        Collected flow = flows.of(packet);
        if (packet.length() > maxBytes || header + maxBytes > maxPacketBytes) {
            if (header + packet.payloadLength() > maxPacketBytes) {
                return drop("header leaves no room for the aggregate's");
            }
            send(flow);
            return single(packet);
        }
        if (!flow.hasRoom(packet.length())) {
            send(flow);
        }
        packet.seal();
        flow.add(packet, flows.header());
        packets.add(1);
        if (flow.packets() == 1) {
            waiting.add(flow);
        }
        return Verdict.CONSUME;
    }

    private Verdict single(Packet packet) {
        ByteBuffer payload = packet.payload();
        int bytes = AggregateHeader.BYTES + payload.remaining();
        ByteBuffer room = packet.newPayload(bytes);
        AggregateHeader.write(room, 0);
        room.put(payload);
        packet.commitPayload(bytes);
        next.name(packet);
        singles.add(1);
        return Verdict.FORWARD;
    }

    /** Sends what a flow has, if anything. */
    private void send(Collected flow) {
        if (flow.packets() == 0) {
            return;
        }
        waiting.remove(flow);
        int bytes = AggregateHeader.BYTES + flow.bytes();
        ByteBuffer room = made.room(flow.header(), bytes);
        AggregateHeader.write(room, flow.packets());
        flow.drainTo(room);
        Packet packet = made.finish(flow.header(), flow.firstSequence(), flow.firstOriginNs(), bytes);
        next.name(packet);
        (emit(packet) ? aggregates : aggregatesRefused).add(1);
    }

    @Override
    public void endOfStream() {
        flows.all().forEach(this::send);
    }
}
