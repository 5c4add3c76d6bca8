package org.tamanoir.node;

import java.util.Locale;
import java.util.function.LongSupplier;

/** Shows on a terminal how much has passed, and how fast since it was last shown. Thread contract: one thread. */
final class Progress {
    /** How often progress is worth a line. */
    static final long INTERVAL_NS = 250_000_000;

    private final Output output;
    private final String what;
    private final LongSupplier packets;
    private final LongSupplier octets;
    private final long startNs = System.nanoTime();
    private long shownNs = startNs;
    private long shownPackets;
    private long shownOctets;

    /**
     * @param what stands before the figures
     * @param packets so far, from any thread
     * @param octets so far, from any thread
     */
    Progress(Output output, String what, LongSupplier packets, LongSupplier octets) {
        this.output = output;
        this.what = what;
        this.packets = packets;
        this.octets = octets;
    }

    /** Call it as often as you like. */
    void show() {
        long nowNs = System.nanoTime();
        if (!output.showsProgress() || nowNs - shownNs < INTERVAL_NS) {
            return;
        }
        long nowPackets = packets.getAsLong();
        long nowOctets = octets.getAsLong();
        double seconds = (nowNs - shownNs) / 1e9;
        output.progress(String.format(
                Locale.ROOT,
                "%s%.1f s  %,d packets  %s  %s  %s",
                what,
                (nowNs - startNs) / 1e9,
                nowPackets,
                Rates.octets(nowOctets),
                Rates.packetRate(nowPackets - shownPackets, seconds),
                Rates.octetRate(nowOctets - shownOctets, seconds)));
        shownNs = nowNs;
        shownPackets = nowPackets;
        shownOctets = nowOctets;
    }
}
