package org.tamanoir.services;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SplittableRandom;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/**
 * Loses, doubles, reorders and delays packets, as bad networks do: for tests and for teaching. The same seed and the same
 * packets meet the same fates.
 *
 * <table><caption>Settings</caption>
 * <tr><th>name</th><th>default</th><th>allowed</th></tr>
 * <tr><td>{@code loss}</td><td>0</td><td>percent of packets that are lost, 0 to 100, as in {@code 0.5}</td></tr>
 * <tr><td>{@code double}</td><td>0</td><td>percent that leave twice, one behind the other</td></tr>
 * <tr><td>{@code reorder}</td><td>0</td><td>percent that wait until others have overtaken them, or a second has
 * passed</td></tr>
 * <tr><td>{@code reorder-by}</td><td>3</td><td>how many overtake one, 1 to 1000</td></tr>
 * <tr><td>{@code delay}</td><td>0</td><td>ms that each waits, 0 to 60000</td></tr>
 * <tr><td>{@code jitter}</td><td>0</td><td>ms that one waits longer at most, evenly spread, 0 to 60000; so packets
 * overtake each other</td></tr>
 * <tr><td>{@code limit}</td><td>1000</td><td>packets that wait at most, 1 to 100000</td></tr>
 * <tr><td>{@code seed}</td><td>1</td><td>a whole number</td></tr>
 * <tr><td>{@code next}</td><td>{@code none}</td><td>name of the service that the next node shall run</td></tr>
 * </table>
 *
 * <p>Counters: {@code packets}, {@code lost}, {@code doubled}, {@code reordered}, {@code delayed}. Drops: {@code lost by
 * chance}, and {@code too many packets wait} beyond the limit. A packet that waits is copied, and counts as consumed and,
 * when it leaves, as made; what waits when its stream ends leaves at once.
 */
public final class Impair extends Service {
    private static final long LONGEST_OVERTAKING_NS = 1_000_000_000;
    private static final long NS_PER_MS = 1_000_000;
    private static final long MAX_MS = 60_000;

    /** A packet that waits until then at most; {@code number} tells apart those that are due together. */
    private record Waiting(Packet packet, long dueNs, long number) {}

    private final Queue<Waiting> slow =
            new PriorityQueue<>(Comparator.comparingLong(Waiting::dueNs).thenComparingLong(Waiting::number));
    /** In their order, which is also that of their numbers: of the last packet that is to overtake them. */
    private final Deque<Waiting> overtaken = new ArrayDeque<>();
    /** When the next timer fires. */
    private long timerNs = Long.MAX_VALUE;

    private SplittableRandom random = new SplittableRandom();
    private double loss;
    private double doubling;
    private double reordering;
    private long overtaking;
    private long delayMs;
    private long jitterMs;
    private long limit;
    private long seen;
    private long startNs;
    /** Since the start. */
    private long nowNs;

    private NextService next = new NextService(0);
    private Counter packets = new Counter("packets");
    private Counter lost = new Counter("lost");
    private Counter doubled = new Counter("doubled");
    private Counter reordered = new Counter("reordered");
    private Counter delayed = new Counter("delayed");

    @Override
    public void init(ServiceConfig config) {
        config.allow("loss", "double", "reorder", "reorder-by", "delay", "jitter", "limit", "seed", "next");
        loss = share(config, "loss");
        doubling = share(config, "double");
        reordering = share(config, "reorder");
        overtaking = config.number("reorder-by", 3, 1, 1_000);
        delayMs = config.number("delay", 0, 0, MAX_MS);
        jitterMs = config.number("jitter", 0, 0, MAX_MS);
        limit = config.number("limit", 1_000, 1, 100_000);
        random = new SplittableRandom(config.number("seed", 1, Long.MIN_VALUE, Long.MAX_VALUE));
        next = NextService.of(config);
        startNs = nanoTime();
        packets = counter("packets");
        lost = counter("lost");
        doubled = counter("doubled");
        reordered = counter("reordered");
        delayed = counter("delayed");
    }

    private static double share(ServiceConfig config, String key) {
        String text = config.text(key, "0");
        try {
            double percent = Double.parseDouble(text);
            if (percent >= 0 && percent <= 100) {
                return percent / 100;
            }
        } catch (NumberFormatException e) {
            // The message below is the same for text and for a number out of bounds.
        }
        throw new IllegalArgumentException(key + ": " + text + " must be percent from 0 to 100, as in 0.5");
    }

    @Override
    public Verdict process(Packet packet) {
        packets.add(1);
        seen++;
        nowNs = nanoTime() - startNs;
        releaseOvertaken();
        // Each packet draws all of its lots, so that one setting does not change what the others do.
        boolean isLost = random.nextDouble() < loss;
        boolean isDoubled = random.nextDouble() < doubling;
        boolean isReordered = random.nextDouble() < reordering;
        long waitMs = delayMs + random.nextLong(jitterMs + 1);
        if (isLost) {
            lost.add(1);
            return drop("lost by chance");
        }
        next.name(packet);
        if (isReordered) {
            reordered.add(1);
            return hold(packet, isDoubled, overtaken, LONGEST_OVERTAKING_NS, seen + overtaking);
        }
        if (waitMs > 0) {
            delayed.add(1);
            return hold(packet, isDoubled, slow, waitMs * NS_PER_MS, seen);
        }
        if (isDoubled) {
            doubled.add(1);
            emit(packet.copy());
        }
        return Verdict.FORWARD;
    }

    private Verdict hold(Packet packet, boolean twice, Queue<Waiting> where, long longestNs, long number) {
        int copies = twice ? 2 : 1;
        if (slow.size() + overtaken.size() + copies > limit) {
            return drop("too many packets wait");
        }
        doubled.add(copies - 1);
        for (int i = 0; i < copies; i++) {
            where.add(new Waiting(packet.copy(), nowNs + longestNs, number));
        }
        setTimer();
        return Verdict.CONSUME;
    }

    /** Has one timer for all that wait, since an instance may have a thousand alone. */
    private void setTimer() {
        long next = Math.min(dueNs(slow), dueNs(overtaken));
        if (next < timerNs) {
            timerNs = next;
            after(Duration.ofNanos(Math.max(0, next - nowNs)), () -> {
                if (timerNs != next) {
                    return; // An earlier one has taken its place.
                }
                timerNs = Long.MAX_VALUE;
                nowNs = nanoTime() - startNs;
                release(slow);
                release(overtaken);
                setTimer();
            });
        }
    }

    private static long dueNs(Queue<Waiting> waiting) {
        Waiting first = waiting.peek();
        return first == null ? Long.MAX_VALUE : first.dueNs;
    }

    private void release(Queue<Waiting> waiting) {
        while (dueNs(waiting) <= nowNs) {
            emit(waiting.remove().packet);
        }
    }

    private void releaseOvertaken() {
        for (Waiting first = overtaken.peek(); first != null && first.number < seen; first = overtaken.peek()) {
            emit(overtaken.remove().packet);
        }
    }

    @Override
    public void endOfStream() {
        nowNs = Long.MAX_VALUE - 1;
        release(overtaken);
        release(slow);
    }
}
