package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A node that serves the cluster, as the configuration lists it or as it registered.
 *
 * @param name unique in the cluster
 * @param address where packets are sent to
 * @param admin base address of its admin API, by which its health is asked
 * @param weight fixed, 1 to 65,535; null = as the weight policy says
 */
public record BackEnd(
        String name,
        InetAddress address,
        URI admin,
        @Nullable Integer weight) {}
