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
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.Verdict;

/**
 * Loses, doubles, reorders and delays packets, as bad networks do: for tests and for teaching. The same seed and the same
 * packets meet the same fates.
 *
 * <p>Counters: {@code packets}, {@code lost}, {@code doubled}, {@code reordered}, {@code delayed}. Drops: {@code lost by
 * chance}, and {@code too many packets wait} beyond the limit. A packet that waits is copied, and counts as consumed and,
 * when it leaves, as made; what waits when its stream ends leaves at once.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "loss",
                    kind = Setting.Kind.DECIMAL,
                    standard = "0",
                    min = 0,
                    max = 100,
                    text = "percent of packets that are lost"),
            @Setting(
                    name = "double",
                    kind = Setting.Kind.DECIMAL,
                    standard = "0",
                    min = 0,
                    max = 100,
                    text = "percent that leave twice, one behind the other"),
            @Setting(
                    name = "reorder",
                    kind = Setting.Kind.DECIMAL,
                    standard = "0",
                    min = 0,
                    max = 100,
                    text = "percent that wait until others have overtaken them, or a second has passed"),
            @Setting(
                    name = "reorder-by",
                    kind = Setting.Kind.NUMBER,
                    standard = "3",
                    min = 1,
                    max = 1_000,
                    text = "how many overtake one"),
            @Setting(
                    name = "delay",
                    kind = Setting.Kind.NUMBER,
                    standard = "0",
                    min = 0,
                    max = 60_000,
                    text = "ms that each waits"),
            @Setting(
                    name = "jitter",
                    kind = Setting.Kind.NUMBER,
                    standard = "0",
                    min = 0,
                    max = 60_000,
                    text = "ms that one waits longer at most, evenly spread, so that packets overtake each other"),
            @Setting(
                    name = "limit",
                    kind = Setting.Kind.NUMBER,
                    standard = "1000",
                    min = 1,
                    max = 100_000,
                    text = "packets that wait at most"),
            @Setting(name = "seed", kind = Setting.Kind.NUMBER, standard = "1", text = "of what is drawn by lot")
        })
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
        loss = config.decimal("loss", 0, 0, 100) / 100;
        doubling = config.decimal("double", 0, 0, 100) / 100;
        reordering = config.decimal("reorder", 0, 0, 100) / 100;
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
