package org.tamanoir.manager;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.ee.Origin;

/**
 * Decides whether the node that sent a stream may be asked for code, and where. What packets say is not believed: the
 * code server asked is at the address that the stream really comes from, or is a neighbour of the configuration.
 */
final class PreviousNode {
    private final List<InetSocketAddress> neighbours;
    private final String scheme;

    PreviousNode(List<InetSocketAddress> neighbours, boolean tls) {
        this.neighbours = List.copyOf(neighbours);
        this.scheme = tls ? "https" : "http";
    }

    /** The base address of the code server to ask; null for none. */
    @Nullable
    URI of(Origin origin) {
        InetSocketAddress named = origin.previousNode();
        if (named != null && named.getPort() != 0) {
            InetAddress address = named.getAddress();
            if (address.isAnyLocalAddress()) {
                return at(new InetSocketAddress(origin.peer(), named.getPort()));
            }
            if (address.equals(origin.peer()) || neighbours.contains(named)) {
                return at(named);
            }
        }
        for (InetSocketAddress neighbour : neighbours) {
            if (origin.peer().equals(neighbour.getAddress())) {
                return at(neighbour);
            }
        }
        return null;
    }

    private URI at(InetSocketAddress server) {
        String host = server.getAddress().getHostAddress();
        int zone = host.indexOf('%');
        String plain = zone < 0 ? host : host.substring(0, zone);
        return URI.create(
                scheme + "://" + (plain.indexOf(':') < 0 ? plain : "[" + plain + "]") + ":" + server.getPort() + "/");
    }
}
