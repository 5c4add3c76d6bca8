package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Namespaces;

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
 * bytes, so that each ANEP packet is one datagram, or one segment.
 *
 * <p>Thread contract: one thread.
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

    /** Of /proc/net/dev, after the name. */
    private static final int DEV_TX_PACKETS = 10;

    private final Namespaces all = new Namespaces("levels", List.of("c", "r", "s"));
    final Namespace client = all.all().get(0);
    final Namespace router = all.all().get(1);
    final Namespace server = all.all().get(2);

    /**
     * Makes all three.
     *
     * @throws IOException in one line, with nothing left behind
     */
    Network() throws IOException {
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
        join(client, UP, "10.77.1.1/24", router, FROM, "10.77.1.2/24");
        join(router, TO, "10.77.2.2/24", server, DOWN, SERVER_ADDRESS + "/24");
        client.ip("route add default via 10.77.1.2");
        router.ip("route add 10.77.3.0/24 via " + SERVER_ADDRESS);
        server.ip(
                "address add " + LATE_ADDRESS + "/24 dev " + DOWN,
                "route add default via 10.77.2.2",
                "route add blackhole 10.77.3.0/24");
        for (Namespace each : all.all()) {
            each.set("conf.all.rp_filter=0", "conf.default.rp_filter=0");
        }
        router.set("ip_forward=1");
        server.set("ip_forward=1");
        client.set("tcp_wmem=4096 1048576 8388608");
    }

    private static void join(
            Namespace left, String leftName, String leftAddress, Namespace right, String rightName, String rightAddress)
            throws IOException {
        left.ip("link add %s mtu %d type veth peer name %s mtu %2$d netns %s"
                .formatted(leftName, MTU, rightName, right.name()));
        end(left, leftName, leftAddress);
        end(right, rightName, rightAddress);
    }

    private static void end(Namespace namespace, String name, String address) throws IOException {
        namespace.run("ethtool -K " + name + " tx off tso off gso off gro off");
        namespace.ip("link set lo up", "address add " + address + " dev " + name, "link set " + name + " up");
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
    void mtuBeforeRouter(int bytes) throws IOException {
        client.ip("link set " + UP + " mtu " + bytes);
        router.ip("link set " + FROM + " mtu " + bytes);
    }

    /** Of the link between router and server. */
    void mtuBehindRouter(int bytes) throws IOException {
        router.ip("link set " + TO + " mtu " + bytes);
        server.ip("link set " + DOWN + " mtu " + bytes);
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

    @Override
    public void close() {
        all.close();
    }
}
