package org.tamanoir.ee;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.ProgressWatch;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.WriteCoalescer;

/**
 * Packets of a stream to a TCP connection, from where they lie. They are <em>gathered</em> until the next flush, then
 * <em>written</em> to the connection, and counted out when the operating system has taken them; their memory must not
 * change before. Those that have to wait for a link are copied into a {@link TcpBacklog}.
 *
 * <p>Thread contract: the service's thread.
 */
final class TcpEgress implements Connections.Way, Egress.Runs {
    private final TcpConnection connection;
    private final NextHops.Parking parking;
    private final NodeContext context;
    private final IoLoop loop;
    private final ScratchBuffers memory;
    private final Traffic traffic;
    private final WriteCoalescer runs;
    private long gatheredPackets;
    private long gatheredBytes;
    private long writtenPackets;
    private long writtenBytes;
    private long movedPackets;
    private boolean closed;
    private boolean isMarked;
    private boolean retired;
    /** Of one that has retired: nothing came back for the linger time. */
    private boolean isQuiet;

    private long replies;
    /** Replies of its far side wait for the way back. */
    private boolean isHeldBack;
    /** Null while the connection goes over no link that is scheduled. */
    private @Nullable TcpBacklog backlog;

    private final ProgressWatch stall;
    /** Null where the far side may be slow as long as it takes something. */
    private final @Nullable ProgressWatch behind;

    private final ProgressWatch linger;

    /**
     * @param patience the time in which the far side has to take all that it was given at once; null: it has to take a
     *     part of that in the stall time. In the stall time its link has to grant something, in any case.
     * @param stalled follows when they do not
     */
    TcpEgress(
            TcpConnection connection,
            NextHops.Parking parking,
            ScratchBuffers memory,
            Traffic traffic,
            IoLoop loop,
            NodeContext context,
            @Nullable Duration patience,
            Consumer<TcpEgress> stalled) {
        this.connection = connection;
        this.parking = parking;
        this.memory = memory;
        this.traffic = traffic;
        this.loop = loop;
        this.context = context;
        this.runs = new WriteCoalescer(memory, connection::write);
        Runnable late = () -> stalled.accept(this);
        BooleanSupplier isStill = patience == null ? this::isWaiting : () -> isWaiting() && starvingLink() != null;
        this.stall = new ProgressWatch(loop, context.config().stallTimeout(), isStill, this::progress, late);
        this.behind = patience == null
                ? null
                : new ProgressWatch(loop, patience, () -> isWaiting() && starvingLink() == null, this::moved, late);
        this.linger = new ProgressWatch(
                loop, context.config().lingerTimeout(), () -> !isHeldBack, () -> replies, () -> isQuiet = true);
        connection.ownedBy(memory.owner());
    }

    TcpConnection connection() {
        return connection;
    }

    @Override
    public @Nullable DropReason add(Packet packet, RouteCacheEntry hop) {
        add(packet);
        return null;
    }

    /** Adds a packet, wherever the far end is. */
    void add(Packet packet) {
        add(memory.holderOf(packet), packet.offset(), packet.length(), 1);
    }

    @Override
    public void mark(int trafficOctet) {
        if (!isMarked) {
            isMarked = true;
            connection.mark(trafficOctet);
        }
    }

    @Override
    public @Nullable DropReason addOverLink(Packet packet, RouteCacheEntry hop, int trafficClass) {
        TcpBacklog queue = backlog;
        if (queue == null || (queue.isEmpty() && queue.port().passes(trafficClass, packet.length()))) {
            add(packet);
            return null;
        }
        queue.add(packet, trafficClass);
        return null;
    }

    @Override
    public boolean over(@Nullable LinkPort port) {
        TcpBacklog before = backlog;
        if (before != null && before.port() == port) {
            return true;
        }
        if (before != null) {
            if (!isIdle()) {
                return false;
            }
            before.close();
            movedPackets += before.moved();
            backlog = null;
        }
        if (port != null) {
            backlog = new TcpBacklog(connection, port, parking, memory.owner(), traffic, loop, context);
        }
        return true;
    }

    /** Watches from now on, while something waits, whether it moves. */
    void watch() {
        stall.watch();
        if (behind != null) {
            behind.watch();
        }
    }

    private boolean isWaiting() {
        return held() > 0 && connection.failure() == null && !closed;
    }

    /** Returns a number that changes when the far side takes something, or its link grants something. */
    private long progress() {
        return moved() << 32 ^ connection.pendingBytes();
    }

    /** Returns a number that changes when the far side has taken all that it was given, or its link grants something. */
    private long moved() {
        TcpBacklog queue = backlog;
        return queue == null ? movedPackets : movedPackets + queue.moved();
    }

