package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.repository.HttpListener.Limits;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

/** Strangers come from 127.0.0.2 and up, the host itself from 127.0.0.1, where the server listens. */
@Timeout(120)
class HttpConnectionsTest {
    private static final long LONG_MS = 50_000;
    private static final String HOST = "127.0.0.1";
    private static final String RESERVED = "127.0.0.9";

    @TempDir
    Path folder;

    private final List<Socket> sockets = new ArrayList<>();
    private final List<RoutingContext> waiting = new CopyOnWriteArrayList<>();
    private @Nullable HttpListener listener;

    private void start(int connections, int perPeer, int reserved) throws IOException {
        start(new Limits(connections, perPeer, reserved, LONG_MS, LONG_MS, LONG_MS), null);
    }

    private void start(Limits limits, @Nullable TlsFiles tls) throws IOException {
        listener = HttpListener.start(
                "test", TestRepository.FREE, tls, from -> from.getHostAddress().equals(RESERVED), this::routes, limits);
    }

    private Router routes(Vertx vertx) {
        Router router = Router.router(vertx);
        router.get("/").handler(context -> context.response().end("hello"));
        router.get("/wait").handler(waiting::add);
        router.get("/large").handler(context -> context.response().end(Buffer.buffer(new byte[32 << 20])));
        return router;
    }

    @AfterEach
    void stop() throws Exception {
        for (Socket socket : sockets) {
            socket.close();
        }
        Objects.requireNonNull(listener).close();
    }

    private Socket connect(String from) throws IOException {
        return connect(from, 4_096);
    }

