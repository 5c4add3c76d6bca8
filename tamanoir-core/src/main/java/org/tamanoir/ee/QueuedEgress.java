package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.TcpConnection;

/**
 * Datagrams to a TCP next hop. They are copied into a bounded queue, since the memory in which they came is wanted
 * for the next ones; a full queue drops the packet that arrives. One buffer fills while another one leaves.
 *
 * <p>Thread contract: the service's thread, which never waits here.
 */
final class QueuedEgress implements Egress.Datagrams, Connections.Way {
    private static final Logger LOG = LoggerFactory.getLogger(QueuedEgress.class);
    /** Between attempts to reach a next hop that was lost. */
    private static final Duration RETRY = Duration.ofMillis(500);

    private final IoLoop loop;
    private final BufferPool pool;
    private final InetSocketAddress address;
    private final @Nullable TlsContext tls;
    private final Duration connectTimeout;
    private final Traffic traffic;

    /** Null while there is none: it was lost, or no descriptor was to be had for it. */
    private @Nullable TcpConnection connection;
    /** The last attempt to connect again; one that has thrown is done as well, so that the next one follows. */
    private @Nullable Future<?> retry;

    private boolean refusalTold;
    private boolean closed;
    private boolean retired;
    private @Nullable Buffer filling;
    private int generation;
    private int filled;
    private long fillingPackets;
    private @Nullable Buffer leaving;
    private long leavingPackets;
    private long leavingBytes;
    /** Packets that wait for the link. */
    private long expected;
    /** Told what becomes of the buffer that fills, and of the one that leaves; null almost always. */
    private @Nullable Fate fillingFate;

    private @Nullable Fate leavingFate;

    QueuedEgress(
            IoLoop loop,
            BufferPool pool,
            InetSocketAddress address,
            @Nullable TlsContext tls,
            Duration connectTimeout,
            Traffic traffic) {
        this.loop = loop;
        this.pool = pool;
        this.address = address;
        this.tls = tls;
        this.connectTimeout = connectTimeout;
        this.traffic = traffic;
        this.connection = connect();
    }

    /** Begins a connection; null, with a line in the log, when that fails at once, as without a free descriptor. */
    private @Nullable TcpConnection connect() {
        try {
            return loop.connect(address, connectTimeout, tls);
        } catch (RuntimeException e) {
            if (!refusalTold) {
                refusalTold = true;
                LOG.warn(
                        "UDP: next hop {} not reached: {}; tried again every {} ms",
                        Addresses.text(address),
                        Causes.text(e),
                        RETRY.toMillis());
            }
            return null;
        }
    }

    private boolean awaitsRetry() {
        return retry != null && !retry.isDone();
    }

    /** Takes what the next hop sends back. */
    interface FarPackets {
        void take(ByteBuffer memory, int offset, int length);

        /** Has all packets leave the memory that they were taken from, which is wanted back. */
        void leaveMemory();
    }

    /** Returns the next hop. */
    InetSocketAddress address() {
        return address;
    }

    /** Returns this node's end; null while there is none. */
    @Nullable
    InetSocketAddress localAddress() {
        TcpConnection to = connection;
        return to != null && to.isConnected() ? to.localAddress() : null;
    }

    /** Hands whole packets that the next hop sent back to {@code taker}. */
    void takeFarPackets(FarPackets taker) {
        TcpConnection from = connection;
        Buffer input = from == null ? null : from.input();
        if (from == null || input == null) {
            return;
        }
        int at = from.start();
        int end = from.end();
        if (end == at) {
            return;
        }
        input.pin(); // A packet on its way out may close this very connection, to make room for another.
        int length;
        try {
            while ((length = Framing.next(input.nio(), at, end)) > 0) {
                taker.take(input.nio(), at, length);
                at += length;
            }
            taker.leaveMemory();
        } catch (Throwable e) {
            input.unpin();
            throw e;
        }
        ParseFault fault = length == Framing.BROKEN ? Framing.fault(input.nio(), at) : null;
        input.unpin();
        if (length == Framing.BROKEN) {
            traffic.in(1, end - at);
            traffic.drop(
                    fault == null ? DropReason.HEADER_LENGTH : DropReason.of(fault),
                    address,
                    ServiceKey.NONE,
                    end - at);
            from.close();
        } else if (from.input() == input) {
            from.consumed(at);
            from.trim();
        }
    }

