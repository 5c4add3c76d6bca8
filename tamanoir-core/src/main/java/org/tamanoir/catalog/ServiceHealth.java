package org.tamanoir.catalog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.traffic.CounterTotals;

/**
 * What the instances of one service version did and used together: failures, quarantine, processor time and
 * allocation with their limits, and what they have counted.
 *
 * <p>A service that fails too often is put into quarantine: each exception counts one, an instance that does not return
 * {@value #STUCK_WEIGHT}, and every {@value #SUCCESSES_PER_FAILURE} packets processed well take one back; at {@value
 * #FAILURES_TOLERATED} it is enough. The first quarantine lasts {@link #FIRST_QUARANTINE}, each further one twice as
 * long as the one before up to {@link #LONGEST_QUARANTINE}, and after {@link #GOOD_PERIOD} without one it is the first
 * again. Whoever can make a service throw can have it quarantined, so a service should drop what it does not like.
 *
 * <p>What Java cannot enforce: threads of one JVM share heap and processors. A service pauses between packets, and is
 * stopped within one at a checkpoint only; a thread that spins where none is can be left behind but not killed, and goes
 * on using its processor until the JVM ends. A service that fills the heap, starts threads or holds locks that others need harms the whole node. The
 * limits count its own thread's time and allocation, the node's share of the work on that thread included, and not what
 * threads use that it started itself. Against services that mean harm only a process of their own helps.
 *
 * <p>Thread contract: any thread.
 */
public final class ServiceHealth {
    /** Failures, less what successes took back, that put a service into quarantine. */
    public static final int FAILURES_TOLERATED = 100;
    /** Packets processed well that make up for one failure. */
    static final int SUCCESSES_PER_FAILURE = 10;
    /** What an instance that does not return counts, in failures. */
    public static final int STUCK_WEIGHT = 25;

    static final Duration FIRST_QUARANTINE = Duration.ofSeconds(1);
    static final Duration LONGEST_QUARANTINE = Duration.ofMinutes(5);
    /** From a quarantine's end on. */
    static final Duration GOOD_PERIOD = Duration.ofMinutes(10);

    /** Time between two reports of instances that do not begin. */
    private static final Duration FAULT_REPORT = Duration.ofMinutes(1);

    private static final int QUARANTINED = 1;
    private static final int PAUSED = 2;
    private static final int SUSPECTED = 4;
    private static final VarHandle GATE;

