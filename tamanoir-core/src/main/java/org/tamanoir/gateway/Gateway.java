package org.tamanoir.gateway;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.transport.StreamCodec;
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
    public StreamCodec codec(InetSocketAddress sender) {
        return codec(sender, null, null);
    }

    @Override
    public StreamCodec farCodec() {
        return farCodec(null, null);
    }

    /** Makes what translates a connection of this sender, and counts as {@link PacketCodec} says. */
    StreamCodec codec(InetSocketAddress sender, @Nullable LongAdder decoded, @Nullable LongAdder encoded) {
        PacketHeader header = new PacketHeader(sender.getAddress(), to, serviceKey, classOfService, typeId);
        return new PacketCodec(format, header.octets(), true, decoded, encoded);
    }

    /** Makes what translates a connection to the far side, and counts likewise. */
    StreamCodec farCodec(@Nullable LongAdder decoded, @Nullable LongAdder encoded) {
        return new PacketCodec(format, PacketHeader.ofNobody(typeId), false, decoded, encoded);
    }
}
