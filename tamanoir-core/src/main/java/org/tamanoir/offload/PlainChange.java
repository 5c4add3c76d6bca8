package org.tamanoir.offload;

import org.tamanoir.nodeos.LevelException;

/**
 * Other rules for plain IP, which are ready: one of the two is called, once.
 *
 * <p>Thread contract: one thread.
 */
public interface PlainChange {
    /**
     * Puts them in force; no datagram meets some of the old rules and some of these.
     *
     * @throws LevelException in one line, if the kernel refuses that; those before stay in force then
     */
    void commit() throws LevelException;

    /** Leaves those before in force. */
    void abandon();
}
