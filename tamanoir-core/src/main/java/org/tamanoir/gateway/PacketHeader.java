package org.tamanoir.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.routing.Addresses;

/**
 * The header that a gateway puts in front of what becomes a packet's payload. Another sender of the same family is written
 * over the one before, so that nothing is made for each.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class PacketHeader {
    private static final int SCHEME_OCTETS = 4;

    private final ByteBuffer octets;
    /** Where the sender's address stands; 0 = nowhere. */
    private final int senderAt;

    private final boolean isIpv4;
    private long high;
    private long low;

    /** Makes that of packets from this sender. */
    PacketHeader(InetAddress sender, InetSocketAddress to, long serviceKey, int classOfService, int typeId) {
        PacketBuilder builder = new PacketBuilder()
                .typeId(typeId)
                .source(sender)
                .destination(to.getAddress())
                .destinationPort(to.getPort());
        if (serviceKey != ServiceKey.NONE) {
            builder.serviceKey(serviceKey);
        }
        if (classOfService != 0) {
            builder.classOfService(classOfService, 0);
        }
        Packet packet = builder.build(ByteBuffer.allocate(0));
        octets = ByteBuffer.wrap(octets(packet));
        senderAt = packet.optionOffset(Option.SOURCE) - packet.offset() + SCHEME_OCTETS;
        high = Addresses.high(sender);
        low = Addresses.low(sender);
        isIpv4 = Addresses.isIpv4(high, low);
    }

    /** Returns the header of packets that name nobody. */
    static byte[] ofNobody(int typeId) {
        return octets(new PacketBuilder().typeId(typeId).build(ByteBuffer.allocate(0)));
    }

    private static byte[] octets(Packet packet) {
        byte[] header = new byte[packet.headerLength()];
        packet.buffer().get(packet.offset(), header);
        return header;
    }

    /** Returns whether a sender with such an address can stand in it. */
    public boolean isFor(long high, long low) {
        return isIpv4 == Addresses.isIpv4(high, low);
    }

    public int length() {
        return octets.capacity();
    }

    /** Has it name this sender from now on, whom it {@link #isFor}. */
    public void from(long high, long low) {
        if (this.low == low && this.high == high) {
            return;
        }
        if (isIpv4) {
            octets.putInt(senderAt, (int) low);
        } else {
            octets.putLong(senderAt, high).putLong(senderAt + Long.BYTES, low);
        }
        this.high = high;
        this.low = low;
    }

    /** Writes it in front of so many octets of payload. */
    public void put(ByteBuffer to, int at, int payloadOctets) {
        to.put(at, octets, 0, octets.capacity());
        to.putShort(at + Anep.LENGTH_AT, (short) (octets.capacity() + payloadOctets));
    }

    /** Returns the octets, with no length in them. */
    byte[] octets() {
        return octets.array();
    }
}
