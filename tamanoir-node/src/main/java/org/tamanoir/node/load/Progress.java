package org.tamanoir.node.load;

import java.util.Locale;
import java.util.function.LongSupplier;
import org.tamanoir.node.cli.Output;

/** Shows on a terminal how much has passed, and how fast since it was last shown. Thread contract: one thread. */
public final class Progress {
    /** How often progress is worth a line. */
    static final long INTERVAL_NS = 250_000_000;

    private final Output output;
    private final String what;
    private final LongSupplier packets;
    private final LongSupplier bytes;
    private final long startNs = System.nanoTime();
    private long shownNs = startNs;
    private long shownPackets;
    private long shownBytes;

    /**
     * @param what stands before the figures
     * @param packets so far, from any thread
     * @param bytes so far, from any thread
     */
    public Progress(Output output, String what, LongSupplier packets, LongSupplier bytes) {
        this.output = output;
        this.what = what;
        this.packets = packets;
        this.bytes = bytes;
    }

    /** Call it as often as you like. */
    public void show() {
        long nowNs = System.nanoTime();
        if (!output.showsProgress() || nowNs - shownNs < INTERVAL_NS) {
            return;
        }
        long nowPackets = packets.getAsLong();
        long nowBytes = bytes.getAsLong();
        double seconds = (nowNs - shownNs) / 1e9;
        output.progress(String.format(
                Locale.ROOT,
                "%s%.1f s  %,d packets  %s  %s  %s",
                what,
                (nowNs - startNs) / 1e9,
                nowPackets,
                Rates.bytes(nowBytes),
                Rates.packetRate(nowPackets - shownPackets, seconds),
                Rates.byteRate(nowBytes - shownBytes, seconds)));
        shownNs = nowNs;
        shownPackets = nowPackets;
        shownBytes = nowBytes;
    }
}
