package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.NotifyReceiver;
import org.tamanoir.support.Waiting;

@Timeout(240)
class LocalSocketTest {
    private static final Duration PATIENCE = Waiting.PATIENCE;

    @TempDir
    Path folder;

    private Path path() {
        return folder.resolve("socket");
    }

    @BeforeEach
    void need() {
        UdpTesting.assumeNative();
    }

    @Test
    void linesCrossAndWhatComesBehindThemStays() throws IOException {
        try (LocalSocket listener = LocalSocket.listen(path());
                LocalSocket near = LocalSocket.connect(path(), PATIENCE);
                LocalSocket far = listener.accept(PATIENCE)) {
            assertThat(far.peerUser()).isEqualTo(Files.getAttribute(folder, "unix:uid"));
            near.send("hört");
            near.send("");
            assertThat(far.line()).isEqualTo("hört");
            assertThat(far.line()).isEmpty();
        }
    }

    @Test
    void aLineHasItsTimeHoweverItsOctetsCome() throws Exception {
        try (LocalSocket listener = LocalSocket.listen(path())) {
            Thread dripping = new Thread(() -> {
                try (SocketChannel near = SocketChannel.open(UnixDomainSocketAddress.of(path()))) {
                    for (int i = 0; i < 500; i++) {
                        near.write(ByteBuffer.wrap(new byte[] {'x'}));
                        LockSupport.parkNanos(20_000_000); // Well within what a read alone may take.
                    }
                } catch (IOException e) {
                    // The other end is closed.
                }
            });
            dripping.start();
            try (LocalSocket far = listener.accept(PATIENCE)) {
                assertThatExceptionOfType(SocketTimeoutException.class)
                        .isThrownBy(() -> far.line(Duration.ofSeconds(1)))
                        .withMessage("the other process takes more than 1 s");
            }
            dripping.join();
        }
    }

    @Test
    void closingEndsAWaitForConnections() throws Exception {
        LocalSocket listener = LocalSocket.listen(path());
        CompletableFuture<String> end = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                listener.accept(PATIENCE).close();
            } catch (IOException e) {
                end.complete(String.valueOf(e.getMessage()));
            }
        });
        waiting.start();
        eventually()
                .until(() -> Arrays.stream(waiting.getStackTrace()) // empty before the thread runs
                        .limit(1)
                        .anyMatch(frame -> frame.getMethodName().equals("poll")));
        listener.close();
        assertThat(end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("closed");
    }

    @Test
    void onlyASocketThatNobodyListensOnRefuses() throws IOException {
        LocalSocket.listen(path()).close();
        assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
        Files.delete(path());
        assertThatIOException()
                .isThrownBy(this::connect)
                .isNotInstanceOf(ConnectException.class)
                .withMessage("No such file or directory");
    }

    @Test
    void aSocketOfAnotherKindIsNoneThatNobodyListensOn() {
        try (NotifyReceiver datagrams = NotifyReceiver.at(path().toString())) {
            assertThat(datagrams).isNotNull();
            assertThatIOException().isThrownBy(this::connect).isNotInstanceOf(ConnectException.class);
        }
    }

    @Test
    void aFullBacklogIsNoSocketThatNobodyListensOn() throws IOException {
        List<LocalSocket> waiting = new ArrayList<>();
        try (LocalSocket listener = LocalSocket.listen(path())) {
            assertThat(listener).isNotNull();
            assertThatIOException()
                    .isThrownBy(() -> {
                        while (waiting.size() < 100) {
                            waiting.add(LocalSocket.connect(path(), PATIENCE));
                        }
                    })
                    .isNotInstanceOf(ConnectException.class)
                    .withMessage("Resource temporarily unavailable");
        } finally {
            waiting.forEach(LocalSocket::close);
        }
    }

    private void connect() throws IOException {
        LocalSocket.connect(path(), PATIENCE).close();
    }
}
