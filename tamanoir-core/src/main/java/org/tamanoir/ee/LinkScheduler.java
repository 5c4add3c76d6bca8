package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.Item;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QueueingDiscipline;
import org.tamanoir.qdisc.Shaper;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.transport.BufferPool;

/**
 * The scheduling point after processing, for one outgoing link: packets leave in the order of a queueing discipline,
 * under the link's token bucket. It grants departures; the threads whose packets they are send them.
 *
 * <p>While nothing waits, packets {@linkplain #pass pass} at the cost of their tokens. Otherwise an item for each waits
 * in the discipline, and whoever enqueues, gives tokens back or is the timer grants what may go: the items return to
 * their queues, and each queue's owner is woken once.
 *
 * <p>Not scheduled, since they cross no link of the configuration: replies, that is what goes back on the connection or
 * to the address that a stream's or a datagram's sender uses.
 *
 * <p>Thread contract: any thread.
 */
final class LinkScheduler {
    /** Tokens that a thread may take ahead for the packets of a batch, in octets. */
    private static final long AHEAD_OCTETS = 16 * 1024;
    /** Items of withdrawn queues that may stand in the discipline, and as many again as there are others. */
    private static final int FEW_ITEMS = 64;

    private static final long NEVER = Long.MAX_VALUE;
    /** Before the discipline is asked again that says that it is ready and gives nothing. */
    private static final long LEAST_PAUSE_NS = 100_000;

    private final String name;
    private final LongSupplier clock;
    private final Runnable roomAgain;
    private final @Nullable QosTimer timer;
    private final Wake wake = new Wake();
    private final Object lock = new Object();

    // Inside the lock.
    private final Set<OrderedLinkQueue> orderedQueues = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<LinkItem> drained = new ArrayList<>();
    private @Nullable QosConfig config;
    private String discipline = "";
    private @Nullable TokenBucket bucket;
    private @Nullable Shaper shaper;
    private LinkClass[] classes = new LinkClass[0];
    private int defaultClass;
    private long wakesAtNs = NEVER;
    private boolean roomToTell;
    private @Nullable LinkItem arriving;
    private @Nullable DropReason arrivingRefused;
    /** Items in the discipline whose queues were withdrawn. */
    private int deadItems;
    /** Queues whose next run is to be submitted. */
    private final List<OrderedLinkQueue> toSubmit = new ArrayList<>();
    /** Looks by itself, and need not be woken. */
    private @Nullable LinkQueue caller;

    private boolean closed;

    private volatile Map<String, LinkClass> classesByName = Map.of();
    private volatile long burst;
    private volatile int maxChunks;

    /**
     * @param roomAgain called when a class whose queue was full has room again; not inside the lock
     */
    LinkScheduler(String name, QosTimer timer, Runnable roomAgain) {
        this(name, timer, roomAgain, System::nanoTime);
        timer.add(wake);
    }

    /**
     * @param timer null = {@link #pump} is called by hand
     */
    LinkScheduler(String name, @Nullable QosTimer timer, Runnable roomAgain, LongSupplier clock) {
        this.name = name;
        this.timer = timer;
        this.roomAgain = roomAgain;
        this.clock = clock;
    }

    private final class Wake extends QosTimer.Task {
        @Override
        void due(long nowNs) {
            pump();
        }
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    /** Schedules so from now on; what waits keeps waiting, under the new configuration. */
    void change(QosConfig config, Link link, int generation) {
        synchronized (lock) {
            long nowNs = clock.getAsLong();
            Map<String, LinkClass> known = classesByName;
            Map<String, LinkClass> next = new HashMap<>();
            LinkClass[] ordered = new LinkClass[config.classes().size()];
            DisciplineConfig settings = new DisciplineConfig(
                    config.classes().stream()
                            .map(each -> new LinkClass(each, 0).flow())
                            .toList(),
                    link.rate(),
                    link.options());
            QueueingDiscipline made = Disciplines.create(link.discipline(), settings, this::dropped);
            drain();
            for (int i = 0; i < ordered.length; i++) {
                TrafficClass each = config.classes().get(i);
                LinkClass old = known.get(each.name());
                ordered[i] = old == null ? new LinkClass(each, i) : old;
                ordered[i].change(each, i);
                next.put(each.name(), ordered[i]);
                if (each.name().equals(config.defaultClass())) {
                    defaultClass = i;
                }
            }
            this.config = config;
            this.discipline = link.discipline();
            classes = ordered;
            classesByName = Map.copyOf(next);
            burst = link.burst();
            long limitOctets = config.classes().stream()
                    .mapToLong(TrafficClass::limitOctets)
                    .sum();
            maxChunks =
                    (int) Math.min(Integer.MAX_VALUE, 2 * (limitOctets / BufferPool.MEDIUM_OCTETS + ordered.length));
            TokenBucket tokens = bucket;
            if (tokens == null) {
                tokens = new TokenBucket(link.rate(), link.burst(), nowNs);
                bucket = tokens;
            } else {
                tokens.change(link.rate(), link.burst(), nowNs);
            }
            shaper = new Shaper(made, tokens, link.police(), this::dropped);
            reclassify();
            enqueueDrained(nowNs);
            known.values().stream().filter(old -> next.get(old.name()) != old).forEach(LinkClass::dissolve);
            grant(null);
        }
        tellRoom();
    }

