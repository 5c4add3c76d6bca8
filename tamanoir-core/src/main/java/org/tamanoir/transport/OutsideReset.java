package org.tamanoir.transport;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Breaks connections whose loops nobody runs any more. */
final class OutsideReset {
    private static final Logger LOG = LoggerFactory.getLogger(OutsideReset.class);

    private OutsideReset() {}

    /**
     * Breaks a connection. With epoll the far side gets a reset at once: connect(2) with AF_UNSPEC dissolves the
     * association. A channel of the JDK cannot be closed while it stands in a selector that nobody runs; both its
     * directions are shut down, so that the far side gets an end of stream, and a reset when it goes on to send. Any
     * thread.
     */
    static void reset(SocketChannel channel) {
        if (channel instanceof EpollSocketChannel epoll) {
            if (epoll.fd().isOpen()) {
                ByteBuffer nowhere = MessageArray.allocate(16).putShort(0, (short) LibC.AF_UNSPEC);
                LibC.connect(epoll.fd().intValue(), MessageArray.addressOf(nowhere), 16);
            }
        } else if (channel.unsafe() instanceof AbstractNioChannel.NioUnsafe unsafe
                && unsafe.ch() instanceof java.nio.channels.SocketChannel nio) {
            try {
                nio.shutdownInput();
                nio.shutdownOutput();
            } catch (IOException e) {
                LOG.debug("{}: is not connected any more: {}", channel, e.getMessage());
            }
        }
    }
}
