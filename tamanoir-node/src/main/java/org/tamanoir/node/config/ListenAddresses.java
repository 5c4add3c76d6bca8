package org.tamanoir.node.config;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/**
 * Where a node listens: one address is for one thing, and stands in one list. A wildcard takes its port of all addresses
 * that its socket serves. One thread.
 */
final class ListenAddresses {
    private final Values values;
    private final Problems problems;
    private final Map<Integer, List<Taken>> tcp = new HashMap<>();
    private final Map<Integer, List<Taken>> udp = new HashMap<>();
    private final boolean hasNativeUdp;

    /** An address, and the setting that has it. */
    private record Taken(InetSocketAddress address, String path) {}

    ListenAddresses(Values values, Problems problems) {
        this.values = values;
        this.problems = problems;
        this.hasNativeUdp = UdpSockets.resolve(values.get(NodeSettings.TRANSPORT)) == TransportKind.NATIVE;
    }

    /** Adds a problem for each address that is given to two; ports that the system is to choose are no matter. */
    void check() {
        values.get(NodeSettings.TCP).forEach(address -> take(tcp, NodeSettings.TCP, address));
        values.get(NodeSettings.TLS_ADDRESSES).forEach(address -> take(tcp, NodeSettings.TLS_ADDRESSES, address));
        values.get(NodeSettings.UDP_ADDRESSES).forEach(address -> take(udp, NodeSettings.UDP_ADDRESSES, address));
        values.get(NodeSettings.QUIC_ADDRESSES).forEach(address -> take(udp, NodeSettings.QUIC_ADDRESSES, address));
        values.get(NodeSettings.GATEWAYS)
                .forEach(line -> take(line.isUdp() ? udp : tcp, NodeSettings.GATEWAYS, line.listen()));
        server(NodeSettings.CODE_SERVER);
        if (values.isGiven(NodeSettings.ADMIN)) { // Else it has another port where this one is taken.
            server(NodeSettings.ADMIN);
        }
    }

    private void server(Setting<Optional<InetSocketAddress>> setting) {
        Optional<InetSocketAddress> address = values.find(setting, Optional.empty());
        address.ifPresent(given -> take(tcp, setting, given));
    }

    private void take(Map<Integer, List<Taken>> taken, Setting<?> setting, InetSocketAddress address) {
        if (address.getPort() == 0) {
            return;
        }
        List<Taken> ofPort = taken.computeIfAbsent(address.getPort(), port -> new ArrayList<>());
        for (Taken before : ofPort) {
            if (before.address.equals(address)) {
                String there = before.path.equals(setting.path()) ? "there twice" : "in " + before.path + " too";
                problems.add(
                        values.where(setting),
                        Endpoint.toString(address) + " is " + there
                                + ", and one address takes one kind of traffic; remove one");
                return;
            }
            if (collide(before.address.getAddress(), address.getAddress(), taken == tcp)) {
                problems.add(
                        values.where(setting),
                        Endpoint.toString(address) + " cannot be had beside " + Endpoint.toString(before.address)
                                + " of " + before.path
                                + ": a wildcard takes this port of all addresses; remove one, or "
                                + "give it another port");
                return;
            }
        }
        ofPort.add(new Taken(address, setting.path()));
    }

    /**
     * Returns whether two different addresses cannot have one port: one is a wildcard. TCP's are of both families, whichever
     * it is; those of UDP are of their own, but for {@code ::} without native sockets.
     */
    private boolean collide(InetAddress one, InetAddress other, boolean isTcp) {
        if (!one.isAnyLocalAddress() && !other.isAnyLocalAddress()) {
            return false;
        }
        return isTcp
                || one instanceof Inet4Address == other instanceof Inet4Address
                || !hasNativeUdp && (isAnyIpv6(one) || isAnyIpv6(other));
    }

    private static boolean isAnyIpv6(InetAddress address) {
        return address.isAnyLocalAddress() && !(address instanceof Inet4Address);
    }
}
