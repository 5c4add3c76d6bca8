package org.tamanoir.plain;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;

/**
 * What a datagram, or the segment that begins a connection, must be for a rule.
 *
 * @param protocol of the transport
 * @param source where it comes from; null = anywhere
 * @param destination where it goes; null = anywhere
 * @param firstPort of the destination, 0 to 65535
 * @param lastPort likewise, and not smaller
 * @param dscp upper 6 bits of TOS or traffic class; {@link #ANY} = all
 * @param mark the firewall mark that it has when it comes in; {@link #ANY} = all
 * @param routerAlert whether it has that option, of IPv6 with the value 2, for active networks; null = no matter
 */
public record PlainMatch(
        Protocol protocol,
        @Nullable Prefix source,
        @Nullable Prefix destination,
        int firstPort,
        int lastPort,
        int dscp,
        long mark,
        @Nullable Boolean routerAlert) {
    /** Transports that rules are for. */
    public enum Protocol {
        UDP,
        TCP;

        /** Returns its name as operators write it. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Any value. */
    public static final int ANY = -1;

    public static final int MAX_PORT = 65_535;
    public static final int MAX_DSCP = 63;
    public static final long MAX_MARK = 0xFFFF_FFFFL;

    /** Checks the bounds. */
    public PlainMatch {
        if (firstPort < 0 || lastPort > MAX_PORT || firstPort > lastPort) {
            throw new IllegalArgumentException("ports " + firstPort + "-" + lastPort + ": must be 0 to " + MAX_PORT
                    + ", the first not above the last");
        }
        if (dscp < ANY || dscp > MAX_DSCP) {
            throw new IllegalArgumentException("DSCP " + dscp + ": must be 0 to " + MAX_DSCP);
        }
        if (mark < ANY || mark > MAX_MARK) {
            throw new IllegalArgumentException("mark " + mark + ": must be 0 to " + MAX_MARK);
        }
        if (source != null && destination != null && source.isIpv4() != destination.isIpv4()) {
            throw new IllegalArgumentException(
                    "from " + source + " to " + destination + ": no packet has both; both must be of one family");
        }
    }

    /** Returns in a few words why a flow is not meant; null if it is. */
    public @Nullable String whyNot(PlainFlow flow) {
        if (flow.protocol() != protocol) {
            return "protocol " + flow.protocol().word() + " is not " + protocol.word();
        }
        if (source != null && !source.contains(flow.sourceHigh(), flow.sourceLow())) {
            return "source " + Addresses.of(flow.sourceHigh(), flow.sourceLow()).getHostAddress() + " is not in "
                    + source;
        }
        if (destination != null && !destination.contains(flow.destinationHigh(), flow.destinationLow())) {
            return "destination "
                    + Addresses.of(flow.destinationHigh(), flow.destinationLow())
                            .getHostAddress()
                    + " is not in " + destination;
        }
        if (flow.destinationPort() < firstPort || flow.destinationPort() > lastPort) {
            return "destination port " + flow.destinationPort() + " is not " + ports();
        }
        if (dscp != ANY && flow.dscp() != dscp) {
            return "DSCP " + flow.dscp() + " is not " + dscp;
        }
        if (mark != ANY && flow.mark() != mark) {
            return "mark " + flow.mark() + " is not " + mark;
        }
        if (routerAlert != null && flow.routerAlert() != routerAlert) {
            return routerAlert ? "it has no Router Alert" : "it has a Router Alert";
        }
        return null;
    }

    /** Returns {@code 5004-5010}, or a single port. */
    public String ports() {
        return firstPort == lastPort ? Integer.toString(firstPort) : firstPort + "-" + lastPort;
    }
}
