package org.tamanoir.client;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;

/**
 * Generated load of one stream: packets of one size with {@link LoadPattern} as their payload, built once and then
 * sent over and over. What changes from packet to packet is patched in place: the sequence number, the time stamp,
 * and the checksum from the sum of what does not change.
 *
 * <p>Thread contract: one thread.
 */
public final class LoadBatch {
    private final ByteBuffer octets;
    private final int packetOctets;
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
     * @param builder header and options; its sequence counter is used up
     * @param packetOctets whole packets, header included
     * @param budgetOctets memory to fill with packets; four always fit, whatever it says
     * @throws IllegalArgumentException if the header does not fit the packet, or the packet ANEP
     */
    public LoadBatch(PacketBuilder builder, int packetOctets, int budgetOctets) {
        if (packetOctets < builder.headerLength() || packetOctets > Anep.MAX_PACKET_OCTETS) {
            throw new IllegalArgumentException("packets of " + packetOctets + " octets: " + builder.headerLength()
                    + " (header and options) to " + Anep.MAX_PACKET_OCTETS + " are possible");
        }
        this.packetOctets = packetOctets;
        int variants = LoadPattern.VARIANTS;
        this.slots = Math.max(variants, budgetOctets / packetOctets / variants * variants);
        this.octets = ByteBuffer.allocateDirect(slots * packetOctets);
        LoadPattern pattern = new LoadPattern();
        builder.nextSequence(0);
        for (int i = 0; i < slots; i++) {
            builder.write(octets, pattern.payload(i, packetOctets - builder.headerLength()));
        }
        octets.clear();
        Packet first = new Packet(octets.getShort(2) & 0xFFFF, PacketSpace.HEAP);
        DropReason fault = first.parse(octets, 0, packetOctets);
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
            int start = variant * packetOctets;
            patch(start, 0, 0);
            octets.putShort(start + checksumAt, (short) 0);
            constantSums[variant] = Checksum.sum(octets, start, packetOctets);
        }
    }

    private void patch(int start, long number, long timeNs) {
        if (sequenceAt >= 0) {
            octets.putLong(start + sequenceAt, number);
        }
        if (timestampAt >= 0) {
            octets.putLong(start + timestampAt, timeNs);
        }
    }

    /**
     * Makes the next packets ready, in [{@link #from}, {@link #to}) of {@link #octets}.
     *
     * @return how many: at most {@code maxPackets}, and at most to the end of the memory
     */
    int prepare(int maxPackets) {
        int count = Math.min(maxPackets, slots - slot);
        from = slot * packetOctets;
        to = from + count * packetOctets;
        long timeNs = timestampAt >= 0 ? System.nanoTime() : 0;
        if (checksumAt < 0 && timestampAt < 0 && sequenceAt >= 0) {
            long number = sequence;
            for (int field = from + sequenceAt; field < to; field += packetOctets) {
                octets.putLong(field, number++);
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
        for (int start = from; start < to; start += packetOctets, number++) {
            patch(start, number, timeNs);
            if (checksumAt >= 0) {
                long sum = constantSums[(int) (number & (LoadPattern.VARIANTS - 1))];
                sum += sequenceAt >= 0 ? words(number) : 0;
                sum += timestampAt >= 0 ? words(timeNs) : 0;
                octets.putShort(start + checksumAt, (short) ~fold(sum));
            }
        }
    }

    private static long words(long value) {
        return (value >>> 48) + (value >>> 32 & 0xFFFF) + (value >>> 16 & 0xFFFF) + (value & 0xFFFF);
    }

    /** Sums of nine 16-bit words have at most 20 bits: two folds bring them to 16. */
    private static int fold(long sum) {
        long once = (sum >>> 16) + (sum & 0xFFFF);
        return (int) ((once >>> 16) + (once & 0xFFFF));
    }

    ByteBuffer octets() {
        return octets;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** Octets of each packet. */
    public int packetOctets() {
        return packetOctets;
    }

    /** Packets that one write can take. */
    public int packets() {
        return slots;
    }

    /** The sequence number of the next packet: packets sent so far. */
    public long nextSequence() {
        return sequence;
    }
}
