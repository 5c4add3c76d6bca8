package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A port in which as many packets as are said always wait. The node's own thread prepares blocks of them in between, which
 * is not measured: of each block it takes down what the node's path took.
 *
 * <p>Thread contract: the thread that reads the port; {@link #await} any other.
 */
final class Flood implements EmulatedPort.Feed {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** Of a block, load included: what the processor is taken away for stays rare in one. */
    private static final long BLOCK_NS = 4_000_000;

    private static final int LEAST_PACKETS = 16;
    private static final int PATIENCE = 10;

    /**
     * One block.
     *
     * @param cpuNs processor time of the thread, less what the loads took by themselves just before
     * @param wallNs the same by the clock
     */
    record Sample(int packets, long cpuNs, long wallNs) {
        double cpuPerPacket() {
            return cpuNs / (double) packets;
        }
    }

    private final Arrivals arrivals;
    private final PacketWriter writer;
    private final ByteBuffer memory;
    private final Burner.@Nullable Load load;
    private final int runnable;
    private final int mostPackets;
    private final long lastsNs;
    private final List<Sample> samples = new ArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);
    private final Arrival arrival = new Arrival();
    private final int[] offsets = new int[EmulatedPort.MEMORY_BYTES / PacketWriter.LEAST_BYTES];
    private final int[] lengths = new int[offsets.length];
    private int prepared;
    private int next;
    private long endNs;
    private long endCpuNs;
    private long cpuNs;
    private long wallNs;
    private long loadWallNs;
    private long loadNs;
    private volatile boolean finished;

    /**
     * @param runnable packets that wait whenever the node looks, at most
     * @param ns of processor time for which it lasts; on a busy host up to ten times as long by the clock
     */
    Flood(
            Arrivals arrivals,
            PacketWriter writer,
            ByteBuffer memory,
            Burner.@Nullable Load load,
            int runnable,
            long ns) {
        this.arrivals = arrivals;
        this.writer = writer;
        this.memory = memory;
        this.load = load;
        this.runnable = runnable;
        lastsNs = ns;
        mostPackets = load == null || load.costNs == 0
                ? Integer.MAX_VALUE
                : (int) Math.max(LEAST_PACKETS, BLOCK_NS / load.costNs);
    }

    @Override
    public boolean isReady() {
        return !finished;
    }

    @Override
    public boolean fill(Batch batch) {
        if (finished || next == prepared && !prepare()) {
            return false;
        }
        int end = Math.min(prepared, next + runnable);
        while (next < end && batch.add(offsets[next], lengths[next])) {
            next++;
        }
        return true;
    }

    private boolean prepare() {
        long nowCpuNs = THREADS.getCurrentThreadCpuTime();
        long spentNs = nowCpuNs - cpuNs;
        long nowNs = System.nanoTime();
        if (endNs == 0) {
            endNs = nowNs + PATIENCE * lastsNs;
            endCpuNs = nowCpuNs + lastsNs;
        } else {
            samples.add(new Sample(prepared, spentNs - loadNs, nowNs - wallNs - loadWallNs));
        }
        if (nowCpuNs >= endCpuNs || nowNs >= endNs) {
            finished = true;
            done.countDown();
            return false;
        }
        write();
        next = 0;
        burn();
        wallNs = System.nanoTime();
        cpuNs = THREADS.getCurrentThreadCpuTime();
        return true;
    }

    private void write() {
        prepared = 0;
        int at = 0;
        try {
            while (prepared < mostPackets && arrivals.next(arrival)) {
                if (at + PacketWriter.bytes(arrival) > EmulatedPort.MEMORY_BYTES) {
                    break; // A model's packets: one less does not matter.
                }
                offsets[prepared] = at;
                lengths[prepared] = writer.write(memory, at, arrival, 0);
                at += lengths[prepared++];
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Finds out what the loads of a block take by themselves. */
    private void burn() {
        long beganNs = System.nanoTime();
        long beganCpuNs = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < prepared && load != null && load.costNs > 0; i++) {
            load.burn();
        }
        loadNs = THREADS.getCurrentThreadCpuTime() - beganCpuNs;
        loadWallNs = System.nanoTime() - beganNs;
    }

    /** Waits for its end and returns the blocks of its second half, when code has been compiled. */
    List<Sample> await() {
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return samples.subList(samples.size() / 2, samples.size());
    }
}
