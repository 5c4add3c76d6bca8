package org.tamanoir.cluster.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * The distribution unit: takes plain datagrams in and sprays them over units.
 *
 * <p>in + markers = out + refused by the system + too long + without a unit.
 *
 * <p>Thread contract: {@link #run} on one thread; {@link #stop} and counts from any, of which all but those of the sprayer
 * are exact once {@link #run} has returned.
 */
public final class Distributor implements Runnable, AutoCloseable {
    /** What makes datagrams need each other, where keys are sticky. */
    public enum Key {
        /** The same sender. */
        SOURCE,
        /** The same picture: time stamp and SSRC of an RTP header, which has 12 bytes; of what is shorter the same sender. */
        PICTURE
    }

    /** Decides which units get packets. */
    public interface Membership {
        /** All units get packets, each by its weight, from the first round on. */
        Membership ALL = sprayer -> {};

        /** Sets weights, and has units leave; called between batches, and some 20 times a second when nothing comes. */
        void update(Sprayer sprayer);
    }

    private static final int RTP_HEADER_BYTES = 12;
    private static final int RTP_TIMESTAMP = 4;

    private final UdpSocket socket;
    private final Sprayer sprayer;
    private final Key key;
    private final Membership membership;
    private final BatchReader reader;
    private volatile long round;
    private volatile long packets;
    private volatile long bytes;
    private long tooLong;
    private long withoutUnit;

    /**
     * Binds a socket.
     *
     * @param sprayer is this one's from now on, and closed with it
     * @throws IllegalArgumentException in one line, if a unit is at this address
     * @throws IOException in one line, if the address cannot be had
     */
    public Distributor(InetSocketAddress listen, TransportKind kind, Sprayer sprayer, Key key, Membership membership)
            throws IOException {
        this.socket = bind(listen, kind, sprayer);
        this.sprayer = sprayer;
        this.key = key;
        this.membership = membership;
        this.reader = new BatchReader(socket, new BatchReader.Handler() {
            @Override
            public void take(UdpBatch batch, int messages) {
                spray(batch, messages);
            }

            @Override
            public long idle() {
                membership.update(sprayer);
                sprayer.flush();
                return Long.MAX_VALUE;
            }
        });
    }

    private static UdpSocket bind(InetSocketAddress listen, TransportKind kind, Sprayer sprayer) throws IOException {
        UdpSocket socket = UdpSockets.bind(kind, listen);
        try {
            for (Unit unit : sprayer.units()) {
                OwnPort.refuse(socket.localAddress(), "unit " + unit.path() + " at", unit.address());
            }
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public void run() {
        reader.run();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void spray(UdpBatch batch, int messages) {
        membership.update(sprayer);
        int largest = sprayer.maxDatagramBytes();
        long count = 0;
        long sum = 0;
        for (int message = 0; message < messages; message++) {
            ByteBuffer memory = batch.buffer(message);
            int end = batch.end(message);
            int at = batch.start(message);
            int segment = Math.max(1, batch.segmentBytes(message));
            long source = (batch.addressHigh(message) * 31 + batch.addressLow(message)) * 31 + batch.port(message);
            do {
                int length = Math.min(segment, end - at);
                count++;
                sum += length;
                if (length > largest) {
                    tooLong++;
                } else if (!sprayer.spray(memory, at, length, keyOf(source, memory, at, length))) {
                    withoutUnit++;
                }
                at += segment;
            } while (at < end);
        }
        sprayer.flush();
        round = sprayer.round();
        packets += count;
        bytes += sum;
    }

    private long keyOf(long source, ByteBuffer memory, int at, int length) {
        return key == Key.PICTURE && length >= RTP_HEADER_BYTES
                ? memory.getLong(at + RTP_TIMESTAMP) // time stamp, and SSRC behind it
                : source;
    }

    /** Has {@link #run} return, once it has sent what has come. */
    public void stop() {
        reader.stop();
    }

    /** Returns why {@link #run} returned before it was to; null when it did not. */
    public @Nullable String failure() {
        return reader.failure();
    }

    /** Returns where it listens, with the real port. */
    public InetSocketAddress address() {
        return socket.localAddress();
    }

    /** Returns the last round. */
    public long round() {
        return round;
    }

    /** Returns the datagrams that came. */
    public long packets() {
        return packets;
    }

    /** Returns the bytes of those. */
    public long bytes() {
        return bytes;
    }

    /** Returns the datagrams that were dropped because they do not fit a packet. */
    public long tooLong() {
        return tooLong;
    }

    /** Returns the datagrams that were dropped because no unit took packets. */
    public long withoutUnit() {
        return withoutUnit;
    }

    /** Frees the sockets; after {@link #run}. */
    @Override
    public void close() {
        socket.close();
        sprayer.close();
    }
}
