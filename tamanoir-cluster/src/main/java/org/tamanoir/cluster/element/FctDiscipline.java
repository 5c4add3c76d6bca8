package org.tamanoir.cluster.element;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Drops;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.Item;

/**
 * {@code fct}: one queue, from which datagrams with a round leave in the order in which they came, when the token of the
 * ring allows it. Datagrams without a round, and packets over TCP, leave at once. Has the limits of all classes
 * together, and no options.
 *
 * <p>Thread contract: the lock of its link, but for {@link #tag}.
 */
final class FctDiscipline implements GatedDiscipline {
    static final String NAME = "fct";

    private static final Logger LOG = LoggerFactory.getLogger(FctDiscipline.class);

    /** Wait for the token. */
    private final Queue<Item> waiting = new ArrayDeque<>();
    /** May leave. */
    private final Queue<Item> leaving = new ArrayDeque<>();

    private final Drops drops;
    private final long limitPackets;
    private final long limitBytes;
    private long waitingBytes;
    private long leavingBytes;
    /** Packets that may leave, or are on their way, and that the token waits for. */
    private int underWay;

    private volatile @Nullable FctUnit unit;
    private GatedDiscipline.@Nullable Gate gate;
    private boolean saidSo;

    FctDiscipline(DisciplineConfig config, Drops drops) {
        if (!config.options().isEmpty()) {
            throw new IllegalArgumentException("option '"
                    + config.options().keySet().iterator().next() + "': discipline " + NAME
                    + " has none; the token is configured in section element");
        }
        this.drops = drops;
        this.limitPackets =
                config.flows().stream().mapToLong(FlowConfig::limitPackets).sum();
        this.limitBytes =
                config.flows().stream().mapToLong(FlowConfig::limitBytes).sum();
    }

    /** Has packets wait for the token of this unit's ring from now on. */
    void attach(FctUnit its, GatedDiscipline.Gate itsGate) {
        unit = its;
        gate = itsGate;
    }

    /** Returns the link that it stands in; null before it is attached. */
    GatedDiscipline.@Nullable Gate gate() {
        return gate;
    }

    // ---- what the token sees ---------------------------------------------------------------------------------------

    /** Returns the round of the oldest packet that waits, unsigned; 0 = none does. */
    long headRound() {
        Item head = waiting.peek();
        return head == null ? 0 : round(head);
    }

    /** Has the oldest packet leave. */
    void letHeadLeave() {
        underWay++;
        leave(takeHead());
    }

    /** Drops the oldest packet. */
    void dropHead(DropReason reason) {
        drops.dropped(takeHead(), reason);
    }

    /** Returns how many packets wait for the token. */
    int waitingPackets() {
        return waiting.size();
    }

    private Item takeHead() {
        Item head = waiting.remove();
        waitingBytes -= head.size();
        return head;
    }

    private void leave(Item item) {
        leaving.add(item);
        leavingBytes += item.size();
    }

    // ---- what the link sees ----------------------------------------------------------------------------------------

    /**
     * Returns the round, and in the lowest bit whether nothing follows on this path; 0 for a round that none is, 0 or
     * above 2⁶³ - 1.
     */
    @Override
    public long tag(Packet packet) {
        long round = packet.round();
        return round <= 0 ? 0 : round << 1 | ((packet.roundFlags() & Anep.ROUND_PATH_ENDS) == 0 ? 0 : 1);
    }

    private static long round(Item item) {
        return item.hash() >>> 1;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.enqueuedAt(nowNs);
        FctUnit its = unit;
        if (item.mayDrop() && (packets() >= limitPackets || bytes() + item.size() > limitBytes)) {
            drops.dropped(item, DropReason.QUEUE_FULL);
        } else if (its == null || !GatedDiscipline.isTold(item)) {
            sayOnce(item);
            leave(item);
        } else {
            waiting.add(item);
            waitingBytes += item.size();
            its.packet(this, round(item), (item.hash() & 1) != 0);
        }
    }

    private void sayOnce(Item item) {
        if (!item.mayDrop() && !saidSo) {
            saidSo = true;
            LOG.warn(
                    "discipline {} is for datagrams: packets over TCP leave as they come; give them UDP next hops",
                    NAME);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        Item item = leaving.poll();
        if (item != null) {
            leavingBytes -= item.size();
        }
        return item;
    }

    @Override
    public void departed(int packets) {
        FctUnit its = unit;
        int told = Math.min(packets, underWay); // Others left before there was a unit.
        if (its != null && told > 0) {
            underWay -= told;
            its.sent(this, told);
        }
    }

    @Override
    public boolean awaitsDeparture() {
        FctUnit its = unit;
        return its != null && its.awaitsDeparture();
    }

    @Override
    public void abandoned() {
        FctUnit its = unit;
        unit = null;
        if (its != null) {
            its.abandon(this, underWay);
        }
    }

    @Override
    public void remove(Item item, long nowNs) {
        if (waiting.remove(item)) {
            waitingBytes -= item.size();
        } else {
            leaving.remove(item);
            leavingBytes -= item.size();
            if (GatedDiscipline.isTold(item)) {
                departed(1);
            }
        }
    }

    @Override
    public int packets() {
        return waiting.size() + leaving.size();
    }

    @Override
    public long bytes() {
        return waitingBytes + leavingBytes;
    }

    @Override
    public long readyNs(long nowNs) {
        return leaving.isEmpty() ? Long.MAX_VALUE : nowNs;
    }
}
