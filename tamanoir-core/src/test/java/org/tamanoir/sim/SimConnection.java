package org.tamanoir.sim;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.SimulatedInput;
import org.tamanoir.transport.TcpConnection;

/** The node's end of a simulated TCP connection. */
final class SimConnection implements TcpConnection, SimLoop.Source {
    private final Simulation simulation;
    private final SimNet net;
    private final SimPipe from;
    private final SimPipe to;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final Instant since;
    private final SimulatedInput in;
    private final ArrayDeque<Slice> pending = new ArrayDeque<>();
    private long pendingBytes;
    private long unflushed;
    private @Nullable SimLoop loop;
    private @Nullable Object owner;
    private Runnable listener = () -> {};
    private boolean news;
    private boolean connected;
    private boolean inputEnded;
    private boolean inputCut;
    private boolean outputShut;
    private boolean open = true;
    private boolean brokenOutside;
    private @Nullable String failure;

    /** Bytes that were written: they are read from their memory when the system takes them. */
    private static final class Slice {
        final Buffer buffer;
        final ByteBuffer bytes;

        Slice(Buffer buffer, int start, int end) {
            this.buffer = buffer;
            this.bytes = buffer.nio().duplicate().limit(end).position(start);
            buffer.pin();
        }
    }

    SimConnection(
            Simulation simulation,
            SimNet net,
            BufferPool pool,
            SimPipe from,
            SimPipe to,
            InetSocketAddress local,
            InetSocketAddress remote) {
        this.simulation = simulation;
        this.net = net;
        this.from = from;
        this.to = to;
        this.local = local;
        this.remote = remote;
        this.since = simulation.now();
        this.in = new SimulatedInput(pool);
        from.onArrival(this::signal);
        to.onRoom(this::signal);
        net.opened("connection");
    }

    private void signal() {
        if (loop != null) {
            loop.signal();
        }
    }

    // ---- loop ------------------------------------------------------------------------------------------------------

    void join(SimLoop to) {
        loop = to;
        if (open || news) {
            to.add(this);
        }
    }

    /** The outcome of connecting. */
    void connected(@Nullable String refusal) {
        if (!open) {
            return;
        }
        if (refusal == null) {
            connected = true;
        } else {
            failure = refusal;
            open = false;
            in.release();
            net.closed("connection");
        }
        news = true;
        signal();
    }

    void accepted() {
        connected = true;
    }

    @Override
    public boolean isReady() {
        return news
                || (open
                        && connected
                        && (from.isCutArrived()
                                || (in.isReading() && !inputEnded && (from.available() > 0 || from.isEnded()))
                                || (pendingBytes > unflushed && to.room() > 0)
                                || to.isCut()));
    }

    @Override
    public void serve() {
        if (news) {
            news = false;
            if (!open && loop != null) {
                loop.remove(this);
            }
            listener.run();
        }
        if (!open || !connected) {
            return;
        }
        if (pendingBytes > unflushed && to.room() > 0) {
            transmit();
            if (pendingBytes == 0) {
                listener.run();
            }
        }
        if (open && in.isReading() && !inputEnded) {
            if (from.available() > 0) {
                int most = !net.isCalm && simulation.random.nextInt(3) == 0
                        ? 1 + simulation.random.nextInt(from.available())
                        : from.available();
                in.read(target -> from.read(target, most));
                simulation.note("read", in.end());
                listener.run();
            } else if (from.isEnded()) {
                inputEnded = true;
                listener.run();
            }
        }
        if (open && (from.isCutArrived() || to.isCut())) {
            failed("Connection reset");
        }
    }

    private void failed(String why) {
        failure = failure == null ? why : failure;
        inputCut |= !inputEnded;
        inputEnded = true;
        end(true);
        listener.run();
    }

    // ---- input -----------------------------------------------------------------------------------------------------

    @Override
    public @Nullable Buffer input() {
        return in.buffer();
    }

