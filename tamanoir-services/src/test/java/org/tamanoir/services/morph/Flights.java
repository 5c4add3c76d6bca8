package org.tamanoir.services.morph;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Map;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.message.Message;

/** Messages of the tests: flights with a number and a delay. */
final class Flights {
    static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("delay", "integer")
            .field("hub", "string")
            .build();
    /** As the paper's smaller format: what a projection makes. */
    static final Format LATE = Format.builder(Layout.X86_64)
            .structure("late")
            .field("id", "integer", 8)
            .build();

    private static final Accessor ID = FLIGHT.accessor("id");
    private static final Accessor LATE_ID = LATE.accessor("id");

    static final String DECLARE =
            "declare:\n" + "  flight: {id: integer(8), delay: integer, hub: string}\n" + "  late: {id: integer(8)}\n";

    private final RecordEncoder encoder = new RecordEncoder(FLIGHT);
    private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 16);
    private final Message message = new Message();
    private final Packet header = header(7);

    static Packet header(int lastByte) {
        try {
            return new PacketBuilder()
                    .source(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}))
                    .destination(InetAddress.getByAddress(new byte[] {10, 0, 9, (byte) lastByte}))
                    .destinationPort(4000)
                    .classOfService(3, 0)
                    .checksum()
                    .build(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A message that the next call overwrites. */
    Message flight(long id) {
        return flight(id, (int) (id % 40), "ATL");
    }

    Message flight(long id, int delay, String hub) {
        int length = encoder.encode(Map.of("id", id, "delay", delay, "hub", hub), memory, 64);
        return message.wrap(FLIGHT, memory, 64, length, header, id);
    }

    /** The number of a flight in either format. */
    static long id(Message message) {
        return message.format() == FLIGHT ? ID.getLong(message.record()) : LATE_ID.getLong(message.record());
    }
}
