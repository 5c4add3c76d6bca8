package org.tamanoir.manager;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Origin;

/**
 * Decides whether the node that sent a stream may be asked for code, and where. What packets say is not believed: the
 * code server asked is at the address that the stream really comes from, or is a neighbour of the configuration.
 */
final class UpstreamCodeServers {
    private final List<InetSocketAddress> neighbours;
    private final String scheme;

    UpstreamCodeServers(List<InetSocketAddress> neighbours, boolean tls) {
        this.neighbours = List.copyOf(neighbours);
        this.scheme = tls ? "https" : "http";
    }

    /**
     * A code server to ask.
     *
     * @param base its base address
     * @param isNeighbour whether the configuration names it
     */
    record Server(URI base, boolean isNeighbour) {}

    /** Returns the code server to ask; null for none. */
    @Nullable
    Server of(Origin origin) {
        InetSocketAddress named = origin.previousNode();
        if (named != null && named.getPort() != 0) {
            if (named.getAddress().isAnyLocalAddress()) {
                named = new InetSocketAddress(origin.peer(), named.getPort());
            }
            boolean isNeighbour = neighbours.contains(named);
            if (isNeighbour || named.getAddress().equals(origin.peer())) {
                return at(named, isNeighbour);
            }
        }
        for (InetSocketAddress neighbour : neighbours) {
            if (origin.peer().equals(neighbour.getAddress())) {
                return at(neighbour, true);
            }
        }
        return null;
    }

    private Server at(InetSocketAddress server, boolean isNeighbour) {
        String host = server.getAddress().getHostAddress();
        int zone = host.indexOf('%');
        String plain = zone < 0 ? host : host.substring(0, zone);
        URI base = URI.create(
                scheme + "://" + (plain.indexOf(':') < 0 ? plain : "[" + plain + "]") + ":" + server.getPort() + "/");
        return new Server(base, isNeighbour);
    }
}
