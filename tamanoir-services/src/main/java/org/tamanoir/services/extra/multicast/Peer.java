package org.tamanoir.services.extra.multicast;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;

/**
 * An address and a port that packets go to.
 *
 * @param high upper half of the address, IPv4 as ::ffff:a.b.c.d
 * @param low lower half
 */
record Peer(InetAddress address, int port, long high, long low) {
    private static final long MAPPED = 0xFFFF_0000_0000L;

    /** Returns the peer with this address; null if it cannot be one. */
    static @Nullable Peer of(long high, long low, int port) {
        if (port == 0 || high == 0 && (low & 0xFFFF_FFFFL) == 0 && (low >>> 32 == 0 || low >>> 32 == MAPPED >>> 32)) {
            return null;
        }
        try {
            byte[] octets = ByteBuffer.allocate(16).putLong(high).putLong(low).array();
            return new Peer(InetAddress.getByAddress(octets), port, high, low);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of 16 bytes", e);
        }
    }

    /** Reads a setting of one such as {@code 10.0.0.8:3322} or {@code [2001:db8::8]:3322}. Names are not looked up. */
    static Peer parse(String setting, String text) {
        try {
            InetSocketAddress at = AddressText.withPort(text);
            byte[] octets = at.getAddress().getAddress();
            return new Peer(at.getAddress(), at.getPort(), AddressText.high(octets), AddressText.low(octets));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(setting + ": " + e.getMessage(), e);
        }
    }

    /** Reads a setting of several of these, or none, separated by blanks. */
    static List<Peer> parseAll(String setting, String texts, int most) {
        List<Peer> peers = new ArrayList<>();
        for (String text : texts.isBlank() ? new String[0] : texts.strip().split("\\s+")) {
            Peer peer = parse(setting, text);
            if (peers.contains(peer)) {
                throw new IllegalArgumentException(setting + ": " + text + " stands there twice");
            }
            peers.add(peer);
        }
        if (peers.size() > most) {
            throw new IllegalArgumentException(
                    setting + ": " + peers.size() + " are over " + most + ": make the tree deeper");
        }
        return List.copyOf(peers);
    }

    boolean is(long otherHigh, long otherLow, int otherPort) {
        return high == otherHigh && low == otherLow && port == otherPort;
    }
}
