package org.tamanoir.cluster.config;

import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;

/**
 * A port of the cluster, as its clients see it: one virtual service for each protocol.
 *
 * @param name for people
 * @param address virtual; the director has it, back-ends too by direct routing and tunnelling
 * @param port for clients
 * @param backEndPort where nodes listen; {@code port} unless by NAT
 * @param flags of the scheduler
 * @param persistenceSeconds 0 = none
 * @param persistencePrefix bits of a client's address that count
 * @param onePacket UDP packets are scheduled one by one: packets of one stream then go to several back-ends
 */
public record ClusterService(
        String name,
        InetAddress address,
        int port,
        int backEndPort,
        Set<Protocol> protocols,
        Forwarding forwarding,
        Scheduler scheduler,
        List<String> flags,
        int persistenceSeconds,
        int persistencePrefix,
        boolean onePacket) {
    public ClusterService {
        protocols = Set.copyOf(protocols);
        flags = List.copyOf(flags);
    }
}
