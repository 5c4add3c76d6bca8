package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.StreamFormat;
import org.tamanoir.gateway.StreamFormats;
import org.tamanoir.gateway.UdpGateway;

/**
 * A gateway as users write it: {@code LISTEN=TO,FORMAT[,SERVICE][,class=N]}, with {@code udp:} in front for UDP.
 *
 * @param isUdp whether it takes datagrams, not connections
 * @param service full name, perhaps with a version; null = none
 */
public record GatewayLine(
        boolean isUdp,
        InetSocketAddress listen,
        InetSocketAddress to,
        String format,
        @Nullable String service,
        int classOfService) {
    /** The format of UDP: a packet's payload is a datagram. */
    private static final String DATAGRAMS = "datagrams";

    /**
     * The same, and is RTP, RTCP, or with strict nothing else, of another protocol on its port; perhaps with the clock of
     * payload types that have none of their own.
     */
    private static final String RTP = "rtp";

    private static final String STRICT = "/strict";
    private static final Pattern RTP_FORMAT = Pattern.compile(RTP + "(?:/([1-9][0-9]{3,5}))?(" + STRICT + ")?");
    /** Of video, in RFC 3551. */
    private static final int CLOCK_HZ = 90_000;

    private static final String UDP = "udp:";
    private static final int NO_PORT = 0;
    private static final String CLASS = "class=";
    private static final String WANTED = "LISTEN=TO,FORMAT[,SERVICE][,class=N] is wanted, as in "
            + "127.0.0.1:8080=10.0.0.9:80,octets,Monitor or udp:127.0.0.1:5004=10.0.0.9:5004,datagrams,Monitor";

    /** Reads one; throws {@link IllegalArgumentException} in one line. */
    static GatewayLine parse(String text) {
        boolean isUdp = text.startsWith(UDP);
        String[] parts = (isUdp ? text.substring(UDP.length()) : text).split(",", -1);
        int equals = parts[0].indexOf('=');
        if (equals <= 0 || parts.length < 2 || parts.length > 4) {
            throw new IllegalArgumentException("'" + text + "' is no gateway: " + WANTED);
        }
        InetSocketAddress to = Endpoint.of(parts[0].substring(equals + 1), NO_PORT, 1);
        InetSocketAddress listen = Endpoint.listening(parts[0].substring(0, equals), NO_PORT);
        if (to.getPort() == NO_PORT
                || Endpoint.parse(parts[0].substring(0, equals), 0).port() == Endpoint.NO_PORT) {
            throw new IllegalArgumentException("'" + text + "' is no gateway: both of its addresses need a port");
        }
        if (to.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException(
                    "'" + text + "' leads to every address: name the one that the far side has");
        }
        if (Endpoint.isOfMany(to)) {
            throw new IllegalArgumentException("'" + text + "' leads to many hosts: name the address of one");
        }
        if (isUdp != isOfUdp(parts[1])) {
            throw new IllegalArgumentException("'" + text + "' is no gateway: UDP, with '" + UDP
                    + "' in front, has the formats '" + DATAGRAMS + "', '" + RTP + "' and '" + RTP
                    + "/CLOCK', these two perhaps with '" + STRICT
                    + "' behind, and TCP the others; CLOCK is 1000 to 999999 Hz");
        }
        if (!isUdp && StreamFormats.find(parts[1]) == null) {
            throw new IllegalArgumentException("gateways have no format '" + parts[1] + "': there are "
                    + StreamFormats.names() + "; a format of your own has to be on the class path");
        }
        String service = null;
        int classOfService = 0;
        for (int i = 2; i < parts.length; i++) {
            if (parts[i].startsWith(CLASS) && i == parts.length - 1) {
                classOfService = classOfService(parts[i].substring(CLASS.length()));
            } else if (i == 2) {
                service = NodeConfigBuilder.serviceName(parts[i]);
            } else {
                throw new IllegalArgumentException("'" + text + "' is no gateway: " + WANTED);
            }
        }
        return new GatewayLine(isUdp, listen, to, parts[1], service, classOfService);
    }

    private static boolean isOfUdp(String format) {
        return format.equals(DATAGRAMS) || RTP_FORMAT.matcher(format).matches();
    }

    private int clockHz() {
        Matcher rtp = RTP_FORMAT.matcher(format);
        return !rtp.matches() ? 0 : rtp.group(1) == null ? CLOCK_HZ : Integer.parseInt(rtp.group(1));
    }

    private static int classOfService(String text) {
        try {
            return (int) Decimals.whole(text, 0, 255);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "class '" + text + "' of a gateway: a number from 0 to 255 is wanted", e);
        }
    }

    /** Returns the same at an address. */
    public GatewayLine at(InetSocketAddress address) {
        return new GatewayLine(isUdp, address, to, format, service, classOfService);
    }

    /** Returns the text that {@link #parse} reads as this. */
    public String text() {
        return (isUdp ? UDP : "") + Endpoint.toString(listen) + "=" + Endpoint.toString(to) + "," + format
                + (service == null ? "" : "," + service) + (classOfService == 0 ? "" : "," + CLASS + classOfService);
    }

    private long serviceKey() {
        return service == null ? ServiceKey.NONE : ServiceKey.of(service);
    }

    /** Makes one of UDP for a node with this Type ID. */
    public UdpGateway udpGateway(int typeId) {
        return new UdpGateway(listen, to, serviceKey(), classOfService, clockHz(), format.endsWith(STRICT), typeId);
    }

    /** Makes one of TCP likewise. */
    public Gateway gateway(int typeId) {
        StreamFormat known = StreamFormats.find(format);
        if (known == null) {
            throw new IllegalStateException("format " + format + " was there before");
        }
        return new Gateway(listen, to, known, serviceKey(), classOfService, typeId);
    }
}
