package org.tamanoir.cluster;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How two directors share the virtual addresses, by keepalived (VRRP, RFC 5798; version 2, RFC 3768, with a password).
 *
 * @param networkInterface where VRRP is spoken and the virtual addresses live
 * @param syncInterface where the connections are told to the other director by multicast
 * @param routerId 1 to 255, the same on both, of no other group on that network
 * @param priority 1 to 254, the larger one begins as the active one
 * @param preempt whether one with the larger priority takes over again when it comes back
 * @param advertInterval between two signs of life, whole or tenths of seconds
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
    public Vrrp {
        peers = List.copyOf(peers);
    }
}
