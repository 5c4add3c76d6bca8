package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.repository.HttpListener.Limits;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

@Timeout(120)
class HttpListenerTest {
    private static final long LONG_MS = 50_000;
    private static final String GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    private static final InetAddress RESERVED = new InetSocketAddress("127.0.0.9", 0).getAddress();

    private static HttpListener start(Limits limits) throws IOException {
        return HttpListener.start("test", TestRepository.FREE, null, RESERVED::equals, HttpListenerTest::hello, limits);
    }

    private static Router hello(Vertx vertx) {
        Router router = Router.router(vertx);
        router.get("/").handler(context -> context.response().end("hello"));
        router.get("/later")
                .handler(context ->
                        vertx.setTimer(600, late -> context.response().end("hello")));
        router.put("/")
                .handler(context -> context.request()
                        .body()
                        .onSuccess(body -> context.response().end("got " + body.length())));
        return router;
    }

    private static Socket connect(HttpListener listener, String bytes) throws IOException {
        Socket socket =
                new Socket(listener.address().getAddress(), listener.address().getPort());
        socket.setSoTimeout(TestRepository.PATIENCE_MS);
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** What comes before the server ends the connection, in order or by a reset. */
    private static String all(Socket socket) throws IOException {
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

    private static String answer(Socket socket) throws IOException {
        StringBuilder text = new StringBuilder();
        while (!text.toString().endsWith("hello")) {
            int octet = socket.getInputStream().read();
            assertThat(octet).as("more after '%s'", text).isNotNegative();
            text.append((char) octet);
        }
        return text.toString();
    }

    @Test
    void aHeadThatNeverEndsIsCutOff() throws Exception {
        try (HttpListener listener = start(new Limits(9, 9, 0, 300, LONG_MS, LONG_MS));
                Socket silent = connect(listener, "");
                Socket half = connect(listener, "GET / HTTP/1.1\r\nHost: x\r\n")) {
            assertThat(drip(half, "X-More: 1\r\n")).isPositive();
            assertThat(all(half)).doesNotContain("hello");
            assertThat(all(silent)).doesNotContain("hello");
        }
    }

    @Test
    void aBodyThatNeverEndsIsCutOff() throws Exception {
        try (HttpListener listener = start(new Limits(9, 9, 0, LONG_MS, 300, LONG_MS));
                Socket sized = connect(listener, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
                Socket chunked = connect(listener, "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")) {
            assertThat(drip(sized, "x")).isPositive();
            assertThat(drip(chunked, "1\r\nx\r\n")).isPositive();
            assertThat(all(sized) + all(chunked)).doesNotContain("got");
        }
    }

    /** Sends a little again and again until the server has had enough; returns how often. */
    private static int drip(Socket socket, String bytes) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        int sent = 0;
        try {
            while (sent < 1_000) {
                socket.getOutputStream().write(bytes.getBytes(StandardCharsets.US_ASCII));
                sent++;
                assertThat(never.await(10, java.util.concurrent.TimeUnit.MILLISECONDS))
                        .isFalse();
            }
        } catch (SocketException e) {
            return sent;
        }
        throw new AssertionError("the server still listens after " + sent + " drops");
    }

    @Test
    void anAnswerMayTakeLongerThanARequestWithABody() throws Exception {
        try (HttpListener listener = start(new Limits(9, 9, 0, LONG_MS, 200, LONG_MS));
                Socket client = connect(listener, GET.replace("/ ", "/later "))) {
            assertThat(answer(client)).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void aConnectionThatIsNotUsedAnyMoreEnds() throws Exception {
        try (HttpListener listener = start(new Limits(9, 9, 0, LONG_MS, LONG_MS, 300));
                Socket client = connect(listener, GET)) {
            assertThat(answer(client)).startsWith("HTTP/1.1 200 ");
            assertThat(client.getInputStream().read()).isNegative();
        }
    }

    @Test
    void aHeadThatIsTooLongIsRefused() throws Exception {
        try (HttpListener listener = start(Limits.USUAL);
                Socket longLine = connect(listener, "GET /" + "x".repeat(5_000) + " HTTP/1.1\r\nHost: x\r\n\r\n");
                Socket longHead = connect(listener, "GET / HTTP/1.1\r\nX: " + "x".repeat(20_000) + "\r\n\r\n")) {
            assertThat(all(longLine)).matches("(?s)HTTP/1\\.[01] 414 .*");
            assertThat(all(longHead)).matches("(?s)HTTP/1\\.[01] 431 .*");
        }
    }

    @Test
    void whatIsNoHttpIsRefusedAndOthersAreServed() throws Exception {
        try (HttpListener listener = start(Limits.USUAL);
                Socket noise = connect(listener, "\u0016\u0003\u0001 noise\r\n\r\n");
                Socket client = connect(listener, GET)) {
            assertThat(all(noise)).doesNotContain("hello");
            assertThat(answer(client)).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void aTakenPortIsOneLineWithTheRemedy() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket taken = new ServerSocket(0, 1, loopback)) {
            InetSocketAddress address = new InetSocketAddress(loopback, taken.getLocalPort());
            assertThatThrownBy(() -> HttpListener.start("test", address, null, HttpListenerTest::hello))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("test: cannot listen on ")
                    .hasMessageContaining(":" + taken.getLocalPort() + ": ")
                    .hasMessageContaining("is the port taken?")
                    .hasMessageNotContaining("\n");
        }
    }

    @Test
    void aClosedListenerIsGoneWithItsConnections() throws Exception {
        HttpListener listener = start(Limits.USUAL);
        @Nullable Socket client = null;
        try {
            client = connect(listener, GET);
            assertThat(answer(client)).startsWith("HTTP/1.1 200 ");
        } finally {
            listener.close();
        }
        try (Socket closed = client) {
            assertThat(all(closed)).doesNotContain("hello");
        }
        assertThatThrownBy(() -> connect(listener, "")).isInstanceOf(IOException.class);
    }

    @Test
    void aSocketIsSharedWhenItIsBoundAndNotBefore() throws IOException {
        Tiers.require(
                "native",
                UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE,
                UdpSockets.explain(TransportKind.AUTO));
        InetSocketAddress address = new InetSocketAddress(TestRepository.FREE.getAddress(), Ports.free());
        ListeningSockets sockets = new ListeningSockets(List.of(new ListeningSockets.Wanted("test", address)));
        try (ServerSocket other = new ServerSocket(address.getPort(), 1, address.getAddress())) {
            assertThat(other.isBound()).isTrue();
            assertThatIOException().isThrownBy(() -> start(address, sockets));
            assertThatIOException().isThrownBy(sockets::share).withMessageContaining("is no socket that can be shared");
        }
        try (HttpListener listener = start(address, sockets);
                ListeningSockets.Copies copies = sockets.share()) {
            assertThat(listener.address()).isEqualTo(address);
            assertThat(copies).isNotNull();
        }
    }

    private static HttpListener start(InetSocketAddress address, ListeningSockets sockets) throws IOException {
        return HttpListener.start("test", address, null, RESERVED::equals, HttpListenerTest::hello, sockets);
    }
}
