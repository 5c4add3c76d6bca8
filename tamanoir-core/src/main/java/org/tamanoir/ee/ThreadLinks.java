package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.sched.LinkContent;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.sched.QosSnapshot;

/**
 * The links that packets of one thread go over.
 *
 * <p>Thread contract: the service's thread, but for {@link #forsake}.
 */
final class ThreadLinks {
    private final ServiceThread thread;
    private final NodeContext context;
    private final List<LinkPort> ports = new ArrayList<>();
    /** Of datagrams, one for each link that some have gone over. */
    private final List<DatagramBacklog> backlogs = new ArrayList<>();

    ThreadLinks(ServiceThread thread, NodeContext context) {
        this.thread = thread;
        this.context = context;
    }

    /** Returns the thread's access to a link. */
    LinkPort port(LinkContent content) {
        for (LinkPort known : ports) {
            if (known.link() == content.link()) {
                return known;
            }
        }
        LinkPort port = new LinkPort(content, thread::turn);
        ports.add(port);
        return port;
    }

    DatagramBacklog backlog(LinkPort port) {
        for (DatagramBacklog known : backlogs) {
            if (known.port() == port) {
                return known;
            }
        }
        DatagramBacklog backlog = new DatagramBacklog(port, thread.loop, context.pool(), thread.traffic);
        backlogs.add(backlog);
        return backlog;
    }

    /** Has {@code starved} follow when datagrams wait for a link that grants nothing for this long. */
    void watch(Duration time, Consumer<LinkPort> starved) {
        for (int i = 0; i < backlogs.size(); i++) {
            backlogs.get(i).watch(time, starved);
        }
    }

    /** Has packets wait under the configuration that holds now. */
    void refresh(QosSnapshot now) {
        for (LinkPort port : ports) {
            LinkContent next = now.of(port.link());
            port.refresh(next == null ? port.content() : next);
        }
    }

    /** Has all datagrams that wait leave with the next flush. */
    void releaseDatagrams() {
        backlogs.forEach(DatagramBacklog::releaseAll);
    }

    /** Forgets links that are no more. */
    void retain(QosSnapshot now) {
        backlogs.removeIf(each -> now.of(each.port().link()) == null && each.closeIfEmpty());
        ports.removeIf(each -> now.of(each.link()) == null);
    }

    /** Counts what has passed, and hands datagrams that were granted to their departures. */
    void beforeFlush() {
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).returnTokens();
        }
        for (int i = 0; i < backlogs.size(); i++) {
            backlogs.get(i).takeReturned();
        }
    }

    /** Departures have been flushed; returns whether a link has given more for that. */
    boolean afterFlush() {
        boolean more = false;
        for (int i = 0; i < backlogs.size(); i++) {
            more |= backlogs.get(i).flushed();
        }
        return more;
    }

    /** Returns whether datagrams have been granted, or dropped, since the last flush. */
    boolean hasReturned() {
        for (int i = 0; i < backlogs.size(); i++) {
            if (backlogs.get(i).hasReturned()) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether there are granted datagrams for which others wait. */
    boolean isAwaited() {
        for (int i = 0; i < backlogs.size(); i++) {
            if (backlogs.get(i).isAwaited()) {
                return true;
            }
        }
        return false;
    }

    /** Has what is added from now on be the newest of each link. */
    void forgetNewest() {
        backlogs.forEach(DatagramBacklog::forgetNewest);
    }

    /** Returns how many datagrams wait. */
    long held() {
        long held = 0;
        for (int i = 0; i < backlogs.size(); i++) {
            held += backlogs.get(i).held();
        }
        return held;
    }

    /** Takes what waits out of links. Another thread, while the service's is known to be elsewhere. */
    void forsake() {
        backlogs.forEach(DatagramBacklog::forsake);
    }

    /** Drops what waits. */
    void close(DropReason reason) {
        backlogs.forEach(backlog -> backlog.close(reason));
        backlogs.clear();
        ports.forEach(LinkPort::returnTokens);
        ports.clear();
    }
}
