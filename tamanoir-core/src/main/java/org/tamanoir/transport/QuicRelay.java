package org.tamanoir.transport;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.quic.QuicStreamChannel;
import java.util.function.Consumer;

/**
 * Carries bytes both ways between a QUIC stream and a socket inside the process: reads from one only while the other
 * takes, ends each direction by itself, and resets both where one is reset, or breaks, or fails.
 *
 * <p>Thread contract: the loop of both.
 */
final class QuicRelay {
    /** What a stream that is cut tells the far side (RFC 9000, section 19.4); the application's to choose. */
    static final int CUT = 1;

    private final Side stream;
    private final Side inside;
    private final Consumer<Boolean> ended;
    private boolean over;

    private QuicRelay(QuicStreamChannel stream, SocketChannel inside, Consumer<Boolean> ended) {
        this.stream = new Side(stream);
        this.inside = new Side(inside);
        this.ended = ended;
    }

    /** Begins; {@code ended} is told once whether it came to its end in order. */
    static void join(QuicStreamChannel stream, SocketChannel inside, Consumer<Boolean> ended) {
        QuicRelay relay = new QuicRelay(stream, inside, ended);
        stream.pipeline().addLast(relay.stream);
        inside.pipeline().addLast(relay.inside);
        if (!stream.isActive() || !inside.isActive()) {
            relay.cut();
            return;
        }
        relay.stream.readOn();
        relay.inside.readOn();
    }

    /** Has the far side send no more (RFC 9000, section 19.5); what was read is carried on, and then the end. */
    static void stop(QuicStreamChannel stream) {
        Side side = stream.pipeline().get(Side.class);
        if (side != null) {
            side.stop();
        }
    }

    /** Breaks a stream for its far side. */
    static void reset(QuicStreamChannel stream) {
        stream.shutdown(CUT);
    }

    /** Breaks a connection inside the process for who has the other end. */
    static void reset(SocketChannel inside) {
        if (inside.isActive()) {
            inside.config().setOption(ChannelOption.SO_LINGER, 0);
        }
        inside.close();
    }

    private void cut() {
        if (!over) {
            over = true;
            if (stream.outputEnded) { // A reset would take back what the far side may not have read yet.
                ((QuicStreamChannel) stream.channel).shutdownInput(CUT);
            } else {
                reset((QuicStreamChannel) stream.channel);
            }
            reset((SocketChannel) inside.channel);
            ended.accept(false);
        }
    }

    private void endIfDone() {
        if (!over && stream.isDone() && inside.isDone()) {
            over = true;
            inside.channel.close();
            ended.accept(true);
        }
    }

    /** One of the two, and what is read from it. */
    private final class Side extends ChannelInboundHandlerAdapter {
        final DuplexChannel channel;
        private boolean inputEnded;
        private boolean outputEnded;

        Side(DuplexChannel channel) {
            this.channel = channel;
        }

        private Side other() {
            return this == stream ? inside : stream;
        }

        boolean isDone() {
            return inputEnded && outputEnded;
        }

        void readOn() {
            if (!over && !inputEnded && other().channel.isWritable()) {
                channel.read();
            }
        }

        /** Ends its output behind all that was written; Netty's own way lets go what waits. */
        private void endOutput() {
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
                if (!written.isSuccess()) {
                    cut();
                    return;
                }
                channel.shutdownOutput().addListener(shut -> {
                    if (shut.isSuccess()) {
                        outputEnded = true;
                        endIfDone();
                    } else {
                        cut();
                    }
                });
            });
        }

        /** Of the stream alone. */
        private void stop() {
            if (!over && !inputEnded) {
                inputEnded = true;
                ((QuicStreamChannel) channel).shutdownInput(CUT);
                other().endOutput();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            other().channel.write(message).addListener(written -> {
                if (!written.isSuccess()) {
                    cut();
                }
            });
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            other().channel.flush();
            readOn();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (channel.isWritable()) {
                other().readOn();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof ChannelInputShutdownEvent && !over && !inputEnded) {
                inputEnded = true;
                other().endOutput();
                endIfDone();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (!isDone()) {
                cut();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            cut();
        }
    }
}
