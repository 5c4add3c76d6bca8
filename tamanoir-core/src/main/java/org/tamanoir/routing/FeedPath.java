package org.tamanoir.routing;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way that a route of a feed has; the one of the lowest metric comes first, of these that of the lowest gateway.
 *
 * @param metric as unsigned 32 bits; the lowest counts
 * @param gateway null = the destination itself is on the device's link
 * @param device name of the network interface; empty = none, as of a route that says that nothing gets there
 */
public record FeedPath(long metric, @Nullable InetAddress gateway, String device) implements Comparable<FeedPath> {
    /** Name of all gateways that have no next hop of their own. */
    public static final String DEFAULT = "default";

    private static final Comparator<FeedPath> ORDER = Comparator.comparingLong(FeedPath::metric)
            .thenComparing(FeedPath::bytes, Arrays::compareUnsigned)
            .thenComparing(FeedPath::device);

    @Override
    public int compareTo(FeedPath other) {
        return ORDER.compare(this, other);
    }

    private byte[] bytes() {
        return gateway == null ? new byte[0] : gateway.getAddress();
    }

    /** Returns the names by which a next hop can be given to it, the most exact first. */
    List<String> names() {
        if (device.isEmpty()) {
            return List.of();
        }
        return gateway == null ? List.of(device, DEFAULT) : List.of(this.toString(), address(gateway), device, DEFAULT);
    }

    /** Returns the address as {@link #names} has it, IPv6 as in RFC 5952. */
    public static String address(InetAddress gateway) {
        String prefix = Prefix.of(gateway).toString();
        return prefix.substring(0, prefix.indexOf('/'));
    }

    /** Returns the gateway and its device, {@code fe80::1%eth1}. */
    @Override
    public String toString() {
        return gateway == null ? (device.isEmpty() ? "unreachable" : device) : address(gateway) + "%" + device;
    }
}
