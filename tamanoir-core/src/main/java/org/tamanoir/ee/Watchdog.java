package org.tamanoir.ee;

import com.sun.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.service.Service;

/**
 * Watches services from outside: reads what their threads use and holds them to their limits; finds instances that do
 * not return from the service's code, interrupts them, and gives them up if that does not help.
 *
 * <p>It looks ten times a second while instances run, less often when there are so many that it would take more than a
 * fiftieth of a processor, and sleeps while there are none.
 *
 * <p>Thread contract: its own thread, but for what is said to be any thread's.
 */
final class Watchdog implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    private static final long TICK_NS = 100_000_000;
    /** It sleeps at least this many times as long as it worked. */
    private static final long REST_FACTOR = 50;
    /** From the interrupt to giving up. */
    private static final Duration GRACE = Duration.ofSeconds(2);
    /** Between two reports that the same service is throttled. */
    private static final Duration THROTTLE_REPORT = Duration.ofMinutes(1);

    private final ExecutionEnvironment environment;
    private final Thread thread = new Thread(this, "watchdog");
    private final long stuckNs;
    private final long graceNs;
    private final Map<ServiceInstance, Watch> watches = new IdentityHashMap<>();
    private final Map<ServiceLife, Long> throttleReportsNs = new WeakHashMap<>();
    private volatile boolean stopped;

    /** What is known of one instance. */
    private static final class Watch {
        long progress = -1;
        long sinceNs;
        boolean interrupted;
        long interruptedNs;
        /** Nothing happened since it was last read. */
        boolean unchanged;
    }

    Watchdog(ExecutionEnvironment environment, Duration stuckTimeout) {
        this.environment = environment;
        this.stuckNs = stuckTimeout.toNanos();
        this.graceNs = Math.min(GRACE.toNanos(), stuckNs);
        thread.setDaemon(true);
    }

    /** Any thread. */
    void start() {
        if (Meter.THREADS == null) {
            LOG.warn("this JVM does not count the processor time and allocation of threads: limits are not held");
        }
        thread.start();
    }

    /** Looks at an instance that has come. Any thread. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread. Any other thread; returns when it is so. */
    void stop() throws InterruptedException {
        stopped = true;
        wake();
        thread.join();
    }

    @Override
    public void run() {
        long workedBeforeNs = 0;
        while (!stopped) {
            long startNs = System.nanoTime();
            List<ServiceInstance> instances = environment.running().watched();
            try {
                tick(instances, startNs);
            } catch (RuntimeException e) {
                LOG.error("watchdog: a look at the services failed", e);
            }
            long workedNs = System.nanoTime() - startNs;
            if (instances.isEmpty()) {
                LockSupport.park(this);
            } else {
                // One slow look, the first one for instance, says little.
                sleep(Math.max(TICK_NS, Math.min(workedNs, workedBeforeNs) * REST_FACTOR));
            }
            workedBeforeNs = workedNs;
        }
        environment
                .running()
                .watched()
                .forEach(instance -> goOn(instance.definition().life()));
    }

    /** New instances wake the thread when it need not be: it sleeps on. */
    private void sleep(long ns) {
        long endNs = System.nanoTime() + ns;
        long leftNs;
        while (!stopped && (leftNs = endNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private void tick(List<ServiceInstance> instances, long nowNs) {
        watches.keySet().retainAll(identitySet(instances));
        List<ServiceInstance> changed = new ArrayList<>();
        for (ServiceInstance instance : instances) {
            Watch watch = watches.computeIfAbsent(instance, i -> new Watch());
            if (look(instance, watch, nowNs) || !watch.unchanged) {
                changed.add(instance);
            }
        }
        read(changed);
        limit(instances, nowNs);
    }

    private static Set<ServiceInstance> identitySet(List<ServiceInstance> instances) {
        Set<ServiceInstance> set = Collections.newSetFromMap(new IdentityHashMap<>());
        set.addAll(instances);
        return set;
    }

    // ---- use and limits ---------------------------------------------------------------------------------------------

    private static void read(List<ServiceInstance> instances) {
        ThreadMXBean bean = Meter.THREADS;
        if (bean == null || instances.isEmpty()) {
            return;
        }
        long[] ids = instances.stream()
                .mapToLong(instance -> instance.thread().getId())
                .toArray();
        long[] processorNs = bean.getThreadCpuTime(ids);
        long[] octets = bean.getThreadAllocatedBytes(ids);
        for (int i = 0; i < ids.length; i++) {
            instances.get(i).meter().read(processorNs[i], octets[i]); // -1 for a thread that has ended
        }
    }

    private void limit(List<ServiceInstance> instances, long nowNs) {
        Map<ServiceLife, ServiceDefinition> limited = new IdentityHashMap<>();
        for (ServiceInstance instance : instances) {
            ServiceDefinition definition = instance.definition();
            if (definition.life().throttle() != null) {
                limited.put(definition.life(), definition);
            }
        }
        limited.forEach((life, definition) -> {
            Throttle throttle = life.throttle();
            if (throttle == null || Meter.THREADS == null) {
                return;
            }
            switch (throttle.measure(nowNs, life.processorNs(), life.allocatedOctets())) {
                case PAUSES -> {
                    life.pause(true);
                    reportThrottled(definition, nowNs);
                }
                case GOES_ON -> {
                    life.pause(false);
                    for (ServiceInstance instance : instances) {
                        if (instance.definition().life() == life) {
                            instance.loop.wakeup();
                        }
                    }
                }
                case OVERRUN -> {
                    if (!life.isQuarantined()) {
                        environment
                                .incidents()
                                .quarantined(
                                        definition,
                                        life.quarantineAnew("over its limits, and does not pause between packets"));
                    }
                }
                case NONE -> {}
            }
        });
    }

    private void reportThrottled(ServiceDefinition definition, long nowNs) {
        Long before = throttleReportsNs.get(definition.life());
        if (before == null || nowNs - before >= THROTTLE_REPORT.toNanos()) {
            throttleReportsNs.put(definition.life(), nowNs);
            environment
                    .incidents()
                    .tell(
                            Incident.Kind.THROTTLED,
                            definition,
                            "service " + definition.label() + " is over its limits: its instances pause");
        }
    }

    private static void goOn(ServiceLife life) {
        if (life.isPaused()) {
            life.pause(false);
        }
    }

    // ---- services that do not return --------------------------------------------------------------------------------

    /** Whether the instance has done something since the last look. */
    private boolean look(ServiceInstance instance, Watch watch, long nowNs) {
        long progress = instance.traffic.progress();
        boolean resting = instance.isResting();
        if (resting || progress != watch.progress) {
            watch.unchanged = resting && progress == watch.progress;
            watch.progress = progress;
            watch.sinceNs = nowNs;
            watch.interrupted = false;
            return !watch.unchanged;
        }
        watch.unchanged = false;
        if (instance.isAbandoned()) {
            return true;
        }
        if (!watch.interrupted && nowNs - watch.sinceNs >= stuckNs) {
            suspect(instance, watch, nowNs);
        } else if (watch.interrupted && nowNs - watch.interruptedNs >= graceNs) {
            if (frameOfService(instance) == null
                    || !environment.running().abandon(instance, DropReason.SERVICE_FAILURE)) {
                watch.interrupted = false;
                watch.sinceNs = nowNs;
            }
        }
        return true;
    }

    private void suspect(ServiceInstance instance, Watch watch, long nowNs) {
        instance.supervision().suspect();
        StackTraceElement frame = frameOfService(instance);
        if (frame == null) {
            instance.supervision().clear();
            watch.sinceNs = nowNs;
            return;
        }
        watch.interrupted = true;
        watch.interruptedNs = nowNs;
        environment
                .incidents()
                .tell(
                        Incident.Kind.STUCK,
                        instance.definition(),
                        instance.thread().getName() + ": service "
                                + instance.definition().label() + " has not returned for "
                                + Duration.ofNanos(nowNs - watch.sinceNs).toMillis() + " ms, at " + frame
                                + "; interrupted");
        instance.supervision().interrupt();
    }

    /** Gives up an instance whose thread is in the service's code, at the end of the environment. Any thread. */
    void giveUp(ServiceInstance instance) {
        instance.supervision().suspect();
        if (frameOfService(instance) == null || !environment.running().abandon(instance, DropReason.SHUTDOWN)) {
            instance.supervision().clear();
        }
    }

    /**
     * Where the thread stands, if it is in the service's code: the topmost frame. The node's own waiting, called from
     * there, does not count.
     */
    private static @Nullable StackTraceElement frameOfService(ServiceInstance instance) {
        if (instance.isResting()) {
            return null;
        }
        StackTraceElement[] stack = instance.thread().getStackTrace();
        for (StackTraceElement frame : stack) {
            if (isOfService(instance.service().getClass(), frame)) {
                return stack[0];
            }
        }
        return null;
    }

    private static boolean isOfService(Class<?> service, StackTraceElement frame) {
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
