package org.tamanoir.plain;

import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;

/**
 * What a datagram, the segment that begins a connection, or an ICMP message must be for a rule.
 *
 * @param protocol of the transport, or ICMP
 * @param source where it comes from; null = anywhere
 * @param destination where it goes; null = anywhere
 * @param firstPort of the destination, 0 to 65535; of ICMP 0
 * @param lastPort likewise, and not smaller; of ICMP 65535
 * @param types of ICMP messages; of other protocols none
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
        Set<IcmpType> types,
        int dscp,
        long mark,
        @Nullable Boolean routerAlert) {
    /** What rules are for. */
    public enum Protocol {
        UDP,
        TCP,
        /** Of IPv4, and ICMPv6. */
        ICMP;

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

    /** Of UDP or TCP, as above. */
    public PlainMatch(
            Protocol protocol,
            @Nullable Prefix source,
            @Nullable Prefix destination,
            int firstPort,
            int lastPort,
            int dscp,
            long mark,
            @Nullable Boolean routerAlert) {
        this(protocol, source, destination, firstPort, lastPort, Set.of(), dscp, mark, routerAlert);
    }

    /** Checks the bounds. */
    public PlainMatch {
        types = Set.copyOf(types);
        if (protocol == Protocol.ICMP
                ? firstPort != 0 || lastPort != MAX_PORT || types.isEmpty() || Boolean.TRUE.equals(routerAlert)
                : !types.isEmpty()) {
            throw new IllegalArgumentException(
                    protocol.word() + ": of icmp types are wanted, no ports, no Router Alert; of others no types");
        }
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
            return "source " + Addresses.host(Addresses.of(flow.sourceHigh(), flow.sourceLow())) + " is not in "
                    + source;
        }
        if (destination != null && !destination.contains(flow.destinationHigh(), flow.destinationLow())) {
            return "destination "
                    + Addresses.host(Addresses.of(flow.destinationHigh(), flow.destinationLow()))
                    + " is not in " + destination;
        }
        IcmpType type = flow.type();
        if (protocol == Protocol.ICMP && (type == null || !types.contains(type))) {
            return "type " + (type == null ? "of another kind" : type.word()) + " is not " + typeWords();
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
        Boolean alert = protocol == Protocol.ICMP ? Boolean.FALSE : routerAlert;
        if (alert != null && flow.routerAlert() != alert) {
            return alert ? "it has no Router Alert" : "it has a Router Alert";
        }
        return null;
    }

    /** Returns the names of the types in their order. */
    public String typeWords() {
        return types.stream().sorted().map(IcmpType::word).collect(Collectors.joining(", "));
    }

    /** Returns {@code 5004-5010}, or a single port. */
    public String ports() {
        return firstPort == lastPort ? Integer.toString(firstPort) : firstPort + "-" + lastPort;
    }
}
