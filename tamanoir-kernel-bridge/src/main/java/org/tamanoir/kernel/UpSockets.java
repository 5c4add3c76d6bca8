package org.tamanoir.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The sockets that datagrams come up to, as the kernel lists them for the calling thread's network namespace in {@code
 * /proc/thread-self/net/udp} and {@code udp6}:
 *
 * <pre>
 *   sl  local_address:port  remote_address:port  state  tx_queue:rx_queue ...      hexadecimal
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
final class UpSockets {
    private static final List<Path> LISTS =
            List.of(Path.of("/proc/thread-self/net/udp"), Path.of("/proc/thread-self/net/udp6"));
    private static final int LOCAL = 1;
    private static final int QUEUES = 4;

    private UpSockets() {}

    /** Returns whether no datagram waits in a socket of one of these ports; false where that cannot be read. */
    static boolean areEmpty(Set<Integer> ports) {
        try {
            for (Path list : LISTS) {
                if (Files.exists(list) && !areEmpty(Files.readString(list, StandardCharsets.US_ASCII), ports)) {
                    return false;
                }
            }
            return true;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    static boolean areEmpty(String list, Set<Integer> ports) {
        return list.lines().skip(1).map(line -> line.trim().split(" +")).allMatch(fields -> {
            boolean isOurs = ports.contains(Integer.parseInt(behindColon(fields[LOCAL]), 16));
            return !isOurs || Long.parseLong(behindColon(fields[QUEUES]), 16) == 0;
        });
    }

    private static String behindColon(String field) {
        return field.substring(field.indexOf(':') + 1);
    }
}
