package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A schedule in virtual time: the time goes on by what work is stated to cost, and jumps to the next arrival where there is
 * none. So what comes of it depends on nothing but schedule and costs, and is the same each time.
 *
 * <p>Thread contract: the thread that reads the port; {@link #await} any other.
 */
final class VirtualRun implements EmulatedPort.Feed, EmulatedPort.Departures, StatedWork.Costs {
    private final Schedule schedule;
    private final Stated stated;
    private final CountDownLatch done = new CountDownLatch(1);
    private @Nullable Ring ring;
    private @Nullable IOException failure;
    private long nowNs;
    private long busyNs;
    private long batches;
    private long taken;
    private long lost;
    private long longestQueue;
    private final Histogram[] waits;
    private final Histogram stays = new Histogram(3);
    private volatile boolean finished;

    /**
     * What things cost in virtual time.
     *
     * @param batchNs for the node to read a batch and send what left of it
     * @param packetNs for the node, each packet
     * @param loadNs for each service
     */
    record Stated(long batchNs, long packetNs, long[] loadNs) {}

    VirtualRun(Schedule schedule, Stated stated) {
        this.schedule = schedule;
        this.stated = stated;
        waits = new Histogram[stated.loadNs.length];
        for (int i = 0; i < waits.length; i++) {
            waits[i] = new Histogram(3);
        }
    }

    /** Puts it through a node's first port. */
    void begin(EmulatedPort port) {
        ring = new Ring(EmulatedNode.writer(0), port.memory());
        port.feed(this);
    }

    @Override
    public boolean isReady() {
        return !finished;
    }

    @Override
    public boolean fill(Batch batch) {
        Ring waiting = ring;
        if (finished || waiting == null) {
            return false;
        }
        try {
            admit(waiting);
            if (waiting.waiting() == 0) {
                if (schedule.isOver()) {
                    return end();
                }
                nowNs = schedule.ns();
                admit(waiting);
            }
        } catch (IOException e) {
            failure = e;
            return end();
        }
        taken += waiting.take(batch);
        batches++;
        spend(stated.batchNs);
        return true;
    }

    private boolean end() {
        finished = true;
        done.countDown();
        return false;
    }

    /** Lets come what has come by now. */
    private void admit(Ring waiting) throws IOException {
        while (!schedule.isOver() && schedule.ns() <= nowNs) {
            if (!waiting.put(schedule.arrival(), schedule.ns())) {
                lost++;
            }
            longestQueue = Math.max(longestQueue, waiting.waiting());
            schedule.advance();
        }
    }

    private void spend(long ns) {
        nowNs += ns;
        busyNs += ns;
    }

    @Override
    public void spend(long cameNs, int service) {
        if (ring == null) {
            return; // The node's first packets.
        }
        waits[service].recordValue(nowNs - cameNs);
        spend(stated.packetNs + stated.loadNs[service]);
    }

    @Override
    public void departs(ByteBuffer memory, int offset, int bytes, long high, long low, int port) {
        int header = (memory.getShort(offset + 4) & 0xFFFF) * 4;
        if (ring != null && bytes >= header + 12) {
            stays.recordValue(nowNs - memory.getLong(offset + header));
        }
    }

    /**
     * Waits for its end.
     *
     * @throws IOException what the trace could not be read by
     */
    Outcome await(EmulatedNode node) throws IOException {
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw failure;
        }
        return new Outcome(
                schedule.packets(),
                lost,
                nowNs,
                busyNs / (double) Math.max(1, nowNs),
                batches,
                longestQueue,
                waits,
                stays,
                node.counts(taken));
    }
}
