package org.tamanoir.cluster.element.ring;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/**
 * Prints how long a token takes from unit to unit, all of them threads of this JVM, and what an idle ring costs:
 * {@code HopTimes memory|udp UNITS SECONDS [idle]}. The first third of the turns is left out.
 */
final class HopTimes {
    private static final int FIRST_PORT = 34_500;
    private static final int MAX_TURNS = 4_000_000;

    private final long[] turnNs = new long[MAX_TURNS];
    private int turns;
    private long passedNs = System.nanoTime();

    private HopTimes() {}

    /** Passes each token at once, or as the master of an idle ring after 200 ms. */
    private final class Passer extends Runner {
        private final boolean idle;
        private @Nullable Token held;

        Passer(RingPort port, boolean idle) {
            super(port);
            this.idle = idle;
        }

        @Override
        public void token(Token token) {
            if (isMaster()) {
                long nowNs = System.nanoTime();
                if (turns < MAX_TURNS) {
                    turnNs[turns++] = nowNs - passedNs;
                }
                passedNs = nowNs;
                if (idle) {
                    held = token;
                    port.timer(200_000_000);
                    return;
                }
            }
            super.token(token);
        }

        @Override
        public void timer() {
            super.token(Objects.requireNonNull(held));
        }
    }

    public static void main(String[] args) throws Exception {
        new HopTimes().run(args[0], Integer.parseInt(args[1]), Long.parseLong(args[2]), args.length > 3);
    }

    private void run(String kind, int units, long seconds, boolean idle) throws Exception {
        List<AutoCloseable> opened = new ArrayList<>();
        Map<Integer, InetSocketAddress> addresses = new HashMap<>();
        for (int unit = 0; unit < units; unit++) {
            addresses.put(unit, new InetSocketAddress(InetAddress.getLoopbackAddress(), FIRST_PORT + unit));
        }
        if (kind.equals("memory")) {
            MemoryRing ring = new MemoryRing(RingPlan.of(addresses.keySet(), false));
            opened.add(ring);
            for (int unit = 0; unit < units; unit++) {
                ring.start(unit, new Passer(ring.port(unit), idle));
            }
        } else {
            RingSettings settings = RingSettings.of(1, new byte[16], addresses, null);
            for (int unit = 0; unit < units; unit++) {
                TokenRing ring = new TokenRing(settings, unit);
                opened.add(ring);
                ring.start(new Passer(ring, idle));
            }
        }
        Thread.sleep(2_000);
        long cpuNs = cpuNs();
        Thread.sleep(seconds * 1_000);
        System.out.printf("%s, %d units: %.2f %% of a processor%n", kind, units, (cpuNs() - cpuNs) / 1e7 / seconds);
        for (AutoCloseable each : opened) {
            each.close();
        }
        long[] sorted = Arrays.copyOfRange(turnNs, turns / 3, turns);
        Arrays.sort(sorted);
        System.out.printf(
                "%d turns; a hop %.2f us p50, %.2f us p99%n",
                turns, sorted[sorted.length / 2] / 1e3 / units, sorted[sorted.length * 99 / 100] / 1e3 / units);
    }

    private static long cpuNs() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
