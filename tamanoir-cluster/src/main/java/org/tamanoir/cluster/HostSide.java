package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.setup.AddressConflict;
import org.tamanoir.cluster.setup.HostSetup;
import org.tamanoir.routing.Addresses;

/**
 * The virtual addresses at the director's own host, where it puts them there itself.
 *
 * <p>Thread contract: one thread at a time, of the network namespace that is meant.
 */
final class HostSide {
    private static final Logger LOG = LoggerFactory.getLogger(HostSide.class);
    /** The kernel asks once a second; a third question would keep a start waiting for long. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final DirectorConfig config;

    HostSide(DirectorConfig config) {
        this.config = config;
    }

    private List<InetAddress> addresses() {
        return config.services().stream()
                .map(ClusterService::address)
                .distinct()
                .toList();
    }

    /** Refuses to go on when another host has one of the addresses, unless both agree by VRRP who has them. */
    void requireFree() throws ClusterException {
        String networkInterface = config.networkInterface();
        if (networkInterface == null || config.vrrp() != null) {
            return;
        }
        for (InetAddress address : addresses()) {
            String holder;
            try {
                holder = AddressConflict.holder(networkInterface, address, PATIENCE);
            } catch (ClusterException e) {
                throw new ClusterException(
                        "cannot ask on " + networkInterface + " whether another host has " + Addresses.host(address)
                                + ": " + Bounds.line(String.valueOf(e.getMessage()))
                                + "; check 'interface', and run as root",
                        e);
            }
            if (holder != null) {
                throw new ClusterException("two directors claim " + Addresses.host(address) + ": on " + networkInterface
                        + " the host with hardware address " + holder
                        + " has it; stop one, or configure vrrp on both");
            }
        }
    }

    /** Puts them there, unless they are another's to put, and has the host forward where NAT needs it. */
    void apply() throws ClusterException {
        HostSetup.director(config).apply();
    }

    void undo() throws ClusterException {
        HostSetup.director(config).undo();
    }

    /** Tells the network that they are here now; without it clients find out when their memory of the old host ends. */
    void announce() {
        String networkInterface = config.networkInterface();
        if (networkInterface == null || config.vrrp() != null) {
            return;
        }
        for (InetAddress address : addresses()) {
            try {
                AddressConflict.announce(networkInterface, address);
            } catch (ClusterException e) {
                LOG.warn("cannot announce {} on {}: {}", Addresses.host(address), networkInterface, e.getMessage());
            }
        }
    }

    /** Returns whether this host has all of them. */
    boolean isActive() {
        for (InetAddress address : addresses()) {
            try {
                if (NetworkInterface.getByInetAddress(address) == null) {
                    return false;
                }
            } catch (SocketException e) {
                return false; // The kernel does not tell: not known to be here.
            }
        }
        return true;
    }
}
