package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Threads;

/**
 * A sender's connection to the node; what comes back on it is verified by a thread of its own.
 *
 * <p>Thread contract: one thread, but {@link #cut} and figures from any.
 */
final class Connection implements AutoCloseable {
    private static final int CONNECT_TIMEOUT_MS = 20_000;
    private static final int HALF_PACKET_MS = 100;

    private final Mix mix;
    private final Socket socket;
    private final String local;
    private final OutputStream out;
    private final Thread replies;
    private volatile long written;
    private volatile boolean isAtEnd;
    private long lastProgress = -1;
    private long lastProgressNs;

    /** @throws IOException when the node takes no connection */
    Connection(Bed bed, Mix mix, InetAddress from, boolean isTls, boolean isSlowReader) throws IOException {
        this.mix = mix;
        SSLContext tls = bed.tls;
        socket = isTls && tls != null ? tls.getSocketFactory().createSocket() : new Socket();
        try {
            if (isSlowReader) {
                socket.setReceiveBufferSize(8 << 10);
            }
            socket.bind(new InetSocketAddress(from, 0));
            socket.connect(bed.node(isTls), CONNECT_TIMEOUT_MS);
            socket.setTcpNoDelay(true);
            local = socket.getLocalAddress().getHostAddress() + ":" + socket.getLocalPort();
            if (socket instanceof SSLSocket inTls) {
                inTls.startHandshake();
            }
            out = socket.getOutputStream();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        replies = Threads.start("back " + mix.name, () -> read(bed));
    }

    private void read(Bed bed) {
        try {
            new PacketReader(bed.flows, Flow.CLIENT, "back to " + mix.name + " at " + local())
                    .read(socket.getInputStream(), flow -> {});
            isAtEnd = true;
        } catch (DifferenceException e) {
            bed.faults.add(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            // Cut before the first read.
        }
    }

    /** Returns the sender's address as the node's access log has it. */
    String local() {
        return local;
    }

    Mix mix() {
        return mix;
    }

    /** Writes a batch; now and then half a packet, and the rest after a while. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // One writer.
    void send(ByteBuffer batch, Random random, boolean inHalves) throws IOException {
        int length = batch.position();
        int first = inHalves && length > 1 ? 1 + random.nextInt(length - 1) : length;
        out.write(batch.array(), 0, first);
        written += first;
        if (first < length) {
            Threads.pause(random.nextInt(HALF_PACKET_MS) / 1e3);
            out.write(batch.array(), first, length - first);
            written += length - first;
        }
        batch.clear();
    }

    /** Ends the sender's side and waits until the node has ended its own. */
    void finish() throws IOException, InterruptedException {
        socket.shutdownOutput();
        replies.join();
    }

    /** Returns whether the node has ended the connection in order. */
    boolean isAtEnd() {
        return isAtEnd;
    }

    /** Resets the connection, whatever is on the way. */
    void cut() throws IOException {
        if (!(socket instanceof SSLSocket)) {
            socket.setSoLinger(true, 0);
        }
        socket.close();
    }

    /** Returns for how long nothing was written and nothing arrived, as far as it was asked. Any thread. */
    synchronized long standsNs(long nowNs) {
        long progress = written;
        for (Flow flow : mix.flows) {
            progress += flow.packets() + flow.bytes();
        }
        if (progress != lastProgress) {
            lastProgress = progress;
            lastProgressNs = nowNs;
        }
        return nowNs - lastProgressNs;
    }

    /** Returns the first flow of which something is on its way; null when there is none. */
    @Nullable
    String onItsWay() {
        for (Flow flow : mix.flows) {
            String missing = flow.missing();
            if (missing != null) {
                return missing;
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
