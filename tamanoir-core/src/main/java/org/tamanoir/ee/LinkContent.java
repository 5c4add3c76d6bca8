package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.Item;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QueueingDiscipline;
import org.tamanoir.qdisc.Shaper;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.qdisc.TrafficClass;

/**
 * What waits for a link, in its discipline and behind it, and the classes by which it is counted.
 *
 * <p>Thread contract: inside the link's lock.
 */
final class LinkContent {
    /** Items of withdrawn queues that may stand in the discipline, and as many again as there are others. */
    private static final int FEW_ITEMS = 64;

    private final String name;
    private final LinkTime time;
    private final Set<OrderedLinkQueue> orderedQueues = Collections.newSetFromMap(new IdentityHashMap<>());
    private final LinkClasses classes = new LinkClasses();
    private final List<LinkItem> drained = new ArrayList<>();
    /** Queues whose next run is to be submitted. */
    private final List<OrderedLinkQueue> toSubmit = new ArrayList<>();

    private String discipline = "";
    private long burst;
    private @Nullable TokenBucket bucket;
    private @Nullable Shaper shaper;
    private boolean roomAgain;
    private @Nullable LinkItem arriving;
    private @Nullable DropReason arrivingRefused;
    private @Nullable LinkQueue caller;
    /** Items in the discipline whose queues were withdrawn. */
    private int deadItems;

    LinkContent(String name, LongSupplier clock) {
        this.name = name;
        this.time = new LinkTime(clock);
    }

    /** Looks at the clock; first of all whenever something is asked. */
    void tick() {
        time.tick(shaper == null || shaper.packets() == 0 ? null : bucket, burst);
    }

