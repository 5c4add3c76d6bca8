package org.tamanoir.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Namespaces;

/**
 * The kernel as a router with a full table, between a client and a server in network namespaces of their own. Who sends
 * does all the work, as virtual interfaces have it: the processor time of the sender and of the kernel's threads for
 * interrupts, less what it is when the router drops what it gets before it looks up a route, is that of looking it up,
 * sending on, and dropping at the server.
 *
 * <p>Thread contract: one thread.
 */
final class KernelForwarding implements AutoCloseable {
    private static final String DROP = "nothing-passes";
    /** Commands for one process, which has 20 s. */
    private static final int CHUNK = 50_000;

    private final Namespaces all = new Namespaces("destinations", List.of("c", "r", "s"));
    private final Namespace client = all.all().get(0);
    private final Namespace router = all.all().get(1);
    private final Namespace server = all.all().get(2);

    /**
     * Makes the network, whose addresses lie outside all prefixes of the table.
     *
     * @throws IOException in one line, with nothing left behind
     */
    KernelForwarding(DestinationTable table) throws IOException {
        try {
            join(client, "up0", "240.77.1.1/24", "fd77:1::1/64", router, "from0", "240.77.1.2/24", "fd77:1::2/64");
            join(router, "to0", "240.77.2.9/24", "fd77:2::9/64", server, "down0", "240.77.2.1/24", "fd77:2::1/64");
            client.ip("route add default via 240.77.1.2", "route add default via fd77:1::2");
            server.ip("address add 240.77.2.2/24 dev down0", "address add 240.77.2.3/24 dev down0");
            server.ip("address add 240.77.2.4/24 dev down0", "route add blackhole default");
            for (int i = 2; i <= 4; i++) {
                server.ip("address add fd77:2::" + i + "/64 dev down0 nodad");
            }
            server.ip("route add blackhole ::/0");
            for (Namespace each : all.all()) {
                each.set("conf.all.rp_filter=0", "conf.default.rp_filter=0", "ip_forward=1");
                each.run("sysctl -q -w net.ipv6.conf.all.forwarding=1");
            }
            routes(table, true);
            routes(table, false);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Why this host cannot have it; empty = it can. */
    static String missing() {
        return Namespace.missing("ip", "iproute2", "nsenter", "util-linux", "nft", "nftables", "sysctl", "procps");
    }

    private static void join(
            Namespace left,
            String leftName,
            String left4,
            String left6,
            Namespace right,
            String rightName,
            String right4,
            String right6)
            throws IOException {
        left.ip("link add %s type veth peer name %s netns %s".formatted(leftName, rightName, right.name()));
        end(left, leftName, left4, left6);
        end(right, rightName, right4, right6);
    }

    private static void end(Namespace namespace, String name, String ipv4, String ipv6) throws IOException {
        namespace.ip(
                "link set lo up",
                "address add " + ipv4 + " dev " + name,
                "address add " + ipv6 + " dev " + name + " nodad",
                "link set " + name + " up");
    }

    private void routes(DestinationTable table, boolean isIpv4) throws IOException {
        StringWriter text = new StringWriter();
        try (BufferedWriter out = new BufferedWriter(text)) {
            table.writeRoutes(
                    out,
                    "route add ",
                    isIpv4,
                    hop -> isIpv4 ? " via 240.77.2." + (hop + 1) : " via fd77:2::" + (hop + 1));
        }
        String[] commands = text.toString().split("\n");
        for (int from = 0; from < commands.length; from += CHUNK) {
            router.ip(Arrays.copyOfRange(commands, from, Math.min(commands.length, from + CHUNK)));
        }
    }

    Namespace client() {
        return client;
    }

    /** Has the router drop all that it gets, or send it on. */
    void drop(boolean all) throws IOException {
        if (all) {
            router.run("nft add table inet " + DROP);
            router.run("nft add chain inet " + DROP
                    + " before { type filter hook prerouting priority -300 ; policy drop ; }");
        } else {
            router.run("nft delete table inet " + DROP);
        }
    }

    /** Returns how many packets have come to the server. */
    long arrived() throws IOException {
        return Long.parseLong(server.run("cat /proc/net/dev")
                .lines()
                .filter(line -> line.contains("down0:"))
                .map(line -> line.substring(line.indexOf(':') + 1).trim().split(" +")[1])
                .findFirst()
                .orElseThrow());
    }

    /** Returns the processor time of the kernel's threads that handle what interrupts left, in ns. */
    static long interruptNs() throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            long sum = 0;
            for (Path each : processes
                    .filter(path -> path.getFileName().toString().matches("\\d+"))
                    .toList()) {
                if (isInterruptThread(each)) {
                    sum += CpuClock.ns(
                            ProcessHandle.of(Long.parseLong(each.getFileName().toString()))
                                    .orElseThrow());
                }
            }
            return sum;
        }
    }

    private static boolean isInterruptThread(Path process) {
        try {
            return Files.readString(process.resolve("comm")).startsWith("ksoftirqd/");
        } catch (IOException e) {
            return false; // It has ended.
        }
    }

    @Override
    public void close() {
        all.close();
    }
}
