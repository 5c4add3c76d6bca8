package org.tamanoir.transport;

import java.net.InetSocketAddress;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The life of one TCP connection, which the thread drives that owns its loop: it begins, passes from loop to loop, fails
 * and ends. Its bytes are the matter of {@link TcpInput} and {@link TcpOutput}. Each {@link IoLoop#run} reads at most one
 * buffer.
 *
 * <p>With TLS the same holds for plaintext, except that what is written is encrypted into memory of its own. The
 * connection counts as connected when the handshake is over.
 *
 * <p>Thread contract: the owning thread of the loop, except {@link #remoteAddress} and {@link #since}.
 */
public interface TcpConnection extends TcpInput, TcpOutput {
    /** Returns the address of the far end. */
    InetSocketAddress remoteAddress();

    /** Returns the address of this end. */
    InetSocketAddress localAddress();

    /** Returns what it came by, if its sender does not speak in packets. Any thread. */
    default @Nullable StreamGateway gateway() {
        return null;
    }

    /** Returns when it was accepted, or begun. Any thread. */
    Instant since();

    /** Runs {@code listener} inside {@link IoLoop#run} whenever this connection's state has changed. */
    void onChange(Runnable listener);

    /** Returns whether the connection stands, or stood. */
    boolean isConnected();

    /** Returns in a few words why the connection failed; null while it has not. */
    @Nullable
    String failure();

    /** Returns whether it was closed since there was no memory for its bytes. */
    boolean isStarved();

    /** Returns whether TLS failed, so that to connect again would not help. */
    boolean isRefused();

    /**
     * Has all that has come and comes be translated from now on, and all that goes.
     *
     * @return false where something stands between it and its socket already: nothing changes
     */
    default boolean translate(StreamCodec codec) {
        return false;
    }

    /** Has its segments leave with this IPv4 TOS, or IPv6 traffic class; where the system does not take it they stay as they are. */
    default void mark(int trafficOctet) {}

    /**
     * Tells the far side to send no more, where its transport can: what has come is there to be read, and then the end.
     *
     * @return false where it cannot
     */
    default boolean stopSender() {
        return false;
    }

    /**
     * Leaves its loop, so that another may {@linkplain IoLoop#adopt adopt} it; {@code left} runs on the old loop's
     * thread when it has. Input is kept.
     */
    void leave(Runnable left);

    /** Closes the connection and frees its input. What was not flushed is lost. */
    void close();

    /** Closes with a reset, so that the far side knows that bytes are missing. */
    void reset();

    /**
     * Breaks the connection for the far side although the owning thread does not come back to its loop; that thread
     * must not be inside the loop, nor get there, before this returns. The connection is still its owner's to close.
     */
    void resetFromOutside();
}