    /** Returns the link for whose grant alone packets wait; null when they wait for the far side. */
    @Nullable
    LinkPort starvingLink() {
        TcpBacklog queue = backlog;
        return queue == null || holdsMemory() || !queue.isStarved() ? null : queue.port();
    }

    @Override
    public Runs runs() {
        return this;
    }

    @Override
    public void add(Buffer buffer, int offset, int bytes, int packets) {
        try {
            runs.add(buffer, offset, bytes);
        } catch (IllegalStateException e) {
            throw faulty(e);
        }
        if (gatheredPackets == 0) {
            memory.hold();
        }
        gatheredPackets += packets;
        gatheredBytes += bytes;
    }

    @Override
    public void flush() {
        if (closed) {
            return;
        }
        if (gatheredPackets > 0) {
            write();
            connection.flush();
        }
        countOut();
    }

    /** Gives the connection what was gathered. */
    private void write() {
        if (gatheredPackets == 0) {
            return;
        }
        try {
            runs.write();
        } catch (IllegalStateException e) {
            throw faulty(e);
        }
        writtenPackets += gatheredPackets;
        writtenBytes += gatheredBytes;
        leaveMemory();
    }

    /** Resets the connection since bytes are not what they were: nothing more leaves, and the far side learns that what it got is not the whole. */
    private IllegalStateException faulty(IllegalStateException fault) {
        reset(DropReason.SERVICE_FAILURE);
        return fault;
    }

    private void leaveMemory() {
        if (gatheredPackets > 0) {
            gatheredPackets = 0;
            gatheredBytes = 0;
            runs.clear();
            memory.release();
        }
    }

    /** Counts out what was written and has left, and writes what its link has granted since. */
    void countOut() {
        if (writtenPackets > 0 && connection.failure() == null && connection.isDrained()) {
            traffic.out(writtenPackets, writtenBytes);
            movedPackets += writtenPackets;
            writtenPackets = 0;
            writtenBytes = 0;
        }
        TcpBacklog queue = backlog;
        if (queue != null && queue.held() > 0 && connection.failure() == null && !closed) {
            queue.countOut();
            if (queue.mayWrite()) {
                write(); // Those are older.
                queue.write();
            }
        }
    }

    /** Returns how many packets have left so far, where none waits for a link. */
    long leftPackets() {
        return movedPackets;
    }

    @Override
    public long held() {
        TcpBacklog queue = backlog;
        long own = gatheredPackets + writtenPackets;
        return queue == null ? own : own + queue.held();
    }

    /** Returns whether packets have not left that lie in the memory of the batch. */
    boolean holdsMemory() {
        return gatheredPackets + writtenPackets > 0;
    }

    @Override
    public boolean isClosed() {
        return closed || retired;
    }

    @Override
    public void retire() {
        retired = true;
        closeBacklog();
        connection.shutdownOutput();
        linger.watch(); // Who waits for room comes round when that ends.
    }

    @Override
    public boolean isSpent() {
        return isQuiet || hasEnded();
    }

    /**
     * Takes note of what has gone back of its far side's replies.
     *
     * @param isHeld whether more of them wait, because the way back takes nothing now
     */
    void relayed(long packets, boolean isHeld) {
        replies += packets;
        isHeldBack = isHeld;
        if (retired) {
            linger.watch();
        }
    }

    /** Returns whether its connection is closed on this side. */
    boolean isGone() {
        return closed;
    }

    /** Returns whether the far side has ended, and all its whole packets have been taken. */
    boolean hasEnded() {
        if (closed) {
            return true;
        }
        Buffer input = connection.input();
        boolean waiting = input != null && Framing.next(input.nio(), connection.start(), connection.end()) > 0;
        return !waiting && (connection.inputEnded() || connection.failure() != null);
    }

    @Override
    public void resetFromOutside() {
        TcpBacklog queue = backlog;
        if (queue != null) {
            queue.forsake();
        }
        connection.resetFromOutside();
    }

    @Override
    public void close(DropReason reason) {
        if (held() > 0) {
            reset(reason);
        } else if (!closed) {
            closed = true;
            linger.end();
            closeBacklog();
            if (retired && !hasEnded()) {
                connection.reset(); // What it sends back is not taken any more, and it shall know.
            } else {
                connection.close();
            }
        }
    }

    private void closeBacklog() {
        stall.end();
        if (behind != null) {
            behind.end();
        }
        if (backlog != null) {
            backlog.close();
        }
    }

    /** Closes as {@link #close}, and tells the far side that bytes are missing. */
    void reset(DropReason reason) {
        if (!closed) {
            closed = true;
            traffic.drop(reason, held());
            leaveMemory();
            writtenPackets = 0;
            linger.end();
            closeBacklog();
            connection.reset();
        }
    }
}
