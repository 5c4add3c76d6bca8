package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.routing.RouteFeed;

/**
 * The thread {@code route-feed}: has a feed follow the routes of one of the kernel's tables, in the network namespace of
 * the thread that starts it. It reads them all, then what the kernel tells of changes; where that may have been lost it
 * reads them all again.
 *
 * <pre>
 *   subscribed to changes -> list of all routes -> changes since the subscription, in their order -> ...
 * </pre>
 *
 * <p>A change that the list knows already comes again, and the last one of a route is always what the kernel has. What
 * is not listed goes, in IPv6 unless the list may lack routes that stay; another reading follows then.
 *
 * <p>Thread contract: one thread starts and closes it.
 */
final class KernelRoutes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KernelRoutes.class);

    /** Of interfaces, addresses, routes, settings and next hop objects; of both families. */
    private static final int GROUPS = 0x1 | 0x10 | 0x100 | 0x40 | 0x400 | 1 << 23 | 1 << 24 | 1 << 31;
    /** Some 20,000 notifications. */
    private static final int BUFFER_BYTES = 16 << 20;

    private static final int WAIT_MS = 100;
    /** Datagrams that become one change of the table; a route has one. */
    private static final int MAX_BATCH = 4_096;
    /** Behind the event that asks for it: the kernel tells of an interface before it takes its routes away. */
    private static final long RESYNC_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long FAULT_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FAULT_PAUSE_MS = 1_000;
    /** For what the kernel does without a word and without a sign of it. */
    static final Duration PERIOD = Duration.ofMinutes(10);

    private static final String PERIODIC = "time passed";
    private static final int MAX_TRIES = 3;
    private static final int MAX_DRAINS = 256;
    private static final int GET_LINK = 18;
    private static final int LINK_HEADER_BYTES = 16;
    /** lo has this number in every network namespace. */
    private static final int LOOPBACK_INDEX = 1;

    private static final int MAX_TOLD = 256;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int[] FAMILIES = {LibC.AF_INET, LibC.AF_INET6};
    private final int table;
    private final RouteFeed feed;
    private final Consumer<String> events;
    private final RouteMessages messages;
    private final NetlinkSocket changes;
    private final long periodNs;
    private final Set<String> told = new HashSet<>();
    private final Thread thread = new Thread(this::run, "route-feed");
    private @Nullable String resyncReason;
    private long resyncNs;
    private long dumpNs;
    private long endNs = System.nanoTime();
    private int misses;
    private String lastFault = "";
    private boolean mayTell = true;
    private long unmappedNs = System.nanoTime();
    private volatile boolean isStopped;

    private KernelRoutes(
            int table,
            Set<Integer> protocols,
            RouteFeed feed,
            Consumer<String> events,
            NetlinkSocket changes,
            Duration period) {
        this.table = table;
        this.feed = feed;
        this.events = events;
        this.changes = changes;
        periodNs = period.toNanos();
        messages = new RouteMessages(table, protocols, feed);
        thread.setDaemon(true);
    }

    /**
     * Reads all routes, and follows them from then on.
     *
     * @param protocols numbers of those who put routes there, as in /etc/iproute2/rt_protos
     * @param events takes a line on what an operator may want to know
     * @throws IOException in one line, if the kernel's routes cannot be read
     */
    static KernelRoutes start(int table, Set<Integer> protocols, RouteFeed feed, Consumer<String> events)
            throws IOException {
        return start(table, protocols, feed, events, BUFFER_BYTES, PERIOD);
    }

    /**
     * @param bufferBytes for notifications in the kernel
     * @param period after which all routes are read anew, at the latest
     */
    static KernelRoutes start(
            int table,
            Set<Integer> protocols,
            RouteFeed feed,
            Consumer<String> events,
            int bufferBytes,
            Duration period)
            throws IOException {
        try {
            KernelRoutes routes = new KernelRoutes(
                    table, protocols, feed, events, NetlinkSocket.listen(GROUPS, bufferBytes, WAIT_MS), period);
            try {
                // What one list lacks the next may have.
                do {
                    routes.readAll("the node starts");
                } while (routes.misses > 0 && routes.misses < MAX_TRIES);
            } catch (NetlinkException failed) {
                routes.changes.close();
                throw failed;
            }
            routes.thread.start();
            return routes;
        } catch (NetlinkException failed) {
            throw new IOException("routing.feed: " + failed.getMessage(), failed);
        } catch (LinkageError noJna) {
            throw new IOException("routing.feed: needs Linux, and native code: " + noJna.getMessage(), noJna);
        }
    }

    private void run() {
        while (!isStopped) {
            try {
                String reason = resyncReason;
                if (reason != null && System.nanoTime() - resyncNs >= 0) {
                    readAll(reason);
                }
                readChanges(0);
                tellUnmapped();
            } catch (Throwable fault) {
                fail(fault);
            }
        }
        changes.close();
    }

    /**
     * Takes a change, and applies it with all that came meanwhile.
     *
     * @param flags 0 = waits for one
     * @return whether there are no more
     */
    private boolean readChanges(int flags) throws NetlinkException {
        try {
            for (int i = 0; i < MAX_BATCH; i++) {
                ByteBuffer datagram = changes.receive(i == 0 ? flags : LibC.MSG_DONTWAIT);
                if (datagram == null) {
                    return true;
                }
                mayTell = true;
                String reason = messages.readNotice(datagram);
                if (reason != null) {
                    resync(reason, RESYNC_DELAY_NS);
                }
            }
            return false;
        } catch (NetlinkException lost) {
            if (lost.errno() != LibC.ENOBUFS) {
                throw lost;
            }
            resync("notifications were lost", RESYNC_DELAY_NS);
            return false;
        } finally {
            feed.apply();
        }
    }

    /** Has all routes read later, at most half of the time. */
    private void resync(String reason, long delayNs) {
        long atNs = Math.max(System.nanoTime() + delayNs, endNs + dumpNs);
        if (resyncReason == null || atNs - resyncNs < 0) {
            resyncReason = reason;
            resyncNs = atNs;
        }
    }

    private void readAll(String reason) throws NetlinkException {
        long beganNs = System.nanoTime();
        // Behind lost ones others still wait, and the last of those may not be what the kernel has.
        drain();
        resyncReason = null;
        messages.beginReading();
        feed.beginReading();
        list(new NetlinkRequest(GET_LINK, NetlinkRequest.DUMP).header(new int[LINK_HEADER_BYTES]));
        for (int family : FAMILIES) {
            drain();
            awaitChanges();
            messages.beginList();
            list(new NetlinkRequest(RouteMessages.GET_ROUTE, NetlinkRequest.DUMP)
                    .header(family, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                    .attribute(RouteMessages.ROUTE_TABLE, table));
        }
        boolean isWhole = drain() && resyncReason == null && !messages.mayLack();
        if (isStopped) {
            return;
        }
        int different = feed.endReading(isWhole);
        endNs = System.nanoTime();
        dumpNs = endNs - beganNs;
        misses = isWhole ? 0 : misses + 1;
        if (!isWhole) {
            // Ever more seldom, where it never is.
            resync(
                    "IPv6 routes went while they were listed",
                    Math.max(RESYNC_DELAY_NS, dumpNs << Math.min(misses, 20)));
        }
        resync(PERIODIC, periodNs);
        lastFault = "";
        mayTell = true;
        if (isWhole && (different > 0 || !reason.equals(PERIODIC))) {
            String line = "table " + table + ": " + feed.status().routes() + " routes read in "
                    + TimeUnit.NANOSECONDS.toMillis(dumpNs) + " ms, for " + reason;
            LOG.info("routing.feed: {}", line);
            events.accept(line);
        }
    }

    /** Takes all changes that wait; returns whether there are no more. */
    private boolean drain() throws NetlinkException {
        for (int i = 0; i < MAX_DRAINS; i++) {
            if (readChanges(LibC.MSG_DONTWAIT)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Waits until routes whose removal was told are removed: the kernel tells first, and lists without the lock that it
     * changes routes under, which this question takes.
     */
    private static void awaitChanges() throws NetlinkException {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            socket.exchange(new NetlinkRequest(GET_LINK, NetlinkRequest.ACK)
                    .header(0, 0, 0, 0)
                    .headerNumber(LOOPBACK_INDEX)
                    .headerNumber(0)
                    .headerNumber(0));
        }
    }

    private void list(NetlinkRequest request) throws NetlinkException {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            socket.filtersLists();
            socket.dump(request, datagram -> messages.readDump(datagram) || isStopped);
        } catch (NetlinkException refused) {
            switch (refused.errno()) {
                // There is no such table yet, or no IPv6.
                case LibC.ENOENT, LibC.EAFNOSUPPORT, LibC.EOPNOTSUPP -> {}
                default -> throw refused;
            }
        }
    }

    /** Names gateways without a next hop, each once, at most once a second. */
    private void tellUnmapped() {
        long nowNs = System.nanoTime();
        if (!mayTell || nowNs - unmappedNs < 0) {
            return;
        }
        mayTell = false;
        unmappedNs = nowNs + TimeUnit.SECONDS.toNanos(1);
        feed.unmapped().forEach((gateway, count) -> {
            if (told.size() < MAX_TOLD && told.add(gateway)) {
                String line = gateway + ": " + count + " routes have no next hop by it; name it under routing.feed.via";
                LOG.warn("routing.feed: {}", line);
                events.accept(line);
            }
        });
    }

    private void fail(Throwable fault) {
        resync("a fault", FAULT_DELAY_NS);
        try {
            feed.failed(String.valueOf(fault.getMessage()));
            String line = fault + "; the routes stay, and are read again";
            if (!line.equals(lastFault)) {
                lastFault = line;
                LOG.error("routing.feed: {}", line, fault);
                events.accept(line);
            }
        } catch (Throwable again) {
            // Without memory there is no line, but a next round.
        }
        Uninterruptibles.sleepUninterruptibly(FAULT_PAUSE_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        isStopped = true;
        Uninterruptibles.joinUninterruptibly(thread, PATIENCE);
    }
}
