package org.tamanoir.node.run;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.platform.Causes;
import org.tamanoir.transport.BindFailure;
import org.tamanoir.transport.UdpSockets;

/**
 * Finds out whether the addresses that a node is to listen on can be had, before something that takes long: binds each
 * and gives it back. No TCP socket listens, so nobody can connect. Stateless; any thread.
 */
final class FreePorts {
    private FreePorts() {}

    /**
     * Passes if all addresses of this node can be had, or if it is a cluster's, whose addresses come when it joins.
     *
     * @throws IOException in one line, naming the first that cannot
     */
    static void require(NodeConfig config) throws IOException {
        if (config.cluster() != null) {
            return;
        }
        EeConfig environment = config.environment();
        List<InetSocketAddress> tcp = new ArrayList<>(environment.tcp());
        tcp.addAll(environment.tls());
        List<InetSocketAddress> udp = new ArrayList<>(environment.udp());
        config.get(NodeSettings.GATEWAYS).forEach(gateway -> (gateway.isUdp() ? udp : tcp).add(gateway.listen()));
        if (config.admin().listen() != null && config.admin().portIsGiven()) {
            tcp.add(config.admin().listen());
        }
        Optional<InetSocketAddress> code = config.find(NodeSettings.CODE_SERVER);
        if (config.deploy().isConfigured() && code != null) {
            code.ifPresent(tcp::add);
        }
        for (InetSocketAddress address : tcp) {
            requireTcp(address);
        }
        udp.addAll(config.get(NodeSettings.QUIC_ADDRESSES));
        for (InetSocketAddress address : udp) {
            UdpSockets.bind(environment.transport(), address).close();
        }
    }

    private static void requireTcp(InetSocketAddress address) throws IOException {
        StandardProtocolFamily family = address.getAddress() instanceof Inet6Address
                ? StandardProtocolFamily.INET6
                : StandardProtocolFamily.INET;
        try (SocketChannel socket = SocketChannel.open(family)) {
            socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            socket.bind(address);
        } catch (IOException | RuntimeException e) {
            throw new IOException(BindFailure.line("cannot listen on TCP", address, Causes.text(e)), e);
        }
    }
}
