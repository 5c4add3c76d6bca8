package org.tamanoir.deploy;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A repository's server on a real socket, which can misbehave in every way that TCP allows. */
final class CodeFetcherServer implements AutoCloseable {
    /** What it does with a request; the default is {@link #serve}. */
    interface Behaviour {
        /** @return whether the connection stays open */
        boolean answer(Request request, OutputStream out) throws IOException;
    }

    record Request(String path, Map<String, String> headers, Socket socket) {
        boolean isJar() {
            return path.endsWith(".jar");
        }
    }

    private final ServerSocket listener;
    private final Map<String, byte[]> files;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    final List<Request> requests = new CopyOnWriteArrayList<>();
    /** Bytes of bodies that the sockets took. */
    final AtomicLong bodyBytes = new AtomicLong();

    final AtomicLong jarBytes = new AtomicLong();
    volatile Behaviour behaviour = this::serve;

    CodeFetcherServer(Map<String, byte[]> files) throws IOException {
        this.files = files;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    List<String> paths() {
        return requests.stream().map(Request::path).toList();
    }

    private void start(Runnable task) {
        Thread thread = new Thread(task, "code-server");
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void accept() {
        try {
            for (; ; ) {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                start(() -> talk(socket));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private void talk(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            Request request;
            while ((request = read(in, socket)) != null) {
                requests.add(request);
                if (!behaviour.answer(request, socket.getOutputStream())) {
                    return;
                }
            }
        } catch (IOException broken) {
            return;
        } finally {
            open.remove(socket);
        }
    }

    private static @Nullable Request read(InputStream in, Socket socket) throws IOException {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (int octet; (octet = in.read()) >= 0; ) {
            if (octet != '\n') {
                line.append((char) octet);
                continue;
            }
            String text = line.toString().strip();
            line.setLength(0);
            if (!text.isEmpty()) {
                lines.add(text);
                continue;
            }
            Map<String, String> headers = new TreeMap<>();
            for (String header : lines.subList(1, lines.size())) {
                int colon = header.indexOf(':');
                headers.put(
                        header.substring(0, colon).toLowerCase(Locale.ROOT),
                        header.substring(colon + 1).strip());
            }
            return new Request(lines.get(0).split(" ")[1].substring(1), headers, socket);
        }
        return null;
    }

    /** The good behaviour. */
    boolean serve(Request request, OutputStream out) throws IOException {
        return serve(request, files.get(request.path), out);
    }

    boolean serve(Request request, byte @Nullable [] file, OutputStream out) throws IOException {
        if (file == null) {
            head(out, "404 Not Found", "Content-Length: 0");
            return true;
        }
        head(out, "200 OK", "Content-Length: " + file.length);
        body(request, out, file, 0, file.length);
        return true;
    }

    static void head(OutputStream out, String status, String... headers) throws IOException {
        out.write(("HTTP/1.1 " + status + "\r\n" + String.join("\r\n", headers) + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    void body(Request request, OutputStream out, byte[] file, int from, int to) throws IOException {
        for (int at = from; at < to; ) {
            int bytes = Math.min(8192, to - at);
            out.write(file, at, bytes);
            at += bytes;
            bodyBytes.addAndGet(bytes);
            if (request.isJar()) {
                jarBytes.addAndGet(bytes);
            }
        }
        out.flush();
    }

    /** For jars alone; everything else is served well. */
    void forJars(Behaviour jars) {
        behaviour = (request, out) -> request.isJar() ? jars.answer(request, out) : serve(request, out);
    }

    /** Sends so much of a jar and closes the connection, each time. */
    void breaksJarsAfter(int bytes, byte[] file) {
        forJars((request, out) -> {
            head(out, "200 OK", "Content-Length: " + file.length);
            body(request, out, file, 0, bytes);
            return false;
        });
    }

    /** Never answers, and keeps the connection. */
    void hangs() {
        behaviour = (request, out) -> {
            awaitEnd(request);
            return false;
        };
    }

    /** Returns when the other side has closed the connection. */
    static void awaitEnd(Request request) throws IOException {
        while (request.socket.getInputStream().read() >= 0) {
            continue;
        }
    }

    /** Ends as a killed process does: no more connections, the open ones reset. */
    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : open) {
            try (socket) {
                socket.setSoLinger(true, 0);
            } catch (SocketException e) {
                continue; // Its own thread has closed it meanwhile.
            }
        }
    }

    int connections() {
        return open.size();
    }
}
