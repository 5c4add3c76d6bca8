package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.IntegerUnixChannelOption;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Lets a socket that is not bound yet have the address of another host. Any thread. */
final class ForeignSource {
    private static final IntegerUnixChannelOption MARK =
            new IntegerUnixChannelOption("SO_MARK", LibC.SOL_SOCKET, LibC.SO_MARK);

    private ForeignSource() {}

    /**
     * Has the socket be bound to any address, and its segments bear a mark. Closes it where that cannot be.
     *
     * @throws UncheckedIOException in one line, with the remedy, then
     */
    static void allow(Channel channel, int mark) {
        try {
            if (!(channel instanceof EpollSocketChannel)) {
                throw new ChannelException("java.nio has no IP_TRANSPARENT; use the native transport");
            }
            channel.config().setOption(EpollChannelOption.IP_TRANSPARENT, true);
            channel.config().setOption(ChannelOption.SO_REUSEADDR, true); // One port may lead to several hosts.
            channel.config().setOption(MARK, mark);
        } catch (ChannelException e) {
            channel.unsafe().closeForcibly();
            throw new UncheckedIOException(
                    "no socket with another host's address: " + e.getMessage() + " (needs CAP_NET_ADMIN)",
                    new IOException(e));
        }
    }
}
