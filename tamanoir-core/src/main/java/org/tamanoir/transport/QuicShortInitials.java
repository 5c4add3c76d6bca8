package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DatagramPacket;

/**
 * Drops what could have a server answer with more bytes than came: datagrams of fewer than 1,200 bytes that begin a
 * connection, or name a version that is not 1 (RFC 9000, sections 14.1 and 6.1). Netty answers them.
 */
@ChannelHandler.Sharable
final class QuicShortInitials extends ChannelInboundHandlerAdapter {
    static final int LEAST_BYTES = 1200;

    private static final int LONG_HEADER = 0x80;
    private static final int TYPE = 0x30;
    private static final int VERSION_1 = 1;

    /** Returns whether a server may answer it. */
    static boolean mayBeAnswered(ByteBuf datagram) {
        int start = datagram.readerIndex();
        int bytes = datagram.readableBytes();
        if (bytes >= LEAST_BYTES) {
            return true;
        }
        if (bytes < 1 + Integer.BYTES) {
            return false;
        }
        int first = datagram.getByte(start);
        boolean isInitial = (first & TYPE) == 0;
        return (first & LONG_HEADER) == 0 || (!isInitial && datagram.getInt(start + 1) == VERSION_1);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof DatagramPacket packet && !mayBeAnswered(packet.content())) {
            packet.release();
        } else {
            context.fireChannelRead(message);
        }
    }
}
