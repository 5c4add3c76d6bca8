package org.tamanoir.services.morph;

import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.message.Bound;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/**
 * A chain on a node whose contexts run while flight 0 is in hand, and at no other time: what they finish then leaves
 * before that flight's packet does, or behind it, but never between packets.
 */
public final class ChainByHand extends MessageService {
    public static final Format FLIGHT = Flights.FLIGHT;

    private final String[] plan;
    private @Nullable Engine engine;

    public ChainByHand(String... plan) {
        this.plan = plan;
    }

    /** Returns the packet of a flight: 0 lets the others go. */
    public static Packet packet(PacketBuilder builder, long id, int hubBytes) {
        byte[] record = new RecordEncoder(FLIGHT).encode(Map.of("id", id, "delay", 1, "hub", "h".repeat(hubBytes)));
        return builder.option(Option.FORMAT.wireType(), FLIGHT.id().toBytes()).build(ByteBuffer.wrap(record));
    }

    private Engine engine() {
        Engine there = engine;
        if (there == null) {
            TestKinds kinds = new TestKinds();
            there = new Engine(
                    "test", Plans.read(kinds, plan), 1, kinds, stream().transport(), this::nanoTime, () -> true, false);
            engine = there;
        }
        return there;
    }

    @Override
    public Bound bind(Format input) {
        return new SameFormat(input, (message, outlet) -> {
            if (Flights.id(message) != 0) {
                return engine().handle(message, outlet);
            }
            boolean worked = true;
            while (worked) {
                worked = false;
                for (Context context : engine().chain().contexts()) {
                    worked |= context.number != Plan.RECEIVE && context.turn();
                }
            }
            return Outcome.FORWARD;
        });
    }

    @Override
    public long expire(long nowNs, Outlet outlet) {
        return engine().expire(nowNs, outlet);
    }
}
