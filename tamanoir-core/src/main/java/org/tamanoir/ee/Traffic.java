package org.tamanoir.ee;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.ServiceKey;

/**
 * What crossed one thread. For an instance of a service
 * {@code in + taken + made = out + dropped + handed + held}, where <em>handed</em> went to another instance's queue
 * and <em>taken</em> came out of its own.
 *
 * <p>Thread contract: one thread writes plain fields and publishes them once a batch; any thread reads.
 */
final class Traffic {
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
    private long octetsIn;
    private long packetsTaken;
    private long packetsHanded;
    private long packetsMade;
    private long packetsOut;
    private long octetsOut;
    private long packetsHeld;
    private long anomalies;
    private long batches;

    /**
     * @param tap where drops are seen
     * @param service label of whose thread it is
     */
    Traffic(Tap tap, String service) {
        this.tap = tap;
        this.service = service;
    }

    void in(int octets) {
        packetsIn++;
        octetsIn += octets;
    }

    void in(long packets, long octets) {
        packetsIn += packets;
        octetsIn += octets;
    }

    long packetsIn() {
        return packetsIn;
    }

    long packetsOut() {
        return packetsOut;
    }

    void taken() {
        packetsTaken++;
    }

    void handed() {
        packetsHanded++;
    }

    void made() {
        packetsMade++;
    }

    void anomaly() {
        anomalies++;
    }

    /** Packets that wait for a next hop now. */
    void hold(long packets) {
        packetsHeld = packets;
    }

    void out(long packets, long octets) {
        packetsOut += packets;
        octetsOut += octets;
    }

    /** Counts a drop of a packet of which nothing is known here. */
    void drop(DropReason reason) {
        drop(reason, 1);
    }

    /** Counts packets that are dropped together. */
    void drop(DropReason reason, long packets) {
        drops[reason.ordinal()] += packets;
        if (tap.watchesDrops()) {
            tap.dropped(reason, service, null, ServiceKey.NONE, 0, packets);
        }
    }

    /**
     * Counts a drop of a packet.
     *
     * @param key that it asks for
     */
    void drop(DropReason reason, @Nullable InetSocketAddress peer, long key, int octets) {
        drops[reason.ordinal()]++;
        if (tap.watchesDrops()) {
            tap.dropped(reason, service, peer, key, octets, 1);
        }
    }

    /** Packets that came here and neither went nor ended. */
    long inHand() {
        long ended = packetsOut + packetsHanded;
        for (long drop : drops) {
            ended += drop;
        }
        return packetsIn + packetsTaken + packetsMade - ended;
    }

    /** How far the thread has come: it stays the same while the thread does nothing. A guess for other threads. */
    long progress() {
        long sum = (long) BATCHES.getAcquire(this);
        return sum + packetsIn + packetsTaken + packetsMade + packetsOut;
    }

    /** Makes what was counted visible to readers. */
    void publish() {
        BATCHES.setRelease(this, batches + 1);
    }

    /** Adds this thread's counts to a sum. */
    void addTo(Sum sum) {
        long ignored = (long) BATCHES.getAcquire(this);
        sum.in += packetsIn;
        sum.octetsIn += octetsIn;
        sum.taken += packetsTaken;
        sum.handed += packetsHanded;
        sum.made += packetsMade;
        sum.out += packetsOut;
        sum.octetsOut += octetsOut;
        sum.held += packetsHeld;
        sum.anomalies += anomalies + (ignored & 0);
        for (int i = 0; i < drops.length; i++) {
            sum.drops[i] += drops[i];
        }
    }

    /** Counts of several threads added up. Not thread-safe. */
    static final class Sum {
        private final long[] drops = new long[REASONS.length];
        private long in;
        private long octetsIn;
        private long taken;
        private long handed;
        private long made;
        private long out;
        private long octetsOut;
        private long held;
        private long anomalies;

        void add(Sum other) {
            in += other.in;
            octetsIn += other.octetsIn;
            taken += other.taken;
            handed += other.handed;
            made += other.made;
            out += other.out;
            octetsOut += other.octetsOut;
            held += other.held;
            anomalies += other.anomalies;
            for (int i = 0; i < drops.length; i++) {
                drops[i] += other.drops[i];
            }
        }

        /** For a whole node: what was handed and not yet taken lies in queues. */
        TrafficSnapshot ofNode() {
            return snapshot(in, held + handed - taken);
        }

        /** For one instance: what it handed on is not its own. */
        TrafficSnapshot ofInstance() {
            return snapshot(in + taken - handed, held);
        }

        private TrafficSnapshot snapshot(long packetsIn, long packetsHeld) {
            Map<DropReason, Long> byReason = new EnumMap<>(DropReason.class);
            for (int i = 0; i < drops.length; i++) {
                if (drops[i] != 0) {
                    byReason.put(REASONS[i], drops[i]);
                }
            }
            return new TrafficSnapshot(packetsIn, octetsIn, made, out, octetsOut, packetsHeld, byReason, anomalies);
        }
    }
}
