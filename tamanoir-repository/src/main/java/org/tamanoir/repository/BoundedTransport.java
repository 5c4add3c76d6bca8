package org.tamanoir.repository;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.vertx.core.transport.Transport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Vert.x's usual transport, but for its listening sockets: they ask {@link HttpConnections} whether there is a place for
 * what they accept, before anything is spent on it. A handler of Vert.x learns of a connection only when its TLS
 * handshake is over, and until then nothing would bound how many there are.
 *
 * <p>Thread contract: Vert.x's acceptor thread asks; all else is the usual transport's.
 */
final class BoundedTransport implements Transport {
    private final Transport usual;
    private final HttpConnections connections;
    private final @Nullable SharedListening shared;

    /** @param shared the listening socket, on the native transport; null = one of this process alone */
    BoundedTransport(HttpConnections connections, @Nullable SharedListening shared) {
        this.usual = shared == null ? Transport.NIO : Transport.EPOLL;
        this.connections = connections;
        this.shared = shared;
    }

    @Override
    public String name() {
        return usual.name();
    }

    @Override
    public boolean available() {
        return usual.available();
    }

    @Override
    public Throwable unavailabilityCause() {
        return usual.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return new Sockets(usual.implementation());
    }

    private final class Sockets implements io.vertx.core.spi.transport.Transport {
        private final io.vertx.core.spi.transport.Transport usual;

        Sockets(io.vertx.core.spi.transport.Transport usual) {
            this.usual = usual;
        }

        @Override
        public IoHandlerFactory ioHandlerFactory() {
            return usual.ioHandlerFactory();
        }

        @Override
        @SuppressWarnings("deprecation") // of Netty's type, in Vert.x's interface
        public DatagramChannel datagramChannel(InternetProtocolFamily family) {
            return usual.datagramChannel(family);
        }

        @Override
        public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
            return usual.datagramChannelFactory();
        }

        @Override
        public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
            return usual.channelFactory(domainSocket);
        }

        @Override
        public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
            if (domainSocket) {
                return usual.serverChannelFactory(true);
            }
            return shared == null ? () -> new Listening(connections) : () -> shared.channel(connections);
        }
    }

    private static final class Listening extends NioServerSocketChannel {
        private final HttpConnections connections;

        Listening(HttpConnections connections) {
            this.connections = connections;
        }

        @Override
        protected int doReadMessages(List<Object> accepted) throws Exception {
            int count = super.doReadMessages(accepted);
            if (count == 1
                    && accepted.get(accepted.size() - 1) instanceof Channel channel
                    && !connections.admit(channel)) {
                accepted.remove(accepted.size() - 1);
                channel.unsafe().closeForcibly();
                return 0; // What waits behind it is announced by the selector again.
            }
            return count;
        }
    }
}
