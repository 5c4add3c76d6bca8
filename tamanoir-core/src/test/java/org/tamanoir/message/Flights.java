package org.tamanoir.message;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

/** Records of flights, the packets that carry them, and what a receiver makes of packets. */
final class Flights {
    static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("delay", "integer", 4)
            .field("hub", "string")
            .build();
    static final Format SHORT = Format.builder(Layout.X86_64)
            .structure("short")
            .field("id", "integer", 8)
            .field("delay", "integer", 4)
            .build();
    static final int STREAM = 7;

    private Flights() {}

    static byte[] flight(int id, int delay, String hub) {
        return new RecordEncoder(FLIGHT).encode(Map.of("id", id, "delay", delay, "hub", hub));
    }

    static byte[] small(int id, int delay) {
        return new RecordEncoder(SHORT).encode(Map.of("id", id, "delay", delay));
    }

    /** Returns a header as senders make it. */
    static PacketBuilder header() {
        try {
            return new PacketBuilder()
                    .source(InetAddress.getByName("10.0.1.2"))
                    .destination(InetAddress.getByName("10.0.2.7"))
                    .hopBudget(16)
                    .checksum();
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    private static PacketBuilder beginning(FormatId id) {
        return header().option(Option.FORMAT.wireType(), Arrays.copyOf(id.toBytes(), 12));
    }

    /** Returns a packet with a whole record. */
    static Packet packet(Format format, byte[] record) {
        return packet(format.id(), record);
    }

    static Packet packet(FormatId id, byte[] record) {
        return beginning(id).build(ByteBuffer.wrap(record));
    }

    /** Returns the packets of a record that is cut at these places; the first has this sequence number. */
    static List<Packet> packets(FormatId id, byte[] record, int stream, long sequence, int... cuts) {
        List<Packet> packets = new ArrayList<>();
        int from = 0;
        for (int i = 0; i <= cuts.length; i++) {
            int to = i < cuts.length ? cuts[i] : record.length;
            PacketBuilder builder =
                    (i == 0 ? beginning(id) : header()).stream(stream).nextSequence(sequence + i);
            packets.add(builder.build(ByteBuffer.wrap(record, from, to - from)));
            from = to;
        }
        return packets;
    }

    static List<Packet> packets(byte[] record, int... cuts) {
        return packets(FLIGHT.id(), record, STREAM, 0, cuts);
    }

    // ---- items --------------------------------------------------------------------------------------------------

    static byte[] dataItem(byte[] record) {
        return ByteBuffer.allocate(8 + record.length)
                .putInt(3 << 24)
                .putInt(record.length)
                .put(record)
                .array();
    }

    static byte[] formatItem(FormatId id, byte[] description) {
        return ByteBuffer.allocate(8 + id.length() + description.length)
                .putInt(2 << 24 | id.length())
                .putInt(description.length)
                .put(id.toBytes())
                .put(description)
                .array();
    }

    static byte[] formatItem(Format format) {
        return formatItem(format.id(), format.description());
    }

    static Packet run(byte[]... items) {
        return header().build(ByteBuffer.wrap(join(items)));
    }

    static byte[] join(byte[]... parts) {
        ByteBuffer all =
                ByteBuffer.allocate(Arrays.stream(parts).mapToInt(p -> p.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }

    // ---- the far end --------------------------------------------------------------------------------------------

    static byte[] payload(Packet packet) {
        byte[] bytes = new byte[packet.payloadLength()];
        packet.payload().get(bytes);
        return bytes;
    }

    static byte[] bytes(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.seal();
        packet.copyTo(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    /** Returns the records that packets with option 6, and those that continue them, carry, by their first packet. */
    static List<byte[]> records(List<Packet> packets) {
        Map<Integer, TreeMap<Long, Packet>> streams = new HashMap<>();
        packets.forEach(
                p -> streams.computeIfAbsent(p.streamId(), s -> new TreeMap<>()).put(p.sequence(), p));
        List<byte[]> records = new ArrayList<>();
        for (Packet first : packets) {
            if (!first.has(Option.FORMAT)) {
                continue;
            }
            List<byte[]> parts = new ArrayList<>(List.of(payload(first)));
            for (long next = first.sequence() + 1; first.has(Option.STREAM); next++) {
                Packet more =
                        Objects.requireNonNull(streams.get(first.streamId())).get(next);
                if (more == null || more.has(Option.FORMAT)) {
                    break;
                }
                parts.add(payload(more));
            }
            records.add(join(parts.toArray(byte[][]::new)));
        }
        return records;
    }
}
