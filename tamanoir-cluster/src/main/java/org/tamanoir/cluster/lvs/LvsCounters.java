package org.tamanoir.cluster.lvs;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The kernel's counters of all virtual services at one moment.
 *
 * @param services by virtual address
 */
public record LvsCounters(SortedMap<VirtualAddress, Service> services) {
    /**
     * Of one virtual service.
     *
     * @param total of the service itself; its connections now are the sum of its back-ends'
     * @param servers by address and port, as ipvsadm writes them
     */
    public record Service(Counters total, Map<String, Counters> servers) {
        public Service {
            servers = Collections.unmodifiableMap(new TreeMap<>(servers));
        }
    }

    public LvsCounters {
        services = Collections.unmodifiableSortedMap(new TreeMap<>(services));
    }

    /** Returns those of one back-end; zeros where it is not in the table. */
    public Counters of(VirtualAddress at, RealServer server) {
        Service service = services.get(at);
        return service == null ? Counters.NONE : service.servers().getOrDefault(server.endpoint(), Counters.NONE);
    }
}
