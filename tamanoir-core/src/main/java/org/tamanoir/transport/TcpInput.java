package org.tamanoir.transport;

import org.jspecify.annotations.Nullable;

/**
 * The bytes that came over a {@link TcpConnection}. They lie in {@link #input} from {@link #start} to {@link #end} until
 * they are {@linkplain #consumed consumed}.
 *
 * <p>Thread contract: the owning thread of the connection's loop.
 */
public interface TcpInput {
    /** Returns the buffer that holds bytes which came and were not consumed; null when there are none. */
    @Nullable
    Buffer input();

    /** Returns the index of the first byte not consumed. */
    int start();

    /** Returns the index behind the last byte that came. */
    int end();

    /** Says that the bytes before {@code index} are dealt with; they may still wait in other connections. */
    void consumed(int index);

    /** Stops or resumes reading from the socket. */
    void wantInput(boolean wanted);

    /**
     * Gives the input buffer back when nothing is left in it, and makes room when it is full. To be called when what was
     * written from it has left.
     */
    void trim();

    /** Returns whether part of a packet has come that {@link #input} does not hold. */
    default boolean hasPart() {
        return false;
    }

    /** Returns whether the far side will send no more; what it sent before may still wait in {@link #input}. */
    boolean inputEnded();

    /**
     * Returns whether bytes that the far side sent may be missing at the end of the input: after a reset or another
     * failure, with TLS also after an end that the far side did not announce, and where there was no memory for them.
     */
    boolean isInputCut();
}
