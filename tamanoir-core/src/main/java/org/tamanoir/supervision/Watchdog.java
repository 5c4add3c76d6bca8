package org.tamanoir.supervision;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.Throttle;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.service.Service;

/**
 * Watches services from outside: reads what the threads of those with limits use and holds them to these; finds
 * instances that do not return from the service's code, interrupts them, and gives them up if that does not help.
 *
 * <p>While instances run it looks twice a second; ten times where that matters: services have limits, or not to return
 * for less than 5 s is too long, and there are at most {@value #MANY} instances. It looks less often when a look would
 * take more than a fiftieth of a processor, and sleeps while there are no instances. Packets that have no other
 * processor wait meanwhile; so the processor time of a service without limits is read only when somebody wants to know
 * it, {@link Supervision#processorNs}.
 *
 * <p>Thread contract: its own thread, but for what is said to be any thread's.
 */
public final class Watchdog<I extends Watchdog.Watched> {
    private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
    private static final long TICK_NS = 500_000_000;
    private static final long SHORT_TICK_NS = 100_000_000;
    /** The longest patience that short ticks are for. */
    private static final long SHORT_PATIENCE_NS = 10 * TICK_NS;
    /** The most instances that are looked at in short ticks. */
    private static final int MANY = 256;
    /** It sleeps at least this many times as long as it worked. */
    private static final long REST_FACTOR = 50;
    /** Between two signs of life. */
    private static final long LONGEST_PARK_NS = 500_000_000;
    /** For the thread to end its round. */
    private static final long STOP_PATIENCE_MS = 10_000;
    /** From the interrupt to giving up. */
    private static final Duration GRACE = Duration.ofSeconds(2);
    /** Between two reports that the same service is throttled. */
    private static final Duration THROTTLE_REPORT = Duration.ofMinutes(1);

    private final Fleet<I> fleet;
    private final Incidents incidents;
    private final Platform platform;
    private final CoreThread thread;
    private final long stuckNs;
    private final long graceNs;
    private final Map<ServiceHealth, Long> throttleReportsNs = new WeakHashMap<>();
    /** Given up, and each has a carrier in place of the one that it keeps until it ends. */
    private final List<Supervision> keepers = new ArrayList<>();

    private volatile boolean stopped;
    /** It waits for the first instance, or looks whether there is one. */
    private volatile boolean isIdle;

    private long workedBeforeNs;
    private boolean isLimiting;

    /** An instance of a service. */
    public interface Watched {
        /** Returns what is known of its thread. */
        Supervision supervision();

        /** Returns how far it has come: the same while it does nothing. */
        long progress();

        /** Returns how many packets its service has returned, well or not: the same while it is in one. A guess. */
        long call();

        /** Returns whether its thread is in the service's code. A guess. */
        boolean isInService();

        /** Has it look whether it may go on. */
        void wake();
    }

    /**
     * The instances that are watched.
     *
     * <p>Thread contract: any thread.
     */
    public interface Fleet<I> {
        /** Returns those that run, and those given up whose threads still do. */
        List<I> watched();

        /** Returns whether an instance has not ended, as far as is known. */
        boolean isRunning(I instance);

        /** Gives an instance up that does not return; returns false when it has. */
        boolean abandon(I instance, DropReason reason);
    }

    public Watchdog(Fleet<I> fleet, Incidents incidents, CoreThreads threads, Duration stuckTimeout) {
        this.fleet = fleet;
        this.incidents = incidents;
        this.platform = threads.platform();
        this.stuckNs = stuckTimeout.toNanos();
        this.graceNs = Math.min(GRACE.toNanos(), stuckNs);
        this.thread = new CoreThread("watchdog", threads, this::round, this::end);
    }

    /** Starts the thread that watches; any thread may call. */
    public void start() {
        if (Meter.THREADS == null) {
            LOG.warn("this JVM does not count the processor time and allocation of threads: limits are not held");
        }
        thread.start();
    }

    /** Looks at an instance that has come, unless it comes round by itself in time. Any thread. */
    public void wake(ServiceDefinition of) {
        if (isIdle || of.health().packetBudgetNs() > 0) {
            thread.unpark();
        }
    }

    /** Ends the thread. Any other thread; returns, in bounded time, when it is so. */
    public void stop() {
        stopped = true;
        thread.stop();
        thread.join(STOP_PATIENCE_MS);
    }

