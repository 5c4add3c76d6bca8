package org.tamanoir.node.admin;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.Load;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.traffic.TrafficSnapshot;

/** What the node says of its load. Any thread may call; an answer costs one read of a small file and a few sums. */
final class LoadView {
    private static final Path HOST = Path.of("/proc/stat");
    /** Of the kernel's interface, whatever its timer does: proc(5), {@code /proc/stat}. */
    private static final double TICKS_PER_SECOND = 100;

    private static final int INSTANCE_BYTES = 8;

    private final ExecutionEnvironment environment;
    private final Path hostStatistics;
    private final String instance;

    LoadView(ExecutionEnvironment environment) {
        this(environment, HOST);
    }

    /** @param hostStatistics a file in the format of {@code /proc/stat} */
    LoadView(ExecutionEnvironment environment, Path hostStatistics) {
        this.environment = environment;
        this.hostStatistics = hostStatistics;
        byte[] random = new byte[INSTANCE_BYTES];
        new SecureRandom().nextBytes(random);
        instance = HexFormat.of().formatHex(random);
    }

    Load now() {
        int processors = Runtime.getRuntime().availableProcessors();
        return new Load(
                instance,
                ManagementFactory.getRuntimeMXBean().getUptime() / 1e3,
                processors,
                processorSeconds(),
                hostBusySeconds(processors),
                environment.places().taken(),
                environment.maxStreams(),
                traffic(environment.traffic()));
    }

    private static Load.Traffic traffic(TrafficSnapshot traffic) {
        return new Load.Traffic(
                traffic.packetsIn(),
                traffic.bytesIn(),
                traffic.packetsMade(),
                traffic.packetsOut(),
                traffic.bytesOut(),
                traffic.dropped(),
                traffic.held());
    }

    private static double processorSeconds() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean detailed
                ? Math.max(0, detailed.getProcessCpuTime()) / 1e9
                : 0;
    }

    /**
     * Null also when the host has other processors than the node may use, as in a container: its figure could then not
     * be compared with the node's.
     */
    @Nullable
    Double hostBusySeconds(int processors) {
        try (BufferedReader in = Files.newBufferedReader(hostStatistics, StandardCharsets.US_ASCII)) {
            String all = in.readLine();
            if (all == null) {
                return null;
            }
            int counted = 0;
            for (String line = in.readLine(); line != null && line.startsWith("cpu"); line = in.readLine()) {
                counted++;
            }
            return counted == processors ? busyTicks(all) / TICKS_PER_SECOND : null;
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }

    /**
     * Of {@code cpu user nice system idle iowait irq softirq steal guest guest_nice}: all but idle and iowait, and guest
     * time, which user has in it. Stolen time is in: processes wanted it, and the host could not give it.
     */
    private static long busyTicks(String line) {
        String[] words = line.trim().split("\\s+");
        if (words.length < 9 || !words[0].equals("cpu")) {
            throw new NumberFormatException(line);
        }
        long ticks = 0;
        for (int i = 1; i <= 8; i++) {
            ticks += i == 4 || i == 5 ? 0 : Long.parseLong(words[i]);
        }
        return ticks;
    }
}
