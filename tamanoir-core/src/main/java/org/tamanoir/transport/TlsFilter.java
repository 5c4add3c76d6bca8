package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.tls.TlsSession;

/** The TLS between a {@link TcpConnection} and its socket; small pieces are collected into records until the flush. */
final class TlsFilter extends ByteFilter {
    private static final String CUT = "TLS: it was cut off, not ended";
    private static final String CLOSED = "TLS handshake: the other side closed the connection; does it speak TLS?";

    /** Room for the plaintext of any record, with the padding that some senders add to it. */
    private static final int RECORD_BYTES = TlsSession.MAX_FRAGMENT_BYTES + 512;

    private final TlsSession session;

    /** Plaintext that does not fill a record yet. */
    private @Nullable Buffer staged;

    private int stagedBytes;

    private @Nullable Buffer plaintextOf;
    private ByteBuffer plaintextView = NOTHING;
    private @Nullable Buffer viewed;
    private ByteBuffer view = NOTHING;

    TlsFilter(TlsSession session, Channel channel, BufferPool pool) {
        super(channel, pool);
        this.session = session;
    }

    @Override
    boolean isRoom(InputBuffer in) {
        return in.held() <= BufferPool.LARGE_BYTES - RECORD_BYTES;
    }

    @Override
    boolean isEstablished() {
        return session.isEstablished();
    }

    @Override
    boolean isInputWhole() {
        return session.inputEnded();
    }

    @Override
    String late() {
        return "no end of the TLS handshake";
    }

    @Override
    String cut() {
        return session.isEstablished() ? CUT : CLOSED;
    }

    @Override
    String explain(IOException cause, boolean connected) {
        String why = cause instanceof SSLException refused ? TlsSession.explain(refused) : Causes.text(cause);
        return (connected ? "TLS: " : "TLS handshake: ") + why;
    }

    @Override
    Progress translate(InputBuffer in, ReadControl reads, boolean socketEnded) throws SSLException {
        boolean connected = session.isEstablished();
        int leastBytes = InputBuffer.MIN_ROOM_BYTES;
        while (reads.isWanted() || !connected) {
            if (!isRoom(in)) {
                return Progress.ROOM;
            }
            switch (decrypt(in, in.room(leastBytes, false))) {
                case OUTPUT -> answer();
                case ROOM -> {
                    leastBytes = RECORD_BYTES;
                    in.expectMore();
                }
                case INPUT -> {
                    return Progress.INPUT;
                }
                case NOTHING -> {
                    return Progress.ENDED;
                }
            }
        }
        return Progress.UNWANTED;
    }

    private TlsSession.Need decrypt(InputBuffer in, Buffer plaintext) throws SSLException {
        if (plaintextOf != plaintext) {
            plaintextOf = plaintext;
            plaintextView = plaintext.nio().duplicate();
        }
        ByteBuffer target = plaintextView.position(in.end);
        Buffer buffer = arrived;
        // Nobody else sees that buffer: its own position and limit will do.
        ByteBuffer ciphertext =
                buffer == null ? NOTHING : buffer.nio().limit(arrivedEnd).position(arrivedStart);
        try {
            TlsSession.Need need = session.receive(ciphertext, target);
            in.end = target.position();
            return need;
        } finally {
            if (buffer != null) {
                arrivedStart = ciphertext.position();
                ciphertext.clear();
                if (arrivedStart == arrivedEnd || session.inputEnded()) {
                    dropArrived();
                }
            }
        }
    }

    @Override
    void write(Buffer buffer, int from, int to) throws SSLException {
        if (viewed != buffer) {
            viewed = buffer;
            view = buffer.nio().duplicate();
        }
        // Other threads may use the buffer's own position and limit.
        ByteBuffer plaintext = view.limit(to).position(from);
        while (plaintext.hasRemaining()) {
            if (stagedBytes == 0 && plaintext.remaining() >= TlsSession.MAX_FRAGMENT_BYTES) {
                seal(plaintext);
            } else {
                stage(plaintext);
            }
        }
    }

    private void stage(ByteBuffer plaintext) throws SSLException {
        Buffer buffer = staged;
        if (buffer == null) {
            buffer = pool.take(BufferPool.SMALL_BYTES, BufferPool.SMALL_BYTES);
            staged = buffer;
        }
        int bytes = Math.min(plaintext.remaining(), buffer.capacity() - stagedBytes);
        buffer.nio().put(stagedBytes, plaintext, plaintext.position(), bytes);
        plaintext.position(plaintext.position() + bytes);
        stagedBytes += bytes;
        if (stagedBytes == buffer.capacity()) {
            sealStaged(buffer);
        }
    }

    private void sealStaged(Buffer buffer) throws SSLException {
        ByteBuffer plaintext = buffer.nio().limit(stagedBytes).position(0);
        while (plaintext.hasRemaining()) {
            seal(plaintext);
        }
        plaintext.clear();
        stagedBytes = 0;
    }

    /** Appends one record. */
    private void seal(ByteBuffer plaintext) throws SSLException {
        ByteBuffer ciphertext = room(session.recordBytes());
        try {
            session.send(plaintext, ciphertext);
        } finally {
            appended(ciphertext);
        }
    }

    @Override
    void flush() throws SSLException {
        Buffer buffer = staged;
        if (buffer != null) {
            sealStaged(buffer);
            staged = null;
            pool.give(buffer);
        }
        send();
    }

    @Override
    void answer() throws SSLException {
        seal(NOTHING);
        send();
    }

    @Override
    ChannelFuture end(boolean isRead) throws SSLException {
        flush();
        session.endOutput();
        seal(NOTHING);
        return sendLast();
    }

    @Override
    int stagedBytes() {
        return stagedBytes;
    }

    @Override
    void release() {
        super.release();
        if (staged != null) {
            pool.give(staged);
            staged = null;
            stagedBytes = 0;
        }
        viewed = null;
        view = NOTHING;
        plaintextOf = null;
        plaintextView = NOTHING;
    }
}
