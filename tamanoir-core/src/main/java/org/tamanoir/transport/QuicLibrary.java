package org.tamanoir.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.quic.EpollQuicUtils;
import io.netty.handler.codec.quic.Quic;
import io.netty.handler.codec.quic.SegmentedDatagramPacketAllocator;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The sockets of QUIC, native or the JDK's, and whether its library loads here.
 *
 * <p>Thread contract: any thread.
 */
record QuicLibrary(boolean isNative, ByteBufAllocator memory) {
    /** Datagrams of a payload of 1,350 bytes that one system call sends, and reads. */
    private static final int BATCH = 32;

    private static final int DATAGRAM_BYTES = 2048;
    /** Of the datagrams' socket, as far as net.core.rmem_max lets it. */
    private static final int SOCKET_BYTES = 4 << 20;
    /** Of the kernel's buffers of a stream inside the process, each way. */
    private static final int INSIDE_BYTES = 256 << 10;
    /** What may wait in this process for the kernel; above the first no more is read. */
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(64 << 10, 128 << 10);

    private static final int EVENTS = 64;
    /** Makes one whose memory goes back to the system as it comes free: pools would keep chunks for each port. */
    static QuicLibrary of(TransportKind kind) {
        return new QuicLibrary(UdpSockets.resolve(kind) == TransportKind.NATIVE, new UnpooledByteBufAllocator(true));
    }

    /** Returns in one line why there is no QUIC; empty when there is. */
    static String whyNot() {
        if (Quic.isAvailable()) {
            return "";
        }
        Throwable cause = Quic.unavailabilityCause();
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return "no QUIC: Netty's library for it does not load ("
                + cause.getClass().getSimpleName() + ": "
                + String.valueOf(cause.getMessage()).lines().findFirst().orElse("")
                + "); it is there for Linux on x86-64 and aarch64; if the temporary folder is mounted noexec, name "
                + "another with -Dio.netty.native.workdir; or use TCP or TLS";
    }

    IoHandlerFactory waits() {
        return isNative ? EpollHandler.newFactory(EVENTS) : NioIoHandler.newFactory();
    }

    SegmentedDatagramPacketAllocator segments() {
        return isNative && EpollDatagramChannel.isSegmentedDatagramPacketSupported()
                ? EpollQuicUtils.newSegmentedAllocator(BATCH)
                : SegmentedDatagramPacketAllocator.NONE;
    }

    /** Returns a socket for datagrams, registered and not bound. */
    Channel newDatagrams(EventLoop loop, ChannelHandler... handlers) {
        Channel channel = isNative ? new EpollDatagramChannel() : new NioDatagramChannel();
        channel.config().setAllocator(memory);
        channel.config().setOption(ChannelOption.SO_RCVBUF, SOCKET_BYTES);
        channel.config().setOption(ChannelOption.SO_SNDBUF, SOCKET_BYTES);
        if (isNative) {
            channel.config().setOption(EpollChannelOption.MAX_DATAGRAM_PAYLOAD_SIZE, DATAGRAM_BYTES);
            channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(DATAGRAM_BYTES * BATCH));
        } else {
            channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(DATAGRAM_BYTES));
        }
        channel.pipeline().addLast(handlers);
        loop.register(channel);
        return channel;
    }

    /** Returns a socket that is not registered, for a stream's bytes on their way inside the process. */
    SocketChannel newInside() {
        SocketChannel channel = isNative ? new EpollSocketChannel() : new NioSocketChannel();
        forRelay(channel);
        return channel;
    }

    /** Has a channel be read when that is asked for alone, end each direction by itself, and hold little. */
    void forRelay(SocketChannel channel) {
        channel.config()
                .setAllocator(memory)
                .setReceiveBufferSize(INSIDE_BYTES)
                .setSendBufferSize(INSIDE_BYTES)
                .setAllowHalfClosure(true)
                .setWriteBufferWaterMark(WAITING)
                .setAutoRead(false);
    }

    ServerSocketChannel newInsideListener() {
        return isNative ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    }

    /** Returns any free port that this host alone reaches. */
    static InetSocketAddress anyInside() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }
}
