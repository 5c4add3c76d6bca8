package org.tamanoir.cluster.setup;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;
import tools.jackson.databind.JsonNode;

/**
 * Finds out whether another host has an address, by the kernel's own address resolution, and tells the network that it is
 * here. A back-end that has the address quietly, as direct routing wants it, does not answer.
 *
 * <p>Works on the network namespace of the calling thread, needs CAP_NET_ADMIN. Thread contract: any thread; it waits.
 */
public final class AddressConflict {
    private static final long LOOK_MS = 50;

    private AddressConflict() {}

    /**
     * Asks the network. Interfaces of this host do not count. Where there are no neighbours with hardware addresses, as
     * on the loopback interface, nobody is asked.
     *
     * @param patience how long answers are waited for; the kernel asks once a second
     * @return the hardware address of who has it; null = nobody answered
     */
    public static @Nullable String holder(String networkInterface, InetAddress address, Duration patience)
            throws ClusterException {
        Host host = Host.look();
        if (!host.has(networkInterface)) {
            throw new ClusterException("no interface " + networkInterface + ": see ip link");
        }
        if (!host.isUp(networkInterface)) {
            throw new ClusterException(
                    "interface " + networkInterface + " is down: ip link set " + networkInterface + " up");
        }
        if (!host.hasNeighbours(networkInterface)) {
            return null;
        }
        String text = Host.text(address);
        Program.run(List.of("ip", "neighbour", "del", text, "dev", networkInterface)); // What was known may be over.
        Program.good(List.of("ip", "neighbour", "replace", text, "dev", networkInterface, "use"));
        long startNs = System.nanoTime();
        try {
            while (System.nanoTime() - startNs < patience.toNanos()) {
                for (JsonNode each : Host.json("ip", "-json", "neighbour", "show", text, "dev", networkInterface)) {
                    String hardware = each.path("lladdr").asString("");
                    if (!hardware.isEmpty()) {
                        return host.hardware().contains(hardware) ? null : hardware;
                    }
                }
                TimeUnit.MILLISECONDS.sleep(LOOK_MS);
            }
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        } finally {
            Program.run(List.of("ip", "neighbour", "del", text, "dev", networkInterface));
        }
    }

    /** Tells the network that the address is here now. One of IPv6 the kernel tells of, when it has been added. */
    public static void announce(String networkInterface, InetAddress address) throws ClusterException {
        if (!(address instanceof Inet6Address) && Host.look().hasNeighbours(networkInterface)) {
            Program.good(List.of("arping", "-q", "-U", "-c", "2", "-I", networkInterface, Host.text(address)));
        }
    }
}
