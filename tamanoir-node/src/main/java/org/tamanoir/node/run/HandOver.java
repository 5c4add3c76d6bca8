package org.tamanoir.node.run;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.platform.Causes;
import org.tamanoir.repository.CodeServer;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.ListeningSockets.Wanted;
import org.tamanoir.transport.LocalSocket;

/**
 * Hands the sockets of a node over to the process that takes its place. Over a UNIX socket the other process sends
 * {@code take-over 1} and the sockets that it wants; it gets {@code yes} and their descriptors, or {@code no} and why;
 * it sends {@code ready} when it serves, gets {@code draining}, and this node drains.
 *
 * <p>{@code ready} decides. If the other process ends before it, this node serves on, with the sockets that it has; once
 * it is there this node drains, whatever becomes of the other process.
 *
 * <p>Thread contract: a thread of its own answers; another one waits for the one process that is not ready yet. Any thread
 * closes it.
 */
final class HandOver implements AutoCloseable {
    static final String ASKED = "take-over 1 ";
    static final String YES = "yes";
    static final String NO = "no ";
    static final String READY = "ready ";
    static final String DRAINING = "draining";
    /** For the node to answer, which may have others to answer before. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);
    /** Of a file's mode, inode(7). */
    private static final int TYPE_MASK = 0xF000;

    private static final int TYPE_SOCKET = 0xC000;
    /** For a process to ask, while all others wait. */
    private static final Duration ASK_PATIENCE = Duration.ofSeconds(3);
    /** For the other process to start. */
    private static final Duration START_PATIENCE = Duration.ofMinutes(2);

    private final Path path;
    private final LocalSocket listener;
    private final ListeningSockets sockets;
    private final Runnable drain;
    private final Told told;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean isTaken;

    /** Is told what came of hand-overs. */
    interface Told {
        /** @param outcome {@code done}, or why not */
        void told(String peer, String outcome);
    }

    private HandOver(Path path, LocalSocket listener, ListeningSockets sockets, Runnable drain, Told told) {
        this.path = path;
        this.listener = listener;
        this.sockets = sockets;
        this.drain = drain;
        this.told = told;
    }

    /** Returns the sockets that a node with this configuration shares; none unless it hands over. */
    static ListeningSockets sockets(NodeConfig config) {
        if (config.find(NodeSettings.HAND_OVER) == null) {
            return ListeningSockets.NONE;
        }
        EeConfig environment = config.environment();
        List<Wanted> wanted = new ArrayList<>();
        environment.tcp().forEach(address -> wanted.add(new Wanted("tcp", address)));
        environment.tls().forEach(address -> wanted.add(new Wanted("tls", address)));
        config.get(NodeSettings.GATEWAYS)
                .forEach(gateway -> wanted.add(new Wanted(gateway.isUdp() ? "udp" : "gateway", gateway.listen())));
        environment.udp().forEach(address -> wanted.add(new Wanted("udp", address)));
        if (config.admin().listen() != null) {
            wanted.add(new Wanted("admin API", config.admin().listen()));
        }
        Optional<InetSocketAddress> code = config.find(NodeSettings.CODE_SERVER);
        if (code != null) {
            code.ifPresent(address -> wanted.add(new Wanted(CodeServer.USE, address)));
        }
        return new ListeningSockets(wanted);
    }

    /**
     * Starts a node that hands over.
     *
     * @param takesOver whether it takes the place of the node that does so at this path
     * @param stop ends the process in order
     * @return to be {@linkplain #begin begun}; null = it serves, and cannot hand over: the log says why
     * @throws IOException in one line, if it does not start
     */
    static @Nullable HandOver start(Node node, Path path, boolean takesOver, Runnable stop) throws IOException {
        Runnable drain = () -> {
            node.leaveListeners();
            stop.run();
        };
        Told told = (peer, outcome) -> node.record(peer, "hand-over", outcome);
        if (takesOver) {
            TakeOver.start(node, path);
            node.record("the node at " + path, "take-over", "done");
            try {
                return listen(path, node.sockets(), drain, told);
            } catch (IOException e) {
                LOG.warn("{}: this node serves, and hands over to none", e.getMessage());
                return null;
            }
        }
        HandOver waiting = listen(path, node.sockets(), drain, told);
        try {
            node.start();
        } catch (IOException | RuntimeException e) {
            waiting.close();
            throw e;
        }
        return waiting;
    }

