package org.tamanoir.cluster.element.ring;

/** Epochs of a ring: 16 bits that wrap, compared as RFC 1982 compares serial numbers; {@link #NONE} is older than all. */
final class Epoch {
    static final int NONE = -1;

    private static final int SERIAL_BITS = 48;

    private Epoch() {}

    static int of(long serial) {
        return (int) (serial >>> SERIAL_BITS);
    }

    /** Returns the serial number before the first of this epoch. */
    static long begin(int epoch) {
        return epoch == NONE ? 0 : (long) epoch << SERIAL_BITS;
    }

    static boolean newer(int epoch, int than) {
        return epoch != NONE && (than == NONE || (short) (epoch - than) > 0);
    }

    static int newest(int a, int b) {
        return newer(a, b) ? a : b;
    }

    static int next(int epoch) {
        return epoch + 1 & 0xFFFF;
    }
}
