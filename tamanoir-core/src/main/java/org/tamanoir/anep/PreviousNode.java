package org.tamanoir.anep;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a node writes into previous-active-node options: where its code server is.
 *
 * <pre>
 *      0 | scheme: 0 = zeroed, 1 = IPv4, 2 = IPv6 |
 *      4 | address, 4 or 16 octets; zero = that of the node the packet comes from |
 *   8/20 | port (2), zero (2) |
 * </pre>
 *
 * <p>The option keeps the size that its sender gave it. Immutable.
 */
public final class PreviousNode {
    /** No code server: the option becomes as if its sender had just zeroed it. */
    public static final PreviousNode NONE = new PreviousNode(0, 0, 0, 0);

    static final int IPV4_OCTETS = 12;
    static final int IPV6_OCTETS = 24;

    final int port;
    final int ipv4;
    final long ipv6High;
    final long ipv6Low;

    private PreviousNode(int port, int ipv4, long ipv6High, long ipv6Low) {
        this.port = port;
        this.ipv4 = ipv4;
        this.ipv6High = ipv6High;
        this.ipv6Low = ipv6Low;
    }

    /**
     * This code server, whose address stands in options of its own family; in others, and for an unspecified address,
     * the zero address stands.
     *
     * @throws IllegalArgumentException if the port is 0
     */
    public static PreviousNode of(InetSocketAddress codeServer) {
        InetAddress address = codeServer.getAddress();
        if (codeServer.getPort() == 0 || address == null) {
            throw new IllegalArgumentException(
                    "code server " + codeServer + ": must be an address with a port from 1 on, as it was bound");
        }
        ByteBuffer octets = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new PreviousNode(codeServer.getPort(), octets.getInt(0), 0, 0)
                : new PreviousNode(codeServer.getPort(), 0, octets.getLong(0), octets.getLong(8));
    }

    /** What the option says whose TLV starts at {@code tlv}; null when it names no code server. Allocates. */
    static @Nullable InetSocketAddress read(ByteBuffer buffer, int tlv) {
        int octets = (buffer.getShort(tlv + 2) & 0xFFFF) * 4 - 4;
        int scheme = octets < 4 ? 0 : buffer.getInt(tlv + 4);
        boolean isIpv4 = scheme == Anep.SCHEME_IPV4 && octets == IPV4_OCTETS;
        if (!isIpv4 && !(scheme == Anep.SCHEME_IPV6 && octets == IPV6_OCTETS)) {
            return null;
        }
        byte[] address = new byte[isIpv4 ? 4 : 16];
        buffer.get(tlv + 8, address);
        int port = buffer.getShort(tlv + 8 + address.length) & 0xFFFF;
        try {
            return port == 0 ? null : new InetSocketAddress(InetAddress.getByAddress(address), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 octets are an address", e);
        }
    }
}
