package org.tamanoir.benchmarks.qos;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/**
 * Burns a stated processor time on each packet, by the thread's own clock, so that what else runs on the machine does
 * not change its cost; and makes packets longer by a factor that wanders between two bounds.
 */
final class LoadService extends Service {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** Packets in which the factor goes from one bound to the other. */
    private static final int HALF_CYCLE_PACKETS = 1500;

    private static final ByteBuffer PADDING = ByteBuffer.allocateDirect(1 << 16);

    /** About 0.5 µs between two readings of the clock, which is a system call. */
    private static final int SPINS = 32;

    private final long cpuNs;
    private final double leastGrowth;
    private final double mostGrowth;
    private final LongAdder invocations;
    private int inCycle;

    LoadService(long cpuNs, double leastGrowth, double mostGrowth, LongAdder invocations) {
        this.cpuNs = cpuNs;
        this.leastGrowth = leastGrowth;
        this.mostGrowth = mostGrowth;
        this.invocations = invocations;
    }

    @Override
    public Verdict process(Packet packet) {
        invocations.increment();
        if (cpuNs > 0) {
            burn(cpuNs);
        }
        if (mostGrowth > 1) {
            grow(packet);
        }
        return Verdict.FORWARD;
    }

    private static void burn(long ns) {
        long endNs = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < endNs) {
            for (int i = 0; i < SPINS; i++) {
                Thread.onSpinWait();
            }
        }
    }

    private void grow(Packet packet) {
        inCycle = (inCycle + 1) % (2 * HALF_CYCLE_PACKETS);
        double way = Math.abs(inCycle - HALF_CYCLE_PACKETS) / (double) HALF_CYCLE_PACKETS;
        int bytes = (int) (packet.length() * (leastGrowth + way * (mostGrowth - leastGrowth))) - packet.headerLength();
        bytes = Math.min(bytes, packet.maxPayloadOctets());
        ByteBuffer room = packet.newPayload(bytes);
        room.put(packet.payload());
        room.put(PADDING.duplicate().limit(room.remaining()));
        packet.commitPayload(bytes);
    }
}
