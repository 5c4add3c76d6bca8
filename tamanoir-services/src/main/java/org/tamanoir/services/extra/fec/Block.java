package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.KeyedHash;

/**
 * What has come of one block, on the side that gets packets back. Octets lie one behind the other in memory that grows,
 * until the block is whole. Its key, session and number, stays as it is while it is in a map.
 *
 * <p>Thread contract: one thread.
 */
final class Block {
    private static final int LEAST_BYTES = 4096;
    private static final byte[] NONE = new byte[0];
    private static final int SLOTS = ReedSolomon.MAX_DATA + ReedSolomon.MAX_REPAIR;

    private final KeyedHash hash;
    private long session;
    private int number;
    private long beganNs;
    private int k;
    private int m;
    private int repairBytes;
    private int longestData;
    private long received;
    private long recovered;
    private int repairs;
    private boolean isDone;
    private boolean hadEnded;
    private byte[] octets = NONE;
    private int used;
    private final int[] at = new int[SLOTS];
    private final int[] bytes = new int[SLOTS];

    /** Makes one that is not begun. @param hash of the table that it is for: senders choose session and number */
    Block(KeyedHash hash) {
        this.hash = hash;
    }

    /** Makes it a key to search by. */
    Block key(long ofSession, int ofNumber) {
        session = ofSession;
        number = ofNumber;
        return this;
    }

    /** Begins it anew, with this memory. */
    Block begin(long ofSession, int ofNumber, long nowNs, byte[] memory) {
        key(ofSession, ofNumber);
        beganNs = nowNs;
        k = 0;
        m = 0;
        repairBytes = 0;
        longestData = 0;
        received = 0;
        recovered = 0;
        repairs = 0;
        isDone = false;
        hadEnded = false;
        octets = memory;
        used = 0;
        return this;
    }

    /** Goes on with a block that had ended, of which these data packets are here: nothing is got back any more. */
    void beginAgain(long data) {
        recovered = data;
        isDone = true;
        hadEnded = true;
    }

    /** Returns whether it had ended before, and was told of then. */
    boolean hadEnded() {
        return hadEnded;
    }

    long session() {
        return session;
    }

    int number() {
        return number;
    }

    long beganNs() {
        return beganNs;
    }

    /** Returns how many data packets it has; 0 = not known yet. */
    int k() {
        return k;
    }

    /** Returns which data packets have come, a bit for each. */
    long received() {
        return received;
    }

    /** Returns which repairs have come, a bit for each. */
    int repairs() {
        return repairs;
    }

    /** Returns the length of its repairs, in bytes. */
    int repairBytes() {
        return repairBytes;
    }

    /** Returns how many packets should have come; 0 = not known. */
    int expectedPackets() {
        return k + m;
    }

    int receivedPackets() {
        return Long.bitCount(received) + Integer.bitCount(repairs);
    }

    /** Returns how many data packets are missing; 0 where that is not known. */
    int missing() {
        return isDone ? 0 : Math.max(0, k - Long.bitCount(received));
    }

    /** Returns whether nothing is missing any more, or cannot be had. */
    boolean isDone() {
        return isDone;
    }

    /** Returns whether there is enough to get back all that is missing. */
    boolean isSolvable() {
        return !isDone && k > 0 && missing() > 0 && receivedPackets() >= k;
    }

    /** Needs no octets from now on; later packets of it are known. */
    void done() {
        isDone = true;
    }

    /** Gives its memory away, which {@link #begin} gives back. */
    byte[] release() {
        byte[] released = octets;
        octets = NONE;
        return released;
    }

    /** Returns which data packets are here, a bit for each. */
    long data() {
        return received | recovered;
    }

    boolean has(int data) {
        return (data() >>> data & 1) != 0;
    }

    /** A data packet is there though it has not come. */
    void gotBack(int data) {
        recovered |= 1L << data;
    }

    boolean hasRepair(int repair) {
        return (repairs >>> repair & 1) != 0;
    }

    /** Returns whether a data packet does not fit what is known of the block. */
    boolean contradicts(int data, int ownBytes) {
        return k > 0 && (data >= k || ownBytes > repairBytes);
    }

    /** Returns whether a repair does not fit what is known of the block. */
    boolean contradicts(int ofK, int ofM, int ofBytes) {
        return k > 0
                ? ofK != k || ofM != m || ofBytes != repairBytes
                : longestData > ofBytes || received >>> ofK - 1 >>> 1 != 0;
    }

    /** Returns by how much its memory has to grow for so many bytes more. */
    int growth(int more) {
        int wanted = used + more;
        return isDone || wanted <= octets.length
                ? 0
                : Math.max(LEAST_BYTES, Integer.highestOneBit(wanted - 1) << 1) - octets.length;
    }

    void grow(int bytes) {
        octets = Arrays.copyOf(octets, octets.length + bytes);
    }

    /** Takes what repairs sum up of a data packet, with 0 as its CRC; there is room for it. */
    void add(int data, ByteBuffer payload, long sequence, long originNs) {
        int own = FecHeader.OWN_BYTES + payload.remaining();
        if (!isDone) {
            FecHeader.writeOwn(octets, used, payload, sequence, originNs);
            place(data, own);
        }
        longestData = Math.max(longestData, own);
        received |= 1L << data;
        if (k > 0 && missing() == 0) {
            isDone = true;
        }
    }

    /** Takes the octets of a repair, and what it says of its block; there is room for them. */
    void addRepair(int repair, int ofK, int ofM, ByteBuffer sum) {
        if (!isDone) {
            sum.get(sum.position(), octets, used, sum.remaining());
            place(ReedSolomon.MAX_DATA + repair, sum.remaining());
        }
        k = ofK;
        m = ofM;
        repairBytes = sum.remaining();
        repairs |= 1 << repair;
        if (missing() == 0) {
            isDone = true;
        }
    }

    private void place(int slot, int own) {
        at[slot] = used;
        bytes[slot] = own;
        used += own;
    }

    byte[] octets() {
        return octets;
    }

    /** Returns where a data packet lies in {@link #octets}; behind the data packets, the repairs. */
    int at(int slot) {
        return at[slot];
    }

    int bytes(int slot) {
        return bytes[slot];
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Block that && that.session == session && that.number == number;
    }

    @Override
    public int hashCode() {
        return hash(hash, session, number);
    }

    static int hash(KeyedHash hash, long session, int number) {
        return hash.finish(hash.add(hash.add(KeyedHash.BEGIN, session), number));
    }
}
