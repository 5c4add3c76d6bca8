package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.tamanoir.support.LossyUdp;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

@Timeout(240)
class QuicPortTest {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final Duration TIME = Duration.ofSeconds(40);

    /** For ports that are closed while a connection stands: it is cut after this. */
    private static final Duration SHORT_LINGER = Duration.ofMillis(100);

    @TempDir
    private Path folder;

    private TestAuthority authority;
    private ServerSocket reader;

    @BeforeEach
    void open() throws IOException {
        authority = new TestAuthority(folder, "authority");
        reader = new ServerSocket(0, 50, HERE);
        reader.setSoTimeout((int) TIME.toMillis());
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
    }

    private InetSocketAddress readerAddress() {
        return new InetSocketAddress(HERE, reader.getLocalPort());
    }

    private static QuicPort port(TlsFiles files) throws IOException {
        return new QuicPort(TransportKind.AUTO, files.load(), QuicPort.Limits.DEFAULT);
    }

    private static QuicPort lingeringShortly(TlsFiles files, QuicPort.Limits limits) throws IOException {
        return new QuicPort(TransportKind.AUTO, files.load(), limits, SHORT_LINGER, Duration.ofSeconds(10));
    }

    private static InetSocketAddress listen(QuicPort server, InetSocketAddress inside) throws IOException {
        return server.listen(new InetSocketAddress(HERE, 0), inside);
    }