    /** When {@link #tick} looked, by the clock. */
    long nowNs() {
        return time.nowNs();
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    void change(QosConfig config, Link link) {
        tick();
        List<FlowConfig> flows = new ArrayList<>();
        for (TrafficClass each : config.classes()) {
            flows.add(new FlowConfig(each.weight(), each.limitPackets(), each.limitOctets()));
        }
        QueueingDiscipline made = Disciplines.create(
                link.discipline(), new DisciplineConfig(flows, link.rate(), link.options()), this::dropped);
        drain();
        List<LinkClass> gone = classes.change(config);
        discipline = link.discipline();
        burst = link.burst();
        TokenBucket tokens = bucket;
        if (tokens == null) {
            tokens = new TokenBucket(link.rate(), link.burst(), time.linkNs());
            bucket = tokens;
        } else {
            tokens.change(link.rate(), link.burst(), time.linkNs());
        }
        shaper = new Shaper(made, tokens, link.police(), this::dropped);
        reclassify();
        enqueueDrained();
        gone.forEach(LinkClass::dissolve);
    }

    /** Everything that waits is of a class of the new configuration from now on, and counted there. */
    private void reclassify() {
        for (LinkItem item : drained) {
            if (!(item.queue instanceof OrderedLinkQueue)) {
                classes.reclassify(item);
            }
        }
        for (OrderedLinkQueue queue : orderedQueues) {
            for (LinkItem item = queue.first(); item != null; item = item.behind) {
                classes.reclassify(item);
            }
            queue.reclassified();
        }
    }

    LinkClasses classes() {
        return classes;
    }

    // ---- in --------------------------------------------------------------------------------------------------------

    /** Takes tokens for packets that need not wait; false when they have to. */
    boolean pass(long octets) {
        return shaper().pass(octets, time.linkNs());
    }

    /** Tokens that {@link #pass} took and nobody needs. */
    void giveBack(long octets) {
        tokens().giveBack(octets);
    }

    /** The item waits from now on. */
    void begin(LinkItem item, LinkClass itsClass, int octets) {
        item.trafficClass = itsClass;
        item.octets = octets;
        item.sinceNs = time.nowNs();
        item.granted = false;
        item.reason = null;
        itsClass.begins(octets);
    }

    /** Puts a datagram into the discipline; returns why that does not take it. */
    @Nullable
    DropReason enqueue(LinkItem item, long hash) {
        arriving = item;
        arrivingRefused = null;
        item.describe(item.currentClass().index(), item.octets, hash, true);
        submit(item);
        arriving = null;
        return arrivingRefused;
    }

    /** Puts a packet behind those of its connection. */
    void append(OrderedLinkQueue queue, LinkItem item) {
        boolean joins = queue.wouldJoinRun(item.currentClass());
        if (queue.isEmpty()) {
            orderedQueues.add(queue);
        }
        // Packets of a connection must not overtake each other, whatever streams they belong to.
        item.describe(item.currentClass().index(), item.octets, System.identityHashCode(queue), false);
        queue.append(item);
        if (joins) {
            submit(item);
        }
    }

    private void submit(LinkItem item) {
        item.submitted = true;
        item.currentClass().queued(item.octets);
        if (item.queue instanceof OrderedLinkQueue ordered) {
            ordered.submitted();
        }
        shaper().enqueue(item, time.linkNs());
    }

    private void submitRuns() {
        while (!toSubmit.isEmpty()) {
            OrderedLinkQueue queue = toSubmit.remove(toSubmit.size() - 1);
            LinkItem item = queue.awaitsRun() ? queue.beginRun() : null;
            LinkClass itsClass = item == null ? null : item.currentClass();
            while (item != null && item.currentClass() == itsClass) {
                LinkItem next = item.behind;
                queue.runEndsBefore(next);
                item.describe(item.currentClass().index(), item.octets, item.hash(), false);
                submit(item);
                item = next;
            }
        }
    }

    // ---- out -------------------------------------------------------------------------------------------------------

    /**
     * Grants what may go now.
     *
     * @param asking looks by itself, and need not be woken
     * @return nanoseconds until something may go again; the maximum when nothing waits
     */
    long grant(@Nullable LinkQueue asking) {
        Shaper from = shaper();
        caller = asking;
        submitRuns();
        Item next;
        while ((next = from.dequeue(time.linkNs())) != null) {
            LinkItem item = (LinkItem) next;
            if (item.queue.isWithdrawn()) {
                deadItems--;
                tokens().giveBack(item.octets);
            } else {
                leaveDiscipline(item);
                release(item);
                submitRuns();
            }
        }
        caller = null;
        long readyNs = from.readyNs(time.linkNs());
        return readyNs == Long.MAX_VALUE ? readyNs : readyNs - time.linkNs();
    }

    private void leaveDiscipline(LinkItem item) {
        item.submitted = false;
        item.currentClass().unqueued(item.octets);
        roomAgain |= item.currentClass().hasRoomAgain();
    }

    /** The item is granted: it is its owner's again, once those before it in an ordered queue are. */
    void release(LinkItem item) {
        LinkClass itsClass = item.currentClass();
        itsClass.ends(item.octets);
        itsClass.counts.served(1, item.octets);
        itsClass.counts.waited(time.nowNs() - item.sinceNs);
        if (item.queue instanceof OrderedLinkQueue ordered && !ordered.isEmpty()) {
            item.granted = true;
            ordered.granted();
            ordered.giveBackGranted();
            if (ordered.awaitsRun()) {
                toSubmit.add(ordered);
            }
        } else {
            item.queue.giveBack(item);
        }
        if (item.queue != caller) {
            item.queue.wakeIfReturned();
        }
    }

    /** The discipline gives an item back, or refuses it. */
    private void dropped(Item dropped, DropReason reason) {
        LinkItem item = (LinkItem) dropped;
        if (item.queue.isWithdrawn()) {
            deadItems--;
            return;
        }
        leaveDiscipline(item);
        if (item.queue instanceof OrderedLinkQueue) {
            release(item); // Too long for the bucket since a change; nothing of a stream is lost.
            return;
        }
        LinkClass itsClass = item.currentClass();
        itsClass.ends(item.octets);
        itsClass.counts.dropped(reason, 1, item.octets);
        if (reason == DropReason.QUEUE_FULL) {
            itsClass.refused();
        }
        if (item == arriving) {
            arrivingRefused = reason;
        } else {
            item.reason = reason;
            item.queue.giveBack(item);
            item.queue.wakeIfReturned();
        }
    }

    /** The queue's owner is gone: nothing of it waits any more. */
    void withdraw(LinkQueue queue) {
        if (queue instanceof OrderedLinkQueue ordered) {
            withdrawAll(ordered);
        } else if (!queue.isWithdrawn()) {
            takeOut(queue, false);
        }
        queue.withdraw();
    }

    /** Its items in the discipline are dead; they are taken out when there are many. */
    private void withdrawAll(OrderedLinkQueue queue) {
        for (LinkItem item = queue.first(); item != null; item = item.behind) {
            item.currentClass().ends(item.octets);
            if (item.submitted) {
                leaveDiscipline(item);
                deadItems++;
            }
        }
        queue.clear();
        queue.withdraw();
        orderedQueues.remove(queue);
        classes.awaitRoomNoMore(queue);
        if (deadItems > FEW_ITEMS && deadItems > shaper().packets() / 2) {
            drain();
            enqueueDrained();
        }
    }

    /** Takes the datagrams of a queue out of the discipline, and grants or forgets them. */
    void takeOut(LinkQueue queue, boolean grants) {
        drain();
        drained.removeIf(item -> {
            boolean its = item.queue == queue;
            if (its && grants) {
                release(item);
            } else if (its) {
                item.currentClass().ends(item.octets);
            }
            return its;
        });
        enqueueDrained();
    }

    /** Grants everything. */
    void releaseAll() {
        drain();
        drained.forEach(this::release);
        drained.clear();
        for (OrderedLinkQueue queue : orderedQueues) {
            LinkItem item;
            while ((item = queue.first()) != null) {
                release(item);
            }
        }
        orderedQueues.clear();
        toSubmit.clear();
        classes.dissolve();
        roomAgain = true;
    }

    /** Takes all items out of the discipline, but for the dead. */
    private void drain() {
        if (shaper != null) {
            shaper.drain(each -> {
                LinkItem item = (LinkItem) each;
                if (!item.queue.isWithdrawn()) {
                    item.submitted = false;
                    item.currentClass().unqueued(item.octets);
                    drained.add(item);
                }
            });
        }
        deadItems = 0;
    }

    /**
     * Puts back what was drained; nothing is dropped. What is too long for the bucket now is granted, and with it those
     * of its class before it.
     */
    private void enqueueDrained() {
        boolean[] grants = new boolean[classes.count()];
        for (int i = drained.size() - 1; i >= 0; i--) {
            LinkItem item = drained.get(i);
            int index = item.currentClass().index();
            grants[index] |= item.octets > burst;
            item.granted = grants[index];
        }
        for (LinkItem item : drained) {
            if (item.granted) {
                release(item);
            } else {
                item.submitted = true;
                item.currentClass().queued(item.octets);
                item.describe(item.currentClass().index(), item.octets, item.hash(), false);
                shaper().enqueue(item, time.linkNs());
            }
        }
        for (LinkItem item : drained) {
            if (item.submitted && !(item.queue instanceof OrderedLinkQueue)) {
                item.describe(item.flow(), item.octets, item.hash(), true);
            }
        }
        drained.clear();
        roomAgain |= classes.haveRoomAgain();
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    private Shaper shaper() {
        return required(shaper);
    }

    private TokenBucket tokens() {
        return required(bucket);
    }

    private <T> T required(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("link " + name + " has no configuration yet");
        }
        return part;
    }

    boolean isEmpty() {
        return shaper().packets() == 0;
    }

    /** Whether a class that was full has room again; asked once. */
    boolean takeRoomAgain() {
        boolean was = roomAgain;
        roomAgain = false;
        return was;
    }

    String discipline() {
        return discipline;
    }
}
