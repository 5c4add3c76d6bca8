package org.tamanoir.transport;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A UDP socket, the memory that it is received into, and the thread that reads it. While one service alone uses the port
 * its thread reads, without a hand-off; from the second service on the reception does, so that a slow service does not
 * hold up another. The memory goes from one to the other with the port.
 *
 * <p>Thread contract: the thread that reads; {@link #release} passes the port to another loop.
 */
public final class UdpPort {
    private static final Logger LOG = LoggerFactory.getLogger(UdpPort.class);

    /** Between attempts to watch a socket that could not be watched. */
    private static final Duration RETRY = Duration.ofMillis(500);

    /** Between attempts to read a socket that could not be read. */
    static final Duration PAUSE = Duration.ofMillis(100);

    /** Between attempts to have memory: to ask for it in vain costs a collection, and half a second. */
    private static final Duration PAUSE_WITHOUT_MEMORY = Duration.ofSeconds(1);

    private final UdpSocket socket;
    private @Nullable UdpBatch batch;
    private @Nullable UdpReadiness readiness;
    /** The next attempt to watch the socket, after one that failed. */
    private @Nullable Future<?> retry;

    private boolean used;
    private long userKey;
    private boolean shared;

    /** Makes one that takes memory when it is read first. */
    public UdpPort(UdpSocket socket) {
        this.socket = socket;
    }

    /**
     * Makes one that has its memory.
     *
     * @throws IOException in one line, if there is none
     */
    public static UdpPort ready(UdpSocket socket) throws IOException {
        UdpPort port = new UdpPort(socket);
        try {
            port.batch();
            return port;
        } catch (IOException e) {
            throw new IOException("UDP " + UdpAddress.text(socket.localAddress()) + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the memory that {@link #receive} fills.
     *
     * @throws IOException in one line, if there is none
     */
    public UdpBatch batch() throws IOException {
        UdpBatch known = batch;
        if (known == null) {
            try {
                known = BufferPool.withoutIdle(socket::newBatch);
            } catch (OutOfMemoryError e) {
                throw withoutMemory(e);
            }
            batch = known;
        }
        return known;
    }

    /**
     * Reads what waits, as {@link UdpSocket#receive}.
     *
     * @throws IOException in one line, if the socket cannot be read, or for want of memory
     */
    public int receive() throws IOException {
        UdpBatch into = batch();
        try {
            return socket.receive(into);
        } catch (OutOfMemoryError e) {
            throw withoutMemory(e);
        }
    }

    /** Returns in one line what memory is missing for a socket, and where it may come from. */
    public static IOException withoutMemory(OutOfMemoryError e) {
        return new IOException(
                "no memory for datagrams: " + e.getMessage()
                        + "; give the JVM more by -XX:MaxDirectMemorySize or -Xmx, or open fewer UDP ports and gateways",
                e);
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
        Duration pause = cause.getCause() instanceof OutOfMemoryError ? PAUSE_WITHOUT_MEMORY : PAUSE;
        LOG.warn(
                "UDP {}: not read: {}; tried again every {} ms",
                socket.localAddress(),
                cause.getMessage(),
                pause.toMillis());
        retry = loop.schedule(pause, () -> watch(loop, readable));
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
