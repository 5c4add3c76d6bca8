package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Slots for recvmmsg, each large enough for all that UDP_GRO joins, so that nothing is ever cut off. What a message
 * says about itself is read where the kernel wrote it, when it is asked for.
 *
 * <p>Thread contract: one thread at a time.
 */
final class NativeUdpBatch implements UdpBatch {
    /**
     * Smaller batches lie in nearer caches, but leave in shorter messages, which costs more: in the forwarder in C 64 of
     * 200 bytes took 397 ns each, 32 took 416, 16 took 466; of 1,400 bytes 483, 508, 549.
     */
    static final int SLOTS = 64;

    private static final int SLOT_BYTES = 65_536;
    /**
     * 5 cache lines more than a slot: with a power of two the first lines of all slots, the only ones that small
     * datagrams touch, would fall into the same few sets of the caches and push each other out.
     */
    private static final int STRIDE_BYTES = SLOT_BYTES + 5 * 64;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(SLOTS * STRIDE_BYTES);
    private final MessageArray messages;
    private final boolean inTransit;
    private final boolean onWildcard;
    /** Null unless it is for plain datagrams. */
    private final @Nullable PlainRoom plain;

    private final int firstByte;
    private int used = SLOTS;

    /**
     * @param onWildcard with room for the address that a message was sent to
     * @param inTransit with room for what a socket says of datagrams in transit
     * @param plain with room for a header in front of each datagram; null = without
     */
    NativeUdpBatch(boolean onWildcard, boolean inTransit, @Nullable PlainRoom plain) {
        this.onWildcard = onWildcard && plain == null;
        this.inTransit = inTransit;
        this.plain = plain;
        firstByte = plain == null ? 0 : PlainRoom.BYTES;
        messages = new MessageArray(SLOTS, SLOTS, controlBytes());
        long address = MessageArray.addressOf(buffer);
        for (int m = 0; m < SLOTS; m++) {
            messages.setIovec(m, address + (long) m * STRIDE_BYTES + firstByte, SLOT_BYTES);
            messages.setPayload(m, m, 1);
        }
    }

    private int controlBytes() {
        return plain != null
                ? MessageArray.PLAIN_CONTROL_BYTES
                : inTransit
                        ? MessageArray.TRANSIT_CONTROL_BYTES
                        : onWildcard ? MessageArray.WILDCARD_CONTROL_BYTES : MessageArray.CONTROL_SPACE_BYTES;
    }

    /** Makes the slots ready that the last call filled; returns where the array lies. */
    long prepare() {
        for (int m = 0; m < used; m++) {
            messages.prepareToReceive(m);
        }
        used = 0;
        return messages.addressOfMessage(0);
    }

    void received(int count) {
        used = count;
        if (plain != null) {
            for (int m = 0; m < count; m++) {
                plain.head(this, messages, m, m * STRIDE_BYTES + firstByte);
            }
        }
    }

    boolean isInTransit() {
        return inTransit;
    }

    /** Returns how many datagrams the socket had dropped when it took this one, modulo 2^32; 0 also when that is not told. */
    int overflows(int message) {
        return messages.controlInt(message, LibC.SOL_SOCKET, LibC.SO_RXQ_OVFL);
    }

    @Override
    public ByteBuffer buffer(int message) {
        return buffer;
    }

    @Override
    public int start(int message) {
        int slot = Objects.checkIndex(message, used) * STRIDE_BYTES;
        return plain == null ? slot : slot + firstByte - plain.headerBytes(message);
    }

    @Override
    public int end(int message) {
        int slot = Objects.checkIndex(message, used) * STRIDE_BYTES;
        return plain == null ? slot + messages.length(message) : slot + firstByte + plain.payloadBytes(message);
    }

    @Override
    public int segmentBytes(int message) {
        Objects.checkIndex(message, used);
        int length = plain == null ? messages.length(message) : end(message) - start(message);
        int segment = messages.groSegment(message);
        return segment > 0 ? Math.min(segment, length) : length;
    }

    @Override
    public long addressHigh(int message) {
        return messages.addressHigh(Objects.checkIndex(message, used));
    }

    @Override
    public long addressLow(int message) {
        return messages.addressLow(Objects.checkIndex(message, used));
    }

    @Override
    public int port(int message) {
        return messages.port(Objects.checkIndex(message, used));
    }

    @Override
    public boolean tellsOwn() {
        return onWildcard;
    }

    @Override
    public long ownHigh(int message) {
        return onWildcard ? messages.ownHigh(Objects.checkIndex(message, used)) : 0;
    }

    @Override
    public long ownLow(int message) {
        return onWildcard ? messages.ownLow(Objects.checkIndex(message, used)) : 0;
    }

    @Override
    public int ownDevice(int message) {
        return onWildcard ? messages.ownDevice(Objects.checkIndex(message, used)) : 0;
    }

    @Override
    public int mark(int message) {
        return messages.controlInt(Objects.checkIndex(message, used), LibC.SOL_SOCKET, LibC.SO_MARK);
    }

    @Override
    public long destinationHigh(int message) {
        Objects.checkIndex(message, used);
        return plain == null ? messages.destinationHigh(message) : plain.destinationHigh(messages, message);
    }

    @Override
    public long destinationLow(int message) {
        Objects.checkIndex(message, used);
        return plain == null ? messages.destinationLow(message) : plain.destinationLow(messages, message);
    }

    @Override
    public int destinationPort(int message) {
        Objects.checkIndex(message, used);
        return plain == null ? 0 : plain.destinationPort(messages, message);
    }

    @Override
    public boolean isPlain(int message) {
        Objects.checkIndex(message, used);
        return plain != null && plain.headerBytes(message) > 0;
    }

    @Override
    public int hopsLeft(int message) {
        int v4 = messages.controlInt(Objects.checkIndex(message, used), LibC.IPPROTO_IP, LibC.IP_TTL);
        return v4 != 0 ? v4 : messages.controlInt(message, LibC.IPPROTO_IPV6, LibC.IPV6_HOPLIMIT);
    }

    @Override
    public int trafficClass(int message) {
        int v4 = messages.controlInt(Objects.checkIndex(message, used), LibC.IPPROTO_IP, LibC.IP_TOS);
        return v4 != 0 ? v4 : messages.controlInt(message, LibC.IPPROTO_IPV6, LibC.IPV6_TCLASS);
    }
}
