package org.tamanoir.transport;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A UDP socket and the thread that reads it. While one service alone uses the port its thread reads, without a
 * hand-off; from the second service on the reception does, so that a slow service does not hold up another.
 *
 * <p>Thread contract: the thread that reads; {@link #release} passes the port to another loop.
 */
public final class UdpPort {
    private static final Logger LOG = LoggerFactory.getLogger(UdpPort.class);

    /** Between attempts to watch a socket that could not be watched. */
    private static final Duration RETRY = Duration.ofMillis(500);

    /** Between attempts to read a socket that could not be read. */
    static final Duration PAUSE = Duration.ofMillis(100);

    private final UdpSocket socket;
    private @Nullable UdpReadiness readiness;
    /** The next attempt to watch the socket, after one that failed. */
    private @Nullable Future<?> retry;

    private boolean used;
    private long userKey;
    private boolean shared;

    public UdpPort(UdpSocket socket) {
        this.socket = socket;
    }

    public UdpSocket socket() {
        return socket;
    }

    /** Begins to watch the socket on this loop, whose thread calls. */
    public void watch(IoLoop loop, Runnable readable) {
        try {
            readiness = loop.watch(socket.watched(), readable);
        } catch (IOException e) {
            LOG.warn(
                    "UDP {}: not read: {}; tried again every {} ms",
                    socket.localAddress(),
                    e.getMessage(),
                    RETRY.toMillis());
            retry = loop.schedule(RETRY, () -> watch(loop, readable));
        }
    }

    /**
     * Leaves a socket alone for a while that could not be read: it would be reported as readable again at once, for as
     * long as that lasts. The loop's thread.
     */
    public void backOff(IoLoop loop, Runnable readable, IOException cause) {
        release();
        LOG.warn(
                "UDP {}: not read: {}; tried again every {} ms",
                socket.localAddress(),
                cause.getMessage(),
                PAUSE.toMillis());
        retry = loop.schedule(PAUSE, () -> watch(loop, readable));
    }

    /** Ends watching; the caller passes the port on. */
    public void release() {
        if (retry != null) {
            retry.cancel(false);
            retry = null;
        }
        if (readiness != null) {
            readiness.cancel();
            readiness = null;
        }
    }

    /** Lets go of the socket although the loop still watches it. Any thread, while the loop's is known to be elsewhere. */
    public void forsake() {
        if (readiness != null) {
            readiness.forsake();
        }
    }

    /** Takes note that a packet for this service came; a second key makes the port shared. */
    public void usedBy(long key) {
        if (!used) {
            used = true;
            userKey = key;
        } else if (key != userKey) {
            shared = true;
        }
    }

    /** Takes note that several services use the port. */
    public void share() {
        shared = true;
    }

    public boolean isShared() {
        return shared;
    }
}
