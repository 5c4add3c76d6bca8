package org.tamanoir.ee;

/**
 * What the packet in hand of a stream waits for, and the stream with it: {@link Waits}.
 *
 * <p>Thread contract: the stream's thread.
 */
interface Wait {
    /**
     * Goes on with the packet, if that can be; it may have to wait for something else then.
     *
     * @return false while it has to wait for this
     */
    boolean advance();

    /**
     * Ends the wait, and counts the packet.
     *
     * @param isLate whether its time is up; else the stream is cut, or cannot go on
     */
    void end(boolean isLate);
}
