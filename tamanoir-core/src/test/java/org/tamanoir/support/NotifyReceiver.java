package org.tamanoir.support;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Hears what a process tells the service manager, as systemd does: a datagram socket of the family AF_UNIX. */
public final class NotifyReceiver implements AutoCloseable {
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final BlockingQueue<String> states = new LinkedBlockingQueue<>();
    private final Channel channel;

    private NotifyReceiver(String name) {
        channel = new Bootstrap()
                .group(loop)
                .channel(EpollDomainDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DomainDatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, DomainDatagramPacket packet) {
                        states.add(packet.content().toString(StandardCharsets.UTF_8));
                    }
                })
                .bind(new DomainSocketAddress(name.replaceFirst("^@", "\0")))
                .syncUninterruptibly()
                .channel();
    }

    /**
     * Skips the test where there are no such sockets.
     *
     * @param name a path, or an abstract name behind an {@code @}
     */
    public static NotifyReceiver at(String name) {
        Tiers.require("native", Epoll.isAvailable(), "no epoll here: " + Epoll.unavailabilityCause());
        return new NotifyReceiver(name);
    }

    /** Waits for the next one, with a bound. */
    public String next() throws InterruptedException {
        String state = states.poll(Waiting.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        if (state == null) {
            throw new AssertionError("nothing was told in " + Waiting.PATIENCE);
        }
        return state;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
