package org.tamanoir.gateway;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.transport.StreamCodec;

/** Packets of one connection, all with the same header, from and into the units of a format. */
final class PacketCodec implements StreamCodec {
    private static final int LENGTH_AT = 6;

    private final StreamFormat format;
    private final byte[] header;
    /** The packet is to come that says that there is a connection. */
    private boolean begins;

    /** @param begins whether its sender is one of the gateway's, whom the far side is to learn of at once */
    PacketCodec(StreamFormat format, byte[] header, boolean begins) {
        this.format = format;
        this.header = header;
        this.begins = begins && format.isUnbounded();
    }

    @Override
    public int decodedOctets(ByteBuffer units, int start, int end) throws IOException {
        if (begins) {
            return header.length;
        }
        int unit = format.unitOctets(units, start, end);
        int most = Anep.MAX_PACKET_OCTETS - header.length + format.prefixOctets();
        if (unit < 0 || unit > most || unit != 0 && unit < format.prefixOctets()) {
            throw new IOException("a message of " + format.name() + " says that it has "
                    + (unit - format.prefixOctets()) + " octets: 0 to " + (most - format.prefixOctets())
                    + " fit a packet; send shorter ones");
        }
        return unit == 0 || unit > end - start ? 0 : header.length + unit - format.prefixOctets();
    }

    @Override
    public int decode(ByteBuffer units, int start, int end, ByteBuffer packets, int at) {
        packets.put(at, header);
        if (begins) {
            begins = false;
            packets.putShort(at + LENGTH_AT, (short) header.length);
            return 0;
        }
        int unit;
        try {
            unit = format.unitOctets(units, start, end);
        } catch (IOException e) {
            throw new IllegalStateException("format " + format.name() + " changed its mind", e);
        }
        int payload = unit - format.prefixOctets();
        packets.putShort(at + LENGTH_AT, (short) (header.length + payload));
        packets.put(at + header.length, units, start + format.prefixOctets(), payload);
        return unit;
    }

    @Override
    public int encodedOctets(ByteBuffer packets, int start) {
        int payload = payloadOctets(packets, start);
        return payload == 0 && format.isUnbounded() ? 0 : format.prefixOctets() + payload;
    }

    private static int payloadOctets(ByteBuffer packets, int start) {
        return Framing.claimedLength(packets, start) - Framing.claimedHeaderLength(packets, start);
    }

    @Override
    public int encode(ByteBuffer packets, int start, ByteBuffer units, int at) {
        int payload = payloadOctets(packets, start);
        if (payload > 0 || !format.isUnbounded()) {
            format.putPrefix(units, at, payload);
            units.put(
                    at + format.prefixOctets(), packets, start + Framing.claimedHeaderLength(packets, start), payload);
        }
        return Framing.claimedLength(packets, start);
    }
}
