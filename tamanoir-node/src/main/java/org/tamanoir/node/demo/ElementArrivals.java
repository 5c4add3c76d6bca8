package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The end of a stream of numbered datagrams: the order in which they come, and whether each is as it was sent.
 *
 * <p>Thread contract: its own thread; {@link #count} any; the rest after {@link #close}.
 */
final class ElementArrivals implements AutoCloseable {
    private static final int DATAGRAM_BYTES = 400;
    private static final int BUFFER_BYTES = 4 << 20;
    private static final long JOIN_MS = 5_000;

    private final DatagramSocket socket = new DatagramSocket(new InetSocketAddress(DemoNetwork.loopback(), 0));
    private final Thread thread = new Thread(this::run, "demo receiver");
    private final long[] numbers;
    private final BitSet seen = new BitSet();
    private volatile int count;
    private long wrong;
    private long twice;

    /** @param most that are expected; of more only the number is known */
    ElementArrivals(int most) throws IOException {
        numbers = new long[most];
        socket.setReceiveBufferSize(BUFFER_BYTES);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the datagram of this number. */
    static ByteBuffer datagram(long number) {
        ByteBuffer datagram = ByteBuffer.allocate(DATAGRAM_BYTES).putLong(number);
        for (int i = Long.BYTES; i < DATAGRAM_BYTES; i++) {
            datagram.put((byte) (number * 31 + i));
        }
        return datagram.flip();
    }

    InetSocketAddress address() {
        return new InetSocketAddress(DemoNetwork.loopback(), socket.getLocalPort());
    }

    private void run() {
        DatagramPacket packet = new DatagramPacket(new byte[2 * DATAGRAM_BYTES], 2 * DATAGRAM_BYTES);
        while (!socket.isClosed()) {
            try {
                packet.setLength(2 * DATAGRAM_BYTES);
                socket.receive(packet);
                take(ByteBuffer.wrap(packet.getData(), 0, packet.getLength()));
            } catch (IOException e) {
                // It was closed.
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void take(ByteBuffer datagram) {
        long number = datagram.remaining() < Long.BYTES ? -1 : datagram.getLong(0);
        if (number < 0 || number >= numbers.length || !datagram.equals(datagram(number))) {
            wrong++;
        } else if (seen.get((int) number)) {
            twice++;
        } else {
            seen.set((int) number);
            numbers[count] = number;
            count = count + 1;
        }
    }

    /** Returns how many different ones have come. */
    int count() {
        return count;
    }

    long[] numbers() {
        return Arrays.copyOf(numbers, count);
    }

    long wrong() {
        return wrong;
    }

    long twice() {
        return twice;
    }

    /** Returns the largest number that came, -1 for none. */
    int largest() {
        return seen.length() - 1;
    }

    @Override
    public void close() {
        socket.close();
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
