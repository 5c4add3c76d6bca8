package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.tamanoir.cluster.element.Unit;
import org.tamanoir.cluster.element.ring.RingSettings;
import org.tamanoir.node.config.Endpoint;

/**
 * Nodes that are units of one element, each a process, so that one can be killed. Their files lie in a temporary folder.
 *
 * <p>Thread contract: one thread.
 */
final class ElementUnits implements AutoCloseable {
    static final int UNITS = 3;
    private static final int KEY_BYTES = 16;
    private static final long END_S = 5;
    /** No packet has this next hop: a link for it holds nothing back. */
    private static final String NOWHERE = "192.0.2.200/32";

    private final Path folder = Files.createTempDirectory("tamanoir-demo-");
    private final List<Process> processes = new ArrayList<>();
    private final List<Unit> units = new ArrayList<>();
    private final RingSettings ring;
    private final Thread hook = new Thread(this::killAll, "end units");

    /**
     * Starts the nodes.
     *
     * @param main the program's main class
     * @param aggregator to which they send
     * @param byToken whether packets leave by the token of the ring
     */
    ElementUnits(String main, InetSocketAddress aggregator, boolean byToken) throws IOException {
        Runtime.getRuntime().addShutdownHook(hook);
        List<InetSocketAddress> free = freeAddresses(2 * UNITS + 1);
        byte[] key = new byte[KEY_BYTES];
        new Random(free.hashCode()).nextBytes(key);
        Path keyFile =
                Files.writeString(folder.resolve("ring.key"), HexFormat.of().formatHex(key) + "\n");
        Map<Integer, InetSocketAddress> control = new HashMap<>();
        for (int unit = 0; unit < UNITS; unit++) {
            units.add(new Unit(unit, free.get(unit), 1));
            control.put(unit, free.get(UNITS + unit));
        }
        InetSocketAddress distributor = free.get(2 * UNITS);
        ring = RingSettings.of(1, key, control, distributor);
        String controls = control.values().stream()
                .sorted(Comparator.comparingInt(free::indexOf))
                .map(each -> '"' + Endpoint.toString(each) + '"')
                .collect(Collectors.joining(", ", "[", "]"));
        try {
            for (Unit unit : units) {
                Path file = Files.writeString(
                        folder.resolve("unit-" + unit.path() + ".yaml"),
                        String.format(
                                Locale.ROOT,
                                """
                        listen: {tcp: [], udp: ["%s"]}
                        admin: {listen: off}
                        routes: [{to: %s/32, via: "%s", transport: udp, kind: host}]
                        qos:
                          classes: [{name: all, limit-packets: 500}]
                          default-class: all
                          links: [{name: out, next-hops: ["%s"], rate: 10Gbit/s, burst: 1MiB, discipline: fct}]
                        element: {unit: %d, units: %s, distributor: "%s", key-file: "%s"}
                        """,
                                Endpoint.toString(unit.address()),
                                DemoNetwork.DESTINATION,
                                Endpoint.toString(aggregator),
                                byToken ? "127.0.0.0/8" : NOWHERE,
                                unit.path(),
                                controls,
                                Endpoint.toString(distributor),
                                keyFile));
                processes.add(start(main, file, folder.resolve("unit-" + unit.path() + ".log")));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static Process start(String main, Path config, Path log) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        // Three of them start at once and live for seconds.
        return new ProcessBuilder(
                        java,
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        main,
                        "node",
                        "--config",
                        config.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    /** All are held until all are known, so that no two are the same. */
    private static List<InetSocketAddress> freeAddresses(int count) throws IOException {
        List<DatagramSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new DatagramSocket(new InetSocketAddress(DemoNetwork.loopback(), 0)));
            }
            return sockets.stream()
                    .map(socket -> new InetSocketAddress(DemoNetwork.loopback(), socket.getLocalPort()))
                    .toList();
        } finally {
            sockets.forEach(DatagramSocket::close);
        }
    }

    List<Unit> units() {
        return units;
    }

    RingSettings ring() {
        return ring;
    }

    /** Fails with the last line of a unit's log if its process has ended. */
    void requireAlive() throws IOException {
        for (int unit = 0; unit < UNITS; unit++) {
            if (!processes.get(unit).isAlive()) {
                List<String> log = Files.readAllLines(folder.resolve("unit-" + unit + ".log"));
                throw new IOException("unit " + unit + " has ended with code "
                        + processes.get(unit).exitValue() + ": " + (log.isEmpty() ? "" : log.get(log.size() - 1)));
            }
        }
    }

    /** Ends a unit at once, as kill -9 does. */
    void kill(int unit) {
        processes.get(unit).destroyForcibly();
    }

    private void killAll() {
        processes.forEach(Process::destroyForcibly);
    }

    @Override
    public void close() {
        killAll();
        try {
            for (Process process : processes) {
                process.waitFor(END_S, TimeUnit.SECONDS);
            }
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | IllegalStateException e) {
            // A temporary file stays, or the program ends already.
        }
    }
}
