package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * Keeps account of what stands in a discipline, of this package or of a user, and sees to it that an item that is
 * enqueued comes out once at most. An item that stands somewhere already is refused; linked twice, it would take others
 * with it, or have the discipline go round in a circle for ever.
 *
 * <p>A discipline that throws, or gives what does not stand in it, has failed. From then on a queue in the order of
 * arrival takes its place, with all that stood in it. One that never gives an item back, without an exception, is not
 * found out: the item waits until it is {@linkplain #remove removed}, and counts as waiting.
 *
 * <p>Cost: a few words written for each item that comes or goes; no allocation. Thread contract: that of
 * {@link QueueingDiscipline}.
 */
public final class GuardedDiscipline implements QueueingDiscipline {
    private final String name;
    private final DisciplineConfig config;
    private final Drops drops;
    /** Null = who calls is told by the exception, and nothing takes the discipline's place. */
    private final @Nullable BiConsumer<String, Throwable> failures;

    private @Nullable QueueingDiscipline guarded;
    /** All that stand in it, in the order of arrival. */
    private @Nullable Item oldest;

    private @Nullable Item newest;
    private int packets;
    private long bytes;

    GuardedDiscipline(
            String name, DisciplineConfig config, Drops drops, @Nullable BiConsumer<String, Throwable> failures) {
        this.name = name;
        this.config = config;
        this.drops = drops;
        this.failures = failures;
    }

    /** Begins to guard a discipline, which was made with {@link #dropped}. */
    void guard(QueueingDiscipline made) {
        guarded = made;
    }

    /** Returns the discipline if it is gated, and has not failed; else null. */
    public @Nullable GatedDiscipline gated() {
        return guarded instanceof GatedDiscipline gated ? gated : null;
    }

    private QueueingDiscipline guarded() {
        QueueingDiscipline known = guarded;
        if (known == null) {
            throw new IllegalStateException("discipline " + name + " was not made yet");
        }
        return known;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        enter(item);
        try {
            guarded().enqueue(item, nowNs);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        Item item;
        try {
            item = guarded().dequeue(nowNs);
            if (item != null) {
                leave(item);
            }
        } catch (RuntimeException | Error e) {
            failed(e);
            item = guarded().dequeue(nowNs);
            if (item != null) {
                leave(item);
            }
        }
        return item;
    }

    /** Takes what the discipline drops. */
    void dropped(Item item, DropReason reason) {
        if (!item.standsIn(this)) {
            throw new IllegalStateException("discipline " + name + " dropped an item that does not stand in it");
        }
        drops.dropped(item, reason);
        leave(item);
    }

    @Override
    public int packets() {
        return packets;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long readyNs(long nowNs) {
        try {
            return packets == 0 ? Long.MAX_VALUE : guarded().readyNs(nowNs);
        } catch (RuntimeException | Error e) {
            failed(e);
            return packets == 0 ? Long.MAX_VALUE : nowNs;
        }
    }

    @Override
    public void charge(int flow, long rest) {
        try {
            guarded().charge(flow, rest);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    @Override
    public void remove(Item item, long nowNs) {
        if (!item.standsIn(this)) {
            throw new IllegalStateException("an item that does not stand in discipline " + name + " is to be removed");
        }
        try {
            guarded().remove(item, nowNs);
        } catch (RuntimeException | Error e) {
            failed(e);
            guarded().remove(item, nowNs);
        }
        leave(item);
    }

    /** Returns all that stand in it, in the order of arrival. */
    public List<Item> items() {
        List<Item> all = new ArrayList<>(packets);
        for (Item item = oldest; item != null; item = item.newer) {
            all.add(item);
        }
        return all;
    }

    // ---- the account -----------------------------------------------------------------------------------------------

    private void enter(Item item) {
        item.enter(this);
        item.older = newest;
        if (newest == null) {
            oldest = item;
        } else {
            newest.newer = item;
        }
        newest = item;
        packets++;
        bytes += item.size;
    }

    private void leave(Item item) {
        item.leave(this);
        Item older = item.older;
        Item newer = item.newer;
        item.older = null;
        item.newer = null;
        if (older == null) {
            oldest = newer;
        } else {
            older.newer = newer;
        }
        if (newer == null) {
            newest = older;
        } else {
            newer.older = older;
        }
        packets--;
        bytes -= item.size;
    }

    /** Puts a queue in the order of arrival in the discipline's place. */
    private void failed(Throwable failure) {
        if (failures == null) {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }
        Fifo inOrder = new Fifo(new DisciplineConfig(config.flows(), 0, Map.of()), this::dropped);
        for (Item item = oldest; item != null; item = item.newer) {
            inOrder.take(item);
        }
        GatedDiscipline gate = gated();
        guarded = inOrder;
        if (gate != null) {
            try {
                gate.abandoned();
            } catch (RuntimeException | Error e) {
                failure.addSuppressed(e);
            }
        }
        failures.accept(
                "discipline " + name + " failed, with " + packets
                        + " waiting: they are served in the order of arrival until the scheduling is configured anew",
                failure);
    }
}
