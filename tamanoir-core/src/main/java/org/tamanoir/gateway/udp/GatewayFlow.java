package org.tamanoir.gateway.udp;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * A sender of a gateway for UDP, with the socket towards the far side that is his, and what may still go back to him.
 *
 * <p>Thread contract: any thread, but for what is said to be its {@link GatewayFlows}' alone.
 */
final class GatewayFlow {
    final long high;
    final long low;
    final int port;
    // What the sender sends to, and answers leave from, as UdpSender.from.
    final long ownHigh;
    final long ownLow;
    /** When a datagram of either side was seen last, in ns, as exact as {@link GatewayFlows#sweep}. Guarded by its lock. */
    long usedNs;

    /** Octets that may still go back. */
    private final AtomicLong answersLeft = new AtomicLong();

    /** Number of the interface that answers leave by, as {@link UdpSender#from}: the one that the sender came by last. */
    private volatile int ownDevice;

    private volatile boolean isUsed;
    private volatile boolean isAnswered;
    private volatile boolean isProven;
    private volatile boolean isClosed;
    private volatile @Nullable UdpSocket socket;

    GatewayFlow(long high, long low, int port, long ownHigh, long ownLow, int ownDevice, long nowNs) {
        this.ownHigh = ownHigh;
        this.ownLow = ownLow;
        this.ownDevice = ownDevice;
        this.high = high;
        this.low = low;
        this.port = port;
        this.usedNs = nowNs;
    }

    boolean isOf(long high, long low, int port, long ownHigh, long ownLow) {
        return this.low == low
                && this.port == port
                && this.high == high
                && this.ownLow == ownLow
                && this.ownHigh == ownHigh;
    }

    /** Has answers leave by the interface that the sender has come by now. */
    void comesBy(int device) {
        if (ownDevice != device) {
            ownDevice = device;
        }
    }

    int ownDevice() {
        return ownDevice;
    }

    /** Returns the sender's address. Allocates. */
    InetAddress address() {
        return Addresses.of(high, low);
    }

    /** Takes note that the sender has sent something, for which so many octets may go back; returns whether that proves him. */
    boolean sent(long answerBytes) {
        answersLeft.getAndAdd(answerBytes);
        use();
        boolean proves = isAnswered && !isProven;
        if (proves) {
            isAnswered = false;
        }
        return proves;
    }

    /** Has an answer of before prove nothing any more. */
    void forgetAnswers() {
        isAnswered = false;
    }

    /** Says whether it has been proven since the last sweep. */
    void proven(boolean isIt) {
        isProven = isIt;
    }

    /** Takes so many octets of what may go back; false where that is less. The thread that carries answers. */
    boolean takeAnswer(long bytes) {
        if (answersLeft.get() < bytes) {
            return false;
        }
        answersLeft.getAndAdd(-bytes);
        return true;
    }

    /** Takes note that something goes back. */
    void answered() {
        use();
        if (!isAnswered) {
            isAnswered = true;
        }
    }

    private void use() {
        if (!isUsed) { // To write what stands there costs the other threads that read it.
            isUsed = true;
        }
    }

    /** Returns whether it was used since this was asked last. */
    boolean takeUsed() {
        boolean was = isUsed;
        isUsed = false;
        return was;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Returns the way to the far side; null while it has none. */
    @Nullable
    UdpSocket socket() {
        return socket;
    }

    /** Gives it its socket; false when it has been closed. */
    synchronized boolean open(UdpSocket opened) {
        socket = opened;
        return !isClosed;
    }

    /** Closes its socket, and has it be none any more. */
    synchronized void close() {
        isClosed = true;
        UdpSocket opened = socket;
        if (opened != null) {
            opened.close();
        }
    }
}
