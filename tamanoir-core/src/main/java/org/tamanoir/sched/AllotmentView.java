package org.tamanoir.sched;

import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.Slot;
import org.tamanoir.service.Allotment;

/**
 * What the arena shows of a turn's class and points. A look copies it; what does not come to rest while it looks stays as
 * it was.
 *
 * <p>Thread contract: one thread.
 */
public final class AllotmentView implements Allotment {
    private long[] point = new long[Slot.FIELDS];
    private long[] turns = new long[Slot.FIELDS];
    private long[] queue = new long[Slot.FIELDS];
    private long[] link = new long[Slot.FIELDS];
    private long[] spare = new long[Slot.FIELDS];
    private @Nullable CpuGrant turn;
    private boolean isLinked;
    private long packetBudgetRestNs;

    /**
     * Looks anew; allocates nothing.
     *
     * @param now configuration that holds; links are shown while the turn is of the same
     */
    public void look(@Nullable CpuGrant has, QosSnapshot now, long budgetRestNs) {
        turn = has;
        isLinked = false;
        packetBudgetRestNs = budgetRestNs;
        if (has == null) {
            return;
        }
        TurnClass of = has.ofClass();
        point = read(of.waiting.scheduler().slot(), point);
        turns = read(of.counts.slot(), turns);
        if (of.waiting == now.turns()) {
            for (int i = 0; i < now.links().size(); i++) {
                look(now.links().get(i), of.index);
            }
        }
    }

    /** Keeps that link of which the fullest queue is. */
    private void look(LinkContent content, int classIndex) {
        long[] next = spare;
        if (!content.classAt(classIndex).counts.slot().read(next)) {
            return;
        }
        if (!isLinked || next[Fields.WAITING_BYTES] > queue[Fields.WAITING_BYTES]) {
            spare = queue;
            queue = next;
            link = read(content.link().slot(), link);
            isLinked = true;
        }
    }

    private long[] read(Slot slot, long[] before) {
        long[] next = spare;
        if (!slot.read(next)) {
            return before;
        }
        spare = before;
        return next;
    }

    private long ofPoint(int field) {
        return turn == null ? 0 : point[field];
    }

    private long ofTurns(int field) {
        return turn == null ? 0 : turns[field];
    }

    private long ofLink(long[] from, int field) {
        return isLinked ? from[field] : 0;
    }

    private double part(int field) {
        long whole = ofPoint(field);
        return whole == 0 ? 0 : (double) ofTurns(field) / whole;
    }

    @Override
    public int processors() {
        return (int) ofPoint(Fields.PROCESSORS);
    }

    @Override
    public int turnsRunning() {
        return (int) ofTurns(Fields.TURNS_RUNNING);
    }

    @Override
    public int turnsWaiting() {
        return (int) ofTurns(Fields.TURNS_WAITING);
    }

    @Override
    public int allTurnsRunning() {
        return (int) ofPoint(Fields.TURNS_RUNNING);
    }

    @Override
    public int allTurnsWaiting() {
        return (int) ofPoint(Fields.TURNS_WAITING);
    }

    @Override
    public boolean isContended() {
        return ofPoint(Fields.CONTENDED) != 0;
    }

    @Override
    public double share() {
        return part(Fields.RECENT_NS);
    }

    @Override
    public double due() {
        return part(Fields.WEIGHT);
    }

    @Override
    public long quantumRestNs() {
        return turn == null ? 0 : turn.quantumRestNs();
    }

    @Override
    public long packetBudgetRestNs() {
        return packetBudgetRestNs;
    }

    @Override
    public long waitingBytes() {
        return ofTurns(Fields.WAITING_BYTES);
    }

    @Override
    public long linkQueuedBytes() {
        return ofLink(queue, Fields.WAITING_BYTES);
    }

    @Override
    public long linkQueueLimitBytes() {
        return ofLink(queue, Fields.LIMIT_BYTES);
    }

    @Override
    public long linkRate() {
        return ofLink(link, Fields.RATE);
    }

    @Override
    public long linkTokens() {
        return ofLink(link, Fields.TOKENS);
    }

    @Override
    public long recentDrops() {
        return ofTurns(Fields.RECENT_DROPS) + ofLink(queue, Fields.RECENT_DROPS);
    }
}
