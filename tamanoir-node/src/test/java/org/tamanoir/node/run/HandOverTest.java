package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.NotifyReceiver;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.LocalSocket;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

@Timeout(120)
class HandOverTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final ListeningSockets NOTHING = new ListeningSockets(List.of());

    @TempDir
    Path folder;

    private final CountDownLatch drained = new CountDownLatch(1);
    private final List<String> told = new CopyOnWriteArrayList<>();

    @BeforeEach
    void need() {
        Tiers.require(
                "native",
                UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE,
                UdpSockets.explain(TransportKind.AUTO));
    }

    private Path path() {
        return folder.resolve("hand-over");
    }

    private HandOver begin() throws IOException {
        HandOver waiting = HandOver.listen(
                path(), NOTHING, drained::countDown, (peer, outcome) -> told.add(peer + ": " + outcome));
        waiting.begin();
        return waiting;
    }

    private LocalSocket asking() throws IOException {
        LocalSocket process = LocalSocket.connect(path(), PATIENCE);
        process.send(HandOver.ASKED);
        return process;
    }

    private TakeOver takeOver(Duration patience) throws IOException {
        return TakeOver.from(path(), NOTHING, patience);
    }

    @Test
    void theNodeDrainsBehindReadyThoughTheOtherProcessIsGone() throws Exception {
        try (HandOver waiting = begin()) {
            assertThat(waiting).isNotNull();
            try (LocalSocket process = asking()) {
                assertThat(process.line()).isEqualTo(HandOver.YES);
                process.send(HandOver.READY + "1");
            }
            drained.await();
            assertThat(told).containsExactly("process 1: done");
            assertThat(path()).doesNotExist();
        }
    }

    @Test
    void theNodeGoesOnWhenTheOtherProcessEndsBefore() throws Exception {
        try (HandOver waiting = begin()) {
            assertThat(waiting).isNotNull();
            try (LocalSocket process = asking()) {
                assertThat(process.line()).isEqualTo(HandOver.YES);
            }
            eventually()
                    .ignoreExceptions()
                    .until(
                            () -> { // Until the node has seen that end.
                                takeOver(PATIENCE).ready();
                                return true;
                            });
            drained.await();
            assertThat(told.get(0)).startsWith("a process at " + path() + ": ");
            assertThat(told.get(told.size() - 1)).endsWith(": done");
        }
    }

    @Test
    void aSecondProcessIsRefusedAtOnceWhileAnotherStarts() throws Exception {
        try (HandOver waiting = begin();
                LocalSocket first = asking()) {
            assertThat(waiting).isNotNull();
            assertThat(first.line()).isEqualTo(HandOver.YES);
            try (LocalSocket second = asking()) {
                assertThat(second.line())
                        .isEqualTo("no another process takes over: wait until that one serves, or end it");
            }
        }
    }

    @Test
    void aProcessThatTheNodeGaveUpDoesNotServeBesideIt() throws Exception {
        try (LocalSocket node = LocalSocket.listen(path())) {
            TakeOver process = given(node);
            assertThatIOException()
                    .isThrownBy(process::ready)
                    .withMessageContaining("the node at " + path() + " goes on, since this one took too long to start");
        }
    }

    @Test
    void aProcessServesWhenTheNodeHasEnded() throws Exception {
        TakeOver process;
        try (LocalSocket node = LocalSocket.listen(path())) {
            process = given(node);
        }
        assertThatCode(process::ready).doesNotThrowAnyException();
    }

    /** Has a process get the sockets of a node that then breaks the connection. */
    private TakeOver given(LocalSocket node) throws Exception {
        var taking = Waiting.async(() -> takeOver(PATIENCE));
        try (LocalSocket peer = node.accept(PATIENCE)) {
            peer.line();
            peer.send(HandOver.YES);
            return taking.get();
        }
    }

    @Test
    void aProcessServesThoughTheNodeDoesNotSayThatItDrains() throws Exception {
        try (LocalSocket node = LocalSocket.listen(path())) {
            var taking = Waiting.async(() -> takeOver(Duration.ofSeconds(1)));
            try (LocalSocket peer = node.accept(PATIENCE)) {
                peer.line();
                peer.send(HandOver.YES);
                assertThatCode(taking.get()::ready).doesNotThrowAnyException();
                assertThat(peer.line()).startsWith(HandOver.READY);
            }
        }
    }

    @Test
    void whatANodeLeftBehindIsReplaced() throws Exception {
        LocalSocket.listen(path()).close();
        assertThat(path()).exists();
        begin().close();
        assertThat(path()).doesNotExist();
    }

    @Test
    void theSocketOfABusyNodeIsLeftAlone() throws Exception {
        List<LocalSocket> waiting = new ArrayList<>();
        try (LocalSocket node = LocalSocket.listen(path())) {
            assertThat(node).isNotNull();
            assertThatIOException().isThrownBy(() -> {
                while (waiting.size() < 100) {
                    waiting.add(LocalSocket.connect(path(), PATIENCE));
                }
            });
            requireLeftAlone("there is a socket that may be in use (Resource temporarily unavailable)");
        } finally {
            waiting.forEach(LocalSocket::close);
        }
    }

    @Test
    void theSocketOfAnotherProgramIsLeftAlone() {
        try (NotifyReceiver program = NotifyReceiver.at(path().toString())) {
            assertThat(program).isNotNull();
            requireLeftAlone("there is a socket that may be in use (Protocol wrong type for socket)");
        }
    }

    @Test
    void aFileIsLeftAlone() throws IOException {
        Files.createFile(path());
        requireLeftAlone("there is a file, and no socket");
    }

    private void requireLeftAlone(String why) {
        assertThatIOException().isThrownBy(this::begin).withMessageContaining(why);
        assertThat(path()).exists();
    }
}
