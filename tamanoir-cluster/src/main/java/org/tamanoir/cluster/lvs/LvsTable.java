package org.tamanoir.cluster.lvs;

import java.util.Collection;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The virtual services of one network namespace: those that the kernel has, or those that are wanted. Services of other
 * kinds than TCP and UDP at an address (firewall marks, SCTP) are never ours and are not in it.
 */
public record LvsTable(SortedMap<VirtualAddress, VirtualService> services) {
    public LvsTable {
        services = Collections.unmodifiableSortedMap(new TreeMap<>(services));
    }

    public static LvsTable of(Collection<VirtualService> services) {
        SortedMap<VirtualAddress, VirtualService> all = new TreeMap<>();
        services.forEach(service -> all.put(service.at(), service));
        return new LvsTable(all);
    }
}
