package org.tamanoir.transport;

/**
 * The bytes that leave over a {@link TcpConnection}: slices of {@link Buffer}s, written without a copy.
 *
 * <p>Thread contract: the owning thread of the connection's loop.
 */
public interface TcpOutput {
    /** Says whose bytes come and go: {@link #write} takes no others. */
    void ownedBy(Object owner);

    /**
     * Appends bytes {@code from} to {@code to} of {@code buffer}; they must not change until {@link #isDrained}.
     *
     * @param generation that the buffer had when they were put in
     * @throws IllegalStateException if they are not there any more, or belong to another than this connection
     */
    void write(Buffer buffer, int generation, int from, int to);

    /** Hands what was written to the operating system, as far as it takes it. */
    void flush();

    /**
     * Returns whether the operating system has taken all that was written, flushed or not; never so when the connection
     * is closed.
     */
    boolean isDrained();

    /** Returns how many bytes were written that the operating system has not taken yet. */
    long pendingBytes();

    /**
     * Ends this side of the connection; the far side can still send. With TLS that takes a byte or two which the operating
     * system may not take at once: see {@link #isOutputEnded}.
     */
    void shutdownOutput();

    /** Returns whether {@link #shutdownOutput} is done and the far side will know; also when the connection is gone. */
    boolean isOutputEnded();
}
