package org.tamanoir.node.run;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.repository.CodeServer;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.ListeningSockets.Wanted;
import org.tamanoir.transport.LocalSocket;

/**
 * Hands the sockets of a node over to the process that takes its place. Over a UNIX socket the other process sends
 * {@code take-over 1} and the sockets that it wants; it gets {@code yes} and their descriptors, or {@code no} and why;
 * it sends {@code ready} when it serves, gets {@code draining}, and this node drains. Until then nothing of this node is
 * changed: if the other process ends before it is ready, this one goes on.
 *
 * <p>Thread contract: a thread of its own serves one process at a time; any thread closes it.
 */
final class HandOver implements AutoCloseable {
    static final String ASKED = "take-over 1 ";
    static final String YES = "yes";
    static final String NO = "no ";
    static final String READY = "ready ";
    static final String DRAINING = "draining";

    private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);
    /** Of a file's mode, inode(7). */
    private static final int TYPE_MASK = 0xF000;

    private static final int TYPE_SOCKET = 0xC000;
    static final Duration PATIENCE = Duration.ofSeconds(10);
    /** For the other process to start. */
    private static final Duration START_PATIENCE = Duration.ofMinutes(2);

    private final Path path;
    private final LocalSocket listener;
    private final ListeningSockets sockets;
    private final Consumer<String> drain;
    private volatile boolean isClosed;

    private HandOver(Path path, LocalSocket listener, ListeningSockets sockets, Consumer<String> drain) {
        this.path = path;
        this.listener = listener;
        this.sockets = sockets;
        this.drain = drain;
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
     * Begins to wait for a process that takes over.
     *
     * @param drain gets who has taken over, on a thread of its own; the sockets are that process' by then
     * @throws IOException in one line, if the path cannot be had
     */
    static HandOver begin(Path path, ListeningSockets sockets, Consumer<String> drain) throws IOException {
        try {
            removeStale(path);
            LocalSocket listener = LocalSocket.listen(path);
            path.toFile().setWritable(false, false);
            path.toFile().setWritable(true, true);
            HandOver waiting = new HandOver(path, listener, sockets, drain);
            new BackgroundThread("hand-over", waiting::run).start();
            return waiting;
        } catch (IOException e) {
            throw new IOException(
                    "hand-over " + path + ": " + e.getMessage() + "; name a path where the node may write", e);
        }
    }

    private static void removeStale(Path path) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        LocalSocket there;
        try {
            there = LocalSocket.connect(path, PATIENCE);
        } catch (IOException e) {
            Object mode = Files.getAttribute(path, "unix:mode");
            if (!(mode instanceof Integer bits) || (bits & TYPE_MASK) != TYPE_SOCKET) {
                throw new IOException("there is a file, and no socket", e);
            }
            Files.delete(path); // Nobody listens: a node ended without removing it.
            return;
        }
        there.close();
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

    private void run() {
        while (!isClosed) {
            try (LocalSocket peer = listener.accept(PATIENCE)) {
                if (serve(peer)) {
                    return;
                }
            } catch (IOException | RuntimeException e) {
                if (!isClosed) {
                    LOG.warn("hand-over: {}: this node goes on", e.getMessage());
                }
            }
        }
    }

    /** Returns whether the other process has taken over. */
    private boolean serve(LocalSocket peer) throws IOException {
        List<Integer> descriptors;
        try {
            requireSameUser(peer);
            String asked = peer.line();
            if (!asked.equals(ASKED + sockets.text())) {
                throw new IOException("the other configuration has other addresses: the node listens on "
                        + sockets.text() + "; give the new one the same, or stop the old one first");
            }
            descriptors = sockets.share();
        } catch (IOException e) {
            peer.send(NO + e.getMessage());
            throw e;
        }
        peer.send(YES);
        for (int descriptor : descriptors) {
            peer.sendDescriptor(descriptor);
        }
        String ready = peer.line(START_PATIENCE);
        if (!ready.startsWith(READY)) {
            throw new IOException("the other process says '" + ready + "' in place of '" + READY + "'");
        }
        close(); // The path is the other's from now on.
        peer.send(DRAINING);
        drain.accept("process " + ready.substring(READY.length()));
        return true;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        listener.close();
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.warn("hand-over: {} is not removed: {}", path, e.toString());
        }
    }
}
