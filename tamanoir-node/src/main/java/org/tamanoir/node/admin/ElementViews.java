package org.tamanoir.node.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.FctUnit;
import org.tamanoir.cluster.element.ring.RingStatus;
import org.tamanoir.cluster.element.ring.RingView;

/** What is shown of the distributed element that the node is a unit of. Any thread may call. */
public final class ElementViews {
    private ElementViews() {}

    /**
     * A unit, with its ring.
     *
     * @param unit its number
     * @param ring its number
     * @param alone whether packets leave as they come, since there is no ring to wait for (mode NONE)
     * @param holds whether there is a link that holds packets for the token
     * @param epoch of the view that holds; -1 = none does
     * @param master the unit that injects the token; -1 = there is no view
     * @param members units in the order of the token
     * @param round up to which packets may leave, unsigned; 0 = none yet
     * @param serial of the token that went on last, unsigned
     * @param turns tokens that went on here
     * @param roundTripMicros how long the token takes round the ring, smoothed; 0 = none came back yet
     * @param reissued tokens that were lost and issued again
     * @param stale tokens that came twice, late, or of another view
     * @param refused datagrams of the control network that were dropped
     * @param waiting packets that wait for the token
     * @param sent packets that have left by it
     * @param late packets that were dropped as LATE
     * @param finished packets that were dropped as RING_FINISH
     */
    public record Element(
            int unit,
            int ring,
            boolean alone,
            boolean holds,
            int epoch,
            int master,
            List<Integer> members,
            long round,
            long serial,
            long turns,
            double roundTripMicros,
            long reissued,
            long stale,
            long refused,
            int waiting,
            long sent,
            long late,
            long finished) {
        public static Element of(int unit, int ring, FctUnit.Status sender, RingStatus status, long refused) {
            RingView view = status.view();
            return new Element(
                    unit,
                    ring,
                    sender.open(),
                    sender.holds(),
                    view == null ? -1 : view.epoch(),
                    view == null ? -1 : view.master(),
                    view == null ? List.of() : view.units(),
                    sender.round(),
                    sender.serial(),
                    sender.turns(),
                    status.roundTripNs() / 1e3,
                    status.reissued(),
                    status.stale() + sender.stale(),
                    refused,
                    sender.waiting(),
                    sender.sent(),
                    sender.late(),
                    sender.finished());
        }
    }

    static Element of(@Nullable Element element) throws ApiException {
        if (element == null) {
            throw new ApiException(
                    ApiException.NOT_FOUND,
                    "this node is no unit of a distributed element: say in section element of its configuration which");
        }
        return element;
    }

    static void add(Metrics all, @Nullable Element element) {
        if (element == null) {
            return;
        }
        Metrics metrics =
                all.group("element_", "ring", String.valueOf(element.ring), "unit", String.valueOf(element.unit));
        metrics.gauge("alone", "Whether packets leave as they come, without a ring: 1 or 0.", element.alone ? 1 : 0);
        metrics.gauge("holds", "Whether a link holds packets for the token: 1 or 0.", element.holds ? 1 : 0);
        metrics.gauge("epoch", "Epoch of the ring; -1 without one.", element.epoch);
        metrics.gauge("members", "Units in the ring.", element.members.size());
        metrics.gauge("master", "The unit that injects the token; -1 without a ring.", element.master);
        metrics.gauge("round", "Round up to which packets may leave.", element.round);
        metrics.gauge("waiting_packets", "Packets that wait for the token now.", element.waiting);
        metrics.counter("packets_sent", "Packets that left by the token.", element.sent);
        metrics.counter("packets_late", "Packets that were dropped as LATE.", element.late);
        metrics.counter("packets_finished", "Packets that were dropped as RING_FINISH.", element.finished);
        metrics.counter("token_turns", "Tokens that went on here.", element.turns);
        metrics.counter("tokens_reissued", "Tokens that were lost and issued again.", element.reissued);
        metrics.counter("tokens_stale", "Tokens that came twice, late, or of another view.", element.stale);
        metrics.counter("control_refused", "Datagrams of the control network that were dropped.", element.refused);
        metrics.gauge("round_trip_seconds", "The token's way round the ring, smoothed.", element.roundTripMicros / 1e6);
    }
}
