package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.PlainHeaders;
import org.tamanoir.gateway.TransitGateway;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * The sockets that plain datagrams come to, one for IPv4 and one for IPv6. They are bound to loopback addresses, so that
 * nothing from outside reaches them but what a rule has sent up.
 *
 * @param all those that there are
 */
record PlainSockets(List<UdpSocket> all) implements AutoCloseable {
    /** None. */
    static final PlainSockets NONE = new PlainSockets(List.of());

    private static final Logger LOG = LoggerFactory.getLogger(PlainSockets.class);

    /** Opens them and has plain datagrams come up; none, with the reason in the log, where that cannot be. */
    static PlainSockets attach(PlainTraffic plain, TransportKind kind, int typeId, Levels.Listener listener) {
        PlainHeaders headers = plain.rules().headers(typeId);
        UdpSocket v4 = null;
        UdpSocket v6 = null;
        List<Levels.Listening> listening = new ArrayList<>();
        try {
            v4 = open(kind, "127.0.0.1", headers, plain.upMark());
            v6 = openIpv6(kind, headers, plain.upMark());
            plain.attach(
                    v4.localAddress(),
                    v6 == null ? null : v6.localAddress(),
                    new PlainTraffic.Listening(
                            listen(plain, "127.0.0.1", typeId, listener, listening),
                            v6 == null ? List.of() : listen(plain, "::1", typeId, listener, listening)));
            return new PlainSockets(Stream.of(v4, v6).filter(Objects::nonNull).toList());
        } catch (IOException | LevelException | RuntimeException e) {
            String why = String.valueOf(e.getMessage());
            LOG.warn("plain IP: nothing comes up, all goes on: {}", why);
            plain.notAttached(why);
            listening.forEach(Levels.Listening::close);
            close(v4);
            close(v6);
            return NONE;
        }
    }

    private static @Nullable UdpSocket openIpv6(TransportKind kind, PlainHeaders headers, int mark) {
        try {
            return open(kind, "::1", headers, mark);
        } catch (IOException e) {
            LOG.info("plain IP: of IPv4 alone: {}", e.getMessage());
            return null;
        }
    }

    private static UdpSocket open(TransportKind kind, String address, PlainHeaders headers, int mark)
            throws IOException {
        UdpSocket socket = UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getByName(address), 0));
        try {
            socket.receivePlain(headers, mark & NodeOs.UP_MASK);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Listens for the connections of each rule for TCP; returns the ports by rule. */
    private static List<Integer> listen(
            PlainTraffic plain, String address, int typeId, Levels.Listener listener, List<Levels.Listening> listening)
            throws IOException {
        List<Integer> ports = new ArrayList<>();
        for (PlainRule rule : plain.rules().rules()) {
            if (rule.match().protocol() != PlainMatch.Protocol.TCP) {
                ports.add(0);
                continue;
            }
            Levels.Listening socket = listener.listen(gateway(rule, address, typeId, plain.sentMark()));
            listening.add(socket);
            ports.add(socket.port());
        }
        return ports;
    }

    private static StreamGateway gateway(PlainRule rule, String address, int typeId, int mark) throws IOException {
        return TransitGateway.listening(
                new InetSocketAddress(InetAddress.getByName(address), 0),
                rule.serviceKey(),
                Math.max(0, rule.classOfService()),
                typeId,
                mark,
                rule.onFailure() == FailurePolicy.DROP);
    }

    private static void close(@Nullable UdpSocket socket) {
        if (socket != null) {
            socket.close();
        }
    }

    @Override
    public void close() {
        all.forEach(UdpSocket::close);
    }
}
