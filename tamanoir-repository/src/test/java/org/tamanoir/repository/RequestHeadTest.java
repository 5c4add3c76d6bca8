package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("once")
@Timeout(120)
class RequestHeadTest {
    /** Hosts that the router was shown. */
    private static final List<String> HANDLED = new CopyOnWriteArrayList<>();

    private static HttpListener listener;

    @BeforeAll
    static void start() throws IOException {
        listener = HttpListener.start("test", TestRepository.FREE, null, RequestHeadTest::routes);
    }

    @AfterAll
    static void stop() {
        listener.close();
    }

    @BeforeEach
    void forget() {
        HANDLED.clear();
    }

    private static Router routes(Vertx vertx) {
        Router router = Router.router(vertx);
        router.route().handler(context -> {
            HANDLED.add(String.valueOf(context.request().getHeader("Host")));
            context.response()
                    .end("hello")
                    .onComplete(sent -> context.request().connection().close());
        });
        return router;
    }

    /** All that the server says to these bytes; {@code |} ends a line. */
    private static String answer(String lines) throws IOException {
        try (Socket socket =
                new Socket(listener.address().getAddress(), listener.address().getPort())) {
            socket.setSoTimeout(TestRepository.PATIENCE_MS);
            socket.getOutputStream().write((lines.replace("|", "\r\n")).getBytes(StandardCharsets.ISO_8859_1));
            StringBuilder text = new StringBuilder();
            try {
                for (int octet = socket.getInputStream().read();
                        octet >= 0;
                        octet = socket.getInputStream().read()) {
                    text.append((char) octet);
                }
            } catch (SocketException e) {
                text.append("(reset)");
            }
            return text.toString();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1||",
                "GET / HTTP/1.0||",
                "GET / HTTP/1.1|Host: [fe80::1%eth0]:80||",
                "GET / HTTP/1.1|Host: [:::]||",
                "GET / HTTP/1.1|Host: localhost|Host: evil.example||",
                "GET / HTTP/1.1|Host: localhost|Host: localhost||",
                "GET / HTTP/1.1|Host: localhost|host: localhost||",
                "GET / HTTP/1.0|Host: localhost|Host: localhost||",
                "GET / HTTP/1.1|Host: localhost, evil.example||",
                "GET / HTTP/1.1|Host: localhost evil.example||",
                "GET / HTTP/1.1|Host: localhost| evil.example||",
                "GET / HTTP/1.1|Host: localhost|\t:80||",
                "GET / HTTP/1.1|Host : localhost||",
                "GET / HTTP/1.1| Host: localhost||",
                "GET / HTTP/1.1|Host: localhost\u0000||",
                "GET / HTTP/1.1|Host: someone@localhost||",
                "GET / HTTP/1.1|Host: localhost/x||",
                "GET / HTTP/1.1|Host: localhost:x||",
                "GET / HTTP/1.1|Host: localhost:123456||",
                "GET / HTTP/1.1|Host: [::1||",
                "GET / HTTP/1.1|Host: ::1||",
                "GET http://evil.example/ HTTP/1.1|Host: localhost||",
                "GET http://localhost:81/ HTTP/1.1|Host: localhost||",
                "GET http://localhost HTTP/1.1|Host: localhost||",
                "GET http://localhost//x HTTP/1.1|Host: localhost||",
                "GET http://localhost/ HTTP/1.0||",
                "GET /health HTTP/1.1||",
                "GET /health?x HTTP/1.0||",
                "GET /health/ HTTP/1.0||",
                "POST /health HTTP/1.0||",
                "GET /v1/node HTTP/1.0||",
                "GET /health HTTP/1.0|Host: localhost|Host: evil.example||",
                "OPTIONS * HTTP/1.1|Host: localhost||",
                "PUT / HTTP/1.1|Host: localhost|Transfer-Encoding: gzip||",
                "PUT / HTTP/1.1|Host: localhost|Transfer-Encoding: chunked, identity||",
                "PUT / HTTP/1.1|Host: localhost|Transfer-Encoding: chunked|Transfer-Encoding: chunked||0||",
                "PUT / HTTP/1.1|Host: localhost|Content-Length: 1|Content-Length: 2||xx",
                "PUT / HTTP/1.1|Host: localhost|Content-Length: +1||x",
                "PUT / HTTP/1.1|Host: localhost|Content-Length: -1||",
            })
    void aHeadThatLeavesSomethingInDoubtIsRefused(String lines) throws Exception {
        assertThat(answer(lines)).matches("(?s)HTTP/1\\.[01] 400 .*");
        assertThat(HANDLED).isEmpty();
    }

