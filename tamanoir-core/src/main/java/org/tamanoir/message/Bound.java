package org.tamanoir.message;

import org.tamanoir.format.Format;

/**
 * A handler prepared for the messages of one format: all that follows from the format is settled.
 *
 * <p>Thread contract: the thread of the context that the handler runs in.
 */
public interface Bound {
    /** Returns the format of what leaves at a port. */
    Format output(int port);

    /**
     * Handles a message of the format.
     *
     * @param message valid until this returns
     * @throws Exception if it cannot; the message then ends by the handler's failure policy, and is counted
     */
    Outcome handle(Message message, Outlet outlet) throws Exception;
}
