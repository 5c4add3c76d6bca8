package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads how many datagrams the kernel dropped because a socket's receive buffer was full. Stateless. */
final class KernelDrops {
    private static final Path TABLE = Path.of("/proc/net/udp");
    private static final int LOCAL = 1;

    private KernelDrops() {}

    /** Returns the drops of all sockets of this port of IPv4. */
    static long of(int port) throws IOException {
        String end = ":%04X".formatted(port);
        long drops = 0;
        for (String line : Files.readAllLines(TABLE)) {
            String[] columns = line.trim().split("\\s+");
            if (columns.length > LOCAL && columns[LOCAL].endsWith(end)) {
                drops += Long.parseLong(columns[columns.length - 1]);
            }
        }
        return drops;
    }
}
