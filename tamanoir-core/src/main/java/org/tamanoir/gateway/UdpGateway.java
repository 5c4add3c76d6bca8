package org.tamanoir.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;

/**
 * Carries datagrams that are no packets through a service to one far side. In the node each is the payload of a packet
 * from its sender to {@link #to}, with the service's key.
 *
 * @param address where it receives; port 0 takes a free one
 * @param to the far side
 * @param serviceKey the key of the service that the packets name; {@link ServiceKey#NONE} = none
 * @param classOfService 0 to 255
 * @param rtpClockHz the clock of RTP's payload types that have none of their own; 0 = any datagrams are taken, and not looked at
 * @param typeId the node's Type ID
 */
public record UdpGateway(
        InetSocketAddress address,
        InetSocketAddress to,
        long serviceKey,
        int classOfService,
        int rtpClockHz,
        int typeId) {
    /** Returns the header of packets from this sender; their length is to be put in. */
    public byte[] header(InetAddress sender) {
        return header(sender, to, serviceKey, classOfService, typeId);
    }

    /** Returns the header of packets without payload. */
    static byte[] header(InetAddress sender, InetSocketAddress to, long serviceKey, int classOfService, int typeId) {
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
        return header(builder);
    }

    /** Returns the header of what is built. */
    static byte[] header(PacketBuilder builder) {
        Packet packet = builder.build(ByteBuffer.allocate(0));
        byte[] header = new byte[packet.headerLength()];
        packet.buffer().get(packet.offset(), header);
        return header;
    }
}
