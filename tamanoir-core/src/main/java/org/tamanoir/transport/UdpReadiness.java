package org.tamanoir.transport;

/**
 * The calls back from a loop while datagrams wait on a {@link UdpSocket}. It is told by level: as long as something waits
 * the callback comes again, so a callback need not read everything, and a loop that takes the socket over learns of what
 * came before.
 *
 * <p>Thread contract: everything on the loop's thread, but {@link #forsake}.
 */
public interface UdpReadiness {
    /** Ends the callbacks. Another loop may watch the socket from now on. Idempotent. */
    void cancel();

    /**
     * Lets a native socket be closed although this still stands in a loop that nobody runs. A channel of the JDK keeps
     * its descriptor, and so its port, until the loop runs again. Any thread, while the loop's is not in the loop.
     */
    void forsake();
}
