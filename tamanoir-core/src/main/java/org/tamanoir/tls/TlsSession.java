package org.tamanoir.tls;

import java.nio.ByteBuffer;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS 1.3 of one connection, without sockets: its user moves ciphertext between here and the network. Each direction
 * ends by itself (RFC 8446, section 6.1): after {@link #endOutput} the far side may still send, and after its end we
 * may. Signatures of the handshake, a millisecond or so, are made inside the calls.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class TlsSession {
    /** The most bytes of plaintext in one record (RFC 8446, section 5.1). */
    public static final int MAX_FRAGMENT_BYTES = 1 << 14;

    private final SSLEngine engine;
    /** Room that one record of ciphertext may take. */
    private final int recordBytes;

    private boolean begun;
    private boolean established;
    private boolean inputEnded;

    TlsSession(SSLEngine engine) {
        this.engine = engine;
        this.recordBytes = engine.getSession().getPacketBufferSize();
    }

    /** Why {@link #receive} has returned. */
    public enum Need {
        /** More ciphertext: that which is there holds no whole record. */
        INPUT,
        /** More room for plaintext. */
        ROOM,
        /** To {@link #send}, if only nothing: an answer of the handshake. */
        OUTPUT,
        /** Nothing any more: the far side has ended its direction. */
        NOTHING
    }

    /** Returns the room that {@link #send} must find, in bytes. */
    public int recordBytes() {
        return recordBytes;
    }

    /** Returns whether the handshake is over, and both sides are who they should be. */
    public boolean isEstablished() {
        return established;
    }

    /** Returns whether the far side has said that it sends no more. */
    public boolean inputEnded() {
        return inputEnded;
    }

    /**
     * Decrypts whole records from {@code ciphertext}, whose bytes it changes, and appends what they hold to {@code
     * plaintext}.
     *
     * @throws SSLException if the far side is not who it should be, or what came is not what it sent; then one more
     *     {@link #send} tells it
     */
    public Need receive(ByteBuffer ciphertext, ByteBuffer plaintext) throws SSLException {
        begin();
        while (!inputEnded) {
            HandshakeStatus status = engine.getHandshakeStatus();
            if (status == HandshakeStatus.NEED_TASK) {
                runTasks();
                continue;
            }
            if (status == HandshakeStatus.NEED_WRAP) {
                return Need.OUTPUT;
            }
            SSLEngineResult result = engine.unwrap(ciphertext, plaintext);
            noteProgress(result);
            switch (result.getStatus()) {
                case BUFFER_UNDERFLOW -> {
                    return Need.INPUT;
                }
                case BUFFER_OVERFLOW -> {
                    return Need.ROOM;
                }
                case CLOSED -> inputEnded = true;
                case OK -> {
                    boolean idle = result.bytesConsumed() == 0 && result.bytesProduced() == 0;
                    if (idle && isWaiting(result.getHandshakeStatus())) {
                        return Need.INPUT;
                    }
                }
            }
        }
        return Need.NOTHING;
    }

    private static boolean isWaiting(HandshakeStatus status) {
        return status == HandshakeStatus.NEED_UNWRAP || status == HandshakeStatus.NOT_HANDSHAKING;
    }

    /**
     * Appends one record to {@code ciphertext}: what the handshake has to say, else as much of {@code plaintext} as
     * one record holds.
     *
     * @param plaintext empty = only what the handshake, an alert or the end has to say
     * @param ciphertext with room for {@link #recordBytes}
     * @throws SSLException if it cannot, for this side has ended or failed
     */
    public void send(ByteBuffer plaintext, ByteBuffer ciphertext) throws SSLException {
        begin();
        while (engine.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            runTasks();
        }
        if (ciphertext.remaining() < recordBytes) {
            throw new IllegalArgumentException(
                    "room for " + ciphertext.remaining() + " bytes of ciphertext: " + recordBytes + " are needed");
        }
        SSLEngineResult result = engine.wrap(plaintext, ciphertext);
        noteProgress(result);
        if (result.bytesProduced() == 0 && plaintext.hasRemaining()) {
            throw new SSLException("this side has ended");
        }
    }

    /** Ends this side's direction: what {@link #send} then appends says so to the far side. */
    public void endOutput() {
        engine.closeOutbound();
    }

    private void begin() throws SSLException {
        if (!begun) {
            begun = true;
            engine.beginHandshake();
        }
    }

    private void runTasks() {
        Runnable task;
        while ((task = engine.getDelegatedTask()) != null) {
            task.run();
        }
    }

    private void noteProgress(SSLEngineResult result) {
        established |= result.getHandshakeStatus() == HandshakeStatus.FINISHED
                || engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
    }

    /** Returns what went wrong, in a few words. */
    public static String explain(Throwable cause) {
        Throwable root = cause;
        for (int depth = 0; depth < 16 && root.getCause() != null; depth++) {
            root = root.getCause();
        }
        String said = root.getMessage() == null ? root.toString() : root.getMessage();
        String known = known(said.toLowerCase(Locale.ROOT));
        return known == null ? said.replaceAll("\\s+", " ") : known;
    }

    private static @Nullable String known(String said) {
        if (said.contains("unable to find valid certification path")) {
            return "its certificate comes from no trusted authority";
        }
        if (said.contains("unrecognized ssl message")) {
            return "the other side does not speak TLS";
        }
        if (said.contains("empty client certificate chain")) {
            return "the other side shows no certificate";
        }
        int alert = said.indexOf("fatal alert: ");
        return alert < 0
                ? null
                : "refused by the other side: "
                        + said.substring(alert + "fatal alert: ".length()).replace('_', ' ');
    }
}
