package org.tamanoir.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.Item;
import org.tamanoir.qdisc.QueueingDiscipline;

/**
 * What one packet costs in a queueing discipline: it is dequeued and enqueued again, while so many flows are
 * backlogged with two packets of 1,500 bytes each, weights from 1 to 16, and time goes on by what it takes on a link of
 * 10 Gb/s. Scores are nanoseconds per packet; {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class QdiscBenchmark {
    private static final int BYTES = 1500;
    private static final long RATE = 1_250_000_000;
    private static final long PACKET_NS = BYTES * 1_000_000_000L / RATE;
    private static final int PACKETS_OF_FLOW = 2;

    /** Which discipline. */
    @Param({"fifo", "pq", "drr", "codel", "fq-codel", "wfq", "fq", "scfq", "stfq", "wf2q+"})
    public String discipline = "fifo";

    /** How many flows are backlogged. */
    @Param({"1", "10", "100", "1000"})
    public int flows;

    private QueueingDiscipline queue = Disciplines.create("fifo", config(1), (item, reason) -> {});
    private long nowNs;

    private static DisciplineConfig config(int flows) {
        List<FlowConfig> configs = new ArrayList<>();
        for (int i = 0; i < flows; i++) {
            configs.add(new FlowConfig(1 + i % 16, 1_000_000, 1 << 30));
        }
        return new DisciplineConfig(configs, RATE, Map.of());
    }

    /** Fills the queues. */
    @Setup
    public void fill() {
        queue = Disciplines.create(discipline, config(flows), (item, reason) -> {
            throw new IllegalStateException("dropped: " + reason);
        });
        for (int i = 0; i < PACKETS_OF_FLOW; i++) {
            for (int flow = 0; flow < flows; flow++) {
                Item item = new Item();
                // Not for dropping: CoDel marks it, and the load stays the same.
                item.describe(flow, BYTES, flow * 0x9E3779B97F4A7C15L, false);
                queue.enqueue(item, nowNs);
            }
        }
    }

    /** One packet leaves, one comes. */
    @Benchmark
    public Item packet() {
        nowNs += PACKET_NS;
        Item item = queue.dequeue(nowNs);
        if (item == null) {
            throw new IllegalStateException("nothing to serve while " + queue.packets() + " packets wait");
        }
        queue.enqueue(item, nowNs);
        return item;
    }
}
