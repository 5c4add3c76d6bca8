package org.tamanoir.sim;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpReadiness;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/** A UDP port of the node, with a queue that loses what it has no room for. */
final class SimUdpSocket implements UdpSocket {
    private static final int QUEUE = 24;
    private static final int BATCH = 8;
    private static final int LARGEST = 4096;

    private final Simulation simulation;
    private final SimNet net;
    private final InetSocketAddress address;
    private final Queue<Datagram> queue = new ArrayDeque<>();
    private @Nullable Watch watch;
    private boolean closed;

    private record Datagram(byte[] bytes, InetSocketAddress from) {}

    SimUdpSocket(Simulation simulation, SimNet net, InetSocketAddress address) {
        this.simulation = simulation;
        this.net = net;
        this.address = address;
    }

    private final class Watch implements UdpReadiness, SimLoop.Source {
        final SimLoop loop;
        final Runnable readable;

        Watch(SimLoop loop, Runnable readable) {
            this.loop = loop;
            this.readable = readable;
        }

        @Override
        public boolean isReady() {
            return !queue.isEmpty();
        }

        @Override
        public void serve() {
            readable.run();
        }

        @Override
        public void cancel() {
            loop.remove(this);
            if (watch == this) {
                watch = null;
            }
        }

        @Override
        public void forsake() {
            if (watch == this) {
                watch = null;
            }
        }
    }

    UdpReadiness watch(SimLoop loop, Runnable readable) {
        if (watch != null) {
            throw new IllegalStateException("two loops watch " + address);
        }
        Watch watching = new Watch(loop, readable);
        watch = watching;
        loop.add(watching);
        return watching;
    }

    boolean arrive(byte[] bytes, InetSocketAddress from) {
        if (closed || queue.size() >= QUEUE) {
            return false;
        }
        queue.add(new Datagram(bytes, from));
        if (watch != null) {
            watch.loop.signal();
        }
        return true;
    }

    int waiting() {
        return queue.size();
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public void receiveInTransit() throws IOException {
        throw new IOException("simulated");
    }

    @Override
    public UdpBatch newBatch() {
        return new Batch();
    }

    @Override
    public int receive(UdpBatch into) throws IOException {
        simulation.pause();
        if (!net.isCalm && simulation.random.nextInt(200) == 0) {
            throw new IOException("the simulation says so");
        }
        Batch batch = (Batch) into;
        int most = 1 + simulation.random.nextInt(BATCH);
        batch.count = 0;
        Datagram datagram;
        while (batch.count < most && (datagram = queue.poll()) != null) {
            batch.put(datagram);
        }
        simulation.note("received", batch.count);
        return batch.count;
    }

    @Override
    public boolean awaitReadable(Duration timeout) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            net.lostBefore += queue.size();
            queue.clear();
            net.closed(this);
        }
    }

    @Override
    public UdpSender newSender() {
        return new Sender();
    }

    private static final class Batch implements UdpBatch {
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BATCH * LARGEST);
        private final Datagram[] datagrams = new Datagram[BATCH];
        private int count;

        void put(Datagram datagram) {
            buffer.put(count * LARGEST, datagram.bytes);
            datagrams[count++] = datagram;
        }

        @Override
        public ByteBuffer buffer(int message) {
            return buffer;
        }

        @Override
        public int start(int message) {
            return message * LARGEST;
        }

        @Override
        public int end(int message) {
            return message * LARGEST + datagrams[message].bytes.length;
        }

        @Override
        public int segmentBytes(int message) {
            return datagrams[message].bytes.length;
        }

        @Override
        public long addressHigh(int message) {
            return 0;
        }

        @Override
        public long addressLow(int message) {
            byte[] v4 = datagrams[message].from.getAddress().getAddress();
            return 0xFFFFL << 32 | Integer.toUnsignedLong(ByteBuffer.wrap(v4).getInt());
        }

        @Override
        public int port(int message) {
            return datagrams[message].from.getPort();
        }
    }

    /** Reads what leaves when it is flushed, as the system does. */
    private final class Sender implements UdpSender {
        private final List<ByteBuffer> added = new ArrayList<>();
        private final List<InetSocketAddress> receivers = new ArrayList<>();
        private long packets;
        private long bytes;
        private long failed;

        @Override
        public void add(ByteBuffer buffer, int offset, int length, long addressHigh, long addressLow, int port) {
            added.add(buffer.duplicate().limit(offset + length).position(offset));
            try {
                byte[] v4 = ByteBuffer.allocate(4).putInt((int) addressLow).array();
                receivers.add(new InetSocketAddress(InetAddress.getByAddress(v4), port));
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(e);
            }
        }

        @Override
        public void discard() {
            added.clear();
            receivers.clear();
        }

        @Override
        public void flush() {
            for (int i = 0; i < added.size(); i++) {
                byte[] datagram = new byte[added.get(i).remaining()];
                added.get(i).get(datagram);
                if (closed || (!net.isCalm && simulation.random.nextInt(100) == 0)) {
                    failed++;
                } else {
                    packets++;
                    bytes += datagram.length;
                    net.send(datagram, receivers.get(i));
                }
            }
            discard();
        }

        @Override
        public long sentPackets() {
            return packets;
        }

        @Override
        public long sentBytes() {
            return bytes;
        }

        @Override
        public long failedPackets() {
            return failed;
        }

        @Override
        public String lastError() {
            return failed == 0 ? "" : "the simulation says so";
        }
    }
}
