package org.tamanoir.benchmarks.emulate;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * A UDP port of the node whose datagrams come from a {@link Feed}, in memory of its own, and whose departures end in
 * counts.
 *
 * <p>Thread contract: as for a socket; {@link #feed} any thread, while the feed before has nothing more.
 */
final class EmulatedPort implements UdpSocket {
    /** Memory that datagrams come in. */
    static final int MEMORY_BYTES = 1 << 20;

    /** What comes through a port. The thread that reads the port calls. */
    interface Feed {
        /** Returns whether something waits. Also other threads. */
        boolean isReady();

        /** Puts what waits into the port's memory; false when nothing does. */
        boolean fill(Batch batch);
    }

    /** Learns of a packet that leaves, where it lies. */
    interface Departures {
        void departs(ByteBuffer memory, int offset, int bytes, long high, long low, int port);
    }

    /** Looks at nothing. */
    static final Departures UNSEEN = (memory, offset, bytes, high, low, port) -> {};

    private final InetSocketAddress address;
    private final Departures departures;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(MEMORY_BYTES);
    private final List<Departing> senders = new CopyOnWriteArrayList<>();
    private volatile @Nullable Feed feed;
    private volatile @Nullable EmulatedLoop watcher;
    private volatile int watches;
    /** The thread that read last. */
    private volatile long reader;

    EmulatedPort(InetSocketAddress address, Departures departures) {
        this.address = address;
        this.departures = departures;
    }

    /** Has datagrams come from this feed from now on. */
    void feed(Feed feed) {
        this.feed = feed;
        ring();
    }

    /** Tells the thread that reads that something has come. */
    void ring() {
        EmulatedLoop loop = watcher;
        if (loop != null) {
            loop.ring();
        }
    }

    /** Returns whether the thread that reads waits for something to come. */
    boolean isIdle() {
        EmulatedLoop loop = watcher;
        return loop == null || loop.isWaiting();
    }

    void watchedBy(EmulatedLoop loop) {
        watcher = loop;
        watches++; // One thread at a time.
    }

    /** Returns whether a service's own thread reads, as the second after the reception. */
    boolean isOwn() {
        return watches > 1;
    }

    /** Returns how many packets have left through the port; of several, all leave through the first. Any thread. */
    long departed() {
        long sum = 0;
        for (Departing each : senders) {
            sum += each.sentPackets();
        }
        return sum;
    }

    /** Returns the id of the thread that reads. */
    long reader() {
        return reader;
    }

    /** Returns the memory that datagrams come in. */
    ByteBuffer memory() {
        return memory;
    }

    boolean isReady() {
        Feed from = feed;
        return from != null && from.isReady();
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public void receiveInTransit() {
        throw new UnsupportedOperationException("there are no levels below");
    }

    @Override
    public UdpBatch newBatch() {
        return new Batch(memory);
    }

    @Override
    public int receive(UdpBatch batch) {
        reader = Thread.currentThread().getId();
        Batch into = (Batch) batch;
        into.clear();
        Feed from = feed;
        return from != null && from.fill(into) ? into.messages() : 0;
    }

    @Override
    public UdpSender newSender() {
        Departing sender = new Departing(departures);
        senders.add(sender);
        return sender;
    }

    @Override
    public boolean awaitReadable(Duration timeout) {
        throw new UnsupportedOperationException("nobody waits here");
    }

    @Override
    public void close() {
        feed = null;
    }
}
