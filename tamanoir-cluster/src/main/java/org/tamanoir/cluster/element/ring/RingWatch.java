package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.platform.ThreadRanks;

/**
 * What the distributor knows of the ring, and its vote: which units are in, and how they are.
 *
 * <p>Thread contract: any thread.
 */
public final class RingWatch implements AutoCloseable {
    private final RingPlan plan;
    private final LongSupplier round;
    private final LongSupplier clockNs;
    private final Watch watch;
    private final Closing closing;
    private volatile List<Integer> units = List.of();
    private volatile @Nullable RingView view;

    /** Ends what carries the watch's messages. */
    interface Closing {
        void close() throws IOException;
    }

    /**
     * How a unit is, as it said last.
     *
     * @param round up to which it may send; unsigned
     * @param queued packets that wait in its sender
     * @param newest the largest round of a packet that it got; unsigned
     * @param leaving whether it wants no more packets: send the last one, with its flag
     * @param drained whether it has sent that one too
     * @param silent whether it left the last five questions, a second, without an answer
     */
    public record Unit(long round, int queued, long newest, boolean leaving, boolean drained, boolean silent) {}

    RingWatch(RingPlan plan, RunStart start, LongSupplier round, LongSupplier clockNs, Wire wire, Closing closing) {
        this.plan = plan;
        this.round = round;
        this.clockNs = clockNs;
        this.watch = new Watch(plan, start, wire);
        this.closing = closing;
    }

    /**
     * Takes the distributor's control address and watches the ring.
     *
     * @param round gives the last round that was sent; any thread
     * @throws IOException if the control address cannot be used
     */
    public static RingWatch open(RingSettings settings, LongSupplier round) throws IOException {
        ControlSocket socket = new ControlSocket(settings, RingPlan.DISTRIBUTOR);
        RingWatch watch = new RingWatch(settings.plan(), RunStart.now(), round, socket::nowNs, socket, socket::close);
        socket.start(watch.party(), ThreadRanks.NONE);
        return watch;
    }

    Party party() {
        return new Party() {
            @Override
            public void token(int from, Token token) {} // no unit's next is the distributor

            @Override
            public void message(int from, Message message) {
                heard(from, message);
            }

            @Override
            public long deadlineNs() {
                return nextNs();
            }

            @Override
            public void expire() {
                ask();
            }
        };
    }

    private synchronized void heard(int from, Message message) {
        watch.message(from, message, round.getAsLong());
        publish();
    }

    private synchronized long nextNs() {
        return watch.deadlineNs();
    }

    private synchronized void ask() {
        watch.expire(clockNs.getAsLong(), round.getAsLong());
        publish();
    }

    private void publish() {
        RingView ring = watch.view();
        view = ring;
        List<Integer> now = (ring == null ? plan.units() : ring.units())
                .stream()
                        .filter(unit -> watch.report(unit) != null && !watch.silent(unit))
                        .toList();
        if (!now.equals(units)) {
            units = now;
        }
    }

    /**
     * Returns the units that get packets, from the next round on: those of the view, without a view all, and of these
     * the ones that answer. The same list as long as nothing changes.
     */
    public List<Integer> units() {
        return units;
    }

    /** Returns the view that was taken last; null = none. */
    public @Nullable RingView view() {
        return view;
    }

    /** Returns how a unit is; null before its first word. */
    public synchronized @Nullable Unit unit(int unit) {
        Message.Report report = watch.report(unit);
        return report == null
                ? null
                : new Unit(
                        report.state().round(),
                        report.state().queued(),
                        report.state().newest(),
                        report.is(Message.Report.LEAVES),
                        report.is(Message.Report.DRAINED),
                        watch.silent(unit));
    }

    @Override
    public void close() throws IOException {
        closing.close();
    }
}
