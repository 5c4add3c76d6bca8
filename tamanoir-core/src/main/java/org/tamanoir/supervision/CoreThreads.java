package org.tamanoir.supervision;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.platform.Starter;
import org.tamanoir.platform.ThreadRanks;

/**
 * The {@link CoreThread}s of an environment: what is wrong with them, and who is told when one is lost.
 *
 * <p>Thread contract: any thread.
 */
public final class CoreThreads {
    private static final Logger LOG = LoggerFactory.getLogger(CoreThreads.class);
    /** How long rounds may fail, one after another, before a thread is given up: a full heap may empty meanwhile. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** Far above what a round takes under load, a long pause of the collector included. */
    private static final Duration ROUND_LIMIT = Duration.ofSeconds(10);
    /** Between two lines in the log. */
    private static final long LINE_NS = 1_000_000_000;

    private final List<CoreThread> threads = new CopyOnWriteArrayList<>();
    private final Platform platform;
    private final long patienceNs;
    private final long roundLimitNs;
    private volatile BiConsumer<String, Throwable> onLoss = (name, cause) -> {};
    private volatile ThreadRanks ranks = ThreadRanks.NONE;
    private volatile ServiceGroups groups = ServiceGroups.NONE;
    private volatile Starter starter = Starter.DIRECT;
    private long lastLineNs;
    private long unsaid;

    public CoreThreads(Platform platform) {
        this(platform, PATIENCE, ROUND_LIMIT);
    }

    CoreThreads(Platform platform, Duration patience, Duration roundLimit) {
        this.platform = platform;
        this.lastLineNs = platform.nanoTime() - LINE_NS;
        this.patienceNs = patience.toNanos();
        this.roundLimitNs = roundLimit.toNanos();
    }

    public Platform platform() {
        return platform;
    }

    /** Has threads that start from now on take their ranks here. */
    public void rank(ThreadRanks ranks) {
        this.ranks = ranks;
    }

    public ThreadRanks ranks() {
        return ranks;
    }

    /** Has threads of services that start from now on join these. */
    public void group(ServiceGroups groups) {
        this.groups = groups;
    }

    public ServiceGroups groups() {
        return groups;
    }

    /** Has threads of services be started as the caller would from now on, whoever has it done. */
    public void beginStarter() {
        starter = platform.newStarter();
    }

    public void endStarter() {
        starter.close();
    }

    /** Returns what threads of services are started by. */
    public Starter starter() {
        return starter;
    }

    /** Returns for how many ns rounds may fail before their thread is given up. */
    long patience() {
        return patienceNs;
    }

    /** Calls this with the name of each thread that is given up, on that thread; it may not count on any memory. */
    public void onLoss(BiConsumer<String, Throwable> told) {
        onLoss = told;
    }

    void add(CoreThread thread) {
        threads.add(thread);
    }

    void remove(CoreThread thread) {
        threads.remove(thread);
    }

    /** Returns what is wrong with them, a line for each; empty when all do their work. */
    public List<String> problems() {
        long nowNs = platform.nanoTime();
        List<String> problems = new ArrayList<>();
        for (CoreThread thread : threads) {
            String problem = thread.problem(nowNs, roundLimitNs);
            if (problem != null) {
                problems.add(problem);
            }
        }
        return problems;
    }

    /** Tells that a round has failed, and its thread goes on; one line a second at most is logged. Throws nothing. */
    public void survived(String name, long failures, Throwable e) {
        try {
            long left = leftUnsaid();
            if (left >= 0) {
                LOG.error(
                        "{}: a fault of the node; what it was at is dropped, the thread goes on "
                                + "({} failures of this thread so far, {} of all not logged)",
                        name,
                        failures,
                        left,
                        ForeignFailure.of(e));
            }
        } catch (Throwable again) {
            unsaid(); // Without memory there is no line, but there is the count.
        }
    }

    /** Returns how many failures went without a line since the last one; -1 when it is too early for another. */
    private synchronized long leftUnsaid() {
        long nowNs = platform.nanoTime();
        if (nowNs - lastLineNs < LINE_NS) {
            unsaid++;
            return -1;
        }
        lastLineNs = nowNs;
        long left = unsaid;
        unsaid = 0;
        return left;
    }

    private synchronized void unsaid() {
        unsaid++;
    }

    /** Tells that a thread is given up. Throws nothing. */
    void lost(CoreThread thread, Throwable e) {
        try {
            onLoss.accept(thread.name(), e);
        } catch (Throwable again) {
            unsaid();
        }
        try {
            LOG.error("core thread {} cannot go on", thread.name(), ForeignFailure.of(e));
        } catch (Throwable again) {
            unsaid(); // The health says it.
        }
    }
}
