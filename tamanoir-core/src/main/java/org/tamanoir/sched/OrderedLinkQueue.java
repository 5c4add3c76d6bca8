package org.tamanoir.sched;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The packets of a connection that wait for a link. They leave in the order in which they came, whatever their classes
 * are: only the leading ones of one class, the <em>run</em>, stand in the discipline; when the last of them is granted
 * the next run is submitted.
 *
 * <p>Thread contract: inside the link's lock.
 */
public final class OrderedLinkQueue<P> extends LinkQueue<P> {
    private @Nullable LinkItem<P> first;
    private @Nullable LinkItem<P> last;
    /** The first behind the run. */
    private @Nullable LinkItem<P> firstBehindRun;

    private @Nullable LinkClass runClass;
    /** Of the run, in the discipline. */
    private int submitted;

    /** A queue of which no packet waits; as {@link LinkQueue}. */
    public OrderedLinkQueue(Runnable wake, Supplier<P> stores) {
        super(wake, stores);
    }

    @Override
    OrderedLinkQueue<P> ordered() {
        return this;
    }

    boolean isEmpty() {
        return first == null;
    }

    @Nullable
    LinkItem<P> first() {
        return first;
    }

    /** Whether a packet of this class would stand in the discipline at once. */
    boolean wouldJoinRun(LinkClass trafficClass) {
        return first == null || (firstBehindRun == null && runClass == trafficClass);
    }

    void append(LinkItem<P> item) {
        boolean joins = wouldJoinRun(item.currentClass());
        item.behind = null;
        if (last == null) {
            first = item;
        } else {
            last.behind = item;
        }
        last = item;
        if (firstBehindRun == null && !joins) {
            firstBehindRun = item;
        }
        if (joins) {
            runClass = item.currentClass();
        }
    }

    /** One of the run stands in the discipline. */
    void submitted() {
        submitted++;
    }

    /** One of the run has left the discipline. */
    void granted() {
        submitted--;
    }

    /** Gives the granted ones at the begin back to the owner. */
    void giveBackGranted() {
        LinkItem<P> item = first;
        while (item != null && item.granted) {
            LinkItem<P> next = item.behind;
            if (item == firstBehindRun) {
                firstBehindRun = next;
            }
            giveBack(item);
            item = next;
        }
        first = item;
        if (item == null) {
            last = null;
        }
    }

    /** Whether all of the run are granted, and others wait. */
    boolean awaitsRun() {
        return submitted == 0 && first != null;
    }

    /** The first of a new run, which is to be submitted. */
    @Nullable
    LinkItem<P> beginRun() {
        runClass = first == null ? null : first.currentClass();
        firstBehindRun = first;
        return first;
    }

    /** Where the run ends now. */
    void runEndsBefore(@Nullable LinkItem<P> item) {
        firstBehindRun = item;
    }

    /** Forgets all that waits. */
    void clear() {
        first = null;
        last = null;
        firstBehindRun = null;
        submitted = 0;
    }
}