    /** A proxy that lets some paths through must see the one that is answered. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "//",
                "//v1/node",
                "/v1//node",
                "/ui//",
                "/.",
                "/..",
                "/ui/../v1/node",
                "/ui/./x",
                "/ui/..",
                "/ui/%2e%2e/v1/node",
                "/ui/.%2E/v1/node",
                "/ui%2f..%2fv1/node",
                "/ui%2Fv1",
                "/%2Fv1/node",
                "/v1%2F24/node",
                "/v1%2F1234",
                "/v1%252F8%2f",
                "/ui/..%5cv1/node",
                "/ui/..\\v1/node",
                "/%76%31/node",
                "/v1/nod%65",
                "/v1/%7Enode",
                "/v1/node%00",
                "/v1/node%0a",
                "/v1/node%7f",
                "/v1/node%",
                "/v1/node%2",
                "/v1/node%zz",
                "/v1/node#x",
                "/v1/\u00e9",
                "/v1/%ff",
                "/v1?q=\u00e9",
                "/v1?q=%zz",
                "/v1?q=%",
                "/v1?q=%2",
                "/v1?%C3=1",
                "/v1?q=%ED%A0%80",
                "http://localhost/v1?q=%zz",
            })
    void aTargetThatWouldBeReadAsAnotherIsRefused(String path) throws Exception {
        assertThat(answer("GET " + path + " HTTP/1.1|Host: localhost||")).startsWith("HTTP/1.1 400 ");
        assertThat(HANDLED).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/v1/routes/10.0.0.0%2F8",
                "/v1/routes/2001:db8::%2f32",
                "/v1/services/a%20b%C3%A9%25",
                "/v1/members/[::1]:5004",
                "/v1/members/%5B::1%5D:5004",
                "/...",
                "/a..b/.c/d.",
                "/ui?//../%2e",
                "/ui?q=%C3%A9%25&%F0%9F%98%80=?%2B+",
                "http://localhost/v1/node",
                "HTTP://LOCALHOST/v1/node?x",
            })
    void aPathThatIsNormalIsHandedOn(String path) throws Exception {
        assertThat(answer("GET " + path + " HTTP/1.1|Host: localhost||")).startsWith("HTTP/1.1 200 ");
        assertThat(HANDLED).hasSize(1);
    }

    /** A router takes it as the same without the slash, and so would be let past who looks at paths. */
    @ParameterizedTest
    @ValueSource(strings = {"/v1/", "/health/", "/v1/node/?x", "http://localhost/v1/node/"})
    void aPathWithASlashAtItsEndIsNothing(String path) throws Exception {
        assertThat(answer("GET " + path + " HTTP/1.1|Host: localhost||")).startsWith("HTTP/1.1 404 ");
        assertThat(HANDLED).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /health", "HEAD /health", "GET /ready", "HEAD /ready"})
    void aHealthCheckDoesWithoutAHost(String request) throws Exception {
        assertThat(answer(request + " HTTP/1.0||")).startsWith("HTTP/1.0 200 ");
        assertThat(HANDLED).containsExactly("null");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:80",
                "127.0.0.1:3324",
                "[::1]",
                "[fe80::1]:80",
                "a_b.example",
                "localhost.:80",
                ""
            })
    void aHostThatIsOneIsHandedOn(String host) throws Exception {
        assertThat(answer("GET / HTTP/1.1|Host: " + host + "||")).startsWith("HTTP/1.1 200 ");
        assertThat(HANDLED).containsExactly(host);
    }

    /** What Netty lets through of both, it takes as chunked (RFC 9112, section 6.3), and no second request is read. */
    @Test
    void aLengthBesideChunksDoesNotMakeTwoRequestsOfOne() throws Exception {
        String answer = answer("PUT / HTTP/1.1|Host: localhost|Content-Length: 3|Transfer-Encoding: chunked||"
                + "0||GET / HTTP/1.1|Host: second||");
        assertThat(answer).startsWith("HTTP/1.1 ").containsOnlyOnce("HTTP/1.1 ");
        assertThat(HANDLED).isIn(List.of(), List.of("localhost"));
    }

    @Test
    void theErrorIsOneLineOfJson() throws Exception {
        assertThat(answer("GET / HTTP/1.1|Host: a|Host: b||"))
                .contains("Connection: close")
                .endsWith("{\"error\":\"2 Host headers: exactly one is wanted\"}\n");
    }
}