    /** Everything that waits is of a class of the new configuration from now on, and counted there. */
    private void reclassify() {
        for (LinkItem item : drained) {
            if (!(item.queue instanceof OrderedLinkQueue)) {
                reclassify(item);
            }
        }
        for (OrderedLinkQueue queue : orderedQueues) {
            for (LinkItem item = queue.first(); item != null; item = item.behind) {
                reclassify(item);
            }
            queue.reclassified();
        }
    }

    private void reclassify(LinkItem item) {
        LinkClass now = classOf(item.currentClass().name());
        item.trafficClass = now;
        now.begins(item.octets);
    }

    private LinkClass classOf(String className) {
        LinkClass known = classesByName.get(className);
        return known != null ? known : classes[defaultClass];
    }

    /** An index means what it meant in the configuration that it comes from. */
    private LinkClass classOf(QosConfig seen, int index) {
        return seen == config
                ? classes[index]
                : classOf(seen.classes().get(index).name());
    }

    String name() {
        return name;
    }

    /** The longest packet that can leave, in octets. */
    long burst() {
        return burst;
    }

    /**
     * Chunks of memory that the datagrams of one thread may take up while they wait: twice what the limits of all
     * classes come to, since those that leave first leave gaps.
     */
    int maxChunks() {
        return maxChunks;
    }

    // ---- what departs ----------------------------------------------------------------------------------------------

    /**
     * Takes tokens for packets that need not wait, because none does.
     *
     * @param octets of the first of them
     * @return octets that may pass: these, or more for those behind; 0 when the packet has to be enqueued
     */
    long pass(int octets) {
        synchronized (lock) {
            long ahead = Math.min(AHEAD_OCTETS, burst / 4);
            if (closed) {
                return Math.max(ahead, octets);
            }
            long nowNs = clock.getAsLong();
            if (octets < ahead && discipline().pass(ahead, nowNs)) {
                return ahead;
            }
            return discipline().pass(octets, nowNs) ? octets : 0;
        }
    }

    /** Counts what has passed, and takes back the tokens that were not needed. */
    void passed(LinkPort port, long restOctets) {
        synchronized (lock) {
            if (!closed) {
                for (int i = port.nextUsed(0); i >= 0; i = port.nextUsed(i + 1)) {
                    ClassCounts counts = classOf(port.config(), i).counts;
                    counts.served(port.packets(i), port.octets(i));
                    counts.waited(0, port.packets(i));
                }
                if (restOctets > 0) {
                    tokens().giveBack(restOctets);
                    if (discipline().packets() > 0) {
                        grant(null);
                    }
                }
            }
        }
        tellRoom();
    }

    /**
     * Has a datagram wait.
     *
     * @param hash of its stream
     * @return null, or why it is dropped; the item is the caller's then
     */
    @Nullable
    DropReason enqueue(LinkItem item, QosConfig seen, int index, int octets, long hash) {
        DropReason refusal = null;
        synchronized (lock) {
            long nowNs = clock.getAsLong();
            begin(item, classOf(seen, index), octets, nowNs);
            if (closed) {
                release(item, nowNs);
                return null;
            }
            LinkClass itsClass = item.currentClass();
            if (octets > burst) {
                refusal = DropReason.PACKET_TOO_LONG;
                itsClass.counts.dropped(refusal, 1, octets);
                itsClass.ends(octets);
            } else {
                arriving = item;
                arrivingRefused = null;
                item.describe(itsClass.index(), octets, hash, true);
                submit(item, nowNs);
                arriving = null;
                refusal = arrivingRefused;
                if (refusal == null) {
                    grant(item.queue);
                }
            }
        }
        tellRoom();
        return refusal;
    }

