package org.tamanoir.anep;

import org.jspecify.annotations.Nullable;

/** Writes, in place, the options that are the nodes' business alone. */
public final class NodeOptions {
    private NodeOptions() {}

    /**
     * Sets the hop budget, 0–65,535.
     *
     * @throws IllegalStateException if the packet has no such option
     * @throws IllegalArgumentException if the budget is out of range
     */
    public static void setHopBudget(Packet packet, int hops) {
        HeaderView.require(hops, 0xFFFF, "hop budget");
        packet.optionOffset(Option.HOP_BUDGET);
        HeaderView header = packet;
        header.putShort(HeaderView.HOPS, hops);
    }

    /**
     * Sets the round in a distributed element, the path, 0–65,535, and the flags, 0–255.
     *
     * @throws IllegalStateException if the packet has no such option
     * @throws IllegalArgumentException if path or flags are out of range
     */
    public static void setRound(Packet packet, long round, int path, int flags) {
        HeaderView.require(path, 0xFFFF, "path");
        HeaderView.require(flags, 0xFF, "flags of a round");
        packet.optionOffset(Option.ROUND);
        HeaderView header = packet;
        header.putInt(HeaderView.ROUND, 0, (int) (round >>> 32));
        header.putInt(HeaderView.ROUND, 4, (int) round);
        header.putInt(HeaderView.ROUND, 8, path << 16 | flags << 8);
    }

    /**
     * Sets the stream and the number in it.
     *
     * @throws IllegalStateException if the packet has no such option
     */
    public static void setStream(Packet packet, int stream, long sequence) {
        packet.optionOffset(Option.STREAM);
        HeaderView header = packet;
        header.putInt(HeaderView.STREAM, 0, stream);
        header.putInt(HeaderView.STREAM, 4, (int) (sequence >>> 32));
        header.putInt(HeaderView.STREAM, 8, (int) sequence);
    }

    /**
     * Sets key, algorithm and MAC.
     *
     * @param mac 32 octets; null for zeros
     * @throws IllegalStateException if the packet has no such option
     */
    public static void setAuthentication(Packet packet, int keyId, int algorithm, byte @Nullable [] mac) {
        packet.optionOffset(Option.AUTHENTICATION);
        HeaderView header = packet;
        int slot = HeaderView.AUTHENTICATION;
        header.putInt(slot, 0, keyId);
        header.putInt(slot, 4, algorithm);
        for (int i = 0; i < 32; i += 4) {
            int word = mac == null
                    ? 0
                    : mac[i] << 24 | (mac[i + 1] & 0xFF) << 16 | (mac[i + 2] & 0xFF) << 8 | mac[i + 3] & 0xFF;
            header.putInt(slot, 8 + i, word);
        }
    }

    /**
     * Writes this node's code server into the previous-active-node option; an option of neither IPv4's nor IPv6's size
     * is zeroed. Does nothing to a packet without the option.
     */
    public static void setPreviousNode(Packet packet, PreviousNode node) {
        HeaderView header = packet;
        int slot = HeaderView.PREVIOUS_NODE;
        if (!header.has(slot)) {
            return;
        }
        int bytes = header.contentLength(slot);
        boolean known = node.port != 0;
        if (bytes == PreviousNode.IPV4_OCTETS) {
            header.putInt(slot, 0, known ? Anep.SCHEME_IPV4 : 0);
            header.putInt(slot, 4, node.ipv4);
            header.putInt(slot, 8, node.port << 16);
        } else if (bytes == PreviousNode.IPV6_OCTETS) {
            header.putInt(slot, 0, known ? Anep.SCHEME_IPV6 : 0);
            header.putInt(slot, 4, (int) (node.ipv6High >>> 32));
            header.putInt(slot, 8, (int) node.ipv6High);
            header.putInt(slot, 12, (int) (node.ipv6Low >>> 32));
            header.putInt(slot, 16, (int) node.ipv6Low);
            header.putInt(slot, 20, node.port << 16);
        } else {
            for (int i = 0; i < bytes; i += 4) {
                header.putInt(slot, i, 0);
            }
        }
    }
}
