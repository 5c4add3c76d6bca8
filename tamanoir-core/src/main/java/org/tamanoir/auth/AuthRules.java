package org.tamanoir.auth;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;

/**
 * Which packets must be authenticated, and which are signed when they leave. Immutable; any thread.
 *
 * @param from sources, as packets name them, whose packets must be authenticated
 * @param to destinations that packets must be authenticated for
 * @param signers the first that fits a packet signs it
 * @param windowPackets how far behind the highest of its stream a sequence number may come, a multiple of 64; 0 = replays
 *     are not looked for
 * @param streams remembered under each key
 */
public record AuthRules(List<Guarded> from, List<Guarded> to, List<Signer> signers, int windowPackets, int streams) {
    /** Prefixes, or signers, of one list. */
    public static final int MAX_RULES = 256;

    public static final int MAX_WINDOW = 1 << 16;
    public static final int DEFAULT_WINDOW = 1024;
    public static final int MAX_STREAMS = 1 << 16;
    public static final int DEFAULT_STREAMS = 4096;
    /** Neither checks nor signs. */
    public static final AuthRules NONE =
            new AuthRules(List.of(), List.of(), List.of(), DEFAULT_WINDOW, DEFAULT_STREAMS);

    /** Checks all packets, and signs none. */
    public static final AuthRules ALL =
            new AuthRules(List.of(new Guarded(null)), List.of(), List.of(), DEFAULT_WINDOW, DEFAULT_STREAMS);

    private static final String ANY = "any";

    public AuthRules {
        from = atMost(from, "from");
        to = atMost(to, "to");
        signers = atMost(signers, "sign");
        requireInside("replay window", windowPackets, 0, MAX_WINDOW);
        if (windowPackets % 64 != 0) {
            throw new IllegalArgumentException("replay window " + windowPackets + ": must be a multiple of 64");
        }
        requireInside("streams of a key", streams, 1, MAX_STREAMS);
    }

    private static <T> List<T> atMost(List<T> rules, String what) {
        if (rules.size() > MAX_RULES) {
            throw new IllegalArgumentException(rules.size() + " entries of '" + what + "': must be at most " + MAX_RULES
                    + "; take shorter prefixes");
        }
        return List.copyOf(rules);
    }

    private static void requireInside(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + min + " to " + max);
        }
    }

    /**
     * Addresses in a prefix, or all packets, those without an address too.
     *
     * @param prefix null = all
     */
    public record Guarded(@Nullable Prefix prefix) {
        /** Reads a prefix, an address, or {@code any}. */
        public static Guarded of(String text) {
            return new Guarded(text.equals(ANY) ? null : Prefix.parse(text));
        }

        boolean has(boolean isThere, long high, long low) {
            return prefix == null || isThere && prefix.contains(high, low);
        }

        @Override
        public String toString() {
            return prefix == null ? ANY : prefix.toString();
        }
    }

    /**
     * Signs packets to a prefix of destinations, or to a next hop.
     *
     * @param to null where there is a next hop
     * @param nextHop null where there is a prefix
     */
    public record Signer(@Nullable Guarded to, @Nullable InetSocketAddress nextHop, int keyId) {
        /** Returns {@code PREFIX=KEY} or {@code HOST:PORT=KEY}. */
        @Override
        public String toString() {
            return (nextHop == null ? String.valueOf(to) : Addresses.text(nextHop)) + "=" + AuthKey.text(keyId);
        }

        boolean signs(Packet packet, @Nullable InetSocketAddress way) {
            if (to == null) {
                return nextHop != null && nextHop.equals(way);
            }
            boolean isThere = packet.hasInternetDestination();
            return to.has(isThere, isThere ? packet.destinationHigh() : 0, isThere ? packet.destinationLow() : 0);
        }
    }

    /** Returns whether the packet must be authenticated. */
    boolean guards(Packet packet) {
        return has(from, packet.hasInternetSource(), packet, true)
                || has(to, packet.hasInternetDestination(), packet, false);
    }

    private static boolean has(List<Guarded> prefixes, boolean isThere, Packet packet, boolean isSource) {
        if (prefixes.isEmpty()) {
            return false;
        }
        long high = !isThere ? 0 : isSource ? packet.sourceHigh() : packet.destinationHigh();
        long low = !isThere ? 0 : isSource ? packet.sourceLow() : packet.destinationLow();
        for (int i = 0; i < prefixes.size(); i++) {
            if (prefixes.get(i).has(isThere, high, low)) {
                return true;
            }
        }
        return false;
    }

    /** Returns who signs a packet; null when nobody does. */
    @Nullable
    Signer signer(Packet packet, @Nullable InetSocketAddress way) {
        for (int i = 0; i < signers.size(); i++) {
            if (signers.get(i).signs(packet, way)) {
                return signers.get(i);
            }
        }
        return null;
    }

    /** Returns whether any packet is checked. */
    public boolean guardsAny() {
        return !from.isEmpty() || !to.isEmpty();
    }

    /** Returns whether any packet is checked or signed. */
    public boolean isOn() {
        return guardsAny() || !signers.isEmpty();
    }

    /** Returns the numbers of the keys that sign, in order. */
    public Set<Integer> signingKeys() {
        Set<Integer> ids = new TreeSet<>(Integer::compareUnsigned);
        signers.forEach(signer -> ids.add(signer.keyId()));
        return ids;
    }
}