    /**
     * Listens at a path; processes that take over wait until it {@linkplain #begin begins}.
     *
     * @param drain ends the node, on a thread of its own; the sockets are another process' by then
     * @param told is told who asked for it and what came of it
     * @throws IOException in one line, if the path cannot be had
     */
    static HandOver listen(Path path, ListeningSockets sockets, Runnable drain, Told told) throws IOException {
        try {
            removeStale(path);
            LocalSocket listener = LocalSocket.listen(path);
            path.toFile().setWritable(false, false);
            path.toFile().setWritable(true, true);
            return new HandOver(path, listener, sockets, drain, told);
        } catch (IOException e) {
            throw new IOException(
                    "hand-over " + path + ": " + Causes.text(e) + "; name a path where the node may write", e);
        }
    }

    private static void removeStale(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if (!(mode instanceof Integer bits) || (bits & TYPE_MASK) != TYPE_SOCKET) {
            throw new IOException("there is a file, and no socket");
        }
        try {
            LocalSocket.connect(path, PATIENCE).close();
        } catch (ConnectException e) {
            Files.delete(path); // Nobody listens: a node ended without removing it.
            return;
        } catch (IOException e) {
            throw new IOException("there is a socket that may be in use (" + Causes.text(e) + ")", e);
        }
        throw new IOException("a node listens there already: start this one with --take-over, or stop that one");
    }

    /** Passes if the other process is this one's user, or root. */
    static void requireSameUser(LocalSocket peer) throws IOException {
        int user = peer.peerUser();
        Object own = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (user != 0 && !Integer.valueOf(user).equals(own)) {
            throw new IOException("the other process is of user " + user + ", this one of user " + own
                    + ": only one of the same user takes over");
        }
    }

    /** Begins to answer processes that take over. */
    void begin() {
        new BackgroundThread("hand-over", new Answering(() -> listener.accept(ASK_PATIENCE), this::answer, closed))
                .start();
    }

    private void answer(LocalSocket peer) {
        try {
            try (ListeningSockets.Copies copies = asked(peer)) {
                peer.send(YES);
                copies.sendTo(peer);
            }
            isTaken = true;
            try {
                new BackgroundThread("hand-over to a process", () -> await(peer)).start();
            } catch (OutOfMemoryError e) {
                isTaken = false;
                throw new IOException("there is no thread to be had for it: " + e.getMessage(), e);
            }
        } catch (IOException | RuntimeException e) {
            peer.close();
            LOG.warn("hand-over: {}: this node goes on", e.getMessage());
            told.told("a process at " + path, String.valueOf(e.getMessage()));
        }
    }

    private ListeningSockets.Copies asked(LocalSocket peer) throws IOException {
        try {
            requireSameUser(peer);
            String asked = peer.line();
            if (isTaken) {
                throw new IOException("another process takes over: wait until that one serves, or end it");
            }
            if (!asked.equals(ASKED + sockets.text())) {
                throw new IOException("the other configuration has other addresses: the node listens on "
                        + sockets.text() + "; give the new one the same, or stop the old one first");
            }
            return sockets.share();
        } catch (IOException e) {
            try {
                peer.send(NO + Causes.text(e));
            } catch (IOException gone) {
                e.addSuppressed(gone);
            }
            throw e;
        }
    }

    /** Drains when the other process is ready. */
    private void await(LocalSocket peer) {
        try (peer) {
            try {
                String ready = peer.line(START_PATIENCE);
                if (!ready.startsWith(READY)) {
                    throw new IOException("the other process says '" + ready + "' in place of '" + READY + "'");
                }
                String process = ready.substring(READY.length());
                LOG.info("handed over to process {}", process);
                told.told("process " + process, "done");
            } catch (IOException | RuntimeException e) {
                LOG.warn("hand-over: {}: this node goes on", e.getMessage());
                told.told("a process at " + path, String.valueOf(e.getMessage()));
                isTaken = false;
                return;
            }
            close(); // The path is the other's from now on.
            try {
                peer.send(DRAINING);
            } catch (IOException e) {
                LOG.warn("hand-over: the other process does not hear that this node drains: {}", e.getMessage());
            }
        }
        try {
            drain.run();
        } catch (RuntimeException e) {
            LOG.error("hand-over: the node has not ended in order: {}", e.toString());
        }
    }

    @Override
    public void close() {
        synchronized (closed) {
            if (closed.getCount() == 0) {
                return;
            }
            closed.countDown();
        }
        try {
            Files.deleteIfExists(
                    path); // While it listens: nobody takes it for left behind, and makes one of its own there.
        } catch (IOException e) {
            LOG.warn("hand-over: {} is not removed: {}", path, Causes.text(e));
        }
        listener.close();
    }
}
