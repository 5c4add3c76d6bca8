package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Shell;

/**
 * A client, a router and a server, each in a network namespace, joined by pairs of virtual interfaces:
 *
 * <pre>
 *   client            router                 server
 *   10.77.1.1  ────  10.77.1.2   10.77.2.2 ──── 10.77.2.1
 *        up0          from0          to0          down0
 * </pre>
 *
 * <p>The router forwards. Offloads are off, so that packets cross it one by one, and interfaces take packets of 65,535
 * octets, so that each ANEP packet is one datagram, or one segment.
 *
 * <p>Thread contract: one thread; the hook that ends the JVM removes what is left.
 */
final class Network implements AutoCloseable {
    /** Where the client's packets come to the router. */
    static final String FROM = "from0";
    /** Where they leave it. */
    static final String TO = "to0";
    /** Where they leave the client. */
    static final String UP = "up0";

    /** The node's port, and that of the sink behind it: levels look at packets in transit to this port. */
    static final int PORT = 3322;

    private static final String DOWN = "down0";
    private static final String SERVER_ADDRESS = "10.77.2.1";
    /** Of the server too, where acknowledgements are delayed. */
    private static final String LATE_ADDRESS = "10.77.2.3";
    /** An address of the server where packets end without a word, for floods. */
    private static final String VOID_ADDRESS = "10.77.3.1";

    /** The largest that IPv4 can use. */
    static final int MTU = 65_535;

    private static final Path PINS = Path.of("/sys/fs/bpf");
    private static final String PREFIX = "tamanoir-levels-";
    /** Of /proc/net/dev, after the name. */
    private static final int DEV_TX_PACKETS = 10;

    private final Namespace client;
    private final Namespace router;
    private final Namespace server;
    private final Thread hook = new Thread(this::remove, "remove namespaces");

