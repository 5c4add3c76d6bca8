package org.tamanoir.node;

import java.util.Locale;
import org.tamanoir.client.ReceiverStatistics;

/** Shows how much has come, twice a second. Thread contract: one thread. */
final class ReceiveProgress {
    private final Output output;
    private final ReceiverStatistics statistics;
    private final long startNs;
    private long shownNs;
    private long shownPackets;
    private long shownOctets;

    ReceiveProgress(Output output, ReceiverStatistics statistics, long startNs) {
        this.output = output;
        this.statistics = statistics;
        this.startNs = startNs;
        this.shownNs = startNs;
    }

    /** Call it as often as you like. */
    void show() {
        long nowNs = System.nanoTime();
        if (!output.showsProgress() || nowNs - shownNs < Output.PROGRESS_NS) {
            return;
        }
        long packets = statistics.packets();
        long octets = statistics.octets();
        double seconds = (nowNs - shownNs) / 1e9;
        output.progress(String.format(
                Locale.ROOT,
                "%.1f s  %s packets  %s  %s  %s",
                (nowNs - startNs) / 1e9,
                Rates.count(packets),
                Rates.octets(octets),
                Rates.packetRate(packets - shownPackets, seconds),
                Rates.octetRate(octets - shownOctets, seconds)));
        shownNs = nowNs;
        shownPackets = packets;
        shownOctets = octets;
    }
}
