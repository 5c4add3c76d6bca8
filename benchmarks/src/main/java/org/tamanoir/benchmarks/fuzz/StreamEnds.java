package org.tamanoir.benchmarks.fuzz;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A far end of TCP connections, which reads each to its end. One thread that accepts, one for each connection, of which
 * a node opens a few for each stream.
 */
final class StreamEnds implements AutoCloseable {
    private final ServerSocket server;
    private final List<byte[]> ended = new ArrayList<>();
    private final AtomicInteger bytes = new AtomicInteger();

    StreamEnds() throws IOException {
        server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
        start(this::accept, "fuzz accept");
    }

    private static void start(Runnable body, String name) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                start(() -> read(socket), "fuzz connection");
            } catch (IOException e) {
                return; // Closed.
            }
        }
    }

    private void read(Socket socket) {
        byte[] all;
        try (socket) {
            all = socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            all = new byte[] {0}; // Reset: no packet, and so a fault.
        }
        synchronized (ended) {
            ended.add(all);
        }
        bytes.addAndGet(all.length);
    }

    /** Bytes of connections that have ended, since the last {@link #take}. Any thread. */
    int bytes() {
        return bytes.get();
    }

    /** What came over each connection that has ended. Any thread. */
    List<byte[]> take() {
        synchronized (ended) {
            List<byte[]> taken = new ArrayList<>(ended);
            ended.clear();
            bytes.set(0);
            return taken;
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