    @Override
    public int start() {
        return in.start();
    }

    @Override
    public int end() {
        return in.end();
    }

    @Override
    public void consumed(int index) {
        in.consumed(index);
    }

    @Override
    public void wantInput(boolean wanted) {
        in.want(wanted);
    }

    @Override
    public void trim() {
        in.trim();
    }

    @Override
    public boolean inputEnded() {
        return inputEnded;
    }

    @Override
    public boolean isInputCut() {
        return inputCut;
    }

    @Override
    public boolean stopSender() {
        return net.stopsSenders;
    }

    // ---- output ----------------------------------------------------------------------------------------------------

    @Override
    public void ownedBy(Object owner) {
        this.owner = owner;
        in.ownedBy(owner);
    }

    @Override
    public void write(Buffer buffer, int generation, int start, int end) {
        buffer.check(owner, generation);
        if (!open) {
            return;
        }
        pending.add(new Slice(buffer, start, end));
        pendingBytes += end - start;
        unflushed += end - start;
    }

    @Override
    public void flush() {
        unflushed = 0;
        transmit();
    }

    /** Gives the system what it takes, sometimes not all of it at once. */
    private void transmit() {
        while (open && pendingBytes > unflushed && to.room() > 0) {
            Slice slice = pending.getFirst();
            int bytes = to.write(slice.bytes);
            pendingBytes -= bytes;
            simulation.note("sent", bytes);
            if (!slice.bytes.hasRemaining()) {
                pending.removeFirst();
                slice.buffer.unpin();
            } else if (bytes == 0 || (!net.isCalm && simulation.random.nextInt(8) == 0)) {
                signal(); // The rest another time.
                return;
            }
        }
    }

    @Override
    public boolean isDrained() {
        return open && pendingBytes == 0;
    }

    @Override
    public long pendingBytes() {
        return pendingBytes;
    }

    @Override
    public void shutdownOutput() {
        if (!outputShut && open) {
            outputShut = true;
            dropPending();
            to.end();
        }
    }

    @Override
    public boolean isOutputEnded() {
        return failure != null || !open || outputShut;
    }

    // ---- life ------------------------------------------------------------------------------------------------------

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public Instant since() {
        return since;
    }

    @Override
    public void onChange(Runnable told) {
        listener = told;
    }

    @Override
    public boolean isConnected() {
        return connected;
    }

    @Override
    public @Nullable String failure() {
        return failure;
    }

    @Override
    public boolean isStarved() {
        return false;
    }

    @Override
    public boolean isRefused() {
        return false;
    }

    @Override
    public void leave(Runnable left) {
        in.want(false);
        listener = () -> {};
        SimLoop former = loop;
        loop = null;
        if (former != null) {
            former.remove(this);
            former.execute(left);
        }
    }

    @Override
    public void close() {
        end(false);
        in.release();
    }

    @Override
    public void reset() {
        end(true);
        in.release();
    }

    @Override
    public void resetFromOutside() {
        if (open && !brokenOutside) {
            brokenOutside = true;
            to.cut();
            from.cut();
        }
    }

    /** What came is the user's until he closes. */
    private void end(boolean byReset) {
        if (open) {
            open = false;
            boolean unread = from.leave();
            if (byReset || unread || !connected) {
                to.cut();
            } else {
                to.end();
            }
            simulation.at(0, this::closed); // Who closes it is not told before the next event, as of a socket.
            dropPending();
            net.closed("connection");
        }
        news = false;
        if (loop != null) {
            loop.remove(this);
        }
    }

    private void closed() {
        if (failure == null) {
            failure = "connection closed";
            inputCut |= connected && !inputEnded;
            inputEnded = true;
        }
    }

    private void dropPending() {
        pending.forEach(slice -> slice.buffer.unpin());
        pending.clear();
        pendingBytes = 0;
        unflushed = 0;
    }

    @Override
    public String toString() {
        return local + "-" + remote;
    }
}
