package org.tamanoir.node.run;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * One way of a link between nodes of a multicast tree: loses datagrams by chance, from a seed, and remembers which data of
 * {@code Multicast} it lost.
 *
 * <p>Thread contract: a thread of its own; all methods from any.
 */
final class LossyLink implements AutoCloseable {
    private static final int MAGIC = 0xFED1;
    private static final int LAST_KIND_OF_DATA = 2;
    private static final int SEQUENCE_AT = 24;

    private final DatagramSocket socket;
    private final Random random;
    private final double loss;
    private final Set<Long> lost = ConcurrentHashMap.newKeySet();
    private volatile @Nullable InetSocketAddress to;

    LossyLink(double loss, long seed) throws IOException {
        this.loss = loss;
        random = new Random(seed);
        socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        socket.setReceiveBufferSize(4 << 20);
        Thread thread = new Thread(this::run, "lossy link " + socket.getLocalPort());
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns where datagrams come in, as a setting says it. */
    String address() {
        return "127.0.0.1:" + socket.getLocalPort();
    }

    /** Has them go there from now on; before, all are lost. */
    void to(InetSocketAddress there) {
        to = there;
    }

    /** Returns the sequence numbers of data that was lost, each once. */
    Set<Long> lost() {
        return lost;
    }

    private void run() {
        byte[] octets = new byte[65_536];
        while (!socket.isClosed()) {
            try {
                DatagramPacket datagram = new DatagramPacket(octets, octets.length);
                socket.receive(datagram);
                InetSocketAddress there = to;
                if (there == null || random.nextDouble() < loss) {
                    lost(ByteBuffer.wrap(octets, 0, datagram.getLength()));
                } else {
                    datagram.setSocketAddress(there);
                    socket.send(datagram);
                }
            } catch (IOException e) {
                // One that cannot be passed on is lost, as on any way.
            }
        }
    }

    private void lost(ByteBuffer octets) {
        Packet packet = new Packet();
        if (packet.parse(octets, 0, octets.limit()) != null || packet.payloadLength() < SEQUENCE_AT + Long.BYTES) {
            return;
        }
        int at = packet.payloadOffset();
        if ((octets.getShort(at) & 0xFFFF) == MAGIC && octets.get(at + 2) <= LAST_KIND_OF_DATA) {
            lost.add(octets.getLong(at + SEQUENCE_AT));
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
