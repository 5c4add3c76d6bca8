package org.tamanoir.sched;

import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.Fields;
import org.tamanoir.arena.Slot;
import org.tamanoir.service.Allotment;

/**
 * What the arena shows of a turn's class and points. A look finds where it stands; each number is read when it is asked
 * for.
 *
 * <p>Thread contract: one thread.
 */
public final class AllotmentView implements Allotment {
    private @Nullable CpuGrant turn;
    private @Nullable QosSnapshot now;
    private @Nullable Slot point;
    private @Nullable Slot turns;
    private boolean isLinkSought;
    private @Nullable Slot link;
    private @Nullable Slot queue;
    private long packetBudgetRestNs;

    /**
     * Looks anew; allocates nothing.
     *
     * @param holds configuration; links are shown while the turn is of the same
     */
    public void look(@Nullable CpuGrant has, QosSnapshot holds, long budgetRestNs) {
        turn = has;
        now = holds;
        isLinkSought = false;
        packetBudgetRestNs = budgetRestNs;
        TurnClass of = has == null ? null : has.ofClass();
        point = of == null ? null : of.waiting.scheduler().slot();
        turns = of == null ? null : of.counts.slot();
    }

    /** Finds that link of which the fullest queue is, once a look. */
    private void seekLink() {
        if (isLinkSought) {
            return;
        }
        isLinkSought = true;
        queue = null;
        link = null;
        TurnClass of = turn == null ? null : turn.ofClass();
        if (of == null || now == null || of.waiting != now.turns()) {
            return;
        }
        for (int i = 0; i < now.links().size(); i++) {
            LinkContent content = now.links().get(i);
            Slot next = content.classAt(of.index).counts.slot();
            if (queue == null || next.get(Fields.WAITING_BYTES) > queue.get(Fields.WAITING_BYTES)) {
                queue = next;
                link = content.link().slot();
            }
        }
    }

    private static long of(@Nullable Slot slot, int field) {
        return slot == null ? 0 : slot.get(field);
    }

    private long ofPoint(int field) {
        return of(point, field);
    }

    private long ofTurns(int field) {
        return of(turns, field);
    }

    private long ofQueue(int field) {
        seekLink();
        return of(queue, field);
    }

    private long ofLink(int field) {
        seekLink();
        return of(link, field);
    }

    /** At most the whole, which may be of the turn before. */
    private double part(int field) {
        long whole = ofPoint(field);
        return whole == 0 ? 0 : Math.min(1, (double) ofTurns(field) / whole);
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
        return ofQueue(Fields.WAITING_BYTES);
    }

    @Override
    public long linkQueueLimitBytes() {
        return ofQueue(Fields.LIMIT_BYTES);
    }

    @Override
    public long linkRate() {
        return ofLink(Fields.RATE);
    }

    @Override
    public long linkTokens() {
        return ofLink(Fields.TOKENS);
    }

    @Override
    public long recentDrops() {
        return ofTurns(Fields.RECENT_DROPS) + ofQueue(Fields.RECENT_DROPS);
    }
}
