package org.tamanoir.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets of this process that datagrams come up to, as the kernel lists all of the calling thread's network namespace
 * in {@code /proc/thread-self/net/udp} and {@code udp6}:
 *
 * <pre>
 *   sl  local_address:port  remote_address:port  state  tx_queue:rx_queue  tr:tm  retrnsmt  uid  timeout  inode ...
 * </pre>
 *
 * Addresses, ports and queues are hexadecimal. Those of other processes, with the same port at another address or as a
 * former node, are told by their inodes, which {@code /proc/self/fd} does not have.
 *
 * <p>Thread contract: any thread; what {@link #awaitRead} returns, one.
 */
final class UpSockets {
    private static final Logger LOG = LoggerFactory.getLogger(UpSockets.class);
    private static final List<Path> LISTS =
            List.of(Path.of("/proc/thread-self/net/udp"), Path.of("/proc/thread-self/net/udp6"));
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int LOCAL = 1;
    private static final int QUEUES = 4;
    private static final int INODE = 9;

    private final Set<Integer> ports;
    private final List<Path> lists;
    private final Path descriptors;
    /** By inode of each socket of these ports that was seen, whether it is this process's. */
    private final Map<String, Boolean> owned = new ConcurrentHashMap<>();

    private final AtomicBoolean isToldUnreadable = new AtomicBoolean();

    UpSockets(Set<Integer> ports) {
        this(ports, LISTS, DESCRIPTORS);
    }

    UpSockets(Set<Integer> ports, List<Path> lists, Path descriptors) {
        this.ports = ports;
        this.lists = lists;
        this.descriptors = descriptors;
    }

    /** Returns whether no datagram waits in one of them; false where that cannot be read. */
    boolean areEmpty() {
        Set<String> waiting = waiting();
        return waiting != null && waiting.isEmpty();
    }

    /** Returns whether each of them was seen empty since, whenever it is asked; false where that cannot be read. */
    BooleanSupplier awaitRead() {
        return new Reading();
    }

    private final class Reading implements BooleanSupplier {
        private @Nullable Set<String> pending;

        @Override
        public boolean getAsBoolean() {
            Set<String> waiting = waiting();
            if (waiting != null && pending != null) {
                pending.retainAll(waiting);
            } else if (waiting != null) {
                pending = waiting;
            }
            return pending != null && pending.isEmpty();
        }
    }

    /** Returns the inodes of those in which datagrams wait; null where that cannot be read. */
    private @Nullable Set<String> waiting() {
        Set<String> waiting = new HashSet<>();
        try {
            for (Path list : ports.isEmpty() ? List.<Path>of() : lists) {
                if (list.equals(lists.get(0)) || Files.exists(list)) { // A host may be without IPv6.
                    addWaiting(Files.readString(list, StandardCharsets.US_ASCII), waiting);
                }
            }
            return waiting;
        } catch (IOException | RuntimeException e) {
            if (isToldUnreadable.compareAndSet(false, true)) {
                LOG.warn(
                        "levels: what waits in the node's sockets cannot be read, so no policy begins under traffic: {};"
                                + " have /proc mounted and open to the node",
                        e.toString());
            }
            return null;
        }
    }

    private void addWaiting(String list, Set<String> waiting) throws IOException {
        for (String line : list.lines().skip(1).toList()) {
            String[] fields = line.trim().split(" +");
            boolean isEmpty = Long.parseLong(behindColon(fields[QUEUES]), 16) == 0;
            if (!isEmpty && ports.contains(Integer.parseInt(behindColon(fields[LOCAL]), 16)) && isOwn(fields[INODE])) {
                waiting.add(fields[INODE]);
            }
        }
    }

    private boolean isOwn(String inode) throws IOException {
        Boolean known = owned.get(inode);
        if (known == null) {
            known = readInodes().contains(inode);
            owned.put(inode, known);
        }
        return known;
    }

    private Set<String> readInodes() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
            for (Path each : all) {
                try {
                    String target = Files.readSymbolicLink(each).toString();
                    inodes.add(target.replace("socket:[", "").replace("]", ""));
                } catch (NoSuchFileException closedMeanwhile) {
                    // It is none of those that wait.
                }
            }
        }
        return inodes;
    }

    private static String behindColon(String field) {
        return field.substring(field.indexOf(':') + 1);
    }
}
