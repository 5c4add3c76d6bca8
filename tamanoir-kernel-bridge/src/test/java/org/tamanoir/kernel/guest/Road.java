package org.tamanoir.kernel.guest;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

/**
 * Three network namespaces in a row, the middle of which routes, and programs in them:
 *
 * <pre>
 *   tmn-a 10.7.1.2 -- 10.7.1.1 tmn-r 10.7.2.1 -- 10.7.2.2 tmn-b
 *         fd07:1::2   fd07:1::1      fd07:2::1   fd07:2::2
 * </pre>
 *
 * The module is loaded as long as the road is open. One test thread.
 */
final class Road implements AutoCloseable {
    static final String SENDER = "tmn-a";
    static final String ROUTER = "tmn-r";
    static final String RECEIVER = "tmn-b";

    /** The receiver's addresses. */
    static final String IPV4 = "10.7.2.2";

    static final String IPV6 = "fd07:2::2";

    static final int PORT = 3322;

    private static final Path PROGRAMS = Path.of("target", "native", "test");

    /** Enters namespaces; has none of its own. */
    private static final Namespaces NAMESPACES = new Namespaces("road");

    /** The router computes what checksums are left to devices: the receiver then notices one that is not right. */
    private static final String OPEN = """
            # As many as a test floods with: a processor that the host keeps waiting drops nothing.
            echo 20000 >/proc/sys/net/core/netdev_max_backlog
            ip -batch - <<'E'
            netns add tmn-a
            netns add tmn-r
            netns add tmn-b
            link add tmn-ar netns tmn-a type veth peer name tmn-ra netns tmn-r
            link add tmn-br netns tmn-b type veth peer name tmn-rb netns tmn-r
            E
            ip -n tmn-a -batch - <<'E'
            addr add 10.7.1.2/24 dev tmn-ar
            addr add fd07:1::2/64 dev tmn-ar nodad
            link set tmn-ar up
            link set lo up
            route add default via 10.7.1.1
            route add default via fd07:1::1 dev tmn-ar
            E
            ip -n tmn-r -batch - <<'E'
            addr add 10.7.1.1/24 dev tmn-ra
            addr add fd07:1::1/64 dev tmn-ra nodad
            addr add 10.7.2.1/24 dev tmn-rb
            addr add fd07:2::1/64 dev tmn-rb nodad
            link set tmn-ra up
            link set tmn-rb up
            link set lo up
            rule add fwmark 0x54000000/0xfff00000 lookup 77
            route add local default dev lo table 77
            E
            ip -n tmn-b -batch - <<'E'
            addr add 10.7.2.2/24 dev tmn-br
            addr add fd07:2::2/64 dev tmn-br nodad
            link set tmn-br up
            link set lo up
            route add default via 10.7.2.1
            route add default via fd07:2::1 dev tmn-br
            E
            ip netns exec tmn-r bash -ec '
                echo 1 >/proc/sys/net/ipv4/ip_forward
                echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
                ethtool -K tmn-rb tx off >/dev/null'
            # One processor takes in what comes to router and receiver, whichever the sender is on: the road keeps order.
            ip netns exec tmn-r bash -ec 'for f in /sys/class/net/tmn-ra/queues/rx-*/rps_cpus; do echo 1 >$f; done'
            ip netns exec tmn-b bash -ec 'for f in /sys/class/net/tmn-br/queues/rx-*/rps_cpus; do echo 1 >$f; done'
            """;

    private final List<Program> programs = new ArrayList<>();

    private Road() {}

    /** Skips the test where the module cannot be loaded. */
    static Road open() {
        requireModule();
        load();
        Program.run("bash", "-ec", OPEN);
        return new Road();
    }

    static void requireModule() {
        String path = System.getenv("TAMANOIR_MODULE");
        Tiers.require(
                "module",
                path != null && !path.isEmpty() && Files.exists(Path.of(path)),
                "no module in TAMANOIR_MODULE: this runs in the guest, see native/vm/test");
    }

    static void load() {
        Program.run("insmod", System.getenv("TAMANOIR_MODULE"));
    }

    static boolean isLoaded() {
        return Files.exists(Path.of("/sys/module/tamanoir"));
    }

    static void unload() {
        Program.run("rmmod", "tamanoir");
    }

    /** A socket to the module, in a namespace. */
    Program control(String namespace) {
        return in(namespace, "control");
    }