    /**
     * Makes all three.
     *
     * @throws IOException in one line, with nothing left behind
     */
    Network() throws IOException {
        removeLeftBehind();
        String name = PREFIX + ProcessHandle.current().pid();
        client = new Namespace(name + "-c");
        router = new Namespace(name + "-r");
        server = new Namespace(name + "-s");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            make();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Why this host cannot have it; empty = it can. */
    static String missing() {
        return Namespace.missing("ip", "iproute2", "tc", "iproute2", "nsenter", "util-linux", "ethtool", "ethtool");
    }

    private void make() throws IOException {
        for (Namespace each : all()) {
            Shell.run(List.of("ip", "netns", "add", each.name()));
            each.run("ip link set lo up");
        }
        join(client, UP, "10.77.1.1/24", router, FROM, "10.77.1.2/24");
        join(router, TO, "10.77.2.2/24", server, DOWN, SERVER_ADDRESS + "/24");
        server.run("ip address add " + LATE_ADDRESS + "/24 dev " + DOWN);
        client.run("ip route add default via 10.77.1.2");
        server.run("ip route add default via 10.77.2.2");
        router.run("ip route add 10.77.3.0/24 via " + SERVER_ADDRESS);
        server.run("ip route add blackhole 10.77.3.0/24");
        setting(router, "net.ipv4.ip_forward", "1");
        setting(server, "net.ipv4.ip_forward", "1");
        for (Namespace each : all()) {
            setting(each, "net.ipv4.conf.all.rp_filter", "0");
            setting(each, "net.ipv4.conf.default.rp_filter", "0");
        }
        setting(client, "net.ipv4.tcp_wmem", "4096 1048576 8388608");
    }

    private static void join(
            Namespace left, String leftName, String leftAddress, Namespace right, String rightName, String rightAddress)
            throws IOException {
        left.run("ip link add " + leftName + " mtu " + MTU + " type veth peer name " + rightName + " mtu " + MTU
                + " netns " + right.name());
        end(left, leftName, leftAddress);
        end(right, rightName, rightAddress);
    }

    private static void end(Namespace namespace, String name, String address) throws IOException {
        namespace.run("ethtool -K " + name + " tx off tso off gso off gro off");
        namespace.run("ip address add " + address + " dev " + name);
        namespace.run("ip link set " + name + " up");
    }

    private static void setting(Namespace namespace, String name, String value) throws IOException {
        Shell.run(namespace.inside(List.of("sysctl", "-q", "-w", name + "=" + value)));
    }

    Namespace client() {
        return client;
    }

    Namespace router() {
        return router;
    }

    Namespace server() {
        return server;
    }

    /** Of the sink. */
    static InetSocketAddress sink() {
        return new InetSocketAddress(SERVER_ADDRESS, PORT);
    }

    /** Of the sink for TCP that delays acknowledgements. */
    static InetSocketAddress lateSink() {
        return new InetSocketAddress(LATE_ADDRESS, PORT);
    }

    /** Behind the router like the sink, and nobody is there. */
    static InetSocketAddress nobody() {
        return new InetSocketAddress(VOID_ADDRESS, PORT);
    }

    /** Of the link between client and router. */
    void mtuBeforeRouter(int octets) throws IOException {
        client.run("ip link set " + UP + " mtu " + octets);
        router.run("ip link set " + FROM + " mtu " + octets);
    }

    /** Of the link between router and server. */
    void mtuBehindRouter(int octets) throws IOException {
        router.run("ip link set " + TO + " mtu " + octets);
        server.run("ip link set " + DOWN + " mtu " + octets);
    }

    /** Packets that have left the router towards the server since it was made. */
    long packetsOut() throws IOException {
        for (String line : router.run("cat /proc/net/dev").split("\n")) {
            String[] columns = line.trim().split("[: ]+");
            if (columns[0].equals(TO)) {
                return Long.parseLong(columns[DEV_TX_PACKETS]);
            }
        }
        throw new IOException("no interface " + TO + " in " + router.name());
    }

    /** Those of a process that was killed: its identifier is in their names. */
    private static void removeLeftBehind() throws IOException {
        for (String line : Shell.run(List.of("ip", "netns", "list")).split("\n")) {
            String name = line.split(" ")[0];
            if (name.matches(PREFIX + "[0-9]+-[crs]")) {
                long pid = Long.parseLong(name.substring(PREFIX.length(), name.length() - 2));
                if (ProcessHandle.of(pid).isEmpty()
                        || pid == ProcessHandle.current().pid()) {
                    Shell.run(List.of("ip", "netns", "delete", name));
                }
            }
        }
    }

    private List<Namespace> all() {
        return List.of(client, router, server);
    }

    private synchronized void remove() {
        String pins = pinsOfRouter();
        for (Namespace each : all()) {
            if (Files.exists(each.file())) {
                try {
                    Shell.run(List.of("ip", "netns", "delete", each.name()));
                } catch (IOException e) {
                    System.err.println("left behind: network namespace " + each.name() + " (" + e.getMessage() + ")");
                }
            }
        }
        if (!pins.isEmpty() && Files.isDirectory(PINS)) {
            removePins(pins);
        }
    }

    /** How the names of pins begin that a node in the router makes: they have the namespace's number. */
    private String pinsOfRouter() {
        try {
            return "tamanoir-" + Files.getAttribute(router.file(), "unix:ino") + "-";
        } catch (IOException e) {
            return ""; // It is gone.
        }
    }

    /** A node that was killed leaves its pins, and no other one will start in its namespace. */
    private static void removePins(String prefix) {
        try (Stream<Path> all = Files.list(PINS)) {
            for (Path folder : all.filter(each -> each.getFileName().toString().startsWith(prefix))
                    .toList()) {
                try (Stream<Path> pins = Files.list(folder)) {
                    for (Path pin : pins.toList()) {
                        Files.delete(pin);
                    }
                }
                Files.delete(folder);
            }
        } catch (IOException e) {
            System.err.println("left behind: " + PINS + "/" + prefix + "* (" + e.getMessage() + ")");
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
