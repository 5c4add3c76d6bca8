package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An admin API whose place another process takes. */
@Timeout(120)
class AdminLeaveTest {
    private static final String HOST = " HTTP/1.1\r\nHost: localhost\r\n";

    private TestAdmin node;

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Test
    void connectionsThatWereKeptEndAndChangesAreRefused() throws Exception {
        try (Socket asking = kept();
                Socket changing = kept()) {
            node.server.leave();
            send(asking, "GET /ready" + HOST + "\r\n");
            assertThat(all(asking)).startsWith("HTTP/1.1 200 ").containsIgnoringCase("\r\nconnection: close\r\n");
            send(
                    changing,
                    "PUT /v1/routes/10.0.0.0%2F8" + HOST + "Authorization: Bearer " + TestAdmin.TOKEN
                            + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
            assertThat(all(changing))
                    .startsWith("HTTP/1.1 503 ")
                    .containsIgnoringCase("\r\nconnection: close\r\n")
                    .endsWith(
                            "{\"error\":\"this process ends, and another one serves: ask again, on a new connection\"}");
        }
        assertThat(node.manager.routes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/live", "/v1/events", "/v1/drops"})
    void answersThatGoOnEndWhole(String path) throws Exception {
        try (Socket socket = node.connect()) {
            send(socket, "GET " + path + HOST + "Accept: text/event-stream\r\n\r\n");
            head(socket.getInputStream());
            node.server.leave();
            assertThat(all(socket)).endsWith("\r\n0\r\n\r\n");
        }
        try (Socket late = node.connect()) {
            send(late, "GET " + path + HOST + "Accept: text/event-stream\r\n\r\n");
            assertThat(all(late)).startsWith("HTTP/1.1 200 ").endsWith("\r\n0\r\n\r\n");
        }
    }

    /** Returns a connection that has had an answer. */
    private Socket kept() throws IOException {
        Socket socket = node.connect();
        send(socket, "GET /health" + HOST + "\r\n");
        String head = head(socket.getInputStream()).toLowerCase(Locale.ROOT);
        int length = Integer.parseInt(head.replaceAll("(?s).*content-length: (\\d+)\r\n.*", "$1"));
        assertThat(socket.getInputStream().readNBytes(length)).hasSize(length);
        return socket;
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int octet = in.read();
            assertThat(octet).as(head.toString()).isNotNegative();
            head.append((char) octet);
        }
        return head.toString();
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String all(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
}
