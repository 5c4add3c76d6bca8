package org.tamanoir.repository;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.ListeningSockets;

/**
 * The listening socket of an HTTP server that may come from another process, and go to one. It is a native one, whose
 * descriptor is known.
 *
 * <p>Thread contract: Vert.x's acceptor thread; {@link #leave} any thread's.
 */
final class SharedListening {
    private static final long PATIENCE_SECONDS = 10;

    private final ListeningSockets sockets;
    private final String use;
    private final InetSocketAddress address;
    private volatile @Nullable Channel open;

    /** @param use of the sockets' names */
    SharedListening(ListeningSockets sockets, String use, InetSocketAddress address) {
        this.sockets = sockets;
        this.use = use;
        this.address = address;
    }

    /** Makes the socket, which accepts what these connections have a place for. */
    ServerChannel channel(HttpConnections connections) {
        int adopted = sockets.take(use, address);
        EpollServerSocketChannel channel =
                adopted < 0 ? new EpollServerSocketChannel() : new EpollServerSocketChannel(adopted);
        channel.pipeline().addLast(new Binding(channel, adopted >= 0), new Admission(connections));
        open = channel;
        return channel;
    }

    /** Accepts no more here; connections that are open go on. */
    void leave() {
        Channel channel = open;
        if (channel != null && channel.isRegistered()) {
            channel.eventLoop()
                    .submit(() -> channel.config().setAutoRead(false))
                    .awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Takes note of the socket when it is bound, as it is when it comes from another process. */
    private final class Binding extends ChannelOutboundHandlerAdapter {
        private final EpollServerSocketChannel channel;
        private final boolean isAdopted;

        Binding(EpollServerSocketChannel channel, boolean isAdopted) {
            this.channel = channel;
            this.isAdopted = isAdopted;
        }

        @Override
        public void bind(ChannelHandlerContext context, SocketAddress local, ChannelPromise promise) {
            ChannelPromise bound = context.newPromise();
            bound.addListener(done -> {
                if (done.isSuccess()) {
                    sockets.opened(use, address, channel.fd().intValue());
                    promise.setSuccess();
                } else {
                    promise.setFailure(done.cause());
                }
            });
            if (isAdopted) {
                bound.setSuccess();
            } else {
                context.bind(local, bound);
            }
        }
    }

    /** Resets connections that there is no place for. */
    private static final class Admission extends ChannelInboundHandlerAdapter {
        private final HttpConnections connections;

        Admission(HttpConnections connections) {
            this.connections = connections;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof Channel accepted && !connections.admit(accepted)) {
                accepted.unsafe().closeForcibly();
            } else {
                context.fireChannelRead(message);
            }
        }
    }
}
