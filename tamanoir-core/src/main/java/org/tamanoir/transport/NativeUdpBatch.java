package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Slots for recvmmsg, each large enough for all that UDP_GRO joins, so that nothing is ever cut off. What a message
 * says about itself is read where the kernel wrote it, when it is asked for.
 *
 * <p>Thread contract: one thread at a time.
 */
final class NativeUdpBatch implements UdpBatch {
    static final int SLOTS = 64;
    private static final int SLOT_OCTETS = 65_536;
    /**
     * 5 cache lines more than a slot: with a power of two the first lines of all slots, the only ones that small
     * datagrams touch, would fall into the same few sets of the caches and push each other out.
     */
    private static final int STRIDE_OCTETS = SLOT_OCTETS + 5 * 64;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(SLOTS * STRIDE_OCTETS);
    private final MessageArray messages = new MessageArray(SLOTS, SLOTS);
    private int used = SLOTS;

    NativeUdpBatch() {
        long address = MessageArray.addressOf(buffer);
        for (int m = 0; m < SLOTS; m++) {
            messages.setIovec(m, address + (long) m * STRIDE_OCTETS, SLOT_OCTETS);
            messages.setPayload(m, m, 1);
        }
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
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public int start(int message) {
        return Objects.checkIndex(message, used) * STRIDE_OCTETS;
    }

    @Override
    public int end(int message) {
        return start(message) + messages.length(message);
    }

    @Override
    public int segmentOctets(int message) {
        Objects.checkIndex(message, used);
        int length = messages.length(message);
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
}
