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
    private static final int CIPHERTEXT_OCTETS = BufferPool.MEDIUM_OCTETS;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final TlsSession session;
    private final Channel channel;
    private final BufferPool pool;

    private @Nullable Buffer arrived;
    private int arrivedStart;
    private int arrivedEnd;

    /** Plaintext that does not fill a record yet. */
    private @Nullable Buffer staged;

    private int stagedOctets;

    private @Nullable Buffer sealed;
    private int sealedStart;
    private int sealedEnd;
    /** Full ones, from which octets still leave. */
    private final ArrayDeque<Buffer> leaving = new ArrayDeque<>();

    private TlsSession.Need need = TlsSession.Need.INPUT;
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

    // ---- input --------------------------------------------------------------------------------------------------

    /** Where the socket is to be read to. */
    ByteBuf memoryToRead() {
        Buffer buffer = arrived;
        if (buffer == null) {
            buffer = pool.take(CIPHERTEXT_OCTETS, CIPHERTEXT_OCTETS);
            arrived = buffer;
        } else if (arrivedStart > 0) {
            buffer.nio().put(0, buffer.nio(), arrivedStart, arrivedEnd - arrivedStart);
            arrivedEnd -= arrivedStart;
            arrivedStart = 0;
        } else if (arrivedEnd == buffer.capacity()) {
            // Reading stops when nothing is decrypted; one read more may be on its way, and one of 0 octets would
            // look like the end.
            Buffer larger = pool.take(BufferPool.LARGE_OCTETS, 2 * arrivedEnd);
            larger.nio().put(0, buffer.nio(), 0, arrivedEnd);
            pool.give(buffer);
            buffer = larger;
            arrived = buffer;
        }
        return buffer.memory().setIndex(0, arrivedEnd).retain();
    }

    /** The socket was read. */
    void read(ByteBuf memory) {
        arrivedEnd = memory.writerIndex();
        memory.release();
    }

    /** Octets that came and were not decrypted. */
    int ciphertextOctets() {
        return arrivedEnd - arrivedStart;
    }

    /**
     * Decrypts what came into {@code plaintext} from index {@code end}; {@link #need} then tells what is wanted.
     *
     * @return index behind the last octet
     */
    int decrypt(Buffer plaintext, int end) throws SSLException {
        if (plaintextOf != plaintext) {
            plaintextOf = plaintext;
            plaintextView = plaintext.nio().duplicate();
        }
        ByteBuffer target = plaintextView.position(end);
        Buffer buffer = arrived;
        // Nobody else sees that buffer: its own position and limit will do.
        ByteBuffer ciphertext =
                buffer == null ? NOTHING : buffer.nio().limit(arrivedEnd).position(arrivedStart);
        try {
            need = session.receive(ciphertext, target);
        } finally {
            if (buffer != null) {
                arrivedStart = ciphertext.position();
                ciphertext.clear();
                if (arrivedStart == arrivedEnd || session.inputEnded()) {
                    dropCiphertext();
                }
            }
        }
        return target.position();
    }

    /** What the last {@link #decrypt} wants. */
    TlsSession.Need need() {
        return need;
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

    // ---- output -------------------------------------------------------------------------------------------------

    void write(Buffer buffer, int from, int to) throws SSLException {
        if (viewed != buffer) {
            viewed = buffer;
            view = buffer.nio().duplicate();
        }
        // Other threads may use the buffer's own position and limit.
        ByteBuffer plaintext = view.limit(to).position(from);
        while (plaintext.hasRemaining()) {
            if (stagedOctets == 0 && plaintext.remaining() >= TlsSession.MAX_FRAGMENT_OCTETS) {
                seal(plaintext);
            } else {
                stage(plaintext);
            }
        }
    }

    private void stage(ByteBuffer plaintext) throws SSLException {
        Buffer buffer = staged;
        if (buffer == null) {
            buffer = pool.take(BufferPool.SMALL_OCTETS, BufferPool.SMALL_OCTETS);
            staged = buffer;
        }
        int octets = Math.min(plaintext.remaining(), buffer.capacity() - stagedOctets);
        buffer.nio().put(stagedOctets, plaintext, plaintext.position(), octets);
        plaintext.position(plaintext.position() + octets);
        stagedOctets += octets;
        if (stagedOctets == buffer.capacity()) {
            sealStaged(buffer);
        }
    }

    private void sealStaged(Buffer buffer) throws SSLException {
        ByteBuffer plaintext = buffer.nio().limit(stagedOctets).position(0);
        while (plaintext.hasRemaining()) {
            seal(plaintext);
        }
        plaintext.clear();
        stagedOctets = 0;
    }

    /** Appends one record. */
    private void seal(ByteBuffer plaintext) throws SSLException {
        Buffer buffer = sealed;
        if (buffer != null && buffer.capacity() - sealedEnd < session.recordOctets()) {
            commit();
            leaving.add(buffer);
            buffer = null;
        }
        if (buffer == null) {
            buffer = pool.take(CIPHERTEXT_OCTETS, session.recordOctets());
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

    /** Plaintext that was not handed on; none after a flush. */
    int stagedOctets() {
        return stagedOctets;
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
            stagedOctets = 0;
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
