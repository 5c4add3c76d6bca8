package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.Checksum;
import org.tamanoir.icmp.IcmpMessage;

/**
 * Sends UDP datagrams and ICMP messages from any source to any destination, up to 64 by one sendmmsg, in the order in which they were added.
 * Their headers are written into memory of the sender's, the payloads stay where they lie. They are not fragmented: what
 * exceeds the path's MTU counts as too long.
 *
 * <p>Thread contract: one thread; the counters and {@link #lastError} may be read by any thread.
 */
public final class TransitSender {
    private static final int MESSAGES = 64;
    /** A cache line for each header. */
    private static final int HEADER_STRIDE_BYTES = 64;
    /** How long one flush waits for room in the socket's send buffer. */
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final int FLAGS = LibC.MSG_DONTWAIT | LibC.MSG_NOSIGNAL;

    private final SharedFd fd;
    private final boolean v6;
    private final int headerBytes;
    private final int alertBytes;
    private final int limitBytes;
    private final MessageArray messages = new MessageArray(MESSAGES, 2 * MESSAGES);
    private final ByteBuffer headers =
            ByteBuffer.allocateDirect(MESSAGES * HEADER_STRIDE_BYTES).order(ByteOrder.BIG_ENDIAN);
    private final BufferAddresses addresses = new BufferAddresses();
    private final ByteBuffer pollMemory = MessageArray.allocate(8);
    private final long pollAddress = MessageArray.addressOf(pollMemory);
    private int count;
    private long flushDeadlineNs;
    private boolean waited;

    private long sourceHigh;
    private long sourceLow;
    private int sourcePort;
    private long destinationHigh;
    private long destinationLow;
    private int destinationPort;

    private volatile long sentPackets;
    private volatile long sentBytes;
    private volatile long tooLongPackets;
    private volatile long failedPackets;
    private volatile String lastError = "";

    TransitSender(SharedFd fd, boolean v6) {
        this.fd = fd;
        this.v6 = v6;
        this.headerBytes = v6 ? TransitHeader.V6_BYTES : TransitHeader.V4_BYTES;
        this.alertBytes = v6 ? TransitHeader.V6_ALERT_BYTES : TransitHeader.V4_ALERT_BYTES;
        this.limitBytes = v6 ? UdpAddress.LIMIT_V6_BYTES : UdpAddress.LIMIT_V4_BYTES;
        long address = MessageArray.addressOf(headers);
        for (int m = 0; m < MESSAGES; m++) {
            messages.setIovec(2 * m, address + (long) m * HEADER_STRIDE_BYTES, headerBytes);
            messages.setPayload(m, 2 * m, 2);
        }
    }

    /** Says where datagrams that are added next come from; the address as in {@link UdpSender}, of the sender's family. */
    public TransitSender from(long addressHigh, long addressLow, int port) {
        sourceHigh = addressHigh;
        sourceLow = addressLow;
        sourcePort = port;
        return this;
    }

    /** Says where datagrams that are added next go. */
    public TransitSender to(long addressHigh, long addressLow, int port) {
        destinationHigh = addressHigh;
        destinationLow = addressLow;
        destinationPort = port;
        return this;
    }

    /**
     * Adds a datagram; flushes first when the sender is full.
     *
     * @param buffer direct and big-endian; the bytes must stay as they are until {@link #flush} returns
     * @param hopsLeft TTL or hop limit, 1 to 255
     * @param trafficClass TOS or traffic class, 0 to 255
     */
    public void add(ByteBuffer buffer, int offset, int length, int hopsLeft, int trafficClass) {
        add(buffer, offset, length, hopsLeft, trafficClass, false);
    }

    /**
     * Adds a datagram, as above.
     *
     * @param hasAlert whether it leaves with a Router Alert
     */
    public void add(ByteBuffer buffer, int offset, int length, int hopsLeft, int trafficClass, boolean hasAlert) {
        int m = begin(buffer, offset, length, hasAlert ? headerBytes + alertBytes : headerBytes);
        if (m < 0) {
            return;
        }
        int sum = Checksum.sum(buffer, offset, length);
        TransitHeader.put(
                headers,
                m * HEADER_STRIDE_BYTES,
                v6,
                length,
                sum,
                sourceHigh,
                sourceLow,
                sourcePort,
                destinationHigh,
                destinationLow,
                destinationPort,
                hopsLeft,
                trafficClass,
                hasAlert);
    }

    /**
     * Adds an ICMP message, or one of ICMPv6, as {@link #add(ByteBuffer, int, int, int, int)} a datagram; ports do not
     * matter.
     *
     * @param buffer in which the message gets the checksum that it should have
     */
    public void addIcmp(ByteBuffer buffer, int offset, int length, int hopsLeft, int trafficClass) {
        if (length < IcmpMessage.HEADER_OCTETS) {
            fail(1, "message of " + length + " octets " + text() + ": ICMP has at least " + IcmpMessage.HEADER_OCTETS);
            return;
        }
        int m = begin(buffer, offset, length, headerBytes - TransitHeader.UDP_BYTES);
        if (m < 0) {
            return;
        }
        buffer.putShort(offset + 2, (short) 0);
        int sum = Checksum.sum(buffer, offset, length);
        int checksum = TransitHeader.putIcmp(
                headers,
                m * HEADER_STRIDE_BYTES,
                v6,
                length,
                sum,
                sourceHigh,
                sourceLow,
                destinationHigh,
                destinationLow,
                hopsLeft,
                trafficClass);
        buffer.putShort(offset + 2, (short) checksum);
    }

