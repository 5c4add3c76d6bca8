package org.tamanoir.gateway;

import java.net.InetSocketAddress;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.transport.StreamGateway;

/**
 * Carries TCP connections that speak a format through a service to one far side that speaks it, too. In the node each is
 * a stream: its units are packets from the sender to {@link #to}, with the service's key.
 *
 * @param address where it listens; port 0 takes a free one
 * @param to the far side
 * @param serviceKey the key of the service that the packets name; {@link ServiceKey#NONE} = none
 * @param classOfService 0 to 255
 * @param typeId the node's Type ID
 */
public record Gateway(
        InetSocketAddress address,
        InetSocketAddress to,
        StreamFormat format,
        long serviceKey,
        int classOfService,
        int typeId)
        implements StreamGateway {
    @Override
    public PacketCodec codec(InetSocketAddress sender) {
        PacketHeader header = new PacketHeader(sender.getAddress(), to, serviceKey, classOfService, typeId);
        return new PacketCodec(format, header.octets(), true);
    }

    @Override
    public PacketCodec farCodec() {
        return new PacketCodec(format, PacketHeader.ofNobody(typeId), false);
    }
}
