package org.tamanoir.support;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A relay of datagrams between clients and one server that loses, doubles and reorders them by a seed, which it prints.
 * Each client has a socket of its own towards the server.
 *
 * <p>Thread contract: threads of its own; all methods from any.
 */
public final class LossyUdp implements AutoCloseable {
    private final InetSocketAddress server;
    private final DatagramSocket front;
    private final double loss;
    private final double disorder;
    private final Random random;
    private final Map<InetSocketAddress, DatagramSocket> backs = new HashMap<>();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong passed = new AtomicLong();
    private volatile boolean isCut;

    /**
     * @param loss share of datagrams that are lost, each way
     * @param disorder share that is doubled, and as large a share that is passed by the next one
     */
    public LossyUdp(InetSocketAddress server, double loss, double disorder, long seed) throws IOException {
        this.server = server;
        this.loss = loss;
        this.disorder = disorder;
        this.random = new Random(seed);
        this.front = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        front.setReceiveBufferSize(4 << 20);
        System.out.println("LossyUdp: loss " + loss + ", disorder " + disorder + ", seed " + seed);
        start("front", () -> fromClients());
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), front.getLocalPort());
    }

    public long lost() {
        return lost.get();
    }

    public long passed() {
        return passed.get();
    }

    /** Loses everything from now on. */
    public void cut() {
        isCut = true;
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, "lossy udp " + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void fromClients() {
        pump(front, packet -> {
            InetSocketAddress client = (InetSocketAddress) packet.getSocketAddress();
            DatagramSocket back = backs.get(client);
            if (back == null) {
                back = new DatagramSocket(0, InetAddress.getLoopbackAddress());
                back.setReceiveBufferSize(4 << 20);
                backs.put(client, back);
                DatagramSocket made = back;
                start("back", () -> pump(made, answer -> new Outgoing(front, client)));
            }
            return new Outgoing(back, server);
        });
    }

    private record Outgoing(DatagramSocket socket, InetSocketAddress to) {
        void send(byte[] bytes) throws IOException {
            socket.send(new DatagramPacket(bytes, bytes.length, to));
        }
    }

    private interface Direction {
        Outgoing of(DatagramPacket packet) throws IOException;
    }

    private void pump(DatagramSocket from, Direction direction) {
        byte[] buffer = new byte[65_536];
        byte @Nullable [] late = null;
        while (!from.isClosed()) {
            try {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                from.receive(packet);
                byte[] bytes = Arrays.copyOf(packet.getData(), packet.getLength());
                Outgoing out = direction.of(packet);
                double fate;
                synchronized (random) {
                    fate = random.nextDouble();
                }
                if (isCut || fate < loss) {
                    lost.incrementAndGet();
                    continue;
                }
                passed.incrementAndGet();
                if (late == null && fate < loss + disorder) {
                    late = bytes; // Passed by the next one.
                    continue;
                }
                out.send(bytes);
                if (fate >= loss + disorder && fate < loss + 2 * disorder) {
                    out.send(bytes);
                }
                if (late != null) {
                    out.send(late);
                    late = null;
                }
            } catch (IOException e) {
                // One that cannot be passed on is lost, as on any way.
            }
        }
    }

    @Override
    public void close() {
        front.close();
        backs.values().forEach(DatagramSocket::close);
    }
}
