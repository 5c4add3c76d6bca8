package org.tamanoir.client;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;

/**
 * Generated load of one stream: packets of one size with {@link LoadPattern} as their payload, built once and then
 * sent over and over. What changes from packet to packet is patched in place: the sequence number, the time stamp,
 * and the checksum from the sum of what does not change.
 *
 * <p>Thread contract: one thread.
 */
public final class LoadBatch {
    private final ByteBuffer bytes;
    private final int packetBytes;
    private final int slots;
    private final int sequenceAt;
    private final int timestampAt;
    private final int checksumAt;
    /** One's complement sums with sequence number, time stamp and checksum zero, by {@link LoadPattern} variant. */
    private final int[] constantSums = new int[LoadPattern.VARIANTS];

    private long sequence;
    private int slot;
    private int from;
    private int to;

    /**
     * Builds the packets.
     *
     * @param builder header and options; its sequence counter is used up
     * @param packetBytes whole packets, header included
     * @param budgetBytes memory to fill with packets; four always fit, whatever it says
     * @throws IllegalArgumentException if the header does not fit the packet, or the packet ANEP
     */
    public LoadBatch(PacketBuilder builder, int packetBytes, int budgetBytes) {
        if (packetBytes < builder.headerLength() || packetBytes > Anep.MAX_PACKET_OCTETS) {
            throw new IllegalArgumentException("packets of " + packetBytes + " bytes: " + builder.headerLength()
                    + " (header and options) to " + Anep.MAX_PACKET_OCTETS + " are possible");
        }
        this.packetBytes = packetBytes;
        int variants = LoadPattern.VARIANTS;
        this.slots = Math.max(variants, budgetBytes / packetBytes / variants * variants);
        this.bytes = ByteBuffer.allocateDirect(slots * packetBytes);
        LoadPattern pattern = new LoadPattern();
        builder.nextSequence(0);
        for (int i = 0; i < slots; i++) {
            builder.write(bytes, pattern.payload(i, packetBytes - builder.headerLength()));
        }
        bytes.clear();
        Packet first = new Packet(bytes.getShort(2) & 0xFFFF, PacketSpace.HEAP);
        ParseFault fault = first.parse(bytes, 0, packetBytes);
        if (fault != null) {
            throw new IllegalArgumentException("the packets would be malformed (" + fault + "): check their options");
        }
        this.sequenceAt = first.has(Option.STREAM) ? first.optionOffset(Option.STREAM) + 4 : -1;
        this.timestampAt = first.has(Option.TIMESTAMPS) ? first.optionOffset(Option.TIMESTAMPS) : -1;
        this.checksumAt = first.has(Option.CHECKSUM) ? first.optionOffset(Option.CHECKSUM) : -1;
        if (checksumAt >= 0) {
            sumConstants();
        }
    }

    private void sumConstants() {
        for (int variant = 0; variant < LoadPattern.VARIANTS; variant++) {
            int start = variant * packetBytes;
            patch(start, 0, 0);
            bytes.putShort(start + checksumAt, (short) 0);
            constantSums[variant] = Checksum.sum(bytes, start, packetBytes);
        }
    }

    private void patch(int start, long number, long timeNs) {
        if (sequenceAt >= 0) {
            bytes.putLong(start + sequenceAt, number);
        }
        if (timestampAt >= 0) {
            bytes.putLong(start + timestampAt, timeNs);
        }
    }

    /**
     * Makes the next packets ready, in [{@link #from}, {@link #to}) of {@link #bytes}.
     *
     * @return how many: at most {@code maxPackets}, and at most to the end of the memory
     */
    int prepare(int maxPackets) {
        int count = Math.min(maxPackets, slots - slot);
        from = slot * packetBytes;
        to = from + count * packetBytes;
        long timeNs = timestampAt >= 0 ? System.nanoTime() : 0;
        if (checksumAt < 0 && timestampAt < 0 && sequenceAt >= 0) {
            long number = sequence;
            for (int field = from + sequenceAt; field < to; field += packetBytes) {
                bytes.putLong(field, number++);
            }
        } else {
            prepareEach(timeNs);
        }
        sequence += count;
        slot = slot + count == slots ? 0 : slot + count;
        return count;
    }

    private void prepareEach(long timeNs) {
        long number = sequence;
        for (int start = from; start < to; start += packetBytes, number++) {
            patch(start, number, timeNs);
            if (checksumAt >= 0) {
                long sum = constantSums[(int) (number & (LoadPattern.VARIANTS - 1))];
                sum += sequenceAt >= 0 ? words(number) : 0;
                sum += timestampAt >= 0 ? words(timeNs) : 0;
                bytes.putShort(start + checksumAt, (short) ~fold(sum));
            }
        }
    }

    private static long words(long value) {
        return (value >>> 48) + (value >>> 32 & 0xFFFF) + (value >>> 16 & 0xFFFF) + (value & 0xFFFF);
    }

    /** Folds a sum to 16 bits; that of nine 16-bit words has at most 20, and needs two folds. */
    private static int fold(long sum) {
        long once = (sum >>> 16) + (sum & 0xFFFF);
        return (int) ((once >>> 16) + (once & 0xFFFF));
    }

    ByteBuffer bytes() {
        return bytes;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** Returns the bytes of each packet. */
    public int packetBytes() {
        return packetBytes;
    }

    /** Returns how many packets one write can take. */
    public int packets() {
        return slots;
    }

    /** Returns the sequence number of the next packet, which is the number of packets sent. */
    public long nextSequence() {
        return sequence;
    }
}
