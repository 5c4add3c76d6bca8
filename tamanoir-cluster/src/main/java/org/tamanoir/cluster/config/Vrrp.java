package org.tamanoir.cluster.config;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;

/**
 * How two directors share the virtual addresses, by keepalived (VRRP, RFC 5798; version 2, RFC 3768, with a password).
 *
 * @param networkInterface where VRRP is spoken and the virtual addresses live
 * @param syncInterface where the connections are told to the other director by multicast
 * @param routerId 1 to 255, the same on both, of no other group on that network
 * @param priority 1 to 254, the larger one begins as the active one
 * @param preempt whether one with the larger priority takes over again when it comes back
 * @param advertInterval between two signs of life, 0.1 s to 40 s in tenths; whole seconds with a password
 * @param source own address for VRRP to {@code peers}; null = multicast
 * @param peers addresses of the other directors; empty = multicast
 * @param password at most 8 characters, VRRP version 2 sends it in clear; null = none
 */
public record Vrrp(
        String networkInterface,
        String syncInterface,
        int routerId,
        int priority,
        boolean preempt,
        Duration advertInterval,
        @Nullable InetAddress source,
        List<InetAddress> peers,
        @Nullable String password) {
    private static final int MAX_PEERS = 16;
    private static final Pattern INTERFACE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,14}");

    /**
     * Checks the interfaces and addresses, as they come into a configuration file of another program.
     *
     * @throws IllegalArgumentException in one line
     */
    public Vrrp {
        peers = List.copyOf(peers);
        checkInterface("interface", networkInterface);
        checkInterface("sync-interface", syncInterface);
        checkPeers(source, peers);
    }

    private static void checkInterface(String what, String name) {
        check(
                INTERFACE.matcher(name).matches(),
                what + " '" + name + "' must be 1 to 15 letters, digits, dots, hyphens and underscores");
    }

    private static void checkPeers(@Nullable InetAddress source, List<InetAddress> peers) {
        check(peers.size() <= MAX_PEERS, peers.size() + " peers, at most " + MAX_PEERS);
        if (source == null) {
            return;
        }
        checkHost("source", source);
        for (InetAddress each : peers) {
            checkHost("peer", each);
            check(
                    each instanceof Inet6Address == source instanceof Inet6Address,
                    "peer " + Addresses.host(each) + " must be of the same IP version as source "
                            + Addresses.host(source));
            check(!each.equals(source), "peer " + Addresses.host(each) + " is this director's own source address");
        }
    }

    private static void checkHost(String what, InetAddress address) {
        check(
                !address.isAnyLocalAddress() && !address.isMulticastAddress() && !address.isLoopbackAddress(),
                what + " " + Addresses.host(address) + " must be the address of a host");
    }

    private static void check(boolean isRight, String message) {
        if (!isRight) {
            throw new IllegalArgumentException("vrrp: " + message);
        }
    }

    /** Returns all but the password. */
    @Override
    public String toString() {
        return "Vrrp[" + networkInterface + ", sync " + syncInterface + ", router " + routerId + ", priority "
                + priority + (password == null ? "" : ", with a password") + "]";
    }
}
