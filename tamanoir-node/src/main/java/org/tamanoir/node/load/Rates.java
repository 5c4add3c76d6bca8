package org.tamanoir.node.load;

import java.util.Locale;

/** Packets, bytes and their rates as people read them: decimal prefixes, k = 1,000. */
public final class Rates {
    private Rates() {}

    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** {@code 1.23 GB}. */
    public static String bytes(double bytes) {
        return prefixed(bytes) + "B";
    }

    /** {@code 1.23 GB/s}; 0 when no time has passed. */
    static String byteRate(double bytes, double seconds) {
        return bytes(perSecond(bytes, seconds)) + "/s";
    }

    /** {@code 1.23 Mpackets/s}. */
    static String packetRate(double packets, double seconds) {
        return prefixed(perSecond(packets, seconds)) + "packets/s";
    }

    public static double perSecond(double quantity, double seconds) {
        return seconds > 0 ? quantity / seconds : 0;
    }

    private static String prefixed(double value) {
        if (value >= 1e9) {
            return String.format(Locale.ROOT, "%.2f G", value / 1e9);
        }
        if (value >= 1e6) {
            return String.format(Locale.ROOT, "%.2f M", value / 1e6);
        }
        if (value >= 1e3) {
            return String.format(Locale.ROOT, "%.1f k", value / 1e3);
        }
        return String.format(Locale.ROOT, "%.0f ", value);
    }
}
