package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Shell;

/**
 * The machines of figure 16, each a network namespace, on one switch, 10.78.0.0/16:
 *
 * <pre>
 *   clients 1..12    front-end     back-ends 1..3   receivers 1..3
 *   10.78.1.k        10.78.4.1     10.78.3.k        10.78.2.k
 *       └──────────────┴───── switch ──┴────────────────┘
 *                  10.78.4.100: the virtual address
 * </pre>
 *
 * <p>Back-ends have the virtual address on loopback and do not answer for it, as direct routing demands.
 *
 * <p>Thread contract: one thread; the hook that ends the JVM removes what is left.
 */
final class Bed implements AutoCloseable {
    static final int CLIENTS = 12;
    static final int RECEIVERS = 3;
    static final int BACK_ENDS = 3;
    /** Of nodes, virtual service and receivers. */
    static final int PORT = 3322;

    static final String VIRTUAL_ADDRESS = "10.78.4.100";
    /** Where receivers are. */
    static final String RECEIVERS_PREFIX = "10.78.2.0/24";

    private static final String PREFIX = "tamanoir-cluster-";
    private static final List<String> NO_FILTER =
            List.of("net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0");
    /** Only for addresses of the interface that asks; and asks with its own. */
    private static final List<String> SILENT = List.of(
            "net.ipv4.conf.all.arp_ignore=1",
            "net.ipv4.conf.all.arp_announce=2",
            "net.ipv4.conf.lo.arp_ignore=1",
            "net.ipv4.conf.lo.arp_announce=2");

    private final List<Namespace> all = new ArrayList<>();
    private final String prefix = PREFIX + ProcessHandle.current().pid() + "-";
    private final Thread hook = new Thread(this::remove, "remove namespaces");
    private final Namespace network;
    private final List<Namespace> clients;
    private final List<Namespace> receivers;
    private final List<Namespace> backEnds;
    private final Namespace director;

    /**
     * Makes all of them.
     *
     * @throws IOException in one line, with nothing left behind
     */
    Bed() throws IOException {
        network = named("s");
        director = named("d");
        clients = named("c", CLIENTS);
        receivers = named("r", RECEIVERS);
        backEnds = named("b", BACK_ENDS);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            removeLeftBehind();
            make();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private Namespace named(String name) {
        Namespace made = new Namespace(prefix + name);
        all.add(made);
        return made;
    }

    private List<Namespace> named(String name, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> named(name + i)).toList();
    }

    private void make() throws IOException {
        batch(all.stream().map(each -> "netns add " + each.name()).toList());
        List<String> ports = new ArrayList<>(List.of("link add name switch type bridge", "link set dev switch up"));
        for (Namespace each : all.subList(1, all.size())) {
            String port = each.name().substring(prefix.length());
            ports.add("link add name " + port + " type veth peer name eth netns " + each.name());
            ports.add("link set dev " + port + " master switch up");
        }
        in(network, ports);
        join(clients, "10.78.1.");
        join(receivers, "10.78.2.");
        join(backEnds, "10.78.3.");
        join(List.of(director), "10.78.4.");
        in(director, List.of("address add " + VIRTUAL_ADDRESS + "/32 dev eth"));
        set(
                director,
                Stream.concat(NO_FILTER.stream(), Stream.of("net.ipv4.conf.all.send_redirects=0"))
                        .toList());
        for (Namespace each : backEnds) {
            set(each, Stream.concat(NO_FILTER.stream(), SILENT.stream()).toList());
            in(each, List.of("address add " + VIRTUAL_ADDRESS + "/32 dev lo"));
        }
    }

    private static void join(List<Namespace> machines, String address) throws IOException {
        for (int i = 0; i < machines.size(); i++) {
            in(
                    machines.get(i),
                    List.of(
                            "link set dev lo up",
                            "link set dev eth up",
                            "address add " + address + (i + 1) + "/16 dev eth"));
        }
    }

    private static void batch(List<String> commands, String... options) throws IOException {
        Path file = Files.createTempFile("tamanoir-cluster-", ".ip");
        try {
            Files.write(file, commands);
            List<String> line = new ArrayList<>(List.of("ip"));
            line.addAll(List.of(options));
            line.addAll(List.of("-batch", file.toString()));
            Shell.run(line);
        } finally {
            Files.delete(file);
        }
    }

    private static void in(Namespace namespace, List<String> commands) throws IOException {
        batch(commands, "-n", namespace.name());
    }

    private static void set(Namespace namespace, List<String> settings) throws IOException {
        List<String> line = new ArrayList<>(List.of("sysctl", "-q", "-w"));
        line.addAll(settings);
        Shell.run(namespace.inside(line));
    }

    List<Namespace> clients() {
        return clients;
    }

    List<Namespace> receivers() {
        return receivers;
    }

    List<Namespace> backEnds() {
        return backEnds;
    }

    Namespace director() {
        return director;
    }

    static String receiver(int index) {
        return "10.78.2." + (index + 1);
    }

    static String backEnd(int index) {
        return "10.78.3." + (index + 1);
    }

    /** Those of a process that was killed: its identifier is in their names. */
    private static void removeLeftBehind() throws IOException {
        for (String line : Shell.run(List.of("ip", "netns", "list")).split("\n")) {
            String name = line.split(" ")[0];
            if (name.matches(PREFIX + "[0-9]+-[a-z][0-9]*")) {
                long pid = Long.parseLong(name.split("-")[2]);
                if (ProcessHandle.of(pid).isEmpty()) {
                    Shell.run(List.of("ip", "netns", "delete", name));
                }
            }
        }
    }

    private synchronized void remove() {
        List<String> there = all.stream()
                .filter(each -> Files.exists(each.file()))
                .map(each -> "netns delete " + each.name())
                .toList();
        try {
            if (!there.isEmpty()) {
                batch(there);
            }
        } catch (IOException e) {
            System.err.println("left behind: network namespaces " + prefix + "* (" + e.getMessage() + ")");
        }
    }

    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM ends: the hook runs, and finds nothing.
        }
    }
}
