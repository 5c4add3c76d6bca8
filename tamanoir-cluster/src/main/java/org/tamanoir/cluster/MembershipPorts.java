package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;

/**
 * Where the node listens, held against where packets of the cluster's services come to: by direct routing and tunnelling
 * the virtual address, by NAT the node's own.
 */
record MembershipPorts(List<InetSocketAddress> tcp, List<InetSocketAddress> udp) {
    static final MembershipPorts NOT_YET = new MembershipPorts(List.of(), List.of());

    MembershipPorts {
        tcp = List.copyOf(tcp);
        udp = List.copyOf(udp);
    }

    /** Returns what the node does not listen on, one line each with the remedy. */
    List<String> findings(List<Welcome.Served> services) {
        if (tcp.isEmpty() && udp.isEmpty()) {
            return List.of();
        }
        List<String> findings = new ArrayList<>();
        for (Welcome.Served service : services) {
            for (String protocol : service.protocols()) {
                List<InetSocketAddress> listening = protocol.equals(Protocol.TCP.label()) ? tcp : udp;
                if (listening.stream().noneMatch(address -> isFor(service, address))) {
                    findings.add(finding(service, protocol));
                }
            }
        }
        return findings;
    }

    private static boolean isFor(Welcome.Served service, InetSocketAddress listening) {
        InetAddress wanted = Bounds.address(service.address());
        InetAddress here = listening.getAddress();
        if (here == null || listening.getPort() != service.backEndPort()) {
            return false;
        }
        if (here.isAnyLocalAddress()) {
            // The wildcard of IPv6 takes IPv4 too, as Java opens it.
            return here.getAddress().length >= wanted.getAddress().length;
        }
        boolean isNat = service.forwarding().equals(Forwarding.NAT.label());
        return isNat ? !here.isLoopbackAddress() : here.equals(wanted);
    }

    private static String finding(Welcome.Served service, String protocol) {
        String host = service.address().indexOf(':') < 0 ? service.address() : "[" + service.address() + "]";
        String wildcard = service.address().indexOf(':') < 0 ? "*" : "[::]";
        String where = service.forwarding().equals(Forwarding.NAT.label())
                ? "port " + service.backEndPort() + " of its own address"
                : host + ":" + service.backEndPort();
        return "service " + service.name() + ": the node does not listen on " + protocol + " " + where
                + ": add --listen '" + wildcard + ":" + service.backEndPort() + "'";
    }
}
