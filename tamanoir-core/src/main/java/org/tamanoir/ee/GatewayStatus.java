package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * What a gateway is and has done since the node's start.
 *
 * @param address where it listens, with the real port
 * @param to the far side
 * @param format how its datagrams or its connections' units become packets
 * @param serviceKey the key of its service; {@link org.tamanoir.anep.ServiceKey#NONE} = none
 * @param open connections with a stream, or senders of datagrams that are remembered
 * @param begun how many there were so far, those included
 * @param traffic packets from both sides and to both sides, and their octets as they are there: of TCP with what services made and dropped, of UDP without
 *     the drops behind the gateway, which are the service's
 */
public record GatewayStatus(
        StreamInfo.Transport transport,
        InetSocketAddress address,
        InetSocketAddress to,
        String format,
        long serviceKey,
        int classOfService,
        long open,
        long begun,
        TrafficSnapshot traffic) {}
