package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Slot;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TokenBucket;

/**
 * What waits for a link: its contents, each under its configuration. A content gives nothing before those that it
 * follows are empty, so nothing overtakes at a change. All of them leave at the rate that holds, by one bucket.
 *
 * <p>A content that is followed takes no more than threads bring that have not seen the change. It becomes empty by
 * itself, since the link grants whatever its owners do; only a discipline that gives nothing could prevent that. So what
 * such a one has kept back for the patience leaves at once.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #takeRoomAgain}.
 */
final class LinkSuccession {
    private final LinkTime time;
    private final long patienceNs;
    private final TokenBucket bucket;
    private final PointCounts counts;
    /** The oldest first; the last is that which holds, the others have something waiting. */
    private final List<LinkContent> contents = new ArrayList<>();
    /** Queues whose next run is to be submitted. */
    private final List<OrderedLinkQueue<?>> toSubmit = new ArrayList<>();

    private long burst;
    private String discipline = "";
    private volatile boolean roomAgain;
    private @Nullable LinkQueue<?> caller;

    /**
     * @param clock in ns
     * @param patienceNs for which a discipline may give nothing while another content follows
     * @param arena that shows the link
     */
    LinkSuccession(Link first, LongSupplier clock, long patienceNs, Arena arena) {
        this.counts = PointCounts.ofLink(first.name(), arena);
        this.time = new LinkTime(clock);
        this.bucket = new TokenBucket(first.rate(), first.burst(), time.linkNs());
        this.patienceNs = patienceNs;
    }

    /** Looks at the clock; first of all whenever something is asked. */
    void tick() {
        time.tick(isEmpty() ? null : bucket, burst);
    }

    /** Returns when {@link #tick} looked, by the clock. */
    long nowNs() {
        return time.nowNs();
    }

    /** Returns the same by the link's time. */
    long linkNs() {
        return time.linkNs();
    }

    /** Has packets that come from now on wait under this configuration, behind all that waits. */
    LinkContent change(LinkScheduler link, QosConfig config, Link settings) {
        LinkContent next = new LinkContent(link, this, config, settings, bucket, counts);
        bucket.change(settings.rate(), settings.burst(), time.linkNs());
        burst = settings.burst();
        discipline = settings.discipline();
        if (!contents.isEmpty()) {
            contents.get(contents.size() - 1).succeeded();
        }
        contents.add(next);
        return next;
    }

    boolean isEmpty() {
        for (LinkContent each : contents) {
            if (!each.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    // ---- in --------------------------------------------------------------------------------------------------------

    /** Takes tokens for packets that need not wait; false when they have to, or a gate has to be asked. */
    boolean pass(long bytes) {
        return isEmpty() && !contents.get(contents.size() - 1).isGated() && bucket.take(bytes, time.linkNs());
    }

    /** Takes tokens back that {@link #pass} took and nobody needs. */
    void giveBack(long bytes) {
        bucket.giveBack(bytes);
    }

    /** The item waits from now on, of this class. */
    void begin(LinkItem<?> item, LinkClass itsClass, int bytes) {
        if (!contents.contains(itsClass.content)) {
            contents.add(0, itsClass.content); // Its thread has not seen the change.
        }
        itsClass.content.begin(item, itsClass, bytes);
    }

    /** Has the next run of a queue submitted with the next grant. */
    void submitLater(OrderedLinkQueue<?> queue) {
        toSubmit.add(queue);
    }

    private void submitRuns() {
        while (!toSubmit.isEmpty()) {
            submitRun(toSubmit.remove(toSubmit.size() - 1));
        }
    }

    private static <P> void submitRun(OrderedLinkQueue<P> queue) {
        LinkItem<P> item = queue.awaitsRun() ? queue.beginRun() : null;
        LinkClass itsClass = item == null ? null : item.currentClass();
        while (item != null && item.currentClass() == itsClass) {
            LinkItem<P> next = item.behind;
            queue.runEndsBefore(next);
            item.currentClass().content.submit(item);
            item = next;
        }
    }

    // ---- out -------------------------------------------------------------------------------------------------------

    /**
     * Grants what may go now.
     *
     * @param asking looks by itself, and need not be woken
     * @return nanoseconds until something may go again; the maximum when nothing waits
     */
    long grant(@Nullable LinkQueue<?> asking) {
        caller = asking;
        submitRuns();
        long waitNs = grantOldest();
        while (contents.size() > 1 && contents.get(0).isEmpty()) {
            contents.remove(0);
            waitNs = grantOldest();
        }
        caller = null;
        return waitNs;
    }

    private long grantOldest() {
        LinkContent oldest = contents.get(0);
        LinkItem<?> item;
        while ((item = oldest.next()) != null) {
            oldest.release(item);
            submitRuns();
        }
        if (contents.size() == 1 || oldest.isEmpty() || oldest.keptBackNs() == 0) {
            return oldest.waitNs();
        }
        if (oldest.keptBackNs() >= patienceNs) {
            oldest.releaseAll();
            submitRuns();
        }
        return Math.min(oldest.waitNs(), Math.max(0, patienceNs - oldest.keptBackNs()));
    }

    /** The queue has something back: wakes its owner, unless that is asking. */
    void returned(LinkQueue<?> queue) {
        if (queue != caller) {
            queue.wakeIfReturned();
        }
    }

    /** The queue's owner is gone: nothing of it waits any more. */
    void withdraw(LinkQueue<?> queue) {
        OrderedLinkQueue<?> ordered = queue.ordered();
        if (ordered != null) {
            for (LinkItem<?> item = ordered.first(); item != null; item = item.behind) {
                item.currentClass().content.forget(item);
            }
            ordered.clear();
        } else if (!queue.isWithdrawn()) {
            contents.forEach(each -> each.takeOut(queue, false));
        }
        contents.forEach(each -> each.awaitsRoomNoMore(queue));
        queue.withdraw();
    }

    /** Grants all datagrams of a queue. */
    void grantAll(LinkQueue<?> queue) {
        contents.forEach(each -> each.takeOut(queue, true));
    }

    /** Grants everything. */
    void releaseAll() {
        do {
            contents.forEach(LinkContent::releaseAll);
            submitRuns();
        } while (!isEmpty());
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    /** Records that classes of turns are held back no more. */
    void roomAgain() {
        roomAgain = true;
    }

    /** Returns whether classes of turns were held back and are no more, and forgets it. Any thread. */
    boolean takeRoomAgain() {
        if (!roomAgain) {
            return false;
        }
        roomAgain = false;
        return true;
    }

    Slot slot() {
        return counts.slot();
    }

    /** Has the arena show the link as it is; last of all whenever something was asked. */
    void publish() {
        counts.tick(time.nowNs());
        counts.link(bucket.rate(), bucket.tokens());
    }

    /** The arena shows the link no more. */
    void close() {
        counts.close();
    }

    QosStatus.Point status(String link) {
        return counts.status(link, discipline);
    }
}
