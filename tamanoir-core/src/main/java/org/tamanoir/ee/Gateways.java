package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.StreamGateway;

/**
 * The node's gateways.
 *
 * <p>Thread contract: any thread.
 */
final class Gateways {
    private final NodeContext context;
    private final List<InetSocketAddress> bound = new ArrayList<>();
    private List<StreamGateway> wanted = List.of();

    Gateways(NodeContext context) {
        this.context = context;
    }

    /** As {@link ExecutionEnvironment#gateways}. */
    synchronized void configure(List<? extends StreamGateway> gateways) {
        wanted = List.copyOf(gateways);
    }

    /** Listens where they are to. */
    synchronized void start(Acceptor reception) throws IOException {
        for (StreamGateway gateway : wanted) {
            InetSocketAddress real = reception.listen(gateway);
            bound.add(real);
            context.forwarder().own(StreamInfo.Transport.TCP, real);
        }
    }

    /** Returns where they listen, in their order, with the real ports. */
    synchronized List<InetSocketAddress> addresses() {
        return List.copyOf(bound);
    }
}
