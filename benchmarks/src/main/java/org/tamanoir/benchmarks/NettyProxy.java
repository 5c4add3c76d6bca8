package org.tamanoir.benchmarks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;

/**
 * The peer that a user of Netty writes in an afternoon: a frame decoder cuts the stream into packets, a handler
 * walks the options, marks the class of service and writes the packet on; one side's writability switches the
 * other side's automatic reading. {@code tuned} is the same by someone who has profiled it.
 */
final class NettyProxy {
    private static final int LENGTH_OFFSET = 6;
    private static final int LENGTH_BYTES = 2;
    /** The length field counts the whole packet, the 8 bytes up to its own end included. */
    private static final int LENGTH_ADJUSTMENT = -8;

    private static final int CLASS_OF_SERVICE = Anep.OPTION_PRIVATE | 2;

    private NettyProxy() {}

    static void run(Arguments arguments) throws Exception {
        int sinkPort = arguments.number("sink");
        boolean tuned = arguments.flag("tuned");
        String filter = arguments.text("filter", "none");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory());
        try {
            new ServerBootstrap()
                    .group(group)
                    .channel(EpollServerSocketChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(new Decoder(tuned))
                                    .addLast(new Marker(sinkPort, tuned, PayloadFilter.of(filter)));
                        }
                    })
                    .bind(Load.loopback(arguments.number("port")))
                    .sync();
            Control.serve("", words -> "");
        } finally {
            group.shutdownGracefully();
        }
    }

    /**
     * The frames are slices of the decoder's buffer, which therefore cannot discard what was read until they are
     * flushed, and that is after its own end of the read loop. While every loop is a single read, the buffer grows
     * and is copied as it grows. Tuned, it discards once more after the flush.
     */
    private static final class Decoder extends LengthFieldBasedFrameDecoder {
        private final boolean tuned;

        Decoder(boolean tuned) {
            super(Anep.MAX_PACKET_OCTETS, LENGTH_OFFSET, LENGTH_BYTES, LENGTH_ADJUSTMENT, 0);
            this.tuned = tuned;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) throws Exception {
            super.channelReadComplete(context);
            if (tuned) {
                discardSomeReadBytes();
            }
        }
    }

    /** The side that receives; runs on the event loop of both channels. */
    private static final class Marker extends ChannelInboundHandlerAdapter {
        private final int sinkPort;
        private final boolean tuned;
        private final PayloadFilter filter;
        private @Nullable Channel out;

        Marker(int sinkPort, boolean tuned, PayloadFilter filter) {
            this.filter = filter;
            this.sinkPort = sinkPort;
            this.tuned = tuned;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            Channel in = context.channel();
            out = new Bootstrap()
                    .group(in.eventLoop())
                    .channel(EpollSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(new Throttle(in, tuned))
                    .connect(Load.loopback(sinkPort))
                    .addListener(connected -> {
                        if (connected.isSuccess()) {
                            in.config().setAutoRead(true);
                        } else {
                            in.close();
                        }
                    })
                    .channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf packet = (ByteBuf) message;
            mark(packet);
            if (out == null || !filter.passes(packet)) {
                packet.release();
            } else {
                out.write(packet);
            }
        }

        private static void mark(ByteBuf packet) {
            int start = packet.readerIndex();
            int end = start + packet.getUnsignedShort(start + 4) * 4;
            int words;
            for (int at = start + Anep.BASIC_HEADER_OCTETS; at < end; at += words * 4) {
                words = packet.getUnsignedShort(at + 2);
                if (packet.getUnsignedShort(at) == CLASS_OF_SERVICE) {
                    packet.setByte(at + 4, 1);
                }
                if (words == 0) {
                    throw new IllegalArgumentException("option of length 0 at byte " + (at - start));
                }
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (out != null) {
                out.flush();
                context.channel().config().setAutoRead(out.isWritable());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (out != null) {
                out.writeAndFlush(context.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            System.err.println("the stream ends: " + cause);
            context.close();
        }
    }

    /** The side that sends: lets the other one read again when the output buffer has drained. */
    private static final class Throttle extends ChannelInboundHandlerAdapter {
        private final Channel in;
        private final boolean tuned;

        Throttle(Channel in, boolean tuned) {
            this.in = in;
            this.tuned = tuned;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            // Tuned: only the end of a read loop stops reading.
            if (!tuned || context.channel().isWritable()) {
                in.config().setAutoRead(context.channel().isWritable());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            in.writeAndFlush(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            in.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
