package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/** A picture whose packets come one after the other. Thread contract: one thread. */
final class GatheredPicture implements FlowTable.Flow {
    private static final int NO_SEQUENCE = -1;
    private static final byte[] NONE = {};

    private final Header header;
    private PictureScan scan = new PictureScan();
    private byte[] file = NONE;
    private int bytes;
    /** Where each packet's part ends, and when it was sent. */
    private int[] ends = new int[4];

    private long[] originsNs = new long[4];
    private int packets;
    private long firstSequence;
    private long lastSequence;

    GatheredPicture(Header header) {
        this.header = header;
    }

    @Override
    public Header header() {
        return header;
    }

    /** Returns the bytes of memory that it takes more for so many more of the picture. */
    int growth(int more) {
        return bytes + more <= file.length ? 0 : capacity(bytes + more) - file.length;
    }

    private static int capacity(int bytes) {
        return Integer.highestOneBit(Math.max(4096, bytes) - 1) << 1;
    }

    /** @param sequence −1 for packets that have none */
    void add(ByteBuffer payload, long sequence, long originNs) {
        int end = bytes + payload.remaining();
        if (end > file.length) {
            file = Arrays.copyOf(file, capacity(end));
        }
        payload.get(file, bytes, payload.remaining());
        bytes = end;
        if (packets == ends.length) {
            ends = Arrays.copyOf(ends, 2 * packets);
            originsNs = Arrays.copyOf(originsNs, 2 * packets);
        }
        ends[packets] = end;
        originsNs[packets] = originNs;
        firstSequence = packets == 0 ? sequence : firstSequence;
        lastSequence = sequence;
        packets++;
        scan.scan(file, bytes);
    }

    boolean isNext(long sequence) {
        return packets == 0 || sequence == NO_SEQUENCE || sequence == lastSequence + 1;
    }

    /** Forgets the picture, and returns the bytes of memory that it took. */
    int clear() {
        int taken = file.length;
        file = NONE;
        bytes = 0;
        packets = 0;
        scan = new PictureScan();
        return taken;
    }

    PictureScan scan() {
        return scan;
    }

    byte[] file() {
        return file;
    }

    int bytes() {
        return bytes;
    }

    int packets() {
        return packets;
    }

    int end(int packet) {
        return packet < 0 ? 0 : ends[packet];
    }

    /** Returns the bytes of the longest part. */
    int longestPart() {
        int longest = 0;
        for (int i = 0; i < packets; i++) {
            longest = Math.max(longest, ends[i] - end(i - 1));
        }
        return longest;
    }

    long sequence(int packet) {
        return Math.max(0, firstSequence + packet);
    }

    long originNs(int packet) {
        return originsNs[packet];
    }
}