    /** Counts a datagram for which its owner has no memory. */
    DropReason refused(QosConfig seen, int index, int octets) {
        synchronized (lock) {
            classOf(seen, index).counts.dropped(DropReason.QUEUE_FULL, 1, octets);
        }
        return DropReason.QUEUE_FULL;
    }

    /**
     * Has a packet of a connection wait, behind those before it.
     *
     * @return false when its class is full, and others of the queue wait already: the owner is woken when there is room
     */
    boolean offer(OrderedLinkQueue queue, LinkItem item, QosConfig seen, int index, int octets) {
        synchronized (lock) {
            long nowNs = clock.getAsLong();
            LinkClass itsClass = classOf(seen, index);
            if (closed) {
                begin(item, itsClass, octets, nowNs);
                release(item, nowNs);
                return true;
            }
            boolean joins = queue.wouldJoinRun(itsClass);
            if (joins && !queue.isEmpty() && !itsClass.hasRoom(octets)) {
                itsClass.awaitRoom(queue);
                return false;
            }
            orderedQueues.add(queue);
            begin(item, itsClass, octets, nowNs);
            item.describe(itsClass.index(), octets, System.identityHashCode(queue), false);
            queue.append(item);
            if (joins) {
                submit(item, nowNs);
            }
            grant(queue);
        }
        tellRoom();
        return true;
    }

    private static void begin(LinkItem item, LinkClass itsClass, int octets, long nowNs) {
        item.trafficClass = itsClass;
        item.octets = octets;
        item.sinceNs = nowNs;
        item.granted = false;
        item.reason = null;
        itsClass.begins(octets);
    }

    /** Items of the queue that came back, linked; null when there are none. */
    @Nullable
    LinkItem takeReturned(LinkQueue queue) {
        synchronized (lock) {
            return queue.takeReturned();
        }
    }

    /** The owner sends no more of what waits in this queue, and takes nothing back. */
    void withdraw(LinkQueue queue) {
        synchronized (lock) {
            if (queue instanceof OrderedLinkQueue ordered) {
                withdrawAll(ordered);
            } else if (!closed && !queue.isWithdrawn()) {
                takeOut(queue, false);
            }
            queue.withdraw();
            grant(null);
        }
        tellRoom();
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
        for (LinkClass each : classes) {
            each.awaitsNoMore(queue);
        }
        if (!closed && deadItems > FEW_ITEMS && deadItems > discipline().packets() / 2) {
            drain();
            enqueueDrained(clock.getAsLong());
        }
    }

    /** Grants all datagrams of a queue at once: others like them go another way from now on. */
    void grantAll(LinkQueue queue) {
        synchronized (lock) {
            if (!closed) {
                takeOut(queue, true);
                grant(queue);
            }
        }
        tellRoom();
    }

    private void takeOut(LinkQueue queue, boolean grants) {
        long nowNs = clock.getAsLong();
        drain();
        drained.removeIf(item -> {
            boolean its = item.queue == queue;
            if (its && grants) {
                release(item, nowNs);
            } else if (its) {
                item.currentClass().ends(item.octets);
            }
            return its;
        });
        enqueueDrained(nowNs);
    }

    // ---- inside the lock -------------------------------------------------------------------------------------------

