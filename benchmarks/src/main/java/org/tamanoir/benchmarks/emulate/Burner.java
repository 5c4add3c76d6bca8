package org.tamanoir.benchmarks.emulate;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/**
 * Marks each packet and uses the processor for a time, and knows how long that really was. One instance at a time; its
 * thread reads the sums as well.
 */
@PerPacket
final class Burner extends Service {
    /** Beyond its time by more than this another thread had the processor. */
    private static final long TAKEN_AWAY_NS = 20_000;

    private final Sums sums;

    /** What was spent so far. */
    static final class Sums {
        final long costNs;
        long burnedNs;
        /** The instance's; 0 before its first packet. */
        long threadId;
        /** Packets in which the processor was taken away. */
        long disturbed;

        Sums(long costNs) {
            this.costNs = costNs;
        }

        void burn() {
            long spentNs = spin(costNs);
            burnedNs += spentNs;
            if (spentNs > costNs + TAKEN_AWAY_NS) {
                disturbed++;
            }
        }
    }

    /** Uses the processor for this time; returns for how long it really was. */
    static long spin(long ns) {
        long beganNs = System.nanoTime();
        long spentNs;
        while ((spentNs = System.nanoTime() - beganNs) < ns) {
            Thread.onSpinWait();
            Checkpoint.poll();
        }
        return spentNs;
    }

    Burner(Sums sums) {
        this.sums = sums;
    }

    @Override
    public Verdict process(Packet packet) {
        packet.setClassOfService(StatedWork.MARK);
        if (sums.threadId == 0) {
            sums.threadId = Thread.currentThread().getId();
        }
        if (sums.costNs > 0) {
            sums.burn();
        }
        return Verdict.FORWARD;
    }
}
