package org.tamanoir.services.extra.transcode;

import java.time.Duration;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Verdict;

/** What only a service may do, lent to its {@link Mode} by {@link Transcode}. Thread contract: the service's thread. */
interface Exit {
    /** Ends the packet in hand for this reason. */
    Verdict end(String reason);

    /** Sends a packet of the service's own. */
    boolean send(Packet packet);

    /** Runs a task on the service's thread soon; any thread. Returns false if it will not run. */
    boolean execute(Runnable task);

    /** Runs a task on the service's thread again and again. */
    void repeat(Duration period, Runnable task);

    /** Returns the node's clock, in ns. */
    long nowNs();

    /** Returns the counter of this name. */
    Counter count(String name);

    /** Returns whether packets come as datagrams. */
    boolean isDatagrams();

    /** Returns the most bytes of a packet. */
    int maxPacketBytes();
}
