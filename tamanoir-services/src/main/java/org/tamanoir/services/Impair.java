package org.tamanoir.services;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
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
    private static final Duration LONGEST_OVERTAKING = Duration.ofSeconds(1);
    private static final long MAX_MS = 60_000;

    /** A packet that waits; behind a number of packets, or for a timer. */
    private static final class Waiting {
        final Packet packet;
        final long behind;

        Waiting(Packet packet, long behind) {
            this.packet = packet;
            this.behind = behind;
        }
    }

    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private SplittableRandom random = new SplittableRandom();
    private double loss;
    private double doubling;
    private double reordering;
    private long overtaking;
    private long delayMs;
    private long jitterMs;
    private long limit;
    private long seen;
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
            return hold(packet, isDoubled, seen + overtaking, LONGEST_OVERTAKING);
        }
        if (waitMs > 0) {
            delayed.add(1);
            return hold(packet, isDoubled, Long.MAX_VALUE, Duration.ofMillis(waitMs));
        }
        if (isDoubled) {
            doubled.add(1);
            emit(packet.copy());
        }
        return Verdict.FORWARD;
    }

    private Verdict hold(Packet packet, boolean twice, long behind, Duration longest) {
        if (waiting.size() + (twice ? 2 : 1) > limit) {
            return drop("too many packets wait");
        }
        hold(packet.copy(), behind, longest);
        if (twice) {
            doubled.add(1);
            hold(packet.copy(), behind, longest);
        }
        return Verdict.CONSUME;
    }

    private void hold(Packet copy, long behind, Duration longest) {
        Waiting held = new Waiting(copy, behind);
        waiting.add(held);
        after(longest, () -> {
            if (waiting.remove(held)) {
                emit(held.packet);
            }
        });
    }

    private void releaseOvertaken() {
        for (Iterator<Waiting> all = waiting.iterator(); all.hasNext(); ) {
            Waiting held = all.next();
            if (held.behind < seen) {
                all.remove();
                emit(held.packet);
            }
        }
    }

    @Override
    public void endOfStream() {
        for (Waiting held = waiting.poll(); held != null; held = waiting.poll()) {
            emit(held.packet);
        }
    }
}
