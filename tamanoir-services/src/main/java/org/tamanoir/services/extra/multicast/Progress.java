package org.tamanoir.services.extra.multicast;

import org.tamanoir.services.extra.multicast.Window.Place;

/**
 * Brings flows further: to packets that there are, and past those that are here or will not come, in order.
 *
 * <p>Thread contract: one thread.
 */
final class Progress {
    private final Outlet outlet;
    private final MulticastCounters counts;

    Progress(Outlet outlet, MulticastCounters counts) {
        this.outlet = outlet;
        this.counts = counts;
    }

    /** Takes note that there are packets up to this one; branches that then lag by more than the window are let go. */
    void reach(Flow flow, long sequence, long nowNs) {
        Window window = flow.window();
        if (sequence > window.highest()) {
            skip(flow, window.lowestBelow(sequence));
            long from = window.highest() + 1;
            window.reach(sequence);
            flow.gaps().open(from, nowNs);
            flow.audience().letLaggardsGo();
        }
    }

    /** Waits no more for packets below this one. */
    void skip(Flow flow, long sequence) {
        Gaps gaps = flow.gaps();
        while (gaps.next() < sequence && gaps.isAny()) {
            pass(flow);
        }
        if (gaps.next() < sequence) {
            counts.lost.add(sequence - gaps.next());
            gaps.skipTo(sequence);
        }
    }

    /** Goes on to the next one that is waited for, or has not come to be. */
    void settle(Flow flow) {
        while (flow.gaps().isAny() && flow.gaps().isNextSettled()) {
            pass(flow);
        }
    }

    /** Goes on behind the next one, which plain receivers get if it is here. */
    private void pass(Flow flow) {
        Place place = flow.window().place(flow.gaps().next());
        if (place.isHere()) {
            outlet.deliver(place);
        } else {
            counts.lost.add(1);
        }
        flow.gaps().advance();
    }

    /** Lets packets go until the memory of this flow has shrunk to that, but for the newest. */
    void shrink(Flow flow, long bytes) {
        Window window = flow.window();
        while (window.keptBytes() > bytes && window.lowest() < window.highest()) {
            skip(flow, window.lowest() + 1);
            window.dropLowest();
        }
        flow.audience().letLaggardsGo();
    }
}
