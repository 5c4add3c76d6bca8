package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Threads;

/**
 * Stands behind the node as a next hop: takes its connections and datagrams on one port, verifies what comes, answers
 * where a flow asks for it, stops reading for a while where a flow says so.
 *
 * <p>Thread contract: made and closed by one thread; has one for accepting, one for datagrams, and one for each
 * connection.
 */
final class FarEnd implements AutoCloseable {
    private static final int BACKLOG = 512;
    private static final int REPLY_BYTES = 700;
    private static final int REPLY_EVERY = 5;
    private static final int DATAGRAM_BUFFER_BYTES = 4 << 20;
    private static final int WIDE_BUFFER_BYTES = 1 << 20;
    private static final int PORT_ATTEMPTS = 50;

    private final int index;
    private final Bed bed;
    private final ServerSocket server;
    private final @Nullable DatagramSocket datagrams;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final long seed;
    private volatile boolean closing;

    /** Gives the socket that accepts: plain, or with TLS. */
    interface Listener {
        ServerSocket open() throws IOException;
    }

    /**
     * @param receiveBytes of each connection's receive buffer; 0 = the system's choice
     * @param hasDatagrams whether it takes datagrams on the same port
     */
    FarEnd(int index, Bed bed, InetAddress address, Listener listener, int receiveBytes, boolean hasDatagrams)
            throws IOException {
        this.index = index;
        this.bed = bed;
        this.seed = bed.seed + index;
        ServerSocket listening = null;
        DatagramSocket receiving = null;
        for (int attempt = 1; listening == null; attempt++) {
            ServerSocket tried = listener.open();
            if (receiveBytes > 0) {
                tried.setReceiveBufferSize(receiveBytes);
            }
            tried.bind(new InetSocketAddress(address, 0), BACKLOG);
            try {
                receiving = hasDatagrams ? receiving(address, tried.getLocalPort()) : null;
                listening = tried;
            } catch (IOException e) {
                tried.close();
                if (attempt == PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
        server = listening;
        datagrams = receiving;
        Threads.start("far end " + index, this::accept);
        if (receiving != null) {
            DatagramSocket from = receiving;
            Threads.start("far end " + index + " udp", () -> receive(from));
        }
    }

    private static DatagramSocket receiving(InetAddress address, int port) throws IOException {
        DatagramSocket socket = new DatagramSocket(null);
        try {
            socket.setReceiveBufferSize(DATAGRAM_BUFFER_BYTES);
            socket.bind(new InetSocketAddress(address, port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    private void accept() {
        Random random = new Random(seed);
        try {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                long own = random.nextLong();
                Threads.start("far end " + index + " " + socket.getPort(), () -> serve(socket, own));
            }
        } catch (IOException e) {
            if (!closing) {
                bed.faults.add("far end " + index + " accepts no more: " + e.getMessage());
            }
        }
    }

    private void serve(Socket socket, long own) {
        try (socket) {
            socket.setTcpNoDelay(true);
            Answers answers = new Answers(socket, new Random(own));
            PacketReader reader =
                    new PacketReader(bed.flows, index, "far end " + index + ", from port " + socket.getPort());
            reader.read(socket.getInputStream(), answers);
        } catch (DifferenceException e) {
            if (!closing) {
                bed.faults.add(String.valueOf(e.getMessage()));
            }
        } catch (IOException e) {
            // The node has gone between accepting and reading: nothing of a flow came.
        } finally {
            open.remove(socket);
        }
    }

    /** Answers and stalls as flows ask for it. */
    private final class Answers implements PacketReader.Arrival {
        private final Socket socket;
        private final OutputStream out;
        private final Random random;
        private final ByteBuffer batch = ByteBuffer.allocate(2 * REPLY_BYTES);
        private @Nullable Lane replies;
        private long arrived;
        private long nextStall;
        private boolean isWide;

        Answers(Socket socket, Random random) throws IOException {
            this.socket = socket;
            this.out = socket.getOutputStream();
            this.random = random;
        }

        @Override
        public void arrived(Flow flow) throws IOException {
            arrived++;
            Flow answers = flow.replies();
            if (answers != null && arrived % REPLY_EVERY == 0) {
                if (replies == null) {
                    replies = bed.lane(answers, "", index);
                }
                batch.clear();
                replies.write(batch, random.nextInt(REPLY_BYTES));
                out.write(batch.array(), 0, batch.position());
            }
            if (bed.isEnding() && !isWide) {
                // What is on its way through a small window at the end would take minutes, and show nothing more.
                socket.setReceiveBufferSize(WIDE_BUFFER_BYTES);
                isWide = true;
            }
            if (flow.bytes() >= nextStall && flow.stallBytes() < Integer.MAX_VALUE) {
                if (nextStall > 0 && !bed.isEnding()) {
                    Threads.pause((random.nextInt(flow.stallMs()) + 1L) / 1e3);
                }
                nextStall = flow.bytes() + flow.stallBytes();
            }
        }
    }

    private void receive(DatagramSocket from) {
        byte[] bytes = new byte[1 << 16];
        DatagramPacket datagram = new DatagramPacket(bytes, bytes.length);
        try {
            while (true) {
                from.receive(datagram);
                bed.datagrams.arrived(bytes, datagram.getLength(), index);
                datagram.setLength(bytes.length);
            }
        } catch (IOException e) {
            if (!closing) {
                bed.faults.add("far end " + index + " receives no datagrams any more: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() throws IOException {
        closing = true;
        server.close();
        if (datagrams != null) {
            datagrams.close();
        }
        for (Socket socket : open) {
            socket.close();
        }
    }
}
