package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsContext;

/** A {@link TcpListener} of Netty's. */
final class NettyListener implements TcpListener {
    private static final int BACKLOG = 1024;

    private final Channel channel;
    private final boolean translating;

    /** Makes a connection of one that was accepted; null = a stranger's, which is reset. */
    private interface Maker {
        @Nullable
        NettyConnection of(SocketChannel child);
    }

    private NettyListener(Channel channel, boolean translating) {
        this.channel = channel;
        this.translating = translating;
    }

    /** Listens as {@link IoSockets#listen} says. */
    static TcpListener bind(
            NettyLoop loop, InetSocketAddress address, @Nullable TlsContext tls, Consumer<TcpConnection> accepted)
            throws IOException {
        Maker maker = child ->
                new NettyConnection(child, loop.pool(), child.remoteAddress(), tls == null ? null : tls.server());
        return bind(loop, address, tls != null, maker, accepted, tls == null ? "tcp" : "tls");
    }

    /** Listens for what comes by a gateway. */
    static TcpListener bind(NettyLoop loop, StreamGateway gateway, Consumer<TcpConnection> accepted)
            throws IOException {
        Maker maker = child -> {
            InetSocketAddress sender = child.remoteAddress();
            StreamGateway its = gateway.of(sender, child.localAddress());
            return its == null ? null : new NettyConnection(child, loop.pool(), sender, its, its.codec(sender));
        };
        TcpListener listener = bind(loop, gateway.address(), true, maker, accepted, "gateway");
        String obstacle = gateway.isInTransit() ? listener.acceptInTransit() : "";
        if (!obstacle.isEmpty()) {
            listener.close();
            throw new IOException(obstacle);
        }
        return listener;
    }

    /** Listens as {@link IoSockets#listenInside} says. */
    static TcpListener inside(NettyLoop loop, QuicPort port, Consumer<TcpConnection> accepted) throws IOException {
        Maker maker = child -> {
            QuicPort.Origin origin = port.origin(child.remoteAddress());
            return origin == null ? null : new NettyConnection(child, loop.pool(), origin);
        };
        return bind(loop, QuicLibrary.anyInside(), true, maker, accepted, "inside");
    }

    private static TcpListener bind(
            NettyLoop loop,
            InetSocketAddress address,
            boolean translating,
            Maker maker,
            Consumer<TcpConnection> accepted,
            String use)
            throws IOException {
        int adopted = loop.shared().take(use, address);
        Channel channel = adopted < 0 ? loop.newServerChannel() : new EpollServerSocketChannel(adopted);
        channel.config().setOption(ChannelOption.SO_BACKLOG, BACKLOG);
        channel.config().setOption(ChannelOption.SO_REUSEADDR, true);
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                SocketChannel child = (SocketChannel) message;
                try {
                    NettyConnection connection = maker.of(child);
                    if (connection == null) {
                        child.config().setSoLinger(0);
                        child.unsafe().closeForcibly();
                        return;
                    }
                    // Before its user may close it; it reads in a later step of the loop.
                    loop.register(child);
                    accepted.accept(connection);
                    connection.begin();
                } catch (Throwable e) {
                    // Nobody else knows of it.
                    if (child.isRegistered()) {
                        child.close();
                    } else {
                        child.unsafe().closeForcibly();
                    }
                    throw e;
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                // accept(2) failed, for want of descriptors for instance: the connection stays in the backlog.
                // Who cannot arrange to listen again, for want of memory for instance, does not stop to listen.
                context.channel()
                        .eventLoop()
                        .schedule(
                                () -> context.channel().config().setAutoRead(true),
                                1,
                                java.util.concurrent.TimeUnit.SECONDS);
                context.channel().config().setAutoRead(false);
            }
        });
        loop.register(channel);
        // On the loop's own thread both are done when they return.
        Throwable cause = adopted < 0 ? channel.bind(address).cause() : null;
        if (cause != null || channel.localAddress() == null) {
            channel.close();
            throw new IOException(BindFailure.line(
                    "cannot listen on TCP", address, cause == null ? "not bound" : Causes.text(cause)));
        }
        if (channel instanceof EpollServerSocketChannel open) {
            loop.shared().opened(use, address, open.fd().intValue());
        }
        return new NettyListener(channel, translating);
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) channel.localAddress();
    }

    @Override
    public boolean isTranslating() {
        return translating;
    }

    @Override
    public String acceptInTransit() {
        String address = Addresses.text(localAddress());
        if (!(channel instanceof EpollServerSocketChannel)) {
            return "TCP " + address + ": java.nio cannot accept connections in transit; use the native transport";
        }
        try {
            channel.config().setOption(EpollChannelOption.IP_TRANSPARENT, true);
            return "";
        } catch (ChannelException e) {
            return "TCP " + address + ": no IP_TRANSPARENT: " + e.getMessage() + " (needs CAP_NET_RAW)";
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}