    /**
     * Begins a message of a header and what lies there; flushes first when the sender is full.
     *
     * @return its number; -1 if it is too long, which is counted
     */
    private int begin(ByteBuffer buffer, int offset, int length, int headerBytes) {
        Objects.checkFromIndexSize(offset, length, buffer.capacity());
        if (UdpAddress.isV4(destinationHigh, destinationLow) == v6 || UdpAddress.isV4(sourceHigh, sourceLow) == v6) {
            throw new IllegalArgumentException(
                    "datagram " + text() + ": this sender is for " + (v6 ? "IPv6" : "IPv4") + " alone");
        }
        if (length > limitBytes) {
            tooLong("datagram of " + length + " bytes " + text() + ": UDP carries at most " + limitBytes);
            return -1;
        }
        long base = addresses.find(buffer);
        if (count == MESSAGES || base == 0) {
            flush(); // what waits may lie in the buffers that the table forgets now
            base = base == 0 ? addresses.remember(buffer) : base;
        }
        int m = count++;
        messages.setIovec(2 * m, messages.iovecStart(2 * m), headerBytes);
        messages.setIovec(2 * m + 1, base + offset, length);
        // A raw socket of IPv6 takes the port for a protocol; 0 is the one of the socket.
        messages.setName(m, v6, destinationHigh, destinationLow, 0, 0);
        return m;
    }

    /** Sends all that was added; waits, bounded, while the socket's send buffer is full. */
    public void flush() {
        if (count == 0) {
            return;
        }
        waited = false;
        if (fd.acquire()) {
            try {
                send();
            } finally {
                fd.release();
            }
        } else {
            fail(count, "the raw socket is closed");
        }
        count = 0;
    }

    private void send() {
        int next = 0;
        while (next < count) {
            int sent = LibC.sendmmsg(fd.number(), messages.addressOfMessage(next), count - next, FLAGS);
            if (sent > 0) {
                countSent(next, next + sent);
                next += sent;
                continue;
            }
            int errno = Native.getLastError();
            if (errno == LibC.EINTR) {
                continue;
            }
            if (errno == LibC.EAGAIN) {
                if (!awaitRoom()) {
                    fail(count - next, "the raw socket's send buffer stayed full for 1 s");
                    return;
                }
                continue;
            }
            String error = "datagram of " + payloadBytes(next) + " bytes to "
                    + UdpAddress.text(messages.addressHigh(next), messages.addressLow(next), 0) + ": "
                    + LibC.strerror(errno);
            if (errno == LibC.EMSGSIZE) {
                tooLong(error);
            } else {
                fail(1, error);
            }
            next++;
        }
    }

    private boolean awaitRoom() {
        if (!waited) {
            waited = true;
            flushDeadlineNs = System.nanoTime() + WAIT_NS;
        }
        try {
            return flushDeadlineNs - System.nanoTime() > 0
                    && Poll.await(fd, pollMemory, pollAddress, LibC.POLLOUT, flushDeadlineNs);
        } catch (IOException e) {
            return false;
        }
    }

    private long payloadBytes(int m) {
        return messages.iovecBytes(2 * m + 1);
    }

    private String text() {
        return "from " + UdpAddress.text(sourceHigh, sourceLow, sourcePort) + " to "
                + UdpAddress.text(destinationHigh, destinationLow, destinationPort);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void countSent(int from, int to) {
        long bytes = 0;
        for (int m = from; m < to; m++) {
            bytes += payloadBytes(m);
        }
        sentPackets += to - from;
        sentBytes += bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void tooLong(String error) {
        tooLongPackets++;
        lastError = error;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void fail(int packets, String error) {
        failedPackets += packets;
        lastError = error;
    }

    /** Returns whether the kernel has not yet handed on all that the socket, which others use too, has sent. */
    public boolean hasUnsent() {
        return fd.hasUnsent();
    }

    /** Returns how many datagrams the operating system took, since the sender was made. */
    public long sentPackets() {
        return sentPackets;
    }

    /** Returns the bytes of those, without headers. */
    public long sentBytes() {
        return sentBytes;
    }

    /** Returns how many datagrams were longer than the path, or UDP, takes. */
    public long tooLongPackets() {
        return tooLongPackets;
    }

    /** Returns how many datagrams the operating system refused for another reason. */
    public long failedPackets() {
        return failedPackets;
    }

    /** Returns what the operating system said last, for a log; empty when nothing failed. */
    public String lastError() {
        return lastError;
    }
}
