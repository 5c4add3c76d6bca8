package org.tamanoir.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsSession;

/**
 * The TLS of a {@link BlockingConnection}: plaintext on its user's side, records on the socket's.
 *
 * <p>Thread contract: the connection's thread.
 */
final class TlsLayer implements Layer {
    private static final int CIPHERTEXT_BYTES = 128 * 1024;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final TlsSession session;
    private final BlockingConnection connection;
    /** From its position to its limit: came and was not decrypted. */
    private final ByteBuffer arrived =
            ByteBuffer.allocateDirect(CIPHERTEXT_BYTES).limit(0);
    /** From its position to its limit: to go. */
    private final ByteBuffer leaving =
            ByteBuffer.allocateDirect(CIPHERTEXT_BYTES).limit(0);
    /** From its position to its limit: plaintext of a record that was larger than its reader's room. */
    private final ByteBuffer rest;

    private boolean socketEnded;

    TlsLayer(TlsSession session, BlockingConnection connection) {
        this.session = session;
        this.connection = connection;
        this.rest = ByteBuffer.allocateDirect(session.recordBytes()).limit(0);
    }

    @Override
    public void shakeHands(long timeoutNs) throws IOException {
        long deadlineNs = System.nanoTime() + timeoutNs;
        try {
            while (!session.isEstablished()) {
                TlsSession.Need need = session.receive(arrived, NOTHING);
                if (need == TlsSession.Need.OUTPUT) {
                    append(NOTHING);
                    connection.writeBytes(leaving, () -> false);
                } else if (!session.isEstablished() && fill(deadlineNs - System.nanoTime()) == 0) {
                    throw new SSLException("no end of it in time; does the other side speak TLS?");
                }
            }
        } catch (SSLException e) {
            throw failed("TLS handshake", e);
        }
    }

    @Override
    public void write(ByteBuffer plaintext, BlockingConnection.Input input) throws IOException {
        try {
            while (plaintext.hasRemaining()) {
                leaving.clear();
                try {
                    // What is read meanwhile may have to be answered: that gets room too.
                    while (plaintext.hasRemaining() && leaving.remaining() >= 2 * session.recordBytes()) {
                        session.send(plaintext, leaving);
                    }
                } finally {
                    leaving.flip();
                }
                connection.writeBytes(leaving, input);
            }
        } catch (SSLException e) {
            throw failed("TLS", e);
        }
    }

    @Override
    public int read(ByteBuffer target, long timeoutNs) throws IOException {
        long deadlineNs = System.nanoTime() + timeoutNs;
        int before = target.position();
        try {
            while (true) {
                if (rest.hasRemaining()) {
                    int bytes = Math.min(rest.remaining(), target.remaining());
                    target.put(target.position(), rest, rest.position(), bytes);
                    target.position(target.position() + bytes);
                    rest.position(rest.position() + bytes);
                    return bytes;
                }
                TlsSession.Need need = session.receive(arrived, target);
                if (target.position() > before) {
                    return target.position() - before;
                }
                if (need == TlsSession.Need.ROOM) {
                    // Said by a record's length alone: the rest of the record may be missing yet.
                    need = decryptAside();
                    if (rest.hasRemaining()) {
                        continue;
                    }
                }
                switch (need) {
                    case NOTHING -> {
                        return -1;
                    }
                    case ROOM -> throw new SSLException("a record of more than " + rest.capacity() + " bytes");
                    case OUTPUT -> {
                        if (leaving.capacity() - leaving.remaining() < session.recordBytes()) {
                            return 0; // First what is being written has to leave.
                        }
                        boolean idle = !leaving.hasRemaining();
                        append(NOTHING);
                        if (idle) {
                            connection.writeBytes(leaving, () -> false);
                        }
                    }
                    case INPUT -> {
                        if (fill(timeoutNs == 0 ? 0 : Math.max(0, deadlineNs - System.nanoTime())) == 0) {
                            return 0;
                        }
                    }
                }
            }
        } catch (SSLException e) {
            throw failed("TLS", e);
        }
    }

    private TlsSession.Need decryptAside() throws SSLException {
        rest.clear();
        try {
            return session.receive(arrived, rest);
        } finally {
            rest.flip();
        }
    }

    /** Reads ciphertext; returns how many bytes came, 0 when the time is up. */
    private int fill(long timeoutNs) throws IOException {
        arrived.compact();
        try {
            int bytes = socketEnded ? -1 : connection.readBytes(arrived, Math.max(0, timeoutNs));
            if (bytes < 0) {
                socketEnded = true;
                throw new SSLException(
                        session.isEstablished()
                                ? "the connection was cut off, not ended: bytes may be missing"
                                : "the other side closed the connection; does it speak TLS?");
            }
            return bytes;
        } finally {
            arrived.flip();
        }
    }

    /** Adds a record behind those that still have to leave. */
    private void append(ByteBuffer plaintext) throws SSLException {
        leaving.compact();
        try {
            session.send(plaintext, leaving);
        } finally {
            leaving.flip();
        }
    }

    @Override
    public void end(BlockingConnection.Input input) throws IOException {
        try {
            session.endOutput();
            append(NOTHING);
            connection.writeBytes(leaving, input);
        } catch (SSLException e) {
            throw failed("TLS", e);
        }
    }

    /** Tells the far side too, if it listens. */
    private IOException failed(String what, SSLException cause) {
        try {
            append(NOTHING);
            connection.writeBytes(leaving, () -> false);
        } catch (IOException | IllegalArgumentException e) {
            cause.addSuppressed(e);
        }
        return new IOException(
                what + " with " + Addresses.text(connection.peer()) + " failed: " + TlsSession.explain(cause), cause);
    }
}
