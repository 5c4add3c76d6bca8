package org.tamanoir.traffic;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;

/**
 * What crossed one thread. For an instance of a service
 * {@code in + taken + made = out + dropped + handed + held}, where <em>handed</em> went to another instance's queue
 * and <em>taken</em> came out of its own.
 *
 * <p>Thread contract: one thread writes plain fields and publishes them once a batch; any thread reads.
 */
public final class Traffic {
    private static final DropReason[] REASONS = DropReason.values();
    private static final VarHandle BATCHES;

    static {
        try {
            BATCHES = MethodHandles.lookup().findVarHandle(Traffic.class, "batches", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Tap tap;
    private final String service;
    private final long[] drops = new long[REASONS.length];
    private long packetsIn;
    private long bytesIn;
    private long packetsTaken;
    private long packetsHanded;
    private long packetsMade;
    private long packetsOut;
    private long bytesOut;
    private long packetsHeld;
    private long anomalies;
    private long batches;
    /** All drops. */
    private long packetsDropped;

    private boolean holdsInHand;
    private boolean isGivenUp;

    /**
     * @param tap where drops are seen
     * @param service label of whose thread it is
     */
    public Traffic(Tap tap, String service) {
        this.tap = tap;
        this.service = service;
    }

    public void in(int bytes) {
        packetsIn++;
        bytesIn += bytes;
    }

    public void in(long packets, long bytes) {
        packetsIn += packets;
        bytesIn += bytes;
    }

    public long packetsIn() {
        return packetsIn;
    }

    public long packetsOut() {
        return packetsOut;
    }

    public long packetsMade() {
        return packetsMade;
    }

    /** Returns how many packets ended for this reason. The counting thread. */
    public long dropped(DropReason reason) {
        return drops[reason.ordinal()];
    }

    public void taken() {
        packetsTaken++;
        if (holdsInHand) {
            holdInHand();
            publish();
        }
    }

    public void handed() {
        packetsHanded++;
        holdInHand();
    }

    public void made() {
        packetsMade++;
        holdInHand();
    }

    /**
     * Has what is in hand be held at once, and not only what {@link #hold} tells once a batch: for a thread that takes
     * its packets one by one, and may have one of them for long. Before anything is counted.
     */
    public void countInHandAsHeld() {
        holdsInHand = true;
    }

    private void holdInHand() {
        if (holdsInHand && !isGivenUp) {
            packetsHeld = inHand();
        }
    }

    public void anomaly() {
        anomalies++;
    }

    /** Packets that wait for a next hop now. */
    public void hold(long packets) {
        packetsHeld = packets;
    }

    public void out(long packets, long bytes) {
        packetsOut += packets;
        bytesOut += bytes;
        holdInHand();
    }

    /** Counts a drop of a packet of which nothing is known here. */
    public void drop(DropReason reason) {
        drop(reason, 1);
    }

    /** Counts packets that are dropped together. */
    public void drop(DropReason reason, long packets) {
        if (isGivenUp) {
            return;
        }
        dropped(reason, packets);
        if (tap.watchesDrops()) {
            tap.dropped(reason, service, null, ServiceKey.NONE, 0, packets);
        }
    }

    /**
     * Counts a drop of a packet.
     *
     * @param key that it asks for
     */
    public void drop(DropReason reason, @Nullable InetSocketAddress peer, long key, int bytes) {
        if (isGivenUp) {
            return;
        }
        dropped(reason, 1);
        if (tap.watchesDrops()) {
            tap.dropped(reason, service, peer, key, bytes, 1);
        }
    }

    private void dropped(DropReason reason, long packets) {
        drops[reason.ordinal()] += packets;
        packetsDropped += packets;
        holdInHand();
    }

    /**
     * Counts what is in hand as dropped, and from now on no drop any more: the thread has been given up, and what it frees
     * when it comes back was in hand. Another thread, while that one does nothing.
     */
    public void giveUp(DropReason reason) {
        drop(reason, Math.max(0, inHand()));
        isGivenUp = true;
        hold(0);
        publish();
    }

    /** Packets that came here and neither went nor ended. */
    public long inHand() {
        return packetsIn + packetsTaken + packetsMade - packetsOut - packetsHanded - packetsDropped;
    }

    /** Packets that came here, from elsewhere or out of a queue, and that left. A guess for other threads. */
    public long moved() {
        return packetsIn + packetsTaken + packetsMade + packetsOut;
    }

    /** Packets that waited for a next hop when it was told last. A guess for other threads. */
    public long heldLast() {
        return packetsHeld;
    }

    /** How far the thread has come: it stays the same while the thread does nothing. A guess for other threads. */
    public long progress() {
        long sum = (long) BATCHES.getAcquire(this);
        return sum + packetsIn + packetsTaken + packetsMade + packetsOut;
    }

    /** Makes what was counted visible to readers. */
    public void publish() {
        BATCHES.setRelease(this, batches + 1);
    }

    /** Adds this thread's counts to a sum. */
    public void addTo(Sum sum) {
        long ignored = (long) BATCHES.getAcquire(this);
        sum.in += packetsIn;
        sum.bytesIn += bytesIn;
        sum.taken += packetsTaken;
        sum.handed += packetsHanded;
        sum.made += packetsMade;
        sum.out += packetsOut;
        sum.bytesOut += bytesOut;
        sum.held += packetsHeld;
        sum.anomalies += anomalies + (ignored & 0);
        for (int i = 0; i < drops.length; i++) {
            sum.drops[i] += drops[i];
        }
    }

    /** Counts of several threads added up. Not thread-safe. */
    public static final class Sum {
        private final long[] drops = new long[REASONS.length];
        private long in;
        private long bytesIn;
        private long taken;
        private long handed;
        private long made;
        private long out;
        private long bytesOut;
        private long held;
        private long anomalies;

        public void add(Sum other) {
            in += other.in;
            bytesIn += other.bytesIn;
            taken += other.taken;
            handed += other.handed;
            made += other.made;
            out += other.out;
            bytesOut += other.bytesOut;
            held += other.held;
            anomalies += other.anomalies;
            for (int i = 0; i < drops.length; i++) {
                drops[i] += other.drops[i];
            }
        }

        /**
         * For a whole node: what was handed and not yet taken lies in queues. Threads are read one after another, so a
         * packet may be seen where it was taken, and not yet where it came in and was handed on: it came in.
         */
        public TrafficSnapshot ofNode() {
            long waiting = held + handed - taken;
            long unseen = Math.max(0, -waiting);
            return snapshot(in + unseen, waiting + unseen);
        }

        /** For one instance: what it handed on is not its own. */
        public TrafficSnapshot ofInstance() {
            return snapshot(in + taken - handed, held);
        }

        private TrafficSnapshot snapshot(long packetsIn, long packetsHeld) {
            Map<DropReason, Long> byReason = new EnumMap<>(DropReason.class);
            for (int i = 0; i < drops.length; i++) {
                if (drops[i] != 0) {
                    byReason.put(REASONS[i], drops[i]);
                }
            }
            return new TrafficSnapshot(packetsIn, bytesIn, made, out, bytesOut, packetsHeld, byReason, anomalies);
        }
    }
}
