package org.tamanoir.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way from a node to its directors, which packets of the cluster's streams come by. Routes are asked for anew each
 * time.
 *
 * <p>Thread contract: one thread at a time.
 */
final class MembershipRoute {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipRoute.class);

    private final @Nullable String named;
    private final List<MembershipLink> links;
    private boolean saidNone;

    /** @param named the interface by the operator's word; null: where the first director is */
    MembershipRoute(@Nullable String named, List<MembershipLink> links) {
        this.named = named;
        this.links = links;
    }

    /** Returns the interface; null, and told once, if no route leads to a director. */
    @Nullable
    String networkInterface() {
        String through = named;
        for (MembershipLink link : links) {
            through = through == null ? towards(link.url()) : through;
        }
        if (through == null && !saidNone) {
            saidNone = true;
            LOG.warn("no route leads to a director: the host is not set up yet; name the interface with "
                    + "cluster.interface");
        }
        return through;
    }

    /** Returns addresses of the directors to which the route leads through this interface. */
    List<InetAddress> directorsThrough(String networkInterface) {
        List<InetAddress> directors = new ArrayList<>();
        for (MembershipLink link : links) {
            InetAddress there = new InetSocketAddress(link.host(), link.url().getPort()).getAddress();
            if (there != null && networkInterface.equals(towards(link.url()))) {
                directors.add(there);
            }
        }
        return directors;
    }

    private static @Nullable String towards(URI director) {
        try {
            NetworkInterface through = NetworkInterface.getByInetAddress(MembershipLink.localAddress(director));
            return through == null ? null : through.getName();
        } catch (IOException e) {
            return null;
        }
    }
}
