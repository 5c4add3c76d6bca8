package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What decides how a packet is read and where it goes: the basic header without its length, the type, length and scheme
 * of each option, the service key, the destination and its port. Packets that have all this in common are told by
 * comparing words of 64 bits under a mask; what may differ (sequence numbers, classes of service, times) is masked out.
 *
 * <p>Layout: word i stands for the header's bytes 8i to 8i + 7. The first eight are compared without a loop, which would
 * cost as much again as the words do. Headers of more than {@value #MAX_BYTES} bytes are like none.
 *
 * <p>Thread contract: one thread.
 */
public final class Likeness {
    private static final int MAX_BYTES = 128;
    /** Compared without a loop. */
    private static final int FEW_BYTES = 64;

    private final byte[] bytes = new byte[MAX_BYTES];
    private final byte[] mask = new byte[MAX_BYTES];
    private final ByteBuffer words = ByteBuffer.wrap(bytes);
    private final ByteBuffer masks = ByteBuffer.wrap(mask);

    private int headerLength;
    /** Bytes that are compared, a multiple of 8 from 64 on; more than any packet has while there is nothing to be like. */
    private int span = Integer.MAX_VALUE;

    private boolean hasChecksum;
    private long key;
    private long destinationHigh;
    private long destinationLow;
    private int destinationPort;

    private long w0;
    private long w1;
    private long w2;
    private long w3;
    private long w4;
    private long w5;
    private long w6;
    private long w7;
    private long m0;
    private long m1;
    private long m2;
    private long m3;
    private long m4;
    private long m5;
    private long m6;
    private long m7;

    /**
     * Takes down what a packet is like that was found good, before anything in it is changed. Nothing is like one whose
     * like cannot be told by this.
     */
    public void take(Packet packet) {
        span = Integer.MAX_VALUE;
        headerLength = packet.headerLength;
        if (packet.shapeHeader == HeaderView.NO_SHAPE
                || headerLength > MAX_BYTES
                || !packet.isTamanoir()
                || !packet.hasInternetDestination()) {
            return;
        }
        key = packet.serviceKey();
        destinationHigh = packet.destinationHigh();
        destinationLow = packet.destinationLow();
        destinationPort = packet.destinationPort();
        hasChecksum = packet.has(Option.CHECKSUM);
        packet.buffer.get(packet.offset, bytes, 0, headerLength);
        Arrays.fill(mask, (byte) 0);
        counts(0, 6);
        for (int i = 0; i < packet.shapeWords; i++) {
            counts(packet.shape[2 * i], 4);
        }
        if (packet.has(HeaderView.KEY)) {
            counts(packet.at[HeaderView.KEY] + 4, 8);
        }
        counts(packet.at[HeaderView.DESTINATION] + 8, packet.destinationScheme == Anep.SCHEME_IPV6 ? 16 : 4);
        if (packet.has(HeaderView.PORT)) {
            counts(packet.at[HeaderView.PORT] + 4, 2);
        }
        load();
    }

    private void counts(int from, int length) {
        Arrays.fill(mask, from, from + length, (byte) 0xFF);
    }

    private void load() {
        m0 = masks.getLong(0);
        m1 = masks.getLong(8);
        m2 = masks.getLong(16);
        m3 = masks.getLong(24);
        m4 = masks.getLong(32);
        m5 = masks.getLong(40);
        m6 = masks.getLong(48);
        m7 = masks.getLong(56);
        w0 = words.getLong(0) & m0;
        w1 = words.getLong(8) & m1;
        w2 = words.getLong(16) & m2;
        w3 = words.getLong(24) & m3;
        w4 = words.getLong(32) & m4;
        w5 = words.getLong(40) & m5;
        w6 = words.getLong(48) & m6;
        w7 = words.getLong(56) & m7;
        span = Math.max(FEW_BYTES, headerLength + 7 & -8);
    }

    /**
     * Returns the length of the packet at {@code at} if it is whole, sound and alike; 0 when it is not, or when too little
     * lies behind it to compare.
     *
     * @param memory big-endian; its position is not used or changed, its limit lies behind what is available
     */
    public int lengthAlike(ByteBuffer memory, int at, int available) {
        if (available < span) {
            return 0;
        }
        // One range check for eight words. The slice is never made: the compiler sees that it does not leave this
        // method.
        ByteBuffer header = memory.slice(at, FEW_BYTES);
        long first = header.getLong(0);
        long differs = first & m0 ^ w0
                | header.getLong(8) & m1 ^ w1
                | header.getLong(16) & m2 ^ w2
                | header.getLong(24) & m3 ^ w3
                | header.getLong(32) & m4 ^ w4
                | header.getLong(40) & m5 ^ w5
                | header.getLong(48) & m6 ^ w6
                | header.getLong(56) & m7 ^ w7;
        if (differs != 0 || span > FEW_BYTES && !isLikeBehind(memory, at)) {
            return 0;
        }
        int length = (int) first & 0xFFFF;
        boolean isWhole = length >= headerLength && length <= available;
        return isWhole && (!hasChecksum || Checksum.sum(memory, at, length) == 0xFFFF) ? length : 0;
    }

    private boolean isLikeBehind(ByteBuffer memory, int at) {
        long differs = 0;
        for (int i = FEW_BYTES; i < span; i += 8) {
            differs |= (memory.getLong(at + i) ^ words.getLong(i)) & masks.getLong(i);
        }
        return differs == 0;
    }

    /** Returns whether the packets have a checksum, which each is checked for. */
    public boolean hasChecksum() {
        return hasChecksum;
    }

    /** Returns the service key that the packets name, {@link ServiceKey#NONE} for none. */
    public long key() {
        return key;
    }

    /** Returns the upper 64 bits of their destination, as {@link Packet#destinationHigh}. */
    public long destinationHigh() {
        return destinationHigh;
    }

    /** Returns the lower 64 bits of their destination. */
    public long destinationLow() {
        return destinationLow;
    }

    /** Returns the transport port at their destination, 0 for none. */
    public int destinationPort() {
        return destinationPort;
    }
}
