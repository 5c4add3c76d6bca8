package org.tamanoir.services.extra.aggregate;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * Takes apart what {@link Aggregate} has put together: each packet goes on with the header and options that it had, in
 * its order; with no more hops left to it, if it has a budget of them, than the packet had that brought it.
 *
 * <p>All of a packet's content is looked at before any of it leaves. What is inside must be whole packets with the source,
 * destination, port and class of the one around them: nothing gets past what nodes before have let pass by these.
 *
 * <p>Settings: {@code next}, default {@code none}: name of the service that the next node shall run on the packets;
 * {@code none}: they name no service from here on.
 *
 * <p>Counters: {@code aggregates}, {@code packets} (that were inside), {@code packets-refused} (by the node), {@code
 * singles}. Drops: {@code not aggregated}, {@code bad aggregate} (lengths or numbers that cannot be, or no packets), {@code
 * packet of another flow inside}.
 */
@Settings(of = NextService.class)
@ChangesSize(SizeEffect.GROWS)
public final class Split extends Service {
    private static final String BAD = "bad aggregate";
    private static final String OTHER_FLOW = "packet of another flow inside";

    private final ByteBuffer octets = ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS);
    private Packet inner = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    private int typeId = Anep.DEFAULT_TYPE_ID;
    private NextService next = new NextService(0);
    private Counter aggregates = new Counter("aggregates");
    private Counter packets = new Counter("packets");
    private Counter packetsRefused = new Counter("packets-refused");
    private Counter singles = new Counter("singles");

    @Override
    public void init(ServiceConfig config) {
        config.allow("next");
        next = NextService.of(config);
        aggregates = counter("aggregates");
        packets = counter("packets");
        packetsRefused = counter("packets-refused");
        singles = counter("singles");
    }

    @Override
    public Verdict process(Packet packet) {
        int inside = AggregateHeader.packets(packet);
        if (inside < 0) {
            return drop("not aggregated");
        }
        if (inside == 0) {
            ByteBuffer payload = packet.payload();
            packet.setPayload(payload.position(payload.position() + AggregateHeader.BYTES));
            next.name(packet);
            singles.add(1);
            return Verdict.FORWARD;
        }
        if (packet.typeId() != typeId) {
            typeId = packet.typeId();
            inner = new Packet(typeId, PacketSpace.HEAP);
        }
        // In memory of its own: packets that are sent are changed.
        ByteBuffer whole = packet.look();
        int bytes = packet.payloadLength() - AggregateHeader.BYTES;
        octets.put(0, whole, whole.position() + packet.headerLength() + AggregateHeader.BYTES, bytes);
        String fault = fault(packet, inside, bytes);
        if (fault != null) {
            return drop(fault);
        }
        aggregates.add(1);
        int length;
        for (int at = 0; at < bytes; at += length) {
            inner.parse(octets, at, bytes - at);
            length = inner.length();
            send(packet, at);
        }
        return Verdict.CONSUME;
    }

    /** Says what is wrong with the content; null = nothing. */
    private @Nullable String fault(Packet around, int inside, int bytes) {
        int at = 0;
        for (int i = 0; i < inside; i++) {
            if (at == bytes || inner.parse(octets, at, bytes - at) != null) {
                return BAD;
            }
            if (!isOfSameFlow(around)) {
                return OTHER_FLOW;
            }
            at += inner.length();
        }
        return at == bytes ? null : BAD;
    }

    private boolean isOfSameFlow(Packet around) {
        return inner.typeId() == around.typeId()
                && inner.hasInternetSource() == around.hasInternetSource()
                && inner.sourceHigh() == around.sourceHigh()
                && inner.sourceLow() == around.sourceLow()
                && inner.hasInternetDestination() == around.hasInternetDestination()
                && inner.destinationHigh() == around.destinationHigh()
                && inner.destinationLow() == around.destinationLow()
                && inner.destinationPort() == around.destinationPort()
                && inner.classOfService() == around.classOfService();
    }

    private void send(Packet around, int at) {
        int hops = around.hopBudget();
        boolean isMore = inner.hopBudget() == 0 || hops < inner.hopBudget();
        if (inner.has(Option.HOP_BUDGET) && around.has(Option.HOP_BUDGET) && hops > 0 && isMore) {
            octets.putShort(inner.optionOffset(Option.HOP_BUDGET), (short) hops);
            inner.payload(); // Makes the checksum one that is to be written anew.
        }
        next.name(inner);
        inner.seal();
        (emit(inner) ? packets : packetsRefused).add(1);
    }
}
