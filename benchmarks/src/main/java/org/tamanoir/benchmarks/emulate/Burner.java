package org.tamanoir.benchmarks.emulate;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** Marks each packet and uses the processor for a time. */
@PerPacket
final class Burner extends Service {
    /** Between two looks at the clock: what takes longer was an interrupt's, another thread's or another machine's. */
    private static final long GAP_NS = 1_000;

    private static final int MOST_GAPS = 1_000;

    private final Load load;

    /** What each packet costs, and on which thread. */
    static final class Load {
        final long costNs;
        /** The instance's; 0 before its first packet. */
        long threadId;

        Load(long costNs) {
            this.costNs = costNs;
        }

        void burn() {
            if (costNs > 0) {
                spin(costNs);
            }
        }
    }

    /** Uses the processor for this time, gaps not counted. */
    static void spin(long ns) {
        long spentNs = 0;
        long lastNs = System.nanoTime();
        long endNs = lastNs + MOST_GAPS * ns; // Where the clock goes in steps that look like gaps.
        while (spentNs < ns && lastNs < endNs) {
            Thread.onSpinWait();
            Checkpoint.poll();
            long nowNs = System.nanoTime();
            if (nowNs - lastNs < GAP_NS) {
                spentNs += nowNs - lastNs;
            }
            lastNs = nowNs;
        }
    }

    Burner(Load load) {
        this.load = load;
    }

    @Override
    public Verdict process(Packet packet) {
        packet.setClassOfService(StatedWork.MARK);
        if (load.threadId == 0) {
            load.threadId = Thread.currentThread().getId();
        }
        load.burn();
        return Verdict.FORWARD;
    }
}
