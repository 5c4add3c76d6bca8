package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The repairs of a block while its data come, one by one and of any lengths: what a short one lacks counts as zeros.
 * One repair is summed up by exclusive or, which the compiler does many octets at a time; more are summed up eight
 * at a time, interleaved, by one look-up for each octet ({@link ReedSolomon#products(int, int)}).
 *
 * <p>Thread contract: one thread.
 */
final class RepairSums {
    private byte[] parity = new byte[0];
    private long[][] groups = new long[0][];
    private int repairs;
    private int length;

    /** Begins anew with so many repairs, all zero. */
    void begin(int count) {
        repairs = count;
        Arrays.fill(parity, 0, Math.min(length, parity.length), (byte) 0);
        for (long[] group : groups) {
            Arrays.fill(group, 0, Math.min(length, group.length), 0);
        }
        length = 0;
        int wanted = count == 1 ? 0 : (count + ReedSolomon.GROUP - 1) / ReedSolomon.GROUP;
        if (groups.length < wanted) {
            int before = groups.length;
            groups = Arrays.copyOf(groups, wanted);
            Arrays.fill(groups, before, wanted, new long[0]);
        }
    }

    /** Adds data packet {@code data} of the block. */
    void add(int data, byte[] octets, int from, int bytes) {
        length = Math.max(length, bytes);
        if (repairs == 1) {
            if (parity.length < bytes) {
                parity = Arrays.copyOf(parity, capacity(bytes));
            }
            addParity(parity, octets, from, bytes);
            return;
        }
        for (int group = 0; group * ReedSolomon.GROUP < repairs; group++) {
            if (groups[group].length < bytes) {
                groups[group] = Arrays.copyOf(groups[group], capacity(bytes));
            }
            addProducts(groups[group], ReedSolomon.products(group, data), octets, from, bytes);
        }
    }

    private static int capacity(int bytes) {
        return Math.max(256, Integer.highestOneBit(bytes - 1) << 1);
    }

    static void addParity(byte[] sum, byte[] octets, int from, int bytes) {
        for (int i = 0; i < bytes; i++) {
            sum[i] ^= octets[from + i];
        }
    }

    private static void addProducts(long[] sums, long[] products, byte[] octets, int from, int bytes) {
        for (int i = 0; i < bytes; i++) {
            sums[i] ^= products[octets[from + i] & 0xFF];
        }
    }

    /** Returns the length of all repairs: that of the longest packet, in bytes. */
    int length() {
        return length;
    }

    /** Returns the memory that is kept, in bytes. */
    long keptBytes() {
        long bytes = parity.length;
        for (long[] group : groups) {
            bytes += (long) group.length * Long.BYTES;
        }
        return bytes;
    }

    /** Adds a repair to what lies in {@code target} from {@code at} on. */
    void addTo(int repair, byte[] target, int at) {
        if (repairs == 1) {
            for (int i = 0; i < length; i++) {
                target[at + i] ^= parity[i];
            }
            return;
        }
        long[] sums = groups[repair / ReedSolomon.GROUP];
        int shift = repair % ReedSolomon.GROUP * Byte.SIZE;
        for (int i = 0; i < length; i++) {
            target[at + i] ^= (byte) (sums[i] >>> shift);
        }
    }

    /** Writes a repair. @param target on the heap */
    void write(int repair, ByteBuffer target) {
        int at = target.arrayOffset() + target.position();
        Arrays.fill(target.array(), at, at + length, (byte) 0);
        addTo(repair, target.array(), at);
        target.position(target.position() + length);
    }
}
