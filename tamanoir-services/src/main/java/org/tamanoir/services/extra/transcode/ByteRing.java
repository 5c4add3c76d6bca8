package org.tamanoir.services.extra.transcode;

/** A bounded queue of bytes. Thread contract: whoever has its owner's lock. */
final class ByteRing {
    private final byte[] ring;
    private int from;
    private int bytes;

    ByteRing(int capacityBytes) {
        ring = new byte[capacityBytes];
    }

    int bytes() {
        return bytes;
    }

    boolean hasRoom(int more) {
        return more <= ring.length - bytes;
    }

    /** Puts bytes for which there is room. */
    void put(byte[] source, int at, int count) {
        int to = (from + bytes) % ring.length;
        int first = Math.min(count, ring.length - to);
        System.arraycopy(source, at, ring, to, first);
        System.arraycopy(source, at + first, ring, 0, count - first);
        bytes += count;
    }

    /** Takes as many as there are and fit, and returns how many. */
    int take(byte[] target, int most) {
        int count = Math.min(most, bytes);
        int first = Math.min(count, ring.length - from);
        System.arraycopy(ring, from, target, 0, first);
        System.arraycopy(ring, 0, target, first, count - first);
        from = (from + count) % ring.length;
        bytes -= count;
        return count;
    }

    void clear() {
        bytes = 0;
    }
}
