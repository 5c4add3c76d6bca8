package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.GuardedDiscipline;
import org.tamanoir.qdisc.Item;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.Shaper;
import org.tamanoir.qdisc.TokenBucket;

/**
 * What waits for a link under one configuration: in its discipline, or behind it in queues of connections.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #link}.
 */
public final class LinkContent {
    private static final Logger LOG = LoggerFactory.getLogger(LinkContent.class);

    private final LinkScheduler link;
    private final LinkSuccession succession;
    private final LinkClass[] classes;
    private final Map<String, LinkClass> byName = new HashMap<>();
    private final GuardedDiscipline discipline;
    /** The same, if it is gated. */
    private final @Nullable GatedDiscipline gated;

    private final Shaper shaper;
    /** Bit i = class i gets no turns, since packets that its turns lead to find no room here. */
    private volatile long heldBack;
    /** Packets, in the discipline or behind it. */
    private int waiting;
    /** When it gave something last, or its successor came. */
    private long movedNs;

    private @Nullable LinkItem<?> arriving;
    private @Nullable DropReason arrivingRefused;

    /**
     * @param bucket of the link
     * @param counts by whose classes it counts
     * @throws IllegalArgumentException if the discipline cannot be made; nothing is changed then
     */
    LinkContent(
            LinkScheduler link,
            LinkSuccession succession,
            QosConfig config,
            Link settings,
            TokenBucket bucket,
            PointCounts counts) {
        this.link = link;
        this.succession = succession;
        this.discipline = Disciplines.create(
                settings.discipline(),
                new DisciplineConfig(config.flows(), settings.rate(), settings.options()),
                this::dropped,
                (line, failure) -> LOG.error("link {}: {}", settings.name(), line, failure));
        this.gated = discipline.gated();
        this.shaper = new Shaper(discipline, bucket, settings.police(), this::dropped);
        counts.change(config);
        this.classes = new LinkClass[config.classes().size()];
        long[] turnWeights = config.turnWeights();
        long streamBytes = link.streamBytes(settings);
        for (int i = 0; i < classes.length; i++) {
            String name = config.classes().get(i).name();
            classes[i] = new LinkClass(this, i, config.classes().get(i), turnWeights, streamBytes, counts.of(name));
            byName.put(name, classes[i]);
        }
    }

    /** Has its discipline's gate opened by this, if it has one. */
    void attach(GatedDiscipline.@Nullable Opener opener) {
        if (gated == null) {
            return;
        }
        try {
            if (opener == null) {
                throw new IllegalArgumentException("nothing here opens its gate");
            }
            opener.attach(gated, link);
        } catch (IllegalArgumentException e) {
            LOG.error("link {}: packets leave as they come: {}", link.name(), e.getMessage());
        }
    }

    /** Returns what its discipline has to know of a datagram. Any thread. */
    public long tag(Packet packet) {
        return gated == null ? Classifier.streamHash(packet) : gated.tag(packet);
    }

    /** Returns whether others wait until packets that its discipline gave have left. Any thread. */
    public boolean awaitsDeparture() {
        return gated != null && gated.awaitsDeparture();
    }

    /** Returns whether packets wait in the discipline also while nothing else does. Any thread. */
    boolean isGated() {
        return gated != null;
    }

    /** Returns the link that packets wait for. Any thread. */
    public LinkScheduler link() {
        return link;
    }

    LinkClass classAt(int index) {
        return classes[index];
    }

    /** Returns whether a class of this name gets no turns, since their packets find no room here. Any thread. */
    boolean holdsBack(String className) {
        long now = heldBack;
        LinkClass known = now == 0 ? null : byName.get(className);
        return known != null && (now >>> known.index & 1) != 0;
    }

    void heldBackChanged() {
        long all = 0;
        for (LinkClass each : classes) {
            all |= each.heldBack();
        }
        heldBack = all;
    }

    /** Returns the place of the class of a turn, or {@link LinkItem#NO_TURN}. Any thread. */
    int classOf(@Nullable CpuGrant turn) {
        LinkClass known = turn == null ? null : byName.get(turn.ofClass().name);
        return known == null ? LinkItem.NO_TURN : known.index;
    }

    boolean isEmpty() {
        return waiting == 0;
    }

    // ---- in --------------------------------------------------------------------------------------------------------

    /** The item waits from now on. */
    void begin(LinkItem<?> item, LinkClass itsClass, int bytes) {
        item.trafficClass = itsClass;
        item.bytes = bytes;
        item.sinceNs = succession.nowNs();
        item.granted = false;
        item.reason = null;
        itsClass.counts.waits(1, bytes);
        waiting++;
    }

    private void ends(LinkItem<?> item) {
        item.currentClass().counts.waits(-1, -item.bytes);
        waiting--;
    }

    /** Puts a datagram into the discipline; returns why that does not take it. */
    @Nullable
    DropReason enqueue(LinkItem<?> item, long hash) {
        if (item.currentClass().yieldsRoom(item)) {
            ends(item);
            item.currentClass().counts.dropped(DropReason.QUEUE_FULL, 1, item.bytes);
            return DropReason.QUEUE_FULL;
        }
        arriving = item;
        arrivingRefused = null;
        item.describe(item.currentClass().index, item.bytes, hash, true);
        submit(item);
        arriving = null;
        return arrivingRefused;
    }

    /** Puts a packet behind those of its connection. */
    <P> void append(OrderedLinkQueue<P> queue, LinkItem<P> item) {
        boolean joins = queue.wouldJoinRun(item.currentClass());
        // Packets of a connection must not overtake each other, whatever streams they belong to.
        item.describe(item.currentClass().index, item.bytes, System.identityHashCode(queue), false);
        queue.append(item);
        if (joins) {
            submit(item);
        }
    }

