package org.tamanoir.sapf;

import org.tamanoir.anep.Fold;

/**
 * The 64 bits that a packet in SAPF begins with, big-endian.
 *
 * <pre>
 *   63 62        48 47                       16 15          0
 *  +--+------------+---------------------------+-------------+
 *  | 1|   epoch    |            tag            |    slot     |   issued by the node that receives with it
 *  +--+------------+---------------------------+-------------+
 *  | 0                                          0 ... 0 to 255|   well-known
 *  +---------------------------------------------------------+
 * </pre>
 *
 * The epoch is drawn at a node's start, so that selectors of before miss. Tag and slot are the index: a slot of the
 * table, and 32 bits drawn with each binding, by which a slot that has another binding now is told apart, and whoever
 * does not read what is sent to a source cannot send in its place.
 *
 * <p>An ANEP packet begins with 0x01, so the first octet tells: 0x80 and more is SAPF, 0x00 is SAPF or broken.
 */
final class Selector {
    static final int OCTETS = Fold.OCTETS;

    /** No selector: never sent with a packet, and in an answer that there is none. */
    static final long NONE = 0;

    /** The payload is a {@link ControlMessage}. */
    static final long CONTROL = 1;

    /** The payload is a whole ANEP packet. */
    static final long TUNNEL = 2;

    /** The payload is a raw IPv4 or IPv6 packet. */
    static final long RAW_IP = 3;

    static final int EPOCH_BITS = 15;
    static final int SLOTS = 1 << 16;

    private Selector() {}

    static long of(int epoch, int tag, int slot) {
        return 1L << 63 | (long) epoch << 48 | (tag & 0xFFFF_FFFFL) << 16 | slot;
    }

    /** Returns whether a node has issued it, or may have. */
    static boolean isIssued(long selector) {
        return selector < 0;
    }

    static int epoch(long selector) {
        return (int) (selector >>> 48) & (1 << EPOCH_BITS) - 1;
    }

    static int slot(long selector) {
        return (int) selector & SLOTS - 1;
    }

    /** Returns whether a datagram that begins with this octet is not simply given on as it is: 0x00, or 0x80 and more. */
    static boolean begins(byte first) {
        return first <= 0;
    }
}
