package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsSession;

/**
 * The TLS between a {@link TcpConnection} and its socket: ciphertext that came and was not decrypted, and ciphertext
 * to go. What is written is encrypted at once, so that its own memory is free; small pieces are collected into records
 * until the flush. Buffers come from the pool and go back when nothing is in them.
 *
 * <p>Thread contract: the owning thread of the connection's loop.
 */
final class TlsFilter {
    /** Holds four records. */
    private static final int CIPHERTEXT_BYTES = BufferPool.MEDIUM_BYTES;

    /** Room for the plaintext of any record, with the padding that some senders add to it. */
    private static final int RECORD_BYTES = TlsSession.MAX_FRAGMENT_BYTES + 512;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final TlsSession session;
    private final Channel channel;
    private final BufferPool pool;

    private @Nullable Buffer arrived;
    private int arrivedStart;
    private int arrivedEnd;

    /** Plaintext that does not fill a record yet. */
    private @Nullable Buffer staged;

    private int stagedBytes;

    private @Nullable Buffer sealed;
    private int sealedStart;
    private int sealedEnd;
    /** Full ones, from which bytes still leave. */
    private final ArrayDeque<Buffer> leaving = new ArrayDeque<>();

    private @Nullable Buffer plaintextOf;
    private ByteBuffer plaintextView = NOTHING;
    private @Nullable Buffer viewed;
    private ByteBuffer view = NOTHING;

    TlsFilter(TlsSession session, Channel channel, BufferPool pool) {
        this.session = session;
        this.channel = channel;
        this.pool = pool;
    }

    TlsSession session() {
        return session;
    }

    /** Returns where the socket is to be read to. */
    ByteBuf memoryToRead() {
        Buffer buffer = arrived;
        if (buffer == null) {
            buffer = pool.take(CIPHERTEXT_BYTES, CIPHERTEXT_BYTES);
            arrived = buffer;
        } else if (arrivedStart > 0) {
            buffer.nio().put(0, buffer.nio(), arrivedStart, arrivedEnd - arrivedStart);
            arrivedEnd -= arrivedStart;
            arrivedStart = 0;
        } else if (arrivedEnd == buffer.capacity()) {
            // Reading stops when nothing is decrypted; one read more may be on its way, and one of 0 bytes would
            // look like the end.
            Buffer larger = pool.take(BufferPool.LARGE_BYTES, 2 * arrivedEnd);
            larger.nio().put(0, buffer.nio(), 0, arrivedEnd);
            pool.give(buffer);
            buffer = larger;
            arrived = buffer;
        }
        return buffer.memory().setIndex(0, arrivedEnd).retain();
    }

    /** Takes over what was read from the socket. */
    void read(ByteBuf memory) {
        arrivedEnd = memory.writerIndex();
        memory.release();
    }

    /** Returns how many bytes came and were not decrypted. */
    int ciphertextBytes() {
        return arrivedEnd - arrivedStart;
    }

    /** Returns whether the input has room for the plaintext of any record. */
    static boolean isRoom(InputBuffer in) {
        return in.held() <= BufferPool.LARGE_BYTES - RECORD_BYTES;
    }

    /**
     * Decrypts what came to the end of the input, and answers the handshake.
     *
     * @return INPUT when all that came has been decrypted, NOTHING when the far side has ended; ROOM when the input is
     *     full, OUTPUT when nobody wants it
     */
    TlsSession.Need decrypt(InputBuffer in, ReadControl reads, boolean connected) throws SSLException {
        int leastBytes = InputBuffer.MIN_ROOM_BYTES;
        while (reads.isWanted() || !connected) {
            if (!isRoom(in)) {
                return TlsSession.Need.ROOM;
            }
            TlsSession.Need need = decrypt(in, in.room(leastBytes, false));
            switch (need) {
                case OUTPUT -> answer();
                case ROOM -> {
                    leastBytes = RECORD_BYTES;
                    in.expectMore();
                }
                case INPUT, NOTHING -> {
                    return need;
                }
            }
        }
        return TlsSession.Need.OUTPUT;
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
                    dropCiphertext();
                }
            }
        }
    }

    private void dropCiphertext() {
        Buffer buffer = arrived;
        if (buffer != null) {
            arrived = null;
            arrivedStart = 0;
            arrivedEnd = 0;
            pool.give(buffer);
        }
    }

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
        Buffer buffer = sealed;
        if (buffer != null && buffer.capacity() - sealedEnd < session.recordBytes()) {
            commit();
            leaving.add(buffer);
            buffer = null;
        }
        if (buffer == null) {
            buffer = pool.take(CIPHERTEXT_BYTES, session.recordBytes());
            sealed = buffer;
            sealedStart = 0;
            sealedEnd = 0;
        }
        ByteBuffer ciphertext = buffer.nio().position(sealedEnd);
        try {
            session.send(plaintext, ciphertext);
        } finally {
            sealedEnd = ciphertext.position();
            ciphertext.clear();
        }
    }

    private void commit() {
        commit(channel.voidPromise());
    }

    private void commit(ChannelPromise promise) {
        Buffer buffer = sealed;
        if (buffer != null && sealedEnd > sealedStart) {
            channel.write(buffer.memory().retainedSlice(sealedStart, sealedEnd - sealedStart), promise);
            sealedStart = sealedEnd;
        }
    }

    /** Hands what was written to the operating system, as far as it takes it. */
    void flush() throws SSLException {
        Buffer buffer = staged;
        if (buffer != null) {
            sealStaged(buffer);
            staged = null;
            pool.give(buffer);
        }
        commit();
        channel.flush();
        reclaim();
    }

    /** Sends what the handshake or an alert has to say. */
    void answer() throws SSLException {
        seal(NOTHING);
        commit();
        channel.flush();
        reclaim();
    }

    /**
     * Says that this side ends.
     *
     * @return done when that has been handed to the operating system
     */
    ChannelFuture end() throws SSLException {
        flush();
        session.endOutput();
        seal(NOTHING);
        ChannelPromise left = channel.newPromise();
        if (sealedEnd == sealedStart) {
            left.setSuccess();
        }
        commit(left);
        channel.flush();
        reclaim();
        return left;
    }

    /** Returns how many bytes of plaintext were not handed on; none after a flush. */
    int stagedBytes() {
        return stagedBytes;
    }

    /** Gives buffers back from which all has left. */
    void reclaim() {
        Buffer oldest;
        while ((oldest = leaving.peek()) != null && !oldest.isReferenced()) {
            leaving.remove();
            pool.give(oldest);
        }
        Buffer buffer = sealed;
        if (buffer != null && sealedEnd == sealedStart && !buffer.isReferenced()) {
            sealed = null;
            pool.give(buffer);
        }
    }

    /** Gives all buffers back; for a connection that is closed. */
    void release() {
        dropCiphertext();
        if (staged != null) {
            pool.give(staged);
            staged = null;
            stagedBytes = 0;
        }
        if (sealed != null) {
            pool.give(sealed);
            sealed = null;
        }
        leaving.forEach(pool::give);
        leaving.clear();
        viewed = null;
        view = NOTHING;
        plaintextOf = null;
        plaintextView = NOTHING;
    }
}
