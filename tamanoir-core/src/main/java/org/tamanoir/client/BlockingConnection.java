package org.tamanoir.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsSession;
import org.tamanoir.transport.IoSockets;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.StreamCodec;

/**
 * A TCP connection whose reads and writes wait, but never longer than they are told to: a non-blocking channel with
 * a selector of its own, since Java's blocking channels know no time-out for writes.
 *
 * <p>Thread contract: one thread; {@link #close} from any.
 */
final class BlockingConnection implements AutoCloseable {
    /** What a blocked writer does with input that arrives meanwhile. */
    interface Input {
        /** Reads without waiting; false at the end of input. */
        boolean readable() throws IOException;
    }

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final InetSocketAddress peer;
    private final Duration stallTimeout;
    /** Null where the socket has the connection's own bytes. */
    private final @Nullable Layer layer;

    private final boolean hasTls;
    private final boolean isQuic;
    private volatile boolean outputEnded;

    /**
     * Takes the connected channel over, and closes it when that fails.
     *
     * @param session null = without TLS; else {@link #shakeHands} comes first
     */
    BlockingConnection(SocketChannel channel, Duration stallTimeout, @Nullable TlsSession session) throws IOException {
        this(channel, stallTimeout, session, null, null);
    }

    /**
     * @param codec null = with TLS, or as the bytes are
     * @param behind who is at the other end of a stream over QUIC, of which this is the end inside the process
     */
    BlockingConnection(
            SocketChannel channel,
            Duration stallTimeout,
            @Nullable TlsSession session,
            @Nullable StreamCodec codec,
            @Nullable InetSocketAddress behind)
            throws IOException {
        this.channel = channel;
        this.isQuic = behind != null;
        this.hasTls = session != null;
        this.stallTimeout = stallTimeout;
        this.layer = session != null ? new TlsLayer(session, this) : codec != null ? new SapfLayer(codec, this) : null;
        try {
            this.peer = behind != null ? behind : (InetSocketAddress) channel.getRemoteAddress();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            this.selector = Selector.open();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        try {
            this.key = channel.register(selector, 0);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * Connects.
     *
     * @param context null = without TLS
     * @throws IOException in one line, naming the node, when it cannot be reached in time, or is another
     */
    static BlockingConnection connect(
            InetSocketAddress node, @Nullable TlsContext context, Duration connectTimeout, Duration stallTimeout)
            throws IOException {
        SocketChannel channel = open(node, connectTimeout);
        BlockingConnection connection =
                new BlockingConnection(channel, stallTimeout, context == null ? null : context.client(node));
        try {
            connection.shakeHands(connectTimeout);
        } catch (IOException e) {
            connection.close();
            throw e;
        }
        return connection;
    }

    /**
     * Connects to a node that may speak as this codec does; to one that does not show that, without it.
     *
     * @throws IOException as the other one
     */
    static BlockingConnection connectThrough(
            InetSocketAddress node, StreamCodec codec, Duration connectTimeout, Duration stallTimeout)
            throws IOException {
        BlockingConnection connection =
                new BlockingConnection(open(node, connectTimeout), stallTimeout, null, codec, null);
        Duration half = connectTimeout.dividedBy(2);
        try {
            connection.shakeHands(half.compareTo(IoSockets.MAX_ANSWER) < 0 ? half : IoSockets.MAX_ANSWER);
            return connection;
        } catch (IOException e) {
            connection.close(); // No packet has been sent.
            return connect(node, (TlsContext) null, connectTimeout, stallTimeout);
        }
    }

    private static SocketChannel open(InetSocketAddress node, Duration connectTimeout) throws IOException {
        if (node.isUnresolved()) {
            throw new IOException("unknown host " + node.getHostString() + ": check the name");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(node, (int) Math.min(Integer.MAX_VALUE, Math.max(1, connectTimeout.toMillis())));
        } catch (SocketTimeoutException e) {
            channel.close();
            throw new IOException(
                    "no answer from " + Addresses.text(node) + " within " + connectTimeout.toMillis()
                            + " ms: check the address, or allow more time",
                    e);
        } catch (IOException e) {
            channel.close();
            throw new IOException("cannot connect to " + Addresses.text(node) + ": " + Causes.text(e), e);
        }
        return channel;
    }

    /**
     * Connects by QUIC.
     *
     * @throws IOException as {@link #connect}
     */
    static BlockingConnection connect(
            InetSocketAddress node, QuicPort quic, Duration connectTimeout, Duration stallTimeout) throws IOException {
        if (node.isUnresolved()) {
            throw new IOException("unknown host " + node.getHostString() + ": check the name");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            channel.connect(quic.connect(
                    quic.to(node.getAddress(), node.getPort()),
                    (InetSocketAddress) channel.getLocalAddress(),
                    connectTimeout));
        } catch (IOException e) {
            channel.close();
            throw new IOException("cannot connect to " + Addresses.text(node) + " by QUIC: " + Causes.text(e), e);
        }
        return new BlockingConnection(channel, stallTimeout, null, null, node);
    }

    /**
     * Makes sure who is there, with TLS, or how it speaks, with a codec; else does nothing.
     *
     * @throws IOException in one line, if it is another, or does not say in time
     */
    void shakeHands(Duration timeout) throws IOException {
        if (layer != null) {
            layer.shakeHands(timeout.toNanos());
        }
    }

    InetSocketAddress peer() {
        return peer;
    }

    Duration stallTimeout() {
        return stallTimeout;
    }

    InetSocketAddress local() throws IOException {
        return (InetSocketAddress) channel.getLocalAddress();
    }

    /**
     * Writes from position to limit.
     *
     * @param input served while the peer takes nothing, so that an answering peer and this writer cannot block each
     *     other
     * @throws IOException when the connection is gone, or the peer took nothing for the stall time-out
     */
    void write(ByteBuffer bytes, Input input) throws IOException {
        if (layer != null) {
            layer.write(bytes, input);
        } else {
            writeBytes(bytes, input);
        }
    }

    /** Writes as {@link #write}, but the bytes as they are. */
    void writeBytes(ByteBuffer bytes, Input input) throws IOException {
        int before = bytes.remaining();
        channelWrite(bytes);
        if (bytes.hasRemaining()) {
            writeRest(bytes, input, bytes.remaining() < before);
        }
    }

    private void writeRest(ByteBuffer bytes, Input input, boolean progress) throws IOException {
        long stallNs = stallTimeout.toNanos();
        long stalledSinceNs = System.nanoTime();
        int interest = SelectionKey.OP_WRITE | SelectionKey.OP_READ;
        while (bytes.hasRemaining()) {
            long nowNs = System.nanoTime();
            if (progress) {
                stalledSinceNs = nowNs;
            } else if (nowNs - stalledSinceNs >= stallNs) {
                throw new IOException(Addresses.text(peer) + " took nothing for " + stallTimeout.toMillis()
                        + " ms: it is stopped, or waits until its answers are read");
            }
            int ready = select(interest, stallNs - (nowNs - stalledSinceNs));
            if ((ready & SelectionKey.OP_READ) != 0 && !input.readable()) {
                interest = SelectionKey.OP_WRITE;
            }
            int before = bytes.remaining();
            if ((ready & SelectionKey.OP_WRITE) != 0) {
                channelWrite(bytes);
            }
            progress = bytes.remaining() < before;
        }
    }

    private void channelWrite(ByteBuffer bytes) throws IOException {
        try {
            channel.write(bytes);
        } catch (AsynchronousCloseException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException("connection to " + Addresses.text(peer) + " broke: " + Causes.text(e), e);
        }
    }

    /**
     * Reads what is there, waiting for the first byte.
     *
     * @param timeoutNs 0 does not wait
     * @return bytes read; 0 when the time is up, -1 at the end of input
     */
    int read(ByteBuffer target, long timeoutNs) throws IOException {
        return layer != null ? layer.read(target, timeoutNs) : readBytes(target, timeoutNs);
    }

    /** Reads as {@link #read}, but the bytes as they are. */
    int readBytes(ByteBuffer target, long timeoutNs) throws IOException {
        try {
            int bytes = channel.read(target);
            if (bytes == 0 && timeoutNs > 0 && select(SelectionKey.OP_READ, timeoutNs) != 0) {
                bytes = channel.read(target);
            }
            return bytes;
        } catch (AsynchronousCloseException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException("connection to " + Addresses.text(peer) + " broke: " + Causes.text(e), e);
        }
    }

    private int select(int interest, long timeoutNs) throws IOException {
        try {
            key.interestOps(interest);
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs)));
            selector.selectedKeys().clear();
            return key.readyOps() & interest;
        } catch (ClosedSelectorException | java.nio.channels.CancelledKeyException e) {
            AsynchronousCloseException closed = new AsynchronousCloseException();
            closed.initCause(e);
            throw closed;
        }
    }

    /**
     * Ends the output: the peer reads to the end, and its answers can still be read.
     *
     * @param input as for {@link #write}
     */
    void shutdownOutput(Input input) throws IOException {
        if (layer != null) {
            layer.end(input);
        }
        channel.shutdownOutput();
        outputEnded = true;
    }

    /** Returns true if an end must be announced, lest the peer take it for a cut. */
    boolean hasTls() {
        return hasTls || isQuic;
    }

    /** Closes the connection; waiting reads and writes end with an exception. Any thread. */
    @Override
    public void close() {
        try {
            if (isQuic && !outputEnded) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0); // Else a cut would look like an end.
            }
            channel.close();
        } catch (IOException e) {
            // The descriptor is given back even then, and there is nobody to tell.
        }
        try {
            selector.close();
        } catch (IOException e) {
            // As above.
        }
    }
}
