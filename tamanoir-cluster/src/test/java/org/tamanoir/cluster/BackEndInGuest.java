package org.tamanoir.cluster;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a director sees of a node: an admin API at port 3324, and TCP streams at port 3322, answered byte by byte with
 * the last digit of the address. In the network namespace of the thread that makes it.
 */
final class BackEndInGuest implements AutoCloseable {
    private static final int ADMIN_PORT = 3324;
    private static final int PORT = 3322;
    private static final int PACKETS = 10;

    private final String address;
    private final ServerSocket streams = new ServerSocket();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private HttpServer server;

    BackEndInGuest(String address) throws IOException {
        this.address = address;
        ready("");
        answers.put(
                "/v1/load",
                "{\"instance\":\"one\",\"uptimeSeconds\":5,\"processors\":2,\"processorSeconds\":1,"
                        + "\"hostBusySeconds\":2,\"streams\":0,\"maxStreams\":100,\"traffic\":{\"packetsIn\":" + PACKETS
                        + ",\"bytesIn\":0,\"packetsMade\":0,\"packetsOut\":0,\"bytesOut\":0,\"dropped\":0,\"held\":0}}");
        answers.put("/v1/services", "{\"services\":[]}");
        streams.bind(new InetSocketAddress(address, PORT));
        thread(this::accept);
        server = serving();
    }

    String admin() {
        return "http://" + address + ":" + ADMIN_PORT;
    }

    /** @param notReady empty = it is */
    void ready(String notReady) {
        answers.put("/ready", "{\"ready\":" + notReady.isEmpty() + ",\"reason\":\"" + notReady + "\"}");
    }

    /** Its admin API is gone. */
    void die() {
        server.stop(0);
    }

    /** It is back; by a thread of its namespace. */
    BackEndInGuest live() throws IOException {
        server = serving();
        return this;
    }

    private HttpServer serving() throws IOException {
        HttpServer made = HttpServer.create(new InetSocketAddress(address, ADMIN_PORT), 0);
        made.createContext("/", exchange -> {
            String answer = answers.getOrDefault(exchange.getRequestURI().getPath(), "{}");
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.contains("\"ready\":false") ? 503 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        made.start();
        return made;
    }

    private void accept() {
        try {
            while (true) {
                Socket stream = streams.accept();
                thread(() -> answer(stream));
            }
        } catch (IOException e) {
            return; // closed
        }
    }

    private void answer(Socket stream) {
        try (stream) {
            while (stream.getInputStream().read() >= 0) {
                stream.getOutputStream().write(address.charAt(address.length() - 1));
            }
        } catch (IOException e) {
            return; // The client has gone.
        }
    }

    private static void thread(Runnable task) {
        Thread thread = new Thread(task, "back-end");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        die();
        try {
            streams.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
