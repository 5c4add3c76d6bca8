package org.tamanoir.node.run;

import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.LocalSocket;

/**
 * Takes the place of a node that {@linkplain HandOver hands over}: gets its sockets, and tells it to drain when this
 * process serves. One thread.
 */
final class TakeOver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TakeOver.class);

    private final LocalSocket old;

    private TakeOver(LocalSocket old) {
        this.old = old;
    }

    /**
     * Gets the sockets. Until {@link #ready} the other node serves on as if nothing were.
     *
     * @throws IOException in one line, if there is no such node or it refuses
     */
    static TakeOver from(Path path, ListeningSockets sockets) throws IOException {
        LocalSocket old;
        try {
            old = LocalSocket.connect(path, HandOver.PATIENCE);
        } catch (IOException e) {
            throw new IOException(
                    "take-over: no node hands over at " + path + " (" + e + "): start this one without --take-over", e);
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
            return new TakeOver(old);
        } catch (IOException | RuntimeException e) {
            old.close();
            sockets.closeRest();
            throw new IOException("take-over: refused, and the node at " + path + " goes on: " + e.getMessage(), e);
        }
    }

    /** Has the other node drain, and returns when its path is free. */
    void ready() {
        try {
            old.send(HandOver.READY + ProcessHandle.current().pid());
            old.line();
        } catch (IOException e) {
            LOG.warn("take-over: the other node has ended before it was told to drain: {}", e.getMessage());
        } finally {
            old.close();
        }
    }

    @Override
    public void close() {
        old.close();
    }
}
