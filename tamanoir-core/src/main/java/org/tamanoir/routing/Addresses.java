package org.tamanoir.routing;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;

/** Addresses as 128 bits in two words; IPv4 stands as ::ffff:a.b.c.d. */
public final class Addresses {
    private static final long HIGH_FACTOR;
    private static final long LOW_FACTOR;
    private static final long REST_FACTOR;

    static {
        SecureRandom random = new SecureRandom();
        HIGH_FACTOR = random.nextLong() | 1;
        LOW_FACTOR = random.nextLong() | 1;
        REST_FACTOR = random.nextLong() | 1;
    }

    private Addresses() {}

    /** Returns the upper 64 bits of an address; 0 for IPv4. */
    public static long high(@Nullable InetAddress address) {
        return address == null ? 0 : AddressText.high(address.getAddress());
    }

    /** Returns the lower 64 bits of an address. */
    public static long low(@Nullable InetAddress address) {
        return AddressText.low(address == null ? new byte[4] : address.getAddress());
    }

    /**
     * Returns the number of the interface that an address with a zone belongs to, as {@code fe80::1%eth1}; 0 = it has
     * none. {@link InetAddress#equals} passes over it.
     */
    public static int scope(@Nullable InetAddress address) {
        return address instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
    }

    /**
     * Returns a hash of an address and what goes with it, of which the upper bits are to be used. It is multilinear with
     * secret factors of this JVM, so strangers, who choose addresses, ports and numbers, cannot have many share a place.
     */
    public static long hash(long high, long low, long rest) {
        return high * HIGH_FACTOR + low * LOW_FACTOR + rest * REST_FACTOR;
    }

    /** Returns whether these bits stand for an address of IPv4. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    /** Returns the address that these bits stand for. Allocates. */
    public static InetAddress of(long high, long low) {
        try {
            if (isIpv4(high, low)) {
                return InetAddress.getByAddress(
                        ByteBuffer.allocate(4).putInt((int) low).array());
            }
            return Inet6Address.getByAddress(
                    null, ByteBuffer.allocate(16).putLong(high).putLong(low).array(), -1);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 bytes are an address", e);
        }
    }

    /** Returns {@code 127.0.0.1} or {@code ::1}, as RFC 5952 writes it, with its zone where it has one. */
    public static String host(InetAddress address) {
        String prefix = Prefix.of(address).toString();
        String full = address.getHostAddress();
        int zone = full.indexOf('%');
        return prefix.substring(0, prefix.indexOf('/')) + (zone < 0 ? "" : full.substring(zone));
    }

    /** Returns {@code 127.0.0.1:3322} or {@code [::1]:3322}; a name that was not resolved stands as it is. */
    public static String text(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        String host = ip == null ? address.getHostString() : host(ip);
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }
}
