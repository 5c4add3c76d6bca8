package org.tamanoir.cluster.element;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.GatedDiscipline;

/**
 * A unit of a distributed element in a node: its sender stands in the link with the discipline {@code fct}, and what the
 * ring says happens inside that link's lock. A node has one such link; while it has none, the token passes.
 *
 * <p>Thread contract: any thread, but for what says otherwise.
 */
public final class FctUnit implements GatedDiscipline.Opener, RingMember {
    private final Runnable viewed;
    /** Inside that of a link, never around it: what a closed link gave may leave while another one holds packets. */
    private final Object lock = new Object();

    private final FctSender sender;
    /** Those that hold packets; the last is that which holds now. Changed inside both locks. */
    private final List<FctDiscipline> disciplines = new ArrayList<>();
    /** The link's; null = there is none yet. */
    private volatile GatedDiscipline.@Nullable Gate gate;
    /** The token waits for packets to leave. */
    private volatile boolean awaitsDeparture;

    /**
     * A unit whose packets wait until its ring has a view, or says that it can have none.
     *
     * @param viewed called when another view holds, or none; on the ring's thread
     */
    public FctUnit(FctSettings settings, RingPort ring, Runnable viewed) {
        this.viewed = viewed;
        sender = new FctSender(settings, new Queues(), ring);
    }

    // ---- the link's side: inside its lock --------------------------------------------------------------------------

    @Override
    public void attach(GatedDiscipline discipline, GatedDiscipline.Gate itsGate) {
        if (!(discipline instanceof FctDiscipline fct)) {
            throw new IllegalArgumentException("its discipline waits for something else than the token of a ring");
        }
        synchronized (lock) {
            GatedDiscipline.Gate known = gate;
            if (known != null && known != itsGate && known.isOpen()) {
                throw new IllegalArgumentException("link " + known.name()
                        + " has the discipline fct already, and a node one such link: give that all the next hops");
            }
            gate = itsGate;
            disciplines.removeIf(each -> each.waitingPackets() == 0);
            disciplines.add(fct);
            fct.attach(this, itsGate);
        }
    }

    /** Takes note of a packet that waits there. */
    void packet(FctDiscipline by, long round, boolean last) {
        synchronized (lock) {
            if (!disciplines.contains(by)) {
                disciplines.add(0, by); // Its thread has not seen that another one follows.
            }
            sender.packet(round, last);
            look();
        }
    }

    /** Takes note that packets have gone that were given there. */
    void sent(FctDiscipline by, int packets) {
        synchronized (lock) {
            if (by.gate() == gate) {
                sender.sent(packets);
                look();
                return;
            }
        }
        inside(() -> sender.sent(packets)); // Its link is closed: what waits is inside another lock.
    }

    /** Forgets a discipline that has failed, and what it gave. */
    void abandon(FctDiscipline failed, int underWay) {
        synchronized (lock) {
            disciplines.remove(failed);
        }
        sent(failed, underWay);
    }

    /** Returns whether the token waits until packets have left. Any thread. */
    boolean awaitsDeparture() {
        return awaitsDeparture;
    }

    private void look() {
        boolean awaits = sender.awaitsSent();
        if (awaits != awaitsDeparture) {
            awaitsDeparture = awaits;
        }
    }

    /** The queues of the disciplines, the oldest first. */
    private final class Queues implements Heads {
        @Override
        public long headRound() {
            for (int i = 0; i < disciplines.size(); i++) {
                long round = disciplines.get(i).headRound();
                if (round != 0) {
                    return round;
                }
            }
            return 0;
        }

        @Override
        public void send() {
            first().letHeadLeave();
        }

        @Override
        public void drop(DropReason reason) {
            first().dropHead(reason);
        }

        private FctDiscipline first() {
            int i = 0;
            while (disciplines.get(i).headRound() == 0) {
                i++;
            }
            return disciplines.get(i);
        }
    }

    // ---- the ring's side -------------------------------------------------------------------------------------------

    @Override
    public void token(Token token) {
        inside(() -> sender.token(token));
    }

    @Override
    public void timer() {
        inside(sender::timer);
    }

    @Override
    public void wake(long headRound) {
        inside(() -> sender.wake(headRound));
    }

    @Override
    public void view(int epoch, boolean master, int units, long round) {
        inside(() -> sender.view(epoch, master, units, round));
        viewed.run();
    }

    @Override
    public void alone() {
        inside(sender::alone);
        viewed.run();
    }

    /** Drops what still waits after this time, as {@code RING_FINISH}: the node stops. */
    public void endAfter(long deadlineNs) {
        // On the timer's own thread: the common pool's may all be busy.
        CompletableFuture.delayedExecutor(deadlineNs, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> inside(sender::end));
    }

    @Override
    public State state() {
        State[] state = new State[1];
        inside(() -> state[0] =
                new State(sender.lastSerial(), sender.round(), waitingPackets(), sender.newest(), sender.isDrained()));
        return state[0];
    }

    /** Returns where it stands, and what it has counted. */
    public Status status() {
        Status[] status = new Status[1];
        inside(() -> status[0] = new Status(
                sender.round(),
                sender.lastSerial(),
                sender.isMaster(),
                sender.isOpen(),
                gate != null && gate.isOpen(),
                waitingPackets(),
                sender.sentPackets(),
                sender.latePackets(),
                sender.finishedPackets(),
                sender.turns(),
                sender.staleTokens()));
        return status[0];
    }

    /**
     * Where a unit stands, and what it has counted since it began.
     *
     * @param round up to which packets may leave, unsigned; 0 = none yet
     * @param serial of the token that it passed last
     * @param open whether packets leave as they come, since there is no ring to wait for (mode NONE)
     * @param holds whether there is a link that holds packets for the token
     * @param waiting packets that wait for the token
     * @param sent packets that have left
     * @param late packets that were dropped as {@code LATE}
     * @param finished packets that were dropped as {@code RING_FINISH}
     * @param turns tokens that it has passed
     * @param stale tokens that it has dropped, as passed before
     */
    public record Status(
            long round,
            long serial,
            boolean master,
            boolean open,
            boolean holds,
            int waiting,
            long sent,
            long late,
            long finished,
            long turns,
            long stale) {}

    private int waitingPackets() {
        return disciplines.stream().mapToInt(FctDiscipline::waitingPackets).sum();
    }

    /** Has something happen inside the lock of the link that holds the packets, and that of the unit. */
    private void inside(Runnable change) {
        while (!tryInside(gate, change)) {
            Thread.onSpinWait(); // Another link has taken its place meanwhile.
        }
    }

    private boolean tryInside(GatedDiscipline.@Nullable Gate known, Runnable change) {
        return known == null ? changed(null, change) : known.change(() -> changed(known, change));
    }

    private boolean changed(GatedDiscipline.@Nullable Gate known, Runnable change) {
        synchronized (lock) {
            if (gate != known) {
                return false;
            }
            change.run();
            look();
            return true;
        }
    }
}