    /** A program of {@code native/test} in a namespace. */
    Program in(String namespace, String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(PROGRAMS.resolve(program).toString()));
        Collections.addAll(command, arguments);
        try {
            // A process is in the namespace of the thread that starts it.
            return keep(NAMESPACES.in(namespace, () -> Program.start(command.toArray(String[]::new))));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("in " + namespace, e);
        }
    }

    Program keep(Program program) {
        programs.add(program);
        return program;
    }

    /** Sends lines of hex to the receiver. */
    Program sender(String address) {
        return in(SENDER, "traffic", "send", address, Integer.toString(PORT));
    }

    /** Sends many at once to the receiver. */
    Program flood() {
        return in(SENDER, "traffic", "flood", IPV4, Integer.toString(PORT));
    }

    /** Whether the sender leaves UDP checksums to the router's device, or computes them. */
    void leaveChecksums(boolean left) {
        Program.run("ip", "netns", "exec", SENDER, "ethtool", "-K", "tmn-ar", "tx", left ? "on" : "off");
    }

    /** Has the router's interfaces belong to a VRF, or takes that away. */
    void vrf(boolean isThere) {
        Program.run("modprobe", "vrf");
        Program.run(
                "ip",
                "netns",
                "exec",
                ROUTER,
                "bash",
                "-ec",
                isThere
                        ? "echo 1 >/proc/sys/net/ipv6/conf/all/keep_addr_on_down; ip link add vrf0 type vrf table 88;"
                                + " ip link set vrf0 up; ip link set tmn-ra master vrf0; ip link set tmn-rb master vrf0"
                        : "ip link del vrf0 || true");
    }

    /**
     * Makes the router a bridge besides, with a port to the sender, 10.7.3.2, and one to the receiver, 10.7.3.3, whose
     * packets br_netfilter shows to the hooks of IPv4; its own address is 10.7.3.1. Or takes that away, as far as it is there.
     */
    void bridge(boolean isThere) {
        Program.run("modprobe", "-a", "bridge", "br_netfilter");
        Program.run("bash", "-ec", isThere ? BRIDGE : NO_BRIDGE);
    }

    private static final String BRIDGE = """
            ip -n tmn-r link add br0 type bridge
            for end in a:2 b:3; do n=${end%:*}
                ip link add tmn-${n}c netns tmn-$n type veth peer name tmn-c$n netns tmn-r
                ip -n tmn-r link set tmn-c$n master br0 up
                ip -n tmn-$n addr add 10.7.3.${end#*:}/24 dev tmn-${n}c
                ip -n tmn-$n link set tmn-${n}c up
            done
            ip -n tmn-r addr add 10.7.3.1/24 dev br0
            ip -n tmn-r link set br0 up
            ip -n tmn-a route add 10.7.4.0/24 via 10.7.3.1
            ip -n tmn-b addr add 10.7.4.2/24 dev tmn-br
            ip -n tmn-r route add 10.7.4.0/24 dev tmn-rb
            ip netns exec tmn-r bash -ec 'echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables'
            """;

    /** Routes over its devices go with them. */
    private static final String NO_BRIDGE = """
            ip -n tmn-r route del 10.7.4.0/24 dev tmn-rb || true
            ip -n tmn-b addr del 10.7.4.2/24 dev tmn-br || true
            ip -n tmn-b link del tmn-bc || true
            ip -n tmn-a link del tmn-ac || true
            ip -n tmn-r link del br0 || true
            """;

    /** Takes what comes to the receiver: {@code show}, or {@code count} and the offset of the number. */
    Program receiver(String... how) {
        return listening(RECEIVER, how);
    }

    /** The same anywhere. */
    Program listening(String namespace, String... how) {
        List<String> arguments = new ArrayList<>(List.of(how));
        arguments.add(1, Integer.toString(PORT));
        Program program = in(namespace, "traffic", arguments.toArray(String[]::new));
        if (!program.next().equals("ok")) {
            throw new IllegalStateException("port " + PORT + " cannot be bound in " + namespace);
        }
        return program;
    }

    /** Ends what runs on the road, keeps the road. */
    void clear() {
        programs.forEach(Program::close);
        programs.clear();
    }

    @Override
    public void close() {
        clear();
        Program.run("bash", "-c", "printf 'netns del %s\\n' tmn-a tmn-r tmn-b | ip -batch -");
        if (isLoaded()) {
            unload();
        }
    }
}