    private void round() {
        long startNs = platform.nanoTime();
        isIdle = true; // Before it looks: who comes behind that wakes it.
        List<I> instances = fleet.watched();
        isIdle = instances.isEmpty();
        takeBackCarriers();
        tick(instances, startNs);
        long workedNs = platform.nanoTime() - startNs;
        if (instances.isEmpty()) {
            thread.park(LONGEST_PARK_NS);
        } else {
            // One slow look, the first one for instance, says little.
            boolean isUrgent = isLimiting || stuckNs < SHORT_PATIENCE_NS;
            long tickNs = isUrgent && instances.size() <= MANY ? SHORT_TICK_NS : TICK_NS;
            long restNs = Math.min(workedNs, workedBeforeNs) * REST_FACTOR;
            // A round is slow where what it is there to end takes the processors.
            sleep(instances, Math.max(tickNs, Math.min(restNs, stuckNs / 4)));
        }
        workedBeforeNs = workedNs;
    }

    private void end() {
        for (I instance : fleet.watched()) {
            goOn(instance.supervision().definition().health());
            instance.supervision().remind(false);
        }
    }

    /** Sleeps on when it was woken as it fell asleep; looks meanwhile at packets that have budgets. */
    private void sleep(List<I> instances, long ns) {
        long nowNs = platform.nanoTime();
        long endNs = nowNs + ns;
        List<I> seen = instances;
        while (!stopped && endNs - nowNs > 0) {
            long nextNs = Budgets.look(seen);
            long workedNs = platform.nanoTime() - nowNs;
            thread.park(Math.min(
                    Math.min(endNs - nowNs, LONGEST_PARK_NS),
                    nextNs == Budgets.NEVER ? nextNs : Math.max(nextNs, workedNs * REST_FACTOR)));
            nowNs = platform.nanoTime();
            seen = endNs - nowNs > 0 ? fleet.watched() : seen;
        }
    }

    private void tick(List<I> instances, long nowNs) {
        List<I> limited = new ArrayList<>();
        for (I instance : instances) {
            Supervision supervision = instance.supervision();
            boolean worked = look(instance, supervision.watch, nowNs);
            boolean isLimited = supervision.definition().health().throttle() != null;
            if (isLimited) {
                limited.add(instance);
            }
            if (worked && (isLimited || supervision.isGivenUp())) {
                supervision.meter().read();
            }
        }
        isLimiting = !limited.isEmpty() && Meter.THREADS != null;
        if (isLimiting) {
            limit(limited, nowNs);
        }
    }

    private void limit(List<I> instances, long nowNs) {
        Set<ServiceHealth> measured = Collections.newSetFromMap(new IdentityHashMap<>());
        for (I instance : instances) {
            ServiceDefinition definition = instance.supervision().definition();
            Throttle throttle = definition.health().throttle();
            if (throttle != null && measured.add(definition.health())) {
                limit(definition, throttle, instances, nowNs);
            }
        }
    }

    private void limit(ServiceDefinition definition, Throttle throttle, List<I> instances, long nowNs) {
        ServiceHealth life = definition.health();
        switch (throttle.measure(nowNs, life.processorNs(), life.allocatedBytes())) {
            case PAUSES -> {
                life.pause(true);
                reportThrottled(definition, nowNs);
            }
            case GOES_ON -> {
                life.pause(false);
                for (I instance : instances) {
                    if (instance.supervision().definition().health() == life) {
                        instance.wake();
                    }
                }
            }
            case OVERRUN -> {
                if (!life.isQuarantined()) {
                    incidents.quarantined(
                            definition, life.quarantineAnew("over its limits, and does not pause between packets"));
                }
            }
            case NONE -> {}
        }
    }

    private void reportThrottled(ServiceDefinition definition, long nowNs) {
        Long before = throttleReportsNs.get(definition.health());
        if (before == null || nowNs - before >= THROTTLE_REPORT.toNanos()) {
            throttleReportsNs.put(definition.health(), nowNs);
            incidents.tell(
                    Incident.Kind.THROTTLED,
                    definition,
                    "service " + definition.label() + " is over its limits: its instances pause");
        }
    }

    private static void goOn(ServiceHealth life) {
        if (life.isPaused()) {
            life.pause(false);
        }
    }

    /** Returns whether the instance has done something since the last look. */
    private boolean look(I instance, Supervision.Watch watch, long nowNs) {
        long progress = instance.progress();
        boolean resting = instance.supervision().isResting();
        if (resting || progress != watch.progress) {
            boolean worked = !resting || progress != watch.progress;
            watch.progress = progress;
            since(instance, watch, nowNs);
            watch.interrupted = false;
            return worked;
        }
        if (instance.supervision().isGivenUp()) {
            instance.supervision().remind(true);
            return true;
        }
        if (instance.supervision().isDead() && fleet.isRunning(instance)) {
            // Not even the end of its thread's body was possible, for want of memory for instance.
            instance.supervision().suspect();
            fleet.abandon(instance, DropReason.SERVICE_FAILURE);
            return true;
        }
        long waitedNs = instance.supervision().waitedNs() - watch.waitedNs;
        if (!watch.interrupted && nowNs - watch.sinceNs - waitedNs >= stuckNs) {
            suspect(instance, watch, nowNs);
        } else if (watch.interrupted && nowNs - watch.interruptedNs >= graceNs) {
            if (placeInService(instance) == null || !fleet.abandon(instance, DropReason.SERVICE_FAILURE)) {
                watch.interrupted = false;
                since(instance, watch, nowNs);
            } else {
                replaceCarrier(instance.supervision());
            }
        }
        return true;
    }

