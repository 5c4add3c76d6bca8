package org.tamanoir.gateway;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.transport.StreamCodec;

/** Packets of one connection, all with the same header, from and into the units of a format. */
final class PacketCodec implements StreamCodec {

    private final StreamFormat format;
    private final byte[] header;
    private final @Nullable LongAdder decoded;
    private final @Nullable LongAdder encoded;
    /** The packet is to come that says that there is a connection. */
    private boolean begins;
    /** Of the unit that {@link #decodedOctets} has looked at. */
    private int unit;

    /**
     * @param begins whether its sender is one of the gateway's, whom the far side is to learn of at once
     * @param decoded counts the octets of units that become packets; null = nobody does
     * @param encoded counts the octets of units that packets become; null = nobody does
     */
    PacketCodec(
            StreamFormat format,
            byte[] header,
            boolean begins,
            @Nullable LongAdder decoded,
            @Nullable LongAdder encoded) {
        this.format = format;
        this.header = header;
        this.begins = begins && format.beginsAtOnce();
        this.decoded = decoded;
        this.encoded = encoded;
    }

    @Override
    public int decodedOctets(ByteBuffer units, int start, int end) throws IOException {
        if (begins) {
            return header.length;
        }
        int most = Anep.MAX_PACKET_OCTETS - header.length + format.prefixOctets();
        long octets = format.unitOctets(units, start, end);
        if (octets < 0 || octets > most || octets != 0 && octets < format.prefixOctets()) {
            throw new IOException("a message of " + format.name() + " says that it has "
                    + (octets - format.prefixOctets()) + " octets: 0 to " + (most - format.prefixOctets())
                    + " fit a packet; send shorter ones");
        }
        if (octets == 0 && end - start >= most) {
            throw new IOException("in " + (end - start) + " octets no message of " + format.name()
                    + " has ended: at most " + (most - format.prefixOctets()) + " fit a packet; send shorter ones");
        }
        unit = (int) octets;
        return unit == 0 || unit > end - start ? 0 : header.length + unit - format.prefixOctets();
    }

    @Override
    public int decode(ByteBuffer units, int start, int end, ByteBuffer packets, int at) {
        packets.put(at, header);
        if (begins) {
            begins = false;
            packets.putShort(at + Anep.LENGTH_AT, (short) header.length);
            return 0;
        }
        int payload = unit - format.prefixOctets();
        packets.putShort(at + Anep.LENGTH_AT, (short) (header.length + payload));
        packets.put(at + header.length, units, start + format.prefixOctets(), payload);
        if (decoded != null) {
            decoded.add(unit);
        }
        return unit;
    }

    @Override
    public int encodedOctets(ByteBuffer packets, int start) {
        return format.prefixOctets() + payloadOctets(packets, start);
    }

    private static int payloadOctets(ByteBuffer packets, int start) {
        return Framing.claimedLength(packets, start) - Framing.claimedHeaderLength(packets, start);
    }

    @Override
    public int encode(ByteBuffer packets, int start, ByteBuffer units, int at) {
        int payload = payloadOctets(packets, start);
        if (encoded != null) {
            encoded.add(format.prefixOctets() + payload);
        }
        format.putPrefix(units, at, payload);
        units.put(at + format.prefixOctets(), packets, start + Framing.claimedHeaderLength(packets, start), payload);
        return Framing.claimedLength(packets, start);
    }
}
