package org.tamanoir.message;

import org.jspecify.annotations.Nullable;

/**
 * Where a handler's messages go: lent to it for a call. What is sent runs through the handlers behind before the method
 * returns, or is copied to another context, so that the memory is the sender's again.
 *
 * <p>Thread contract: the thread that called the handler, during that call.
 */
public interface Outlet {
    /** Returns the time, in ns of the node's clock. */
    long nowNs();

    /** Has {@link Outcome#FORWARD} send the message to these ports, a bit each, in place of port 0; 0 drops it. */
    void to(long ports);

    /** Has {@link Outcome#FORWARD} send this record in place of the message. It has to stay until the handlers behind have run. */
    void replace(Message record);

    /**
     * Notes why the message in hand ends.
     *
     * @param reason a few words that stay the same for the same cause: drops are counted by them
     * @return {@link Outcome#DROP}
     */
    Outcome drop(String reason);

    /** Sends a message that the handler made, which counts as made. */
    void emit(int port, Message made);

    /**
     * Ends messages that the handler held.
     *
     * @param droppedFor null: they went into messages that the handler made; else why they end without
     */
    void release(long messages, @Nullable String droppedFor);
}
