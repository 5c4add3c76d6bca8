package org.tamanoir.ee;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.UdpReadiness;
import org.tamanoir.transport.UdpSocket;

/**
 * A UDP socket and the thread that reads it. While one service alone uses the port its thread reads, without a
 * hand-off; from the second service on the reception does, so that a slow service does not hold up another.
 *
 * <p>Thread contract: the thread that reads; {@link #release} passes the port to another loop.
 */
final class UdpPort {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);

    private final UdpSocket socket;
    private @Nullable UdpReadiness readiness;
    private boolean used;
    private long userKey;
    private boolean shared;

    UdpPort(UdpSocket socket) {
        this.socket = socket;
    }

    UdpSocket socket() {
        return socket;
    }

    /** Begins to watch the socket on this loop, whose thread calls. */
    void watch(IoLoop loop, Runnable readable) {
        try {
            readiness = loop.watch(socket, readable);
        } catch (IOException e) {
            LOG.error("UDP {}: cannot be read any more: {}", socket.localAddress(), e.getMessage());
        }
    }

    /** Ends watching; the caller passes the port on. */
    void release() {
        if (readiness != null) {
            readiness.cancel();
            readiness = null;
        }
    }

    /** Lets go of the socket although the loop still watches it. Any thread, while the loop's is known to be elsewhere. */
    void forsake() {
        if (readiness != null) {
            readiness.forsake();
        }
    }

    /** A packet for this service came; a second key makes the port shared. */
    void usedBy(long key) {
        if (!used) {
            used = true;
            userKey = key;
        } else if (key != userKey) {
            shared = true;
        }
    }

    /** Several services use the port. */
    void share() {
        shared = true;
    }

    boolean isShared() {
        return shared;
    }
}