    void submit(LinkItem<?> item) {
        item.submitted = true;
        item.currentClass().queued(item);
        OrderedLinkQueue<?> ordered = item.queue.ordered();
        if (ordered != null) {
            ordered.submitted();
        }
        shaper.enqueue(item, succession.linkNs());
    }

    // ---- out -------------------------------------------------------------------------------------------------------

    /** Takes out the item that may leave now; null when there is none. */
    @Nullable
    LinkItem<?> next() {
        LinkItem<?> item = (LinkItem<?>) shaper.dequeue(succession.linkNs());
        if (item != null) {
            movedNs = succession.nowNs();
            leaveDiscipline(item);
            GatedDiscipline told = toldOf(item);
            if (told != null) {
                item.queue.departs(item, told);
            }
        }
        return item;
    }

    /** Returns nanoseconds until something may go again; the maximum when nothing waits. */
    long waitNs() {
        long readyNs = shaper.readyNs(succession.linkNs());
        return readyNs == Long.MAX_VALUE ? readyNs : readyNs - succession.linkNs();
    }

    /** Another content follows it from now on. */
    void succeeded() {
        movedNs = succession.nowNs();
    }

    /** Returns for how long its discipline has kept back what waits, since another content follows it; in nanoseconds. */
    long keptBackNs() {
        return shaper.head() != null ? 0 : succession.nowNs() - movedNs;
    }

    /** Returns the discipline if it is to be told when the item that it has given leaves; else null. */
    private @Nullable GatedDiscipline toldOf(LinkItem<?> item) {
        return GatedDiscipline.isTold(item) ? discipline.gated() : null;
    }

    /** An item that the discipline has given ends otherwise than by its queue. */
    private void takenBack(LinkItem<?> item) {
        GatedDiscipline told = toldOf(item);
        if (told != null) {
            told.departed(1);
        }
    }

    private void leaveDiscipline(LinkItem<?> item) {
        item.submitted = false;
        if (item.currentClass().unqueued(item)) {
            succession.roomAgain();
        }
    }

    private void notTaken(LinkItem<?> item) {
        item.submitted = false;
        if (item.currentClass().notTaken(item)) {
            succession.roomAgain();
        }
    }

    /** The item is granted: it is its owner's again, once those before it in an ordered queue are. */
    void release(LinkItem<?> item) {
        ends(item);
        ClassCounts counts = item.currentClass().counts;
        counts.served(1, item.bytes);
        counts.waited(succession.nowNs() - item.sinceNs);
        OrderedLinkQueue<?> ordered = item.queue.ordered();
        if (ordered != null && !ordered.isEmpty()) {
            item.granted = true;
            ordered.granted();
            ordered.giveBackGranted();
            if (ordered.awaitsRun()) {
                succession.submitLater(ordered);
            }
        } else {
            item.giveBack();
        }
        succession.returned(item.queue);
    }

    /** The discipline gives an item back, or refuses it. */
    private void dropped(Item dropped, DropReason reason) {
        LinkItem<?> item = (LinkItem<?>) dropped;
        if (item == arriving) {
            notTaken(item);
        } else {
            leaveDiscipline(item);
        }
        boolean tooLongSinceAChange = reason == DropReason.PACKET_TOO_LONG && item != arriving;
        if (tooLongSinceAChange) {
            takenBack(item);
        }
        if (item.queue.ordered() != null || tooLongSinceAChange) {
            release(item); // Too long for the bucket since a change, which loses nothing.
            return;
        }
        ends(item);
        LinkClass itsClass = item.currentClass();
        itsClass.counts.dropped(reason, 1, item.bytes);
        if (reason == DropReason.QUEUE_FULL) {
            itsClass.refused(item);
        }
        if (item == arriving) {
            arrivingRefused = reason;
        } else {
            item.reason = reason;
            item.giveBack();
            item.queue.wakeIfReturned();
        }
    }

    /** Forgets a packet of a connection, which its queue is rid of; one that was granted waits no more already. */
    void forget(LinkItem<?> item) {
        if (item.submitted) {
            takeOut(item);
        }
        if (!item.granted) {
            ends(item);
        }
    }

    /**
     * Takes the datagrams of a queue out of the discipline, and grants or forgets them. A gated one may drop others as
     * each leaves.
     */
    void takeOut(LinkQueue<?> queue, boolean grants) {
        for (LinkItem<?> item : items()) {
            if (item.queue == queue && item.submitted) {
                takeOut(item);
                if (grants) {
                    release(item);
                } else {
                    ends(item);
                }
            }
        }
    }

    /** Grants everything that stands in the discipline, in the order in which it came. */
    void releaseAll() {
        for (LinkItem<?> item : items()) {
            if (item.submitted) {
                takeOut(item);
                release(item);
            }
        }
        for (LinkClass each : classes) {
            each.dissolve();
        }
        succession.roomAgain();
    }

    private void takeOut(LinkItem<?> item) {
        boolean given = item == shaper.head();
        shaper.remove(item, succession.linkNs());
        leaveDiscipline(item);
        if (given) {
            takenBack(item);
        }
    }

    private List<LinkItem<?>> items() {
        List<LinkItem<?>> all = new ArrayList<>();
        Item head = shaper.head();
        if (head != null) {
            all.add((LinkItem<?>) head);
        }
        for (Item item : discipline.items()) {
            all.add((LinkItem<?>) item);
        }
        return all;
    }

    void awaitsRoomNoMore(LinkQueue<?> queue) {
        for (LinkClass each : classes) {
            each.awaitsNoMore(queue);
        }
    }
}
