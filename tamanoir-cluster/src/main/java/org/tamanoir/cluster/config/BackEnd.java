package org.tamanoir.cluster.config;

import java.net.InetAddress;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.routing.Addresses;

/**
 * A node that serves the cluster, as the configuration lists it or as it registered.
 *
 * @param name unique in the cluster
 * @param address where packets are sent to
 * @param admin base address of its admin API, by which its health is asked; with a name in it, health depends on name
 *     servers
 * @param weight fixed, 1 to 65,535; null = as the weight policy says
 */
public record BackEnd(
        String name,
        InetAddress address,
        URI admin,
        @Nullable Integer weight) {
    public BackEnd {
        Bounds.name("back-end", name);
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalArgumentException("back-end " + name + ": " + Addresses.host(address)
                    + " cannot be its address: one of a host is wanted");
        }
        Bounds.admin(admin);
        if (weight != null) {
            Bounds.check("weight of back-end " + name, weight, 1, RealServer.MAX_WEIGHT);
        }
    }
}