    private Socket connect(String from, int receiveBytes) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(receiveBytes);
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.setSoTimeout(TestRepository.PATIENCE_MS);
        socket.connect(Objects.requireNonNull(listener).address());
        return socket;
    }

    private static void ask(Socket socket, String path) throws IOException {
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** Whether the server answers with all that it has to say. */
    private static boolean isAnswered(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder text = new StringBuilder();
        try {
            while (!text.toString().endsWith("hello")) {
                int octet = in.read();
                if (octet < 0) {
                    return false;
                }
                text.append((char) octet);
            }
        } catch (SocketException e) {
            return false;
        }
        return true;
    }

    private static boolean serves(Socket socket) throws IOException {
        try {
            ask(socket, "/");
        } catch (SocketException e) {
            return false;
        }
        return isAnswered(socket);
    }

    /**
     * A connection that was answered, and says nothing more. Another one's answer can be read a moment before the server
     * counts that one as idle: then this one is refused, and tried again.
     */
    private Socket silent(String from) throws IOException {
        long deadlineNs = System.nanoTime() + Waiting.PATIENCE.toNanos();
        while (true) {
            Socket socket = connect(from);
            if (serves(socket)) {
                return socket;
            }
            assertThat(System.nanoTime()).as("answered to %s", from).isLessThan(deadlineNs);
        }
    }

    /** A connection whose request the server has and does not answer. */
    private Socket busy(String from) throws IOException {
        int before = waiting.size();
        Socket socket = connect(from);
        ask(socket, "/wait");
        eventually().until(() -> waiting.size() > before);
        return socket;
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    @Test
    void whereAllConnectionsAreSilentTheOneThatIsSoForLongestMakesRoom() throws Exception {
        start(3, 3, 0);
        Socket first = silent("127.0.0.2");
        Socket second = silent("127.0.0.3");
        Socket third = silent("127.0.0.4");
        assertThat(serves(first)).isTrue();

        assertThat(serves(connect("127.0.0.5"))).isTrue();
        assertThat(isClosed(second)).isTrue();
        assertThat(serves(first)).isTrue();
        assertThat(serves(third)).isTrue();
    }

    @Test
    void oneThatNeverSentAnByteMakesRoomToo() throws Exception {
        start(2, 2, 0);
        Socket mute = connect("127.0.0.2");
        silent("127.0.0.3");
        assertThat(serves(connect("127.0.0.4"))).isTrue();
        assertThat(isClosed(mute)).isTrue();
    }

    @Test
    void aRequestUnderWayNeverMakesRoom() throws Exception {
        start(2, 2, 0);
        Socket one = busy("127.0.0.2");
        Socket two = busy("127.0.0.3");
        assertThat(serves(connect("127.0.0.4"))).isFalse();
        for (RoutingContext each : waiting) {
            each.vertx().runOnContext(loop -> each.response().end("hello"));
        }
        assertThat(isAnswered(one)).isTrue();
        assertThat(isAnswered(two)).isTrue();
    }

    @Test
    void anAnswerThatIsStillBeingReadDoesNotMakeRoom() throws Exception {
        start(1, 1, 0);
        Socket reader = connect("127.0.0.2");
        ask(reader, "/large");
        byte[] head = reader.getInputStream().readNBytes(4_096);
        assertThat(head).hasSize(4_096);
        assertThat(serves(connect("127.0.0.3"))).isFalse();
        long left = (32 << 20) - 4_096;
        assertThat(reader.getInputStream().readNBytes((int) left)).hasSize((int) left);
    }

    @Test
    void onePeerHasItsOwnBoundAndLosesItsOwnConnections() throws Exception {
        start(9, 2, 0);
        Socket other = silent("127.0.0.3");
        Socket first = silent("127.0.0.2");
        silent("127.0.0.2");
        assertThat(serves(connect("127.0.0.2"))).isTrue();
        assertThat(isClosed(first)).isTrue();
        assertThat(serves(other)).isTrue();
    }

    @Test
    void aPeerWhoseRequestsAreAllUnderWayGetsNoMore() throws Exception {
        start(9, 2, 0);
        busy("127.0.0.2");
        busy("127.0.0.2");
        assertThat(serves(connect("127.0.0.2"))).isFalse();
        assertThat(serves(connect("127.0.0.3"))).isTrue();
    }

    @Test
    void strangersCannotHaveThePlacesOfTheHostAndOfThoseThatTheyAreReservedFor() throws Exception {
        start(4, 4, 2);
        busy("127.0.0.2");
        busy("127.0.0.3");
        assertThat(serves(connect("127.0.0.4"))).isFalse();
        silent(RESERVED);
        silent(HOST);
    }

    @Test
    void theHostItselfHasNoBoundOfAPeer() throws Exception {
        start(9, 1, 0);
        busy(HOST);
        busy(HOST);
        assertThat(serves(connect(HOST))).isTrue();
    }

    @Test
    void aStrangerDoesNotDriveOutTheHost() throws Exception {
        start(2, 2, 1);
        Socket own = silent(HOST);
        silent("127.0.0.2");
        silent("127.0.0.3");
        assertThat(serves(own)).isTrue();
    }

    @Test
    void aConnectionThatEndsLeavesItsPlace() throws Exception {
        start(1, 1, 0);
        Socket first = busy("127.0.0.2");
        assertThat(serves(connect("127.0.0.3"))).isFalse();
        first.close();
        eventually().until(() -> serves(connect("127.0.0.3")));
    }

    @Test
    void connectionsAreCountedBeforeTheirTlsHandshake() throws Exception {
        start(
                new Limits(2, 2, 0, LONG_MS, LONG_MS, LONG_MS),
                new TestAuthority(folder, "authority").files("server", false, HOST));
        Socket first = connect("127.0.0.2");
        connect("127.0.0.3");
        connect("127.0.0.4");
        assertThat(isClosed(first)).isTrue();
    }

    /** It takes some all the time, so that the connection is never idle. */
    @Test
    void aPeerThatTakesItsAnswerTooSlowlyIsCutOff() throws Exception {
        start(new Limits(9, 9, 0, LONG_MS, LONG_MS, 3_000), null);
        Socket reader = connect("127.0.0.2", 256 << 10);
        ask(reader, "/large");
        byte[] some = new byte[64 << 10];
        CountDownLatch never = new CountDownLatch(1);
        long received = 0;
        try {
            for (int n = 0; n >= 0; n = reader.getInputStream().read(some)) {
                received += n;
                assertThat(never.await(50, TimeUnit.MILLISECONDS)).isFalse();
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
        assertThat(received).isBetween(1L, (32L << 20) - 1);
    }
}
