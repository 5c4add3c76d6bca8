package org.tamanoir.cluster.lvs;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A virtual service with its back-ends.
 *
 * @param flags of the scheduler, by the names of ipvsadm, sorted
 * @param persistenceSeconds connections of one client stay on one back-end this long after the last; 0 = no persistence
 * @param persistencePrefix bits of the client's address that make it the same client; 32, or 128 for IPv6, = all: always so
 *     without persistence
 * @param onePacket each UDP packet is scheduled on its own
 * @param servers by address and port, as ipvsadm writes them; unmodifiable
 */
public record VirtualService(
        VirtualAddress at,
        Scheduler scheduler,
        List<String> flags,
        int persistenceSeconds,
        int persistencePrefix,
        boolean onePacket,
        Map<String, RealServer> servers) {
    public VirtualService {
        flags = List.copyOf(new TreeSet<>(flags));
        persistencePrefix = persistenceSeconds == 0 ? LvsText.bits(at.isIpv6()) : persistencePrefix;
        servers = Collections.unmodifiableMap(new TreeMap<>(servers));
    }

    /** Returns one with these back-ends. */
    public VirtualService with(Collection<RealServer> others) {
        Map<String, RealServer> all = new TreeMap<>();
        others.forEach(server -> all.put(server.endpoint(), server));
        return new VirtualService(at, scheduler, flags, persistenceSeconds, persistencePrefix, onePacket, all);
    }
}
