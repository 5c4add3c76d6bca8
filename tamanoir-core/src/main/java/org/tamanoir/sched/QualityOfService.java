package org.tamanoir.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.Arena;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;

/**
 * The scheduling points of one environment, and their changes while it runs.
 *
 * <p>Thread contract: any thread.
 */
public final class QualityOfService {
    private final Map<String, LinkScheduler> linksByName = new HashMap<>();
    private final Supplier<QosTimer> timers;
    private final LongSupplier clock;
    private final LongSupplier processorClock;
    private final Preemption preemption;
    private final int chunkBytes;
    private final long patienceNs;
    private final Arena arena;
    private @Nullable QosTimer timer;
    private GatedDiscipline.@Nullable Opener opener;
    private volatile QosSnapshot now = new QosSnapshot(QosConfig.OFF, null, null, List.of());
    private boolean closed;

    /**
     * @param timers makes a timer, which runs by {@code clock}
     * @param clock in ns
     * @param processorClock what the calling thread has used of a processor, in ns
     * @param preemption asks services to give turns back in the midst of a packet
     * @param chunkBytes in which packets that wait for links lie in memory
     * @param patience for which the discipline of a link may give nothing while another one follows
     * @param arena that shows scheduling points
     */
    public QualityOfService(
            Supplier<QosTimer> timers,
            LongSupplier clock,
            LongSupplier processorClock,
            Preemption preemption,
            int chunkBytes,
            Duration patience,
            Arena arena) {
        this.timers = timers;
        this.clock = clock;
        this.processorClock = processorClock;
        this.preemption = preemption;
        this.chunkBytes = chunkBytes;
        this.patienceNs = patience.toNanos();
        this.arena = arena;
    }

    /** Has this open the gates of links that come from now on. */
    public synchronized void opener(GatedDiscipline.Opener opens) {
        opener = opens;
    }

    /** What holds now. */
    public QosSnapshot now() {
        return now;
    }

    /**
     * Schedules so from now on.
     *
     * @throws IllegalArgumentException with all problems, each in a line; nothing is changed then
     */
    public synchronized void change(QosConfig config) {
        List<String> problems = config.problems();
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", problems));
        }
        if (closed) {
            return;
        }
        QosTimer running = config.isOff() ? null : timer();
        TurnScheduler before = now.turns() == null ? null : now.turns().scheduler();
        WaitingGrants turns = null;
        if (config.pre() != null && running != null) {
            TurnScheduler scheduler = before == null
                    ? new TurnScheduler(running, this::isHeldBack, clock, processorClock, preemption, arena)
                    : before;
            turns = scheduler.change(config);
        }
        Map<String, LinkScheduler> leftOver = new HashMap<>(linksByName);
        List<LinkContent> links = new ArrayList<>();
        for (Link link : config.links()) {
            LinkScheduler scheduler = leftOver.remove(link.name());
            if (scheduler == null && running != null) {
                scheduler =
                        new LinkScheduler(link, running, opener, this::roomAgain, clock, chunkBytes, patienceNs, arena);
                linksByName.put(link.name(), scheduler);
            }
            if (scheduler != null) {
                links.add(scheduler.change(config, link));
            }
        }
        leftOver.forEach((name, scheduler) -> {
            linksByName.remove(name);
            scheduler.close();
        });
        links.forEach(each -> each.link().attach(each)); // What opens their gates may have had a link that is closed.
        now = new QosSnapshot(config, config.isOff() ? null : new Classifier(config), turns, List.copyOf(links));
        if (turns == null && before != null) {
            before.close();
        } else if (turns != null) {
            turns.scheduler().recheck();
        }
        if (config.isOff() && timer != null) {
            timer.close();
            timer = null;
        }
    }

    private QosTimer timer() {
        if (timer == null) {
            timer = timers.get();
        }
        return timer;
    }

    private boolean isHeldBack(String className) {
        for (LinkContent each : now.links()) {
            if (each.holdsBack(className)) {
                return true;
            }
        }
        return false;
    }

    private void roomAgain() {
        WaitingGrants turns = now.turns();
        if (turns != null) {
            turns.scheduler().recheck();
        }
    }

    public QosStatus status() {
        QosSnapshot current = now;
        List<QosStatus.Point> points = new ArrayList<>();
        if (current.turns() != null) {
            points.add(current.turns().scheduler().status());
        }
        current.links().forEach(each -> points.add(each.link().status()));
        return new QosStatus(points);
    }

    /** Lets everything go; nothing is scheduled any more. */
    public synchronized void close() {
        change(QosConfig.OFF);
        closed = true;
    }
}