    private Shaper discipline() {
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

    private void submit(LinkItem item, long nowNs) {
        item.submitted = true;
        item.currentClass().queued(item.octets);
        if (item.queue instanceof OrderedLinkQueue ordered) {
            ordered.submitted();
        }
        discipline().enqueue(item, nowNs);
    }

    private void leaveDiscipline(LinkItem item) {
        item.submitted = false;
        item.currentClass().unqueued(item.octets);
        roomToTell |= item.currentClass().hasRoomAgain();
    }

    /** Grants what may go now, and has the timer come back for the rest. */
    private void grant(@Nullable LinkQueue asking) {
        if (closed) {
            return;
        }
        long nowNs = clock.getAsLong();
        Shaper from = discipline();
        caller = asking;
        submitRuns(nowNs);
        Item next;
        while ((next = from.dequeue(nowNs)) != null) {
            LinkItem item = (LinkItem) next;
            if (item.queue.isWithdrawn()) {
                deadItems--;
                tokens().giveBack(item.octets);
                continue;
            }
            leaveDiscipline(item);
            release(item, nowNs);
            submitRuns(nowNs);
        }
        caller = null;
        long readyNs = from.readyNs(nowNs);
        wakeAt(readyNs <= nowNs ? nowNs + LEAST_PAUSE_NS : readyNs);
    }

    private void wakeAt(long timeNs) {
        if (timeNs != wakesAtNs) {
            wakesAtNs = timeNs;
            if (timer != null) {
                timer.at(wake, timeNs);
            }
        }
    }

    /** The item is granted: it is its owner's again. */
    private void release(LinkItem item, long nowNs) {
        LinkClass itsClass = item.currentClass();
        itsClass.ends(item.octets);
        itsClass.counts.served(1, item.octets);
        itsClass.counts.waited(nowNs - item.sinceNs);
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

    private void submitRuns(long nowNs) {
        while (!toSubmit.isEmpty()) {
            OrderedLinkQueue queue = toSubmit.remove(toSubmit.size() - 1);
            LinkItem item = queue.awaitsRun() ? queue.beginRun() : null;
            LinkClass itsClass = item == null ? null : item.currentClass();
            while (item != null && item.currentClass() == itsClass) {
                LinkItem next = item.behind;
                queue.runEndsBefore(next);
                item.describe(item.currentClass().index(), item.octets, item.hash(), false);
                submit(item, nowNs);
                item = next;
            }
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
            release(item, clock.getAsLong()); // Too long for the bucket since a change; nothing of a stream is lost.
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
    private void enqueueDrained(long nowNs) {
        boolean[] grants = new boolean[classes.length];
        for (int i = drained.size() - 1; i >= 0; i--) {
            LinkItem item = drained.get(i);
            int index = item.currentClass().index();
            grants[index] |= item.octets > burst;
            item.granted = grants[index];
        }
        for (LinkItem item : drained) {
            if (item.granted) {
                release(item, nowNs);
            } else {
                item.submitted = true;
                item.currentClass().queued(item.octets);
                item.describe(item.currentClass().index(), item.octets, item.hash(), false);
                discipline().enqueue(item, nowNs);
            }
        }
        for (LinkItem item : drained) {
            if (item.submitted && !(item.queue instanceof OrderedLinkQueue)) {
                item.describe(item.flow(), item.octets, item.hash(), true);
            }
        }
        drained.clear();
        for (LinkClass each : classes) {
            roomToTell |= each.hasRoomAgain();
        }
    }

    private void tellRoom() {
        boolean tell;
        synchronized (lock) {
            tell = roomToTell;
            roomToTell = false;
        }
        if (tell) {
            roomAgain.run();
        }
    }

    // ---- time, and what is seen ------------------------------------------------------------------------------------

    /** Its time has come: grants what may go now. */
    void pump() {
        synchronized (lock) {
            wakesAtNs = NEVER;
            grant(null);
        }
        tellRoom();
    }

    /** When the timer is to come; the maximum when it need not. */
    long wakesAtNs() {
        synchronized (lock) {
            return wakesAtNs;
        }
    }

    /** Whether the queue of this class is full. Takes no lock. */
    boolean isFull(String className) {
        LinkClass known = classesByName.get(className);
        return known != null && known.isFull();
    }

    /** Grants everything that waits, and all that will be asked for. */
    void close() {
        synchronized (lock) {
            closed = true;
            long nowNs = clock.getAsLong();
            drain();
            drained.forEach(item -> release(item, nowNs));
            drained.clear();
            for (OrderedLinkQueue queue : orderedQueues) {
                LinkItem item;
                while ((item = queue.first()) != null) {
                    release(item, nowNs);
                }
            }
            orderedQueues.clear();
            toSubmit.clear();
            for (LinkClass each : classes) {
                each.dissolve();
            }
            roomToTell = true;
            if (timer != null) {
                timer.remove(wake);
            }
        }
        tellRoom();
    }

    QosStatus.Point status() {
        synchronized (lock) {
            long sum = 0;
            for (LinkClass each : classes) {
                sum += each.counts.sinceChange(false);
            }
            List<QosStatus.ClassStatus> all = new ArrayList<>();
            for (LinkClass each : classes) {
                all.add(each.status(sum == 0 ? 0 : (double) each.counts.sinceChange(false) / sum));
            }
            return new QosStatus.Point(name, discipline, all);
        }
    }
}
