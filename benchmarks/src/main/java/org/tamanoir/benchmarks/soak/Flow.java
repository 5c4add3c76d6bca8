package org.tamanoir.benchmarks.soak;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * Verifies one sequence of packets that goes from one sender by one service to one far end, each packet against its
 * place in the flow: sequence number and bytes.
 *
 * <p>Thread contract: {@link #sent} is called by the sender's thread, {@link #arrived} by the far end's; figures are
 * read by any.
 */
final class Flow {
    /** The far end of flows that come back to their sender; others have the index of a {@link FarEnd}. */
    static final int CLIENT = -1;

    /**
     * Says what a flow is.
     *
     * @param id as in the packets' stream identifier
     * @param label for people
     * @param end where it arrives
     * @param classOfService of all its packets
     * @param isWhole whether all of it has to arrive: its connection is not cut
     * @param isCompressed whether the payloads that arrive are one gzip stream
     */
    record Shape(int id, String label, int end, int classOfService, boolean isWhole, boolean isCompressed) {
        @Override
        public String toString() {
            return "flow " + id + " (" + label + ")";
        }
    }

    final Shape shape;
    private final Content content;
    private final @Nullable Inflation inflation;
    private @Nullable Flow replies;
    private volatile int stallBytes = Integer.MAX_VALUE;
    private volatile int stallMs;

    private volatile long sentPackets;
    private volatile long sentBytes;
    private volatile long sentPacketBytes;
    // The rest under the monitor.
    private @Nullable Object channel;
    private long packets;
    private long bytes;
    private long packetBytes;
    private long sequence;

    Flow(Shape shape, Content content) {
        this.shape = shape;
        this.content = content;
        this.inflation = shape.isCompressed() ? new Inflation() : null;
    }

    /** Has the far end answer with packets of another flow. */
    Flow repliedBy(Flow answers) {
        replies = answers;
        return this;
    }

    /** Has the far end stop reading for a while, each time so many bytes have come. */
    Flow stalling(int everyBytes, int forMs) {
        stallBytes = everyBytes;
        stallMs = forMs;
        return this;
    }

    @Nullable
    Flow replies() {
        return replies;
    }

    int stallBytes() {
        return stallBytes;
    }

    int stallMs() {
        return stallMs;
    }

    /** Counts a packet that is about to be written; one thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // One writer.
    void sent(int contentBytes, int packetLength) {
        sentBytes += contentBytes;
        sentPacketBytes += packetLength;
        sentPackets++;
    }

    long sentBytes() {
        return sentBytes;
    }

    long sentPackets() {
        return sentPackets;
    }

    long sentPacketBytes() {
        return sentPacketBytes;
    }

    synchronized long packets() {
        return packets;
    }

    synchronized long packetBytes() {
        return packetBytes;
    }

    synchronized long bytes() {
        return bytes;
    }

    /**
     * Verifies a packet.
     *
     * @param over the connection that it came over: a flow has one
     * @param buffer backed by an array
     * @throws DifferenceException if it is not what has to come next
     */
    synchronized void arrived(Packet packet, int end, Object over) throws DifferenceException {
        byte[] found = packet.buffer().array();
        int from = packet.buffer().arrayOffset() + packet.payloadOffset();
        int length = packet.payloadLength();
        if (end != shape.end()) {
            throw new DifferenceException(shape + ": packet " + packet.sequence() + " came to far end " + end
                    + ", expected at " + shape.end() + ", where " + packets + " have arrived; it holds "
                    + content.origin(found, from, from + length));
        }
        if (channel == null) {
            channel = over;
        } else if (channel != over) {
            throw new DifferenceException(shape + ": came over " + over + ", and before over " + channel);
        }
        if (packet.classOfService() != shape.classOfService()) {
            throw new DifferenceException(shape + ": packet " + packet.sequence() + " has class of service "
                    + packet.classOfService() + ", expected " + shape.classOfService());
        }
        if (inflation == null) {
            requireSequence(packet.sequence(), found, from, length);
            verify(found, from, length);
        } else {
            inflate(inflation, packet, found, from, length);
        }
        packets++;
        packetBytes += packet.length();
        sequence = packet.sequence() + 1;
    }

    private void requireSequence(long got, byte[] found, int from, int length) throws DifferenceException {
        if (got != sequence) {
            throw new DifferenceException(shape + ", offset " + bytes + ": expected packet " + sequence + ", got "
                    + got + (got < sequence ? " again" : ", what is between is missing") + "; it holds "
                    + content.origin(found, from, from + length));
        }
    }

    /** The trailer of a gzip stream comes in a packet with the number of the last one, and holds nothing more. */
    private void inflate(Inflation from, Packet packet, byte[] found, int offset, int length)
            throws DifferenceException {
        byte[] plain = new byte[Inflation.MAX_BYTES];
        boolean mayRepeat = sequence > 0 && packet.sequence() == sequence - 1;
        if (!mayRepeat) {
            requireSequence(packet.sequence(), found, offset, length);
        }
        int bytesOut;
        try {
            bytesOut = from.inflate(found, offset, length, plain);
        } catch (DifferenceException e) {
            throw new DifferenceException(shape + ", offset " + bytes + ", packet " + packet.sequence() + ": "
                    + e.getMessage() + "; it holds " + content.origin(found, offset, offset + length));
        }
        if (mayRepeat && bytesOut > 0) {
            throw new DifferenceException(
                    shape + ", offset " + bytes + ": packet " + packet.sequence() + " came again with content");
        }
        verify(plain, 0, bytesOut);
    }

    private void verify(byte[] found, int from, int length) throws DifferenceException {
        int right = content.match(shape.id(), bytes, found, from, length);
        if (right < length) {
            long at = bytes + right;
            throw new DifferenceException("%s, offset %d: expected byte 0x%02x, got 0x%02x; from there on %s"
                    .formatted(
                            shape,
                            at,
                            content.octet(shape.id(), at),
                            found[from + right],
                            content.origin(found, from + right, from + length)));
        }
        bytes += length;
        if (bytes > sentBytes) {
            throw new DifferenceException(
                    shape + ", offset " + sentBytes + ": expected its end, got " + (bytes - sentBytes) + " bytes");
        }
    }

    /** Its connection has ended: nothing more comes. */
    synchronized void over() {
        if (inflation != null) {
            inflation.end();
        }
    }

    /** Returns what is missing of a whole flow; null when all is there. */
    synchronized @Nullable String missing() {
        if (bytes != sentBytes) {
            return shape + ", offset " + bytes + ": expected " + (sentBytes - bytes) + " bytes more, got none";
        }
        if (inflation == null && packets != sentPackets) {
            return shape + ": expected " + sentPackets + " packets, got " + packets;
        }
        if (inflation != null && packets > 0 && !inflation.isWhole()) {
            return shape + ", offset " + bytes + ": expected the trailer of the gzip stream, got none";
        }
        return null;
    }

    @Override
    public String toString() {
        return shape + ", sent " + sentBytes() + " bytes, arrived " + bytes();
    }
}