    private static <I extends Watched> void since(I instance, Supervision.Watch watch, long nowNs) {
        watch.sinceNs = nowNs;
        watch.waitedNs = instance.supervision().waitedNs();
    }

    /** Makes up for the thread of the operating system that a virtual one keeps which spins, or waits for a monitor. */
    private void replaceCarrier(Supervision given) {
        Thread.State state = given.thread().getState();
        boolean keeps =
                state == Thread.State.RUNNABLE || state == Thread.State.BLOCKED && !VirtualThreads.leaveForMonitors();
        if (keeps && VirtualThreads.isVirtual(given.thread())) {
            int carriers = VirtualThreads.addCarriers(1);
            if (carriers > 0) {
                keepers.add(given);
            }
            LOG.warn(
                    "{}: keeps a carrier of virtual threads: {}",
                    given.name(),
                    carriers > 0
                            ? "there is one more in its place, " + carriers + " in all"
                            : "streams have one less until the node starts anew; Java 24 and later replaces it");
        }
    }

    /** Those that came back after all have ended, and have left what they kept. */
    private void takeBackCarriers() {
        keepers.removeIf(each -> {
            if (each.isAlive()) {
                return false;
            }
            LOG.info("{}: has come back: {} carriers of virtual threads", each.name(), VirtualThreads.addCarriers(-1));
            return true;
        });
    }

    private void suspect(I instance, Supervision.Watch watch, long nowNs) {
        long call = instance.call(); // First: a later one has not lasted.
        instance.supervision().suspect();
        String place = placeInService(instance);
        if (place == null || instance.call() != call) {
            instance.supervision().clear();
            since(instance, watch, nowNs);
            return;
        }
        watch.interrupted = true;
        watch.interruptedNs = nowNs;
        incidents.tell(
                Incident.Kind.STUCK,
                instance.supervision().definition(),
                instance.supervision().name() + ": service "
                        + instance.supervision().definition().label() + " has not returned for "
                        + Duration.ofNanos(nowNs - watch.sinceNs).toMillis() + " ms, at " + place
                        + "; interrupted");
        instance.supervision().stop(DropReason.SERVICE_FAILURE, call, "it has not returned in time; see the log above");
        instance.supervision().interrupt();
    }

    /** Gives up an instance whose thread is in the service's code, at the end of the environment. Any thread. */
    public void giveUp(I instance) {
        instance.supervision().suspect();
        if (placeInService(instance) == null || !fleet.abandon(instance, DropReason.SHUTDOWN)) {
            instance.supervision().clear();
        }
    }

    /**
     * Returns where the thread stands, if it is in the service's code: the topmost frame, and that of the service which
     * called it. The node's own waiting, called from there, does not count.
     */
    private @Nullable String placeInService(I instance) {
        if (instance.supervision().isResting()) {
            return null;
        }
        StackTraceElement[] stack = instance.supervision().thread().getStackTrace();
        if (stack.length > 0
                && (instance.supervision().isLockedOut()
                        || instance.supervision().isInterrupting())) {
            // It waits for a monitor that the service holds, or for the service's channel to close.
            return stack[0].toString();
        }
        for (StackTraceElement frame : stack) {
            if (isOfService(instance.supervision().service().getClass(), frame)) {
                return frame == stack[0] ? frame.toString() : stack[0] + ", called from " + frame;
            }
        }
        return null;
    }

    private static boolean isOfService(Class<?> service, StackTraceElement frame) {
        if (frame.getClassName().equals(ForeignFailure.class.getName())) {
            return true; // It reads what the service threw.
        }
        String loader = service.getClassLoader() == null
                ? null
                : service.getClassLoader().getName();
        if (loader != null && !loader.equals("app") && loader.equals(frame.getClassLoaderName())) {
            return true;
        }
        for (Class<?> type = service; type != null && type != Service.class; type = type.getSuperclass()) {
            if (isInNestOf(type.getName(), frame.getClassName())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isInNestOf(String service, String frame) {
        int nest = service.indexOf('$');
        String outermost = nest < 0 ? service : service.substring(0, nest);
        return frame.equals(outermost) || frame.startsWith(outermost + "$");
    }
}
