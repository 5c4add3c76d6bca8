package org.tamanoir.benchmarks;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Slot;
import org.tamanoir.arena.SlotKind;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.sched.AllotmentView;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.Preemption;
import org.tamanoir.sched.ProcessorUse;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.QosTimer;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.sched.TurnOwner;

/**
 * What the arena costs: a service's look at its turn, its class and one link, and what is written into it; nanoseconds.
 * {@link #grant} is a turn that is asked for, granted and ended, by clocks that cost nothing; {@link #write} does what the
 * arena adds to it. {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class AllotmentBenchmark {
    private static final QosTimer NO_TIMER = new QosTimer() {
        @Override
        public void at(Task task, long timeNs) {}

        @Override
        public void add(Task task) {}

        @Override
        public void remove(Task task) {}

        @Override
        public void close() {}
    };

    private final AllotmentView view = new AllotmentView();
    private final Arena arena = new Arena();
    private final Slot ofClass = arena.take(SlotKind.TURNS, "class");
    private final Slot point = arena.take(SlotKind.POINT, "point");
    private final QualityOfService quality = new QualityOfService(
            () -> NO_TIMER,
            () -> this.nowNs,
            () -> this.nowNs,
            Preemption.NONE,
            1 << 16,
            Duration.ofSeconds(10),
            arena);
    private long nowNs;
    private QosSnapshot now = quality.now();
    private CpuGrant running = schedule();
    private CpuGrant other = running;

    private CpuGrant schedule() {
        quality.change(new QosConfig(
                List.of(new TrafficClass("one", Set.of(1), 1), new TrafficClass("other", Set.of(2), 3)),
                "one",
                List.of(),
                new PreProcessing("stfq", Map.of(), 2, Duration.ofMillis(1)),
                List.of(new Link("up", List.of(Prefix.parse("0.0.0.0/0")), 1_000_000, 8192, false, "fifo", Map.of()))));
        now = quality.now();
        return turn();
    }

    private CpuGrant turn() {
        return new CpuGrant(Objects.requireNonNull(now.turns()), new TurnOwner(() -> {}, ProcessorUse.UNKNOWN));
    }

    /** Takes one turn for good. */
    @Setup
    public void take() {
        running.request(0);
        other = turn();
    }

    /** Looks, and asks what Gzip asks. */
    @Benchmark
    public boolean look() {
        view.look(running, now, Long.MAX_VALUE);
        return view.isContended() || view.waitingBytes() > 0;
    }

    /** Looks, and asks for every number but what is left of the quantum, for which the clock is read. */
    @Benchmark
    public double lookAtAll() {
        view.look(running, now, Long.MAX_VALUE);
        long sum = view.processors() + view.turnsRunning() + view.turnsWaiting();
        sum += view.allTurnsRunning() + view.allTurnsWaiting() + view.waitingBytes() + view.recentDrops();
        sum += view.linkQueuedBytes() + view.linkQueueLimitBytes() + view.linkRate() + view.linkTokens();
        return sum + view.packetBudgetRestNs() + view.share() + view.due() + (view.isContended() ? 1 : 0);
    }

    /** Asks for a turn, is granted it, and ends it. */
    @Benchmark
    public boolean grant() {
        nowNs += 1000;
        boolean granted = other.request(1);
        other.release();
        return granted;
    }

    /** Writes what one grant and the end of it change: turns that wait and run, and what they have cost. */
    @Benchmark
    public void write() {
        nowNs++;
        for (int field = 0; field < 2; field++) {
            ofClass.set(field, nowNs);
            point.set(field, nowNs);
            VarHandle.storeStoreFence(); // Else the first of two writes to a place is left out.
            ofClass.set(field, 0);
            point.set(field, 0);
        }
        ofClass.set(2, nowNs);
        point.set(2, nowNs);
    }
}
