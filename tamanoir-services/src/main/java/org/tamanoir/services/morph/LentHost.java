package org.tamanoir.services.morph;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;

/**
 * What a service that is a handler of a chain has for a node: time, timers, counters and formats. It has no packets and
 * no levels below.
 *
 * <p>Thread contract: the thread of the handler's context, but for {@link #execute}.
 */
final class LentHost implements ServiceHost {
    private static final int MAX_WAITING = 1024;
    private static final int MAX_COUNTERS = 64;

    private record Timer(long dueNs, Runnable task) {}

    private final String name;
    private final ControlHost node;
    private final Map<String, Counter> counters = new ConcurrentHashMap<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(Timer::dueNs));
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger taskCount = new AtomicInteger();

    LentHost(String name, ControlHost node) {
        this.name = name;
        this.node = node;
    }

    /** Runs what is due, and returns when something is again. */
    long runDue(long nowNs) {
        // Those that are there now: one that gives itself again waits for the next call.
        for (int left = taskCount.get(); left > 0; left--) {
            Runnable task = tasks.poll();
            if (task != null) {
                taskCount.decrementAndGet();
                task.run();
            }
        }
        for (int left = timers.size(); left > 0 && !timers.isEmpty() && timers.peek().dueNs <= nowNs; left--) {
            timers.remove().task.run();
        }
        return timers.isEmpty() ? Long.MAX_VALUE : timers.peek().dueNs;
    }

    private UnsupportedOperationException refused(String what) {
        return new UnsupportedOperationException(name + " is a handler of chain " + node.serviceName() + " and has no "
                + what + " of its own: send messages by the outlet that handle is given");
    }

    @Override
    public void run(Service service) {
        throw refused("thread");
    }

    @Override
    public StreamInfo stream() {
        return new StreamInfo(
                StreamInfo.Transport.UDP, null, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @Override
    public Counter counter(String counter) {
        return counter(counter, Counter.Kind.SUM);
    }

    @Override
    public Counter counter(String counter, Counter.Kind kind) {
        return counters.computeIfAbsent(
                counters.containsKey(counter) || counters.size() < MAX_COUNTERS ? counter : "others",
                own -> new Counter(own, kind));
    }

    @Override
    public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
        throw refused("packets");
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {
        throw refused("packets");
    }

    @Override
    public void dropping(String reason) {
        throw refused("packets");
    }

    @Override
    public Offload offload(Flow flow, Policy policy) throws LevelException {
        throw new LevelException(name + " is a handler of a chain and has no packets of its own");
    }

    @Override
    public boolean isOffloaded() {
        return false;
    }

    @Override
    public void droppedBelow(String reason, long packets) {
        throw refused("packets");
    }

    @Override
    public Allotment allotment() {
        throw refused("turn");
    }

    @Override
    public long nanoTime() {
        return node.nanoTime();
    }

    @Override
    public void schedule(Duration delay, Runnable task) {
        if (timers.size() >= MAX_WAITING) {
            throw new IllegalStateException(
                    "timer " + (MAX_WAITING + 1) + ": a service may have " + MAX_WAITING + " waiting; use every()");
        }
        timers.add(new Timer(nanoTime() + Math.max(0, delay.toNanos()), task));
    }

    /** Runs a task with the next look at the time: no later than a second after it was given. Any thread. */
    @Override
    public boolean execute(Runnable task) {
        if (taskCount.incrementAndGet() > MAX_WAITING) {
            taskCount.decrementAndGet();
            return false;
        }
        return tasks.add(task);
    }

    @Override
    public FormatSource formats() {
        return node.formats();
    }

    @Override
    public @Nullable ServiceControl control() {
        return null;
    }
}
