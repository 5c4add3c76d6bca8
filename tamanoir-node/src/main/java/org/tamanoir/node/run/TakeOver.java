package org.tamanoir.node.run;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.LocalSocket;

/**
 * Takes the place of a node that {@linkplain HandOver hands over}: gets its sockets, and tells it to drain when this
 * process serves. One thread.
 */
final class TakeOver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TakeOver.class);

    private final Path path;
    private final LocalSocket old;

    private TakeOver(Path path, LocalSocket old) {
        this.path = path;
        this.old = old;
    }

    /**
     * Starts a node in the place of the one that hands over at the path.
     *
     * @throws IOException in one line, if it does not start; the other node serves on
     */
    static void start(Node node, Path path) throws IOException {
        node.takingOver();
        try (TakeOver old = from(path, node.sockets(), HandOver.PATIENCE)) {
            node.start();
            try {
                old.ready();
            } catch (IOException e) {
                node.stop(Duration.ZERO);
                throw e;
            }
        } finally {
            node.sockets().closeRest();
        }
    }

    /**
     * Gets the sockets. Until {@link #ready} the other node serves on as if nothing were.
     *
     * @param patience for each of the other node's answers
     * @throws IOException in one line, if there is no such node or it refuses
     */
    static TakeOver from(Path path, ListeningSockets sockets, Duration patience) throws IOException {
        LocalSocket old;
        try {
            old = LocalSocket.connect(path, patience);
        } catch (IOException e) {
            throw new IOException(
                    "take-over: no node hands over at " + path + " (" + Causes.text(e)
                            + "): start this one without --take-over",
                    e);
        }
        try {
            HandOver.requireSameUser(old);
            old.send(HandOver.ASKED + sockets.text());
            String answer = old.line();
            if (!answer.equals(HandOver.YES)) {
                throw new IOException(answer.startsWith(HandOver.NO) ? answer.substring(HandOver.NO.length()) : answer);
            }
            for (int i = 0; i < sockets.size(); i++) {
                sockets.adopt(old.receiveDescriptor());
            }
            return new TakeOver(path, old);
        } catch (IOException | RuntimeException e) {
            old.close();
            sockets.closeRest();
            throw new IOException("take-over: refused, and the node at " + path + " goes on: " + e.getMessage(), e);
        }
    }

    /**
     * Has the other node drain, and returns when its path is free.
     *
     * @throws IOException in one line, if it had given this one up by then, and serves on
     */
    void ready() throws IOException {
        String why;
        try {
            old.send(HandOver.READY + ProcessHandle.current().pid());
            String answer = old.line();
            if (answer.equals(HandOver.DRAINING)) {
                return;
            }
            why = "it says '" + answer + "'";
        } catch (SocketTimeoutException e) {
            // What is sent it reads when it comes round.
            LOG.warn("take-over: the other node does not say that it drains: {}", e.getMessage());
            return;
        } catch (IOException e) {
            why = String.valueOf(e.getMessage());
        }
        if (isHeld()) {
            throw new IOException("take-over: the node at " + path + " goes on, since this one took too long to start ("
                    + why + "): start it again");
        }
        LOG.warn("take-over: the other node has ended before it was told to drain: {}", why);
    }

    /** Returns whether a process listens there; one that is too busy to be asked does. */
    private boolean isHeld() {
        try {
            LocalSocket.connect(path, HandOver.PATIENCE).close();
            return true;
        } catch (ConnectException e) {
            return false;
        } catch (IOException e) {
            return Files.exists(path);
        }
    }

    @Override
    public void close() {
        old.close();
    }
}
