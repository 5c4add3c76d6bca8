package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;

/**
 * Datagrams to a TCP next hop. They are copied into a bounded queue, since the memory in which they came is wanted
 * for the next ones; a full queue drops the packet that arrives. One buffer fills while another one leaves.
 *
 * <p>Thread contract: the service's thread, which never waits here.
 */
final class QueuedDeparture implements Departure {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Between attempts to reach a next hop that was lost. */
    private static final Duration RETRY = Duration.ofMillis(500);

    private final IoLoop loop;
    private final BufferPool pool;
    private final InetSocketAddress address;
    private final @Nullable TlsContext tls;
    private final Duration connectTimeout;
    private final Traffic traffic;

    private TcpConnection connection;
    private boolean retrying;
    private boolean refusalTold;
    private boolean closed;
    private @Nullable Buffer filling;
    private int filled;
    private long fillingPackets;
    private @Nullable Buffer leaving;
    private long leavingPackets;
    private long leavingOctets;
    /** Packets that wait for the link. */
    private long expected;

    QueuedDeparture(
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
        this.connection = loop.connect(address, connectTimeout, tls);
    }

    /** Takes what the next hop sends back. */
    interface FarPackets {
        void take(ByteBuffer memory, int offset, int length);

        /** The memory of all packets taken is wanted back: none may wait in it any more. */
        void leaveMemory();
    }

    /** The next hop. */
    InetSocketAddress address() {
        return address;
    }

    /** This node's end, null while there is none. */
    @Nullable
    InetSocketAddress localAddress() {
        return connection.isConnected() ? connection.localAddress() : null;
    }

    /** Hands whole packets that the next hop sent back to {@code taker}. */
    void takeFarPackets(FarPackets taker) {
        TcpConnection from = connection;
        Buffer input = from.input();
        int at = from.start();
        int end = from.end();
        if (input == null || end == at) {
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
        DropReason fault = length == Framing.BROKEN ? Framing.fault(input.nio(), at) : null;
        input.unpin();
        if (length == Framing.BROKEN) {
            traffic.in(1, end - at);
            traffic.drop(fault == null ? DropReason.HEADER_LENGTH : fault, address, ServiceKey.NONE, end - at);
            from.close();
        } else if (from.input() == input) {
            from.consumed(at);
            from.trim();
        }
    }

    @Override
    public @Nullable DropReason add(Packet packet) {
        return add(packet.buffer(), packet.offset(), packet.length());
    }

    /**
     * Adds a copy of a packet that lies here.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason add(ByteBuffer memory, int offset, int octets) {
        if (closed) {
            return DropReason.NEXT_HOP_LOST; // It closed while the packet waited for its link.
        }
        if (retrying) {
            return DropReason.NEXT_HOP_UNREACHABLE;
        }
        Buffer buffer = filling;
        if (buffer == null) {
            buffer = pool.take(BufferPool.LARGE_OCTETS, octets);
            filling = buffer;
            filled = 0;
        }
        if (filled + octets > buffer.capacity()) {
            flush();
            if (filling != null) {
                return DropReason.OUTPUT_FULL;
            }
            return add(memory, offset, octets);
        }
        buffer.nio().put(filled, memory, offset, octets);
        filled += octets;
        fillingPackets++;
        return null;
    }

    /** So many more packets, or fewer, wait for the link that leads here. */
    void expect(int packets) {
        expected += packets;
    }

    @Override
    public boolean isIdle() {
        return held() == 0 && expected == 0;
    }

    @Override
    public void flush() {
        if (connection.failure() != null) {
            lost();
            return;
        }
        if (!connection.isConnected() || !settle()) {
            return;
        }
        Buffer buffer = filling;
        if (buffer != null) {
            filling = null;
            leaving = buffer;
            leavingPackets = fillingPackets;
            leavingOctets = filled;
            fillingPackets = 0;
            connection.write(buffer, 0, filled);
            connection.flush();
            settle();
        }
    }

    /** Counts out what has left; false while it has not. */
    private boolean settle() {
        Buffer buffer = leaving;
        if (buffer == null) {
            return true;
        }
        if (!connection.isDrained() || connection.failure() != null) {
            return false;
        }
        traffic.out(leavingPackets, leavingOctets);
        leavingPackets = 0;
        leaving = null;
        pool.give(buffer);
        return true;
    }

    private void lost() {
        if (retrying || closed) {
            return;
        }
        if (connection.isRefused() && !connection.isConnected() && !refusalTold) {
            refusalTold = true; // Once: it is tried again and again.
            LOG.warn("UDP: next hop {} not reached: {}", address, connection.failure());
        }
        drop(connection.isConnected() ? DropReason.NEXT_HOP_LOST : DropReason.NEXT_HOP_UNREACHABLE);
        connection.close();
        retrying = true;
        loop.schedule(RETRY, () -> {
            if (!closed) {
                connection = loop.connect(address, connectTimeout, tls);
                retrying = false;
            }
        });
    }

    private void drop(DropReason reason) {
        long packets = fillingPackets + leavingPackets;
        if (packets > 0) {
            traffic.drop(reason, packets);
        }
        fillingPackets = 0;
        leavingPackets = 0;
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
        return closed;
    }

    @Override
    public void resetFromOutside() {
        connection.resetFromOutside();
    }

    @Override
    public void close(DropReason reason) {
        closed = true;
        if (held() == 0) {
            connection.shutdownOutput();
        }
        drop(reason);
        connection.close();
    }
}
