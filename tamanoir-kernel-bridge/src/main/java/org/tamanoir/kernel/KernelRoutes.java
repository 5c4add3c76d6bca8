package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
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
 * <p>A change that the list knows already comes again, and the last one of a route is always what the kernel has.
 *
 * <p>Thread contract: one thread starts and closes it.
 */
final class KernelRoutes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KernelRoutes.class);

    /** RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE. */
    private static final int GROUPS = 0x1 | 0x10 | 0x40 | 0x400;
    /** Some 20,000 notifications. */
    private static final int BUFFER_BYTES = 16 << 20;

    private static final int WAIT_MS = 100;
    /** Datagrams that become one change of the table; a route has one. */
    private static final int MAX_BATCH = 4_096;
    /** Behind the event that asks for it: the kernel tells of an interface before it takes its routes away. */
    private static final long RESYNC_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long FAULT_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int MAX_TRIES = 3;
    private static final int MAX_DRAINS = 256;
    private static final int GET_LINK = 18;
    /** lo has this number in every network namespace. */
    private static final int LOOPBACK_INDEX = 1;

    private static final int MAX_TOLD = 256;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int[] FAMILIES = {LibC.AF_INET, LibC.AF_INET6};
    private static final int MAX_NAME_BYTES = 16;

    private final int table;
    private final RouteFeed feed;
    private final Consumer<String> events;
    private final RouteMessages messages;
    private final NetlinkSocket changes;
    private final Map<Integer, String> deviceNames = new HashMap<>();
    private final Set<String> told = new HashSet<>();
    private final Thread thread = new Thread(this::run, "route-feed");
    private @Nullable String resyncReason;
    private long resyncNs;
    private long dumpNs;
    private long unmappedNs = System.nanoTime();
    private volatile boolean isStopped;

    private KernelRoutes(
            int table, Set<Integer> protocols, RouteFeed feed, Consumer<String> events, NetlinkSocket changes) {
        this.table = table;
        this.feed = feed;
        this.events = events;
        this.changes = changes;
        messages = new RouteMessages(table, protocols, this::deviceName, feed);
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
        return start(table, protocols, feed, events, BUFFER_BYTES);
    }

    /** @param bufferBytes for notifications in the kernel */
    static KernelRoutes start(
            int table, Set<Integer> protocols, RouteFeed feed, Consumer<String> events, int bufferBytes)
            throws IOException {
        try {
            KernelRoutes routes = new KernelRoutes(
                    table, protocols, feed, events, NetlinkSocket.listen(GROUPS, bufferBytes, WAIT_MS));
            try {
                routes.readAll("the node starts");
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
                    resyncReason = null;
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
        deviceNames.clear();
        try {
            for (int i = 0; i < MAX_BATCH; i++) {
                ByteBuffer datagram = changes.receive(i == 0 ? flags : LibC.MSG_DONTWAIT);
                if (datagram == null) {
                    return true;
                }
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
        if (resyncReason == null) {
            resyncReason = reason;
            resyncNs = System.nanoTime() + Math.max(delayNs, dumpNs);
        }
    }

    private void readAll(String reason) throws NetlinkException {
        long beganNs = System.nanoTime();
        // Behind lost ones others still wait, and the last of those may not be what the kernel has.
        for (int i = 0; i < MAX_DRAINS && !readChanges(LibC.MSG_DONTWAIT); i++) {}
        awaitChanges();
        boolean isWhole = false;
        for (int tries = 0; !isWhole && tries < MAX_TRIES; tries++) {
            feed.beginDump();
            deviceNames.clear();
            for (int family : FAMILIES) {
                readAll(family);
            }
            isWhole = !messages.wasInterrupted();
        }
        feed.endDump(isWhole);
        dumpNs = System.nanoTime() - beganNs;
        if (!isWhole) {
            resync("routes changed while they were read", RESYNC_DELAY_NS);
            return;
        }
        String line = "table " + table + ": " + feed.status().routes() + " routes read in "
                + TimeUnit.NANOSECONDS.toMillis(dumpNs) + " ms, for " + reason;
        LOG.info("routing.feed: {}", line);
        events.accept(line);
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

    private void readAll(int family) throws NetlinkException {
        NetlinkRequest request = new NetlinkRequest(RouteMessages.GET_ROUTE, NetlinkRequest.DUMP)
                .header(family, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                .attribute(RouteMessages.ROUTE_TABLE, table);
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            socket.filtersLists();
            socket.dump(request, messages::readDump);
        } catch (NetlinkException refused) {
            switch (refused.errno()) {
                // There is no such table yet, or no IPv6.
                case LibC.ENOENT, LibC.EAFNOSUPPORT, LibC.EOPNOTSUPP -> {}
                default -> throw refused;
            }
        }
    }

    private String deviceName(int number) {
        return deviceNames.computeIfAbsent(number, n -> {
            byte[] name = new byte[MAX_NAME_BYTES];
            return LibC.if_indextoname(n, name) == 0 ? "#" + n : NetlinkAttributes.text(ByteBuffer.wrap(name));
        });
    }

    /** Names gateways without a next hop, each once, at most once a second. */
    private void tellUnmapped() {
        long nowNs = System.nanoTime();
        if (nowNs - unmappedNs < 0) {
            return;
        }
        unmappedNs = nowNs + TimeUnit.SECONDS.toNanos(1);
        feed.status().unmappedGateways().forEach((gateway, count) -> {
            if (told.size() < MAX_TOLD && told.add(gateway)) {
                String line = gateway + ": " + count + " routes have no next hop by it; name it under routing.feed.via";
                LOG.warn("routing.feed: {}", line);
                events.accept(line);
            }
        });
    }

    private void fail(Throwable fault) {
        try {
            LOG.error("routing.feed: {}; the routes stay, and are read again", fault.toString(), fault);
            resync("a fault", FAULT_DELAY_NS);
            feed.failed(String.valueOf(fault.getMessage()));
            events.accept(fault + "; the routes stay, and are read again");
        } catch (Throwable again) {
            // Without memory there is no line, but a next round.
            resync("a fault", FAULT_DELAY_NS);
        }
    }

    @Override
    public void close() {
        isStopped = true;
        Uninterruptibles.joinUninterruptibly(thread, PATIENCE);
    }
}