    /** Connects as who has the stream does. */
    private static Socket connect(QuicPort client, InetSocketAddress to) throws Exception {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(HERE, 0));
        try {
            InetSocketAddress inside = client.to(to.getAddress(), to.getPort())
                    .open((InetSocketAddress) socket.getLocalSocketAddress(), TIME)
                    .get(TIME.toMillis(), TimeUnit.MILLISECONDS);
            socket.connect(inside);
        } catch (ExecutionException e) {
            socket.close();
            throw (Exception) e.getCause();
        }
        socket.setSoTimeout((int) TIME.toMillis());
        return socket;
    }

    private Socket accepted() throws IOException {
        Socket socket = reader.accept();
        socket.setSoTimeout((int) TIME.toMillis());
        return socket;
    }

    private static byte[] random(int bytes, long seed) {
        byte[] made = new byte[bytes];
        new Random(seed).nextBytes(made);
        return made;
    }

    /** Sends on a thread of its own, and ends. */
    private static CompletableFuture<Void> send(Socket socket, byte[] bytes) {
        return Waiting.async(() -> {
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void bytesArriveBothWaysAndEachWayEndsByItself(TransportKind kind) throws Exception {
        byte[] there = random(3_000_000, 1);
        byte[] back = random(2_000_000, 2);
        try (QuicPort server = new QuicPort(kind, authority.files("node").load(), QuicPort.Limits.DEFAULT);
                QuicPort client = new QuicPort(kind, authority.trusting().load(), QuicPort.Limits.DEFAULT);
                Socket socket = connect(client, listen(server, readerAddress()))) {
            CompletableFuture<Void> sent = send(socket, there);
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().readAllBytes()).isEqualTo(there);
                CompletableFuture<Void> answered = send(far, back);
                assertThat(socket.getInputStream().readAllBytes()).isEqualTo(back);
                sent.get(40, TimeUnit.SECONDS);
                answered.get(40, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0.01, 0.01, 1500", "0.03, 0.02, 400", "0.05, 0.05, 300"})
    void bytesAreEqualOverAWayThatLosesDoublesAndReorders(double loss, double disorder, int kilobytes)
            throws Exception {
        byte[] there = random(Seeds.scaled(kilobytes * 1_000), 3);
        byte[] back = random(there.length / 3, 4);
        // The way between them ends first.
        try (QuicPort server = lingeringShortly(authority.files("node"), QuicPort.Limits.DEFAULT);
                QuicPort client = lingeringShortly(authority.trusting(), QuicPort.Limits.DEFAULT);
                LossyUdp way = new LossyUdp(
                        listen(server, readerAddress()), loss, disorder, Seeds.ofCommit(QuicPortTest.class));
                Socket socket = connect(client, way.address())) {
            CompletableFuture<Void> sent = send(socket, there);
            try (Socket far = accepted()) {
                CompletableFuture<Void> answered = send(far, back);
                CompletableFuture<byte[]> got =
                        Waiting.async(() -> socket.getInputStream().readAllBytes());
                assertThat(far.getInputStream().readAllBytes()).isEqualTo(there);
                assertThat(got.get(40, TimeUnit.SECONDS)).isEqualTo(back);
                sent.get(40, TimeUnit.SECONDS);
                answered.get(40, TimeUnit.SECONDS);
            }
            assertThat(way.lost()).isPositive();
        }
    }

    @Test
    void closingTheSenderLosesNothingThatWasSentAndEnded() throws Exception {
        byte[] there = random(1_500_000, 5);
        try (QuicPort server = lingeringShortly(authority.files("node"), QuicPort.Limits.DEFAULT);
                LossyUdp way =
                        new LossyUdp(listen(server, readerAddress()), 0.02, 0, Seeds.ofCommit(QuicPortTest.class))) {
            QuicPort client = port(authority.trusting());
            Socket socket = connect(client, way.address());
            CompletableFuture<Void> sent = send(socket, there);
            try (Socket far = accepted()) {
                far.shutdownOutput(); // So that the stream is over for the sender before all is read.
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
                byte[] got = far.getInputStream().readAllBytes();
                sent.get(40, TimeUnit.SECONDS);
                socket.close();
                client.close();
                assertThat(got).isEqualTo(there);
            }
        }
    }

    /** Each side in turn sends the last: who ends it waits for who reads. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReaderThatPausesAfterTheEndGetsAllThatWasSent(boolean theOneThatListens) throws Exception {
        Duration look = Duration.ofMillis(50);
        byte[] last = random(900_000, 9); // Fits in a stream's window, so that all of it is sent at once.
        try (QuicPort server = new QuicPort(
                        TransportKind.AUTO,
                        authority.files("node").load(),
                        QuicPort.Limits.DEFAULT,
                        SHORT_LINGER,
                        look);
                QuicPort client = new QuicPort(
                        TransportKind.AUTO, authority.trusting().load(), QuicPort.Limits.DEFAULT, SHORT_LINGER, look);
                Socket socket = connect(client, listen(server, readerAddress()))) {
            socket.getOutputStream().write(1); // A stream is there for the far side with its first byte.
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().read()).isEqualTo(1);
                Socket sender = theOneThatListens ? far : socket;
                Socket reader = theOneThatListens ? socket : far;
                reader.setReceiveBufferSize(1 << 16);
                reader.shutdownOutput();
                assertThat(sender.getInputStream().read()).isEqualTo(-1);
                sender.getOutputStream().write(last);
                sender.shutdownOutput();
                Thread.sleep(20 * look.toMillis()); // The sender looks several times; were it less, all were well too.
                assertThat(reader.getInputStream().readAllBytes()).isEqualTo(last);
            }
        }
    }

    @Test
    void aResetComesAsAReset() throws Exception {
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting())) {
            Socket socket = connect(client, listen(server, readerAddress()));
            socket.getOutputStream().write(random(1000, 6));
            try (Socket far = accepted()) {
                new DataInputStream(far.getInputStream()).readFully(new byte[1000]);
                socket.setSoLinger(true, 0);
                socket.close();
                assertThatThrownBy(() -> far.getInputStream().read())
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("reset");
            }
        }
    }

    @Test
    void aResetOfTheReaderComesToTheSender() throws Exception {
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting());
                Socket socket = connect(client, listen(server, readerAddress()))) {
            socket.getOutputStream().write(1); // A stream is there for the far side with its first byte.
            Socket far = accepted();
            far.setSoLinger(true, 0);
            far.close();
            assertThatThrownBy(() -> socket.getInputStream().read())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("reset");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSenderThatIsToldToStopIsAnsweredUnlessItGoesOn(boolean goesOn) throws Exception {
        byte[] answer = random(300_000, 10);
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting());
                Socket socket = connect(client, listen(server, readerAddress()))) {
            socket.getOutputStream().write(1);
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().read()).isEqualTo(1);
                Objects.requireNonNull(server.origin((InetSocketAddress) far.getRemoteSocketAddress()))
                        .stop()
                        .run();
                assertThat(far.getInputStream().read()).isEqualTo(-1);
                if (goesOn) {
                    assertThatThrownBy(() -> {
                                while (true) {
                                    socket.getOutputStream().write(1);
                                }
                            })
                            .isInstanceOf(IOException.class);
                } else {
                    far.getOutputStream().write(answer);
                    far.shutdownOutput();
                    assertThat(socket.getInputStream().readAllBytes()).isEqualTo(answer);
                }
            }
        }
    }

    @Test
    void aConnectionThatIsCutInMidStreamIsNoEnd() throws Exception {
        try (QuicPort server = port(authority.files("node"))) {
            QuicPort client = lingeringShortly(authority.trusting(), QuicPort.Limits.DEFAULT);
            Socket socket = connect(client, listen(server, readerAddress()));
            socket.getOutputStream().write(random(1000, 7));
            try (Socket far = accepted()) {
                new DataInputStream(far.getInputStream()).readFully(new byte[1000]);
                client.close();
                assertThatThrownBy(() -> far.getInputStream().read())
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("reset");
            }
        }
    }

    @Test
    void aReaderThatTakesNothingStopsTheSender() throws Exception {
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting())) {
            Socket socket = connect(client, listen(server, readerAddress()));
            byte[] chunk = random(1 << 16, 8);
            long[] written = {0};
            Thread sender = new Thread(() -> {
                try {
                    while (true) {
                        socket.getOutputStream().write(chunk);
                        written[0] += chunk.length;
                    }
                } catch (IOException e) {
                    // Closed, at the end of the test.
                }
            });
            sender.start();
            Socket far = accepted();
            long[] before = {-1};
            // Stands still when two looks a second apart see the same.
            Waiting.eventually().pollInterval(Duration.ofSeconds(1)).until(() -> {
                boolean still = written[0] > 0 && written[0] == before[0];
                before[0] = written[0];
                return still;
            });
            // 1 MiB of the stream's window, and what kernels hold on two connections inside the process.
            assertThat(written[0]).isLessThan(16 << 20);
            socket.close();
            far.close();
            sender.join(TIME.toMillis());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC"})
    void certificatesWithKeysOfEachAlgorithmServe(String algorithm) throws Exception {
        try (QuicPort server = port(authority.withKey("node", algorithm));
                QuicPort client = port(authority.trusting());
                Socket socket = connect(client, listen(server, readerAddress()))) {
            socket.getOutputStream().write(1);
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().read()).isEqualTo(1);
            }
        }
    }

    @Test
    void aKeyThatTheLibraryCannotUseIsRefusedAtTheStart() {
        assertThatThrownBy(() -> port(authority.withKey("node", "Ed25519")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none of EC and RSA");
    }

    @Test
    void fromARenewalOnWhoConnectsShowsAndBelievesWhatWasRead() throws Exception {
        TlsFiles stranger = new TestAuthority(folder, "stranger").trusting();
        try (QuicPort server = port(authority.files("node", true, "127.0.0.1"));
                QuicPort client = port(stranger)) {
            InetSocketAddress address = listen(server, readerAddress());
            assertThatThrownBy(() -> connect(client, address)).isInstanceOf(SSLException.class);
            client.renewal(authority.files("client").load()).run();
            try (Socket socket = connect(client, address)) {
                socket.getOutputStream().write(1);
                try (Socket far = accepted()) {
                    assertThat(far.getInputStream().read()).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void aCertificateForAnotherHostIsRefused() throws Exception {
        try (QuicPort server = lingeringShortly(authority.files("node", false, "10.9.9.9"), QuicPort.Limits.DEFAULT);
                QuicPort client = port(authority.trusting())) {
            InetSocketAddress address = listen(server, readerAddress());
            assertThatThrownBy(() -> connect(client, address)).isInstanceOf(SSLException.class);
        }
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefused() throws Exception {
        TlsFiles stranger = new TestAuthority(folder, "other").files("stranger");
        try (QuicPort server = lingeringShortly(stranger, QuicPort.Limits.DEFAULT);
                QuicPort client = port(authority.trusting())) {
            InetSocketAddress address = listen(server, readerAddress());
            assertThatThrownBy(() -> connect(client, address)).isInstanceOf(SSLException.class);
        }
    }

    @Test
    void aClientWithACertificateIsTakenWhereOneIsRequired() throws Exception {
        try (QuicPort server = port(authority.files("node", true, "127.0.0.1"));
                QuicPort client = port(authority.files("sender"));
                Socket socket = connect(client, listen(server, readerAddress()))) {
            socket.getOutputStream().write(1);
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().read()).isEqualTo(1);
            }
        }
    }

    @Test
    void aClientWithoutACertificateGetsNoStreamWhereOneIsRequired() throws Exception {
        try (QuicPort server = port(authority.files("node", true, "127.0.0.1"));
                QuicPort client = port(authority.trusting())) {
            InetSocketAddress address = listen(server, readerAddress());
            assertThatThrownBy(() -> {
                        try (Socket socket = connect(client, address)) {
                            socket.getOutputStream().write(1);
                            if (socket.getInputStream().read() < 0) {
                                throw new AssertionError("an end in order");
                            }
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void nobodyThereIsSaidInTime() throws Exception {
        try (QuicPort client = port(authority.trusting());
                java.net.DatagramSocket silent = new java.net.DatagramSocket(0, HERE)) {
            assertThatThrownBy(() -> client.to(HERE, silent.getLocalPort())
                            .open(new InetSocketAddress(HERE, 1), Duration.ofMillis(300))
                            .get(40, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(IOException.class)
                    .hasMessageContaining("no QUIC answer within 300 ms");
        }
    }

    @Test
    void theOriginOfAStreamIsItsFarEndAndToldOnce() throws Exception {
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting())) {
            InetSocketAddress address = listen(server, readerAddress());
            try (Socket socket = connect(client, address)) {
                socket.getOutputStream().write(1);
                try (Socket far = accepted()) {
                    InetSocketAddress inside = (InetSocketAddress) far.getRemoteSocketAddress();
                    QuicPort.Origin origin = Objects.requireNonNull(server.origin(inside));
                    assertThat(origin.local()).isEqualTo(address);
                    assertThat(origin.peer().getPort()).isNotEqualTo(inside.getPort());
                    assertThat(server.origin(inside)).isNull();
                }
            }
        }
    }

    /** Linux has all of 127.0.0.0/8 as its own: others can have a port there that is in use at another address. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aProgramWithTheSamePortAtAnotherAddressGetsNoStream() throws Exception {
        try (QuicPort server = port(authority.files("node"));
                QuicPort client = port(authority.trusting());
                Socket mine = new Socket();
                Socket stranger = new Socket()) {
            InetSocketAddress address = listen(server, readerAddress());
            mine.bind(new InetSocketAddress(HERE, 0));
            stranger.bind(new InetSocketAddress("127.0.0.2", mine.getLocalPort()));
            InetSocketAddress door = client.connect(
                    client.to(HERE, address.getPort()), (InetSocketAddress) mine.getLocalSocketAddress(), TIME);
            stranger.connect(door);
            stranger.setSoTimeout((int) TIME.toMillis());
            assertThatThrownBy(() -> stranger.getInputStream().read()).isInstanceOf(SocketException.class);

            mine.connect(door);
            mine.getOutputStream().write(7);
            try (Socket far = accepted()) {
                assertThat(far.getInputStream().read()).isEqualTo(7);
                InetSocketAddress inside = (InetSocketAddress) far.getRemoteSocketAddress();
                assertThat(server.origin(new InetSocketAddress("127.0.0.2", inside.getPort())))
                        .isNull();
                assertThat(server.origin(inside)).isNotNull();
            }
        }
    }

    /** A client sends its first packet again and again, with a token that holds. */
    @Test
    void refusalsOfAWhileAreOneLineInTheLog() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(QuicPort.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        Level before = log.getLevel();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        try (QuicPort server = new QuicPort(
                        TransportKind.AUTO, authority.files("node").load(), new QuicPort.Limits(0, 0, TIME));
                QuicPort client = port(authority.trusting())) {
            InetSocketAddress address = listen(server, readerAddress());
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> client.to(HERE, address.getPort())
                                .open(new InetSocketAddress(HERE, 1), Duration.ofMillis(500))
                                .get(40, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(IOException.class);
            }
        } finally {
            log.detachAppender(lines);
            log.setLevel(before);
        }
        assertThat(lines.list)
                .filteredOn(line -> line.getMessage().contains("refused"))
                .hasSize(1);
    }

    @Test
    void connectionsBeyondTheLimitGetNothing() throws Exception {
        QuicPort.Limits two = new QuicPort.Limits(2, 2, TIME);
        try (QuicPort server = lingeringShortly(authority.files("node"), two);
                QuicPort client = lingeringShortly(authority.trusting(), QuicPort.Limits.DEFAULT)) {
            InetSocketAddress address = listen(server, readerAddress());
            try (Socket first = connect(client, address);
                    Socket second = connect(client, address)) {
                assertThatThrownBy(() -> client.to(HERE, address.getPort())
                                .open(new InetSocketAddress(HERE, 1), Duration.ofMillis(500))
                                .get(40, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(IOException.class);
                assertThat(first.isClosed() || second.isClosed()).isFalse();
            }
        }
    }
}