    @Override
    public @Nullable DropReason add(ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop) {
        if (isClosed()) {
            return DropReason.NEXT_HOP_LOST; // It closed while the packet waited for its link.
        }
        if (connection == null) {
            return DropReason.NEXT_HOP_UNREACHABLE;
        }
        Buffer buffer = filling;
        if (buffer == null) {
            try {
                buffer = pool.take(BufferPool.LARGE_BYTES, bytes);
            } catch (NoMemoryException e) {
                return DropReason.NO_MEMORY;
            }
            filling = buffer;
            generation = buffer.generation();
            filled = 0;
        }
        if (filled + bytes > buffer.capacity()) {
            flush();
            if (filling != null) {
                return DropReason.OUTPUT_FULL;
            }
            return add(memory, offset, bytes, hop);
        }
        buffer.nio().put(filled, memory, offset, bytes);
        filled += bytes;
        fillingPackets++;
        return null;
    }

    @Override
    public void expect(int packets) {
        expected += packets;
    }

    @Override
    public boolean isIdle() {
        return held() == 0 && expected == 0;
    }

    @Override
    public void retire() {
        retired = true;
        if (connection != null) {
            connection.shutdownOutput();
        }
    }

    /** Returns true: a datagram waits for no connection, so that the next one that needs room gets it. */
    @Override
    public boolean isSpent() {
        return true;
    }

    @Override
    public void flush() {
        TcpConnection to = connection;
        if (to == null || to.failure() != null) {
            lost(to);
            return;
        }
        if (!to.isConnected()) {
            return;
        }
        refusalTold = false;
        if (!countOut(to)) {
            return;
        }
        Buffer buffer = filling;
        if (buffer != null) {
            filling = null;
            leaving = buffer;
            leavingPackets = fillingPackets;
            leavingFate = fillingFate;
            fillingFate = null;
            leavingBytes = filled;
            fillingPackets = 0;
            to.write(buffer, generation, 0, filled);
            to.flush();
            countOut(to);
        }
    }

    /** Counts out what has left; false while it has not. */
    private boolean countOut(TcpConnection to) {
        Buffer buffer = leaving;
        if (buffer == null) {
            return true;
        }
        if (!to.isDrained() || to.failure() != null) {
            return false;
        }
        traffic.out(leavingPackets, leavingBytes);
        leavingPackets = 0;
        leaving = null;
        pool.give(buffer);
        tell(null);
        return true;
    }

    /** Drops what waits and has the next attempt made, unless one is on its way. */
    private void lost(@Nullable TcpConnection from) {
        if (isClosed() || awaitsRetry()) {
            return;
        }
        boolean wasConnected = from != null && from.isConnected();
        if (from != null && from.isRefused() && !wasConnected && !refusalTold) {
            refusalTold = true; // Once: it is tried again and again.
            LOG.warn("UDP: next hop {} not reached: {}", Addresses.text(address), from.failure());
        }
        drop(wasConnected ? DropReason.NEXT_HOP_LOST : DropReason.NEXT_HOP_UNREACHABLE);
        connection = null;
        if (from != null) {
            from.close();
        }
        retry = loop.schedule(RETRY, () -> {
            if (!isClosed()) {
                connection = connect();
            }
        });
    }

    /**
     * Tells this what becomes of the packet that was added last, which waits; of two that do, what becomes of the one
     * that was told of last.
     */
    void follow(Fate fate) {
        if (fillingPackets > 0) {
            fillingFate = fate;
        } else {
            leavingFate = fate;
        }
    }

    /** Tells who follows the buffer that left. */
    private void tell(@Nullable DropReason reason) {
        Fate fate = leavingFate;
        leavingFate = null;
        if (fate != null) {
            fate.ended(reason);
        }
    }

    private void drop(DropReason reason) {
        long packets = fillingPackets + leavingPackets;
        if (packets > 0) {
            traffic.drop(reason, packets);
        }
        fillingPackets = 0;
        leavingPackets = 0;
        tell(reason);
        leavingFate = fillingFate;
        fillingFate = null;
        tell(reason);
        if (filling != null) {
            pool.give(filling);
            filling = null;
        }
        if (leaving != null) {
            pool.give(leaving);
            leaving = null;
        }
    }

    @Override
    public long held() {
        return fillingPackets + leavingPackets;
    }

    @Override
    public boolean isClosed() {
        return closed || retired;
    }

    @Override
    public void resetFromOutside() {
        TcpConnection from = connection;
        if (from != null) {
            from.resetFromOutside();
        }
    }

    @Override
    public void close(DropReason reason) {
        closed = true;
        TcpConnection from = connection;
        boolean isWhole = held() == 0;
        drop(reason);
        if (from != null && isWhole) {
            from.shutdownOutput();
            from.close();
        } else if (from != null) {
            from.reset(); // Part of a packet may have left.
        }
    }
}
