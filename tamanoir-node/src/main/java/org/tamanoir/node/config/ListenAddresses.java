package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where a node listens: one address is for one thing, and stands in one list. One thread. */
final class Addresses {
    private final Values values;
    private final Problems problems;
    private final Map<InetSocketAddress, String> tcp = new HashMap<>();
    private final Map<InetSocketAddress, String> udp = new HashMap<>();

    Addresses(Values values, Problems problems) {
        this.values = values;
        this.problems = problems;
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

    private void take(Map<InetSocketAddress, String> taken, Setting<?> setting, InetSocketAddress address) {
        @Nullable String before = address.getPort() == 0 ? null : taken.putIfAbsent(address, setting.path());
        if (before != null) {
            problems.add(
                    values.where(setting),
                    Endpoint.toString(address) + " is "
                            + (before.equals(setting.path()) ? "there twice" : "in " + before + " too")
                            + ", and one address takes one kind of traffic; remove one");
        }
    }
}
