package org.tamanoir.icmp;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Types of messages that routers send on, of IPv4 and IPv6 alike. Their order is that of {@code enum tmn_plain_icmp} in
 * tamanoir_plain.h.
 */
public enum IcmpType {
    ECHO_REQUEST(8, 128),
    ECHO_REPLY(0, 129),
    /** The destination cannot be reached. */
    UNREACHABLE(3, 1),
    /** A packet is too long for a link; of IPv4 code 4 of {@link #UNREACHABLE}. */
    PACKET_TOO_BIG(3, 2),
    TIME_EXCEEDED(11, 3),
    PARAMETER_PROBLEM(12, 4);

    private static final int FRAGMENTATION_NEEDED = 4;
    private static final IcmpType[] ALL = values();

    private final int v4;
    private final int v6;

    IcmpType(int v4, int v6) {
        this.v4 = v4;
        this.v6 = v6;
    }

    /** Returns the type of a message by its first two octets; null where it is another. */
    public static @Nullable IcmpType of(boolean isIpv6, int type, int code) {
        if (!isIpv6 && type == UNREACHABLE.v4) {
            return code == FRAGMENTATION_NEEDED ? PACKET_TOO_BIG : UNREACHABLE;
        }
        for (IcmpType each : ALL) {
            if (each.number(isIpv6) == type) {
                return each;
            }
        }
        return null;
    }

    /** Returns the message's first octet. */
    public int number(boolean isIpv6) {
        return isIpv6 ? v6 : v4;
    }

    /** Returns its name as operators write it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns whether such a message says what became of a packet, and has the beginning of that in it. */
    public boolean isError() {
        return this != ECHO_REQUEST && this != ECHO_REPLY;
    }
}
