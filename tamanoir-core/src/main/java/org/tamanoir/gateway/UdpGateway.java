package org.tamanoir.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
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
 * @param isStrict of RTP: what is neither RTP nor RTCP ends; else what RFC 7983 has on the same port goes on, too
 * @param typeId the node's Type ID
 */
public record UdpGateway(
        InetSocketAddress address,
        InetSocketAddress to,
        long serviceKey,
        int classOfService,
        int rtpClockHz,
        boolean isStrict,
        int typeId) {
    /** Makes one that is not strict. */
    public UdpGateway(
            InetSocketAddress address,
            InetSocketAddress to,
            long serviceKey,
            int classOfService,
            int rtpClockHz,
            int typeId) {
        this(address, to, serviceKey, classOfService, rtpClockHz, false, typeId);
    }

    /** Makes the header of packets from this sender, or another of its family. */
    public PacketHeader header(InetAddress sender) {
        return new PacketHeader(sender, to, serviceKey, classOfService, typeId);
    }
}
