package org.tamanoir.node.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a node and a server, counts what the server sends, and can hold it back after so many bytes: what
 * is killed then is killed in mid-download.
 *
 * <p>Thread contract: any thread; two threads of its own per connection.
 */
final class LiveRelay implements AutoCloseable {
    private static final int BUFFER_BYTES = 8192;

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicLong bytes = new AtomicLong();
    private final int port;
    private final long limit;

    /** To this port of loopback; holds back what the server sends beyond {@code limit} bytes. */
    LiveRelay(int port, long limit) throws IOException {
        this.port = port;
        this.limit = limit;
        start("relay", this::accept);
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException | InterruptedException e) {
                        // The other side has gone, as tests of that want it.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            sockets.add(client);
            start("relay connection", () -> relay(client));
        }
    }

    private void relay(Socket client) throws IOException, InterruptedException {
        try (client;
                Socket server = new Socket()) {
            server.setReceiveBufferSize(BUFFER_BYTES); // What it holds back stays with the server, but for little.
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            sockets.add(server);
            start("relay requests", () -> client.getInputStream().transferTo(server.getOutputStream()));
            InputStream from = server.getInputStream();
            OutputStream to = client.getOutputStream();
            byte[] buffer = new byte[BUFFER_BYTES];
            int read;
            while ((read = from.read(buffer)) >= 0) {
                if (bytes.addAndGet(read) > limit) {
                    reached.countDown();
                    released.await();
                }
                to.write(buffer, 0, read);
            }
        }
    }

    String url() {
        return "http://127.0.0.1:" + listener.getLocalPort();
    }

    /** What the server has sent. */
    long bytes() {
        return bytes.get();
    }

    /** Waits until it holds something back. */
    boolean awaitLimit() throws InterruptedException {
        return reached.await(LiveNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Cuts all connections, and takes no others. */
    void cut() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        released.countDown();
    }

    @Override
    public void close() throws IOException {
        cut();
    }
}
