package org.tamanoir.cluster;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
    private static final int MAX_ROUTER_ID = 255; // RFC 5798, section 5.2.3: one octet, not 0
    private static final int MAX_PRIORITY = 254; // section 5.2.4: 255 is for the owner of the addresses, 0 for leaving
    private static final long MIN_INTERVAL_MS = 100;
    private static final long MAX_INTERVAL_MS = 40_000; // section 5.2.7: 12 bits of hundredths of seconds
    private static final int MAX_PEERS = 16;
    private static final Pattern INTERFACE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,14}");
    private static final Pattern PASSWORD =
            Pattern.compile("[A-Za-z0-9._+-]{1,8}"); // RFC 2338, section 5.3.6.2: 8 octets

    /**
     * Checks all of it, as it comes into a configuration file of another program.
     *
     * @throws IllegalArgumentException in one line
     */
    public Vrrp {
        peers = List.copyOf(peers);
        checkInterface("interface", networkInterface);
        checkInterface("sync-interface", syncInterface);
        check(routerId >= 1 && routerId <= MAX_ROUTER_ID, "router-id " + routerId + " must be 1 to " + MAX_ROUTER_ID);
        check(priority >= 1 && priority <= MAX_PRIORITY, "priority " + priority + " must be 1 to " + MAX_PRIORITY);
        checkInterval(advertInterval, password != null);
        check(
                password == null || PASSWORD.matcher(password).matches(),
                "the password must be 1 to 8 letters, digits, dots, hyphens, plus signs and underscores");
        checkPeers(source, peers);
    }

    private static void checkInterface(String what, String name) {
        check(
                INTERFACE.matcher(name).matches(),
                what + " '" + name + "' must be 1 to 15 letters, digits, dots, hyphens and underscores");
    }

    private static void checkInterval(Duration interval, boolean hasPassword) {
        boolean isInRange = interval.compareTo(Duration.ofMillis(MIN_INTERVAL_MS)) >= 0
                && interval.compareTo(Duration.ofMillis(MAX_INTERVAL_MS)) <= 0;
        check(
                isInRange
                        && interval.toNanos()
                                        % Duration.ofMillis(MIN_INTERVAL_MS).toNanos()
                                == 0,
                "interval " + interval + " must be 0.1 s to 40 s in tenths of seconds");
        check(
                !hasPassword || interval.getNano() == 0,
                "interval " + interval + " must be whole seconds with a password: only VRRP version 2 has one");
    }

    private static void checkPeers(@Nullable InetAddress source, List<InetAddress> peers) {
        check(source == null == peers.isEmpty(), "source and peers must be given both, or neither for multicast");
        check(peers.size() <= MAX_PEERS, peers.size() + " peers, at most " + MAX_PEERS);
        if (source == null) {
            return;
        }
        checkHost("source", source);
        for (InetAddress each : peers) {
            checkHost("peer", each);
            check(
                    each instanceof Inet6Address == source instanceof Inet6Address,
                    "peer " + each.getHostAddress() + " must be of the same IP version as source "
                            + source.getHostAddress());
            check(!each.equals(source), "peer " + each.getHostAddress() + " is this director's own source address");
        }
    }

    private static void checkHost(String what, InetAddress address) {
        check(
                !address.isAnyLocalAddress() && !address.isMulticastAddress() && !address.isLoopbackAddress(),
                what + " " + address.getHostAddress() + " must be the address of a host");
    }

    private static void check(boolean isRight, String message) {
        if (!isRight) {
            throw new IllegalArgumentException("vrrp: " + message);
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Vrrp[" + networkInterface + ", sync " + syncInterface + ", router " + routerId + ", priority "
                + priority + (password == null ? "" : ", with a password") + "]";
    }
}