    static {
        try {
            GATE = MethodHandles.lookup().findVarHandle(ServiceHealth.class, "gate", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LongSupplier nanoTime;
    private final @Nullable Throttle throttle;
    private final long packetBudgetNs;
    private volatile Totals totals = new Totals(new CounterTotals(), new CounterTotals(), new LevelTotals());

    private final AtomicLong processorNs = new AtomicLong();
    private final AtomicLong allocatedBytes = new AtomicLong();

    /** 0 while packets are simply processed: all that the packet path reads. Written under the lock. */
    private int gate;
    /** Failures not made up for; read without the lock to see whether successes are of interest. */
    private int score;

    private long successes;
    private long failures;
    private long quarantines;
    private long throttles;
    private long stuck;
    private int suspects;
    private volatile long quarantineEndNs;
    private Instant quarantineEnd = Instant.EPOCH;
    private String quarantineReason = "";
    private Duration lastQuarantine = Duration.ZERO;
    /** Why the last instance of a transport did not begin; of one that did there is nothing. */
    private final Map<Transport, String> faults = new EnumMap<>(Transport.class);
    /** What passes between two instances for UDP that do not begin; zero after one that did. */
    private Duration retry = Duration.ZERO;

    private long retryNs;
    /** The fault that was reported last; empty once an instance has begun since. */
    private String reportedFault = "";

    private long faultReportNs;

    /** What outlives instances, and other settings of the same version. */
    private record Totals(CounterTotals counters, CounterTotals dropReasons, LevelTotals below) {}

    /** Makes the health of a service without limits. */
    public ServiceHealth() {
        this(0, 0);
    }

    /**
     * With limits, which the environment holds by making instances pause.
     *
     * @param processors processor seconds per second; 0 = no limit
     * @param allocationBytesPerSecond heap; 0 = no limit
     */
    public ServiceHealth(double processors, long allocationBytesPerSecond) {
        this(processors, allocationBytesPerSecond, 0);
    }

    /** Makes it with a budget of processor time for each packet, in ns; 0 = none. */
    public ServiceHealth(double processors, long allocationBytesPerSecond, long packetBudgetNs) {
        this(processors, allocationBytesPerSecond, packetBudgetNs, System::nanoTime);
    }

    public ServiceHealth(double processors, long allocationBytesPerSecond, LongSupplier nanoTime) {
        this(processors, allocationBytesPerSecond, 0, nanoTime);
    }

    private ServiceHealth(
            double processors, long allocationBytesPerSecond, long packetBudgetNs, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.packetBudgetNs = packetBudgetNs;
        this.faultReportNs = nanoTime.getAsLong() - FAULT_REPORT.toNanos();
        this.throttle = processors > 0 || allocationBytesPerSecond > 0
                ? new Throttle(processors, allocationBytesPerSecond)
                : null;
    }

    /** Returns how many exceptions there were so far. */
    public synchronized long failures() {
        return failures;
    }

    /** Returns how often the service was put into quarantine. */
    public synchronized long quarantines() {
        return quarantines;
    }

    /** Returns when the quarantine ends; null when it is in none. */
    public @Nullable Instant quarantinedUntil() {
        if (!isQuarantined()) {
            return null;
        }
        synchronized (this) {
            return quarantineEnd;
        }
    }

    /** Returns why it is, or was last, in quarantine; empty when it never was. */
    public synchronized String quarantineReason() {
        return quarantineReason;
    }

    /**
     * Notes how an instance has begun.
     *
     * @param transport what it serves: one for UDP serves all of it, so streams that begin say nothing of it
     * @param how in one line, why it did not; empty if it did
     * @return whether to report it: it did not, for another reason than the instance reported last or after one that did,
     *     and there was no report for {@link #FAULT_REPORT}, since the reason may name what differs each time
     */
    public synchronized boolean began(Transport transport, String how) {
        long nowNs = nanoTime.getAsLong();
        if (how.isEmpty()) {
            faults.remove(transport);
        } else {
            faults.put(transport, how);
        }
        if (transport == Transport.UDP) {
            scheduleRetry(how.isEmpty(), nowNs);
        }
        if (faults.isEmpty()) {
            reportedFault = "";
        }
        if (how.isEmpty()) {
            return false;
        }
        if (how.equals(reportedFault) || nowNs - faultReportNs < FAULT_REPORT.toNanos()) {
            return false;
        }
        reportedFault = how;
        faultReportNs = nowNs;
        return true;
    }

    private void scheduleRetry(boolean hasBegun, long nowNs) {
        if (hasBegun) {
            retry = Duration.ZERO;
        } else if (retry.isZero() || nowNs - retryNs >= 0) { // Else it is another worker, of the same attempt.
            retry = longerThan(retry);
            retryNs = nowNs + retry.toNanos();
        }
    }

    /**
     * Returns how long not to try another instance for UDP in place of one that did not begin, since a fault may pass: at
     * first for {@link #FIRST_QUARANTINE}, then each time twice as long up to {@link #LONGEST_QUARANTINE}, and in no
     * quarantine; 0 or less = now.
     */
    public synchronized Duration untilRetry() {
        long nowNs = nanoTime.getAsLong();
        long restNs = retry.isZero() ? 0 : retryNs - nowNs;
        return Duration.ofNanos(isQuarantined() ? Math.max(restNs, quarantineEndNs - nowNs) : restNs);
    }

    /** Returns whether the last instance for this transport did not begin. */
    public synchronized boolean isFaulty(Transport transport) {
        return faults.containsKey(transport);
    }

    /** Returns in one line why the last instance for UDP, or else of a stream, did not begin; empty if both did. */
    public synchronized String fault() {
        return faults.isEmpty() ? "" : faults.getOrDefault(Transport.UDP, faults.getOrDefault(Transport.TCP, ""));
    }

    /** Puts the service into quarantine: its packets follow its failure policy unprocessed until the time is over. */
    public synchronized void quarantine(Duration time, String why) {
        quarantineEndNs = nanoTime.getAsLong() + time.toNanos();
        quarantineEnd = Instant.now().plus(time);
        quarantineReason = why;
        quarantines++;
        score = 0;
        successes = 0;
        set(QUARANTINED, true);
    }

    /** Ends a quarantine and forgets failures; the next instance may be tried at once. */
    public synchronized void release() {
        retry = Duration.ZERO;
        score = 0;
        successes = 0;
        lastQuarantine = Duration.ZERO;
        set(QUARANTINED, false);
    }

    /** Returns whether its packets go unprocessed now. */
    public boolean isQuarantined() {
        if (((int) GATE.getOpaque(this) & QUARANTINED) == 0) {
            return false;
        }
        if (nanoTime.getAsLong() - quarantineEndNs < 0) {
            return true;
        }
        synchronized (this) {
            if (nanoTime.getAsLong() - quarantineEndNs >= 0) {
                set(QUARANTINED, false);
            }
        }
        return false;
    }

    /**
     * A failure.
     *
     * @param weight in failures
     * @return the time of the quarantine that it led to, null when it led to none
     */
    public synchronized @Nullable Duration failed(int weight, String why) {
        failures++;
        if (isQuarantined()) {
            return null; // Of packets that were in process when it began.
        }
        score += weight;
        return score < FAILURES_TOLERATED ? null : quarantineAnew(why);
    }

    /** Puts the service into quarantine for as long as it is its turn, and returns that time. */
    public synchronized Duration quarantineAnew(String why) {
        boolean good = nanoTime.getAsLong() - quarantineEndNs >= GOOD_PERIOD.toNanos();
        lastQuarantine = longerThan(good ? Duration.ZERO : lastQuarantine);
        quarantine(lastQuarantine, why);
        return lastQuarantine;
    }

    private static Duration longerThan(Duration before) {
        Duration time = before.isZero() ? FIRST_QUARANTINE : before.multipliedBy(2);
        return time.compareTo(LONGEST_QUARANTINE) < 0 ? time : LONGEST_QUARANTINE;
    }

    /** Returns whether successes can make up for something; else they need not be told. */
    public boolean hasFailed() {
        return score > 0;
    }

    /** Counts packets processed well. */
    public synchronized void succeeded(long packets) {
        successes += packets;
        score = (int) Math.max(0, score - successes / SUCCESSES_PER_FAILURE);
        successes %= SUCCESSES_PER_FAILURE;
    }

    /** Returns whether packets are simply processed: no quarantine, no pause, no suspicion. The packet path. */
    public boolean isOpen() {
        return (int) GATE.getOpaque(this) == 0;
    }

    /** Returns whether instances are to pause between batches. */
    public boolean isPaused() {
        return ((int) GATE.getOpaque(this) & PAUSED) != 0;
    }

    public synchronized void pause(boolean on) {
        if (on) {
            throttles++;
        }
        set(PAUSED, on);
    }

    /** Notes that an instance may not return, until {@link #cleared}: all of them report when they return. */
    public synchronized void suspected() {
        suspects++;
        set(SUSPECTED, true);
    }

    public synchronized void cleared() {
        suspects--;
        set(SUSPECTED, suspects > 0);
    }

    private void set(int bit, boolean on) {
        GATE.setVolatile(this, on ? gate | bit : gate & ~bit);
    }

    /** Returns the processor time of all its threads, in ns, as of the last measurement: where a service has no limits, when its instances were last asked for. */
    public long processorNs() {
        return processorNs.get();
    }

    /** Returns the bytes of heap that all its threads allocated, as of the last measurement, as for {@link #processorNs}. */
    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    /** Returns how often its instances were made to pause because it was over a limit. */
    public synchronized long throttles() {
        return throttles;
    }

    /** Returns how many instances did not return from its code in time, and were cut loose. */
    public synchronized long stuck() {
        return stuck;
    }

    public void used(long ns, long bytes) {
        processorNs.addAndGet(ns);
        allocatedBytes.addAndGet(bytes);
    }

    public synchronized void leftBehind() {
        stuck++;
    }

    /** Returns what its instances have counted by names of their own. */
    public CounterTotals counters() {
        return totals.counters;
    }

    /** Returns the reasons that its instances gave for drops. */
    public CounterTotals dropReasons() {
        return totals.dropReasons;
    }

    /** Returns what levels below have done for its instances. */
    public LevelTotals below() {
        return totals.below;
    }

    /** Goes on with the totals of the same version under other settings; before the first instance. */
    public void goOnCounting(ServiceHealth before) {
        totals = before.totals;
    }

    /** Returns what a packet may use of a processor, in ns; 0 = any time. */
    public long packetBudgetNs() {
        return packetBudgetNs;
    }

    /** Returns what holds it to its limits; null when it has none. */
    @Nullable
    public Throttle throttle() {
        return throttle;
    }
}
