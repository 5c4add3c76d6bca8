package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.QosConfig;

/**
 * The links that packets of one thread go over.
 *
 * <p>Thread contract: the service's thread, but for {@link #forsake}.
 */
final class ThreadLinks {
    private final ServiceInstance instance;
    private final Traffic traffic;
    private final List<LinkPort> ports = new ArrayList<>();
    /** Of datagrams, one for each link that some have gone over. */
    private final List<DatagramBacklog> backlogs = new ArrayList<>();

    ThreadLinks(ServiceInstance instance, Traffic traffic) {
        this.instance = instance;
        this.traffic = traffic;
    }

    boolean isEmpty() {
        return ports.isEmpty();
    }

    /**
     * The thread's access to a link.
     *
     * @param config that the indexes of classes come from
     */
    LinkPort port(LinkScheduler link, QosConfig config) {
        for (LinkPort known : ports) {
            if (known.link() == link) {
                return known;
            }
        }
        LinkPort port = new LinkPort(link, config);
        ports.add(port);
        return port;
    }

    DatagramBacklog backlog(LinkPort port) {
        for (DatagramBacklog known : backlogs) {
            if (known.port() == port) {
                return known;
            }
        }
        DatagramBacklog backlog =
                new DatagramBacklog(port, instance.loop, instance.environment().pool(), traffic);
        backlogs.add(backlog);
        return backlog;
    }

    List<DatagramBacklog> backlogs() {
        return backlogs;
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    /** Classes are those of this configuration from now on. */
    void refresh(QosConfig config) {
        for (LinkPort port : ports) {
            port.refresh(config);
        }
    }

    /** Has all datagrams that wait leave with the next flush. */
    void releaseDatagrams() {
        backlogs.forEach(DatagramBacklog::releaseAll);
    }

    /** Forgets all links but these. */
    void retain(List<LinkScheduler> links) {
        backlogs.removeIf(each -> !links.contains(each.port().link()) && each.closeIfEmpty());
        ports.removeIf(each -> !links.contains(each.link()));
    }

    // ---- batches ---------------------------------------------------------------------------------------------------

    /** Counts what has passed, and hands datagrams that were granted to their departures. */
    void beforeFlush() {
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).settle();
        }
        for (int i = 0; i < backlogs.size(); i++) {
            backlogs.get(i).takeReturned();
        }
    }

    /** Departures have been flushed. */
    void afterFlush() {
        for (int i = 0; i < backlogs.size(); i++) {
            backlogs.get(i).flushed();
        }
    }

    /** Whether datagrams have been granted, or dropped, since the last flush. */
    boolean hasReturned() {
        for (int i = 0; i < backlogs.size(); i++) {
            if (backlogs.get(i).hasReturned()) {
                return true;
            }
        }
        return false;
    }

    /** Datagrams that wait. */
    long held() {
        long held = 0;
        for (int i = 0; i < backlogs.size(); i++) {
            held += backlogs.get(i).held();
        }
        return held;
    }

    // ---- end -------------------------------------------------------------------------------------------------------

    /** Takes what waits out of links. Another thread, while the service's is known to be elsewhere. */
    void forsake() {
        backlogs.forEach(DatagramBacklog::forsake);
    }

    /** Drops what waits. */
    void close(DropReason reason) {
        backlogs.forEach(backlog -> backlog.close(reason));
        backlogs.clear();
        ports.forEach(LinkPort::settle);
        ports.clear();
    }
}
