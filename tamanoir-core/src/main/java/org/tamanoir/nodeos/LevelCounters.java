package org.tamanoir.nodeos;

import java.util.Arrays;

/**
 * What a policy has done. {@code packets = up + on + dropped}; all from {@code bytes} on counts the packets that the
 * level handled itself, so that it adds up with what the Java virtual machine counted of those that went up.
 *
 * @param packets that it decided about; connections for TCP
 * @param up sent up
 * @param on handled and sent on
 * @param dropped handled and ended
 * @param bytes of whole ANEP packets
 * @param marked written into
 * @param unmarked that lacked the room for the mark
 * @param smallest packet, in bytes; 0 before the first
 * @param largest packet, in bytes
 * @param ruleDrops packets that each rule ended, in the policy's order, and last those that met none; one longer than
 *     {@link Policy#MAX_RULES}
 */
public record LevelCounters(
        long packets,
        long up,
        long on,
        long dropped,
        long bytes,
        long marked,
        long unmarked,
        long smallest,
        long largest,
        long[] ruleDrops) {
    /** Nothing yet. */
    public static final LevelCounters ZERO =
            new LevelCounters(0, 0, 0, 0, 0, 0, 0, 0, 0, new long[Policy.MAX_RULES + 1]);

    /** Copies the array. */
    public LevelCounters {
        if (ruleDrops.length != Policy.MAX_RULES + 1) {
            throw new IllegalArgumentException(
                    ruleDrops.length + " counts of rules: must be " + (Policy.MAX_RULES + 1));
        }
        ruleDrops = ruleDrops.clone();
    }

    /** Returns a copy. */
    @Override
    public long[] ruleDrops() {
        return ruleDrops.clone();
    }

    /** Returns both together. */
    public LevelCounters plus(LevelCounters other) {
        return combine(other, 1);
    }

    /** Returns what was counted since an earlier state of the same; smallest and largest are those of now. */
    public LevelCounters since(LevelCounters earlier) {
        return combine(earlier, -1);
    }

    private LevelCounters combine(LevelCounters other, int sign) {
        long[] drops = new long[ruleDrops.length];
        Arrays.setAll(drops, i -> ruleDrops[i] + sign * other.ruleDrops[i]);
        boolean adds = sign > 0;
        return new LevelCounters(
                packets + sign * other.packets,
                up + sign * other.up,
                on + sign * other.on,
                dropped + sign * other.dropped,
                bytes + sign * other.bytes,
                marked + sign * other.marked,
                unmarked + sign * other.unmarked,
                adds ? smallest(other) : smallest,
                adds ? Math.max(largest, other.largest) : largest,
                drops);
    }

    private long smallest(LevelCounters other) {
        return smallest == 0 || (other.smallest != 0 && other.smallest < smallest) ? other.smallest : smallest;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LevelCounters that
                && packets == that.packets
                && up == that.up
                && on == that.on
                && dropped == that.dropped
                && bytes == that.bytes
                && marked == that.marked
                && unmarked == that.unmarked
                && smallest == that.smallest
                && largest == that.largest
                && Arrays.equals(ruleDrops, that.ruleDrops);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(packets) * 31 + Arrays.hashCode(ruleDrops);
    }

    @Override
    public String toString() {
        return "packets " + packets + ", up " + up + ", on " + on + ", dropped " + dropped + ", bytes " + bytes
                + ", marked " + marked + ", unmarked " + unmarked + ", smallest " + smallest + ", largest " + largest
                + ", by rules " + Arrays.toString(ruleDrops);
    }
}
