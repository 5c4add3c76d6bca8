package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.tamanoir.cluster.lvs.Tables.lines;
import static org.tamanoir.cluster.lvs.Tables.plan;
import static org.tamanoir.cluster.lvs.Tables.table;
import static org.tamanoir.cluster.lvs.Tables.tcp;
import static org.tamanoir.cluster.lvs.Tables.udp;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

/**
 * The kernel's own table, in the virtual machine: in the namespace of a director, with one back-end.
 *
 * <pre>
 *   director d0 ---- b0 back-end
 *    10.72.1.1      10.72.1.2
 *    fd72:1::1      fd72:1::2
 * </pre>
 */
class IpvsInGuest {
    private static final String SERVICE = "-A -t 10.0.0.1:3322 -s wlc";
    private static final String SERVER_1 = "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100";
    private static final String SERVER_2 = "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -i -w 50";

    private static final String DIRECTOR4 = "10.72.1.1";
    private static final String DIRECTOR6 = "fd72:1::1";
    private static final String BACK_END4 = "10.72.1.2";
    private static final String BACK_END6 = "fd72:1::2";

    @SuppressWarnings("NullAway.Init") // by namespaces()
    private static Namespaces namespaces;

    @SuppressWarnings("NullAway.Init") // by namespaces()
    private static Ipvs ipvs;

    private static String director = "";
    private static String backEnd = "";

    @TempDir
    private Path folder;

    @BeforeAll
    static void namespaces() throws Exception {
        Tiers.require(
                "ipvs",
                System.getenv("TAMANOIR_GUEST") != null && Files.isExecutable(Path.of("/usr/sbin/ipvsadm")),
                "needs the virtual machine's kernel, and the package ipvsadm");
        namespaces = new Namespaces("lvs");
        director = namespaces.add("director");
        backEnd = namespaces.add("backend");
        namespaces.link(director, "d0", backEnd, "b0");
        namespaces.address(director, "d0", DIRECTOR4 + "/24");
        namespaces.address(director, "d0", DIRECTOR6 + "/64");
        namespaces.address(backEnd, "b0", BACK_END4 + "/24");
        namespaces.address(backEnd, "b0", BACK_END6 + "/64");
        ipvs = in(Ipvs::open);
    }

    @AfterAll
    static void remove() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    @AfterEach
    void clear() {
        System.clearProperty(Ipvs.PROGRAM);
        director("ipvsadm -C");
    }

    @Test
    void allSchedulersModesAndFamiliesAreMadeReadEditedAndRemoved() throws Exception {
        List<String> first = new ArrayList<>();
        List<String> second = new ArrayList<>();
        List<String> modules = new ArrayList<>();
        for (Scheduler scheduler : Scheduler.values()) {
            if (scheduler == Scheduler.TWOS) {
                continue; // not built for Debian 12's kernel
            }
            modules.add("ip_vs_" + scheduler.label());
            String at =
                    (scheduler.ordinal() % 2 == 0 ? "-t 10.0.0." : "-u 10.0.0.") + (1 + scheduler.ordinal()) + ":3322";
            String flags = scheduler.flags().isEmpty() ? "" : " -b " + String.join(",", scheduler.flags());
            first.add("-A " + at + " -s " + scheduler.label() + flags);
            first.add("-a " + at + " -r 10.0.1.11:3322 -g -w 65535");
            first.add("-a " + at + " -r 10.0.1.13:4000 -m -w 0 -x 10 -y 5");
            second.add("-A " + at + " -s rr -p 300 -M 255.255.255.0" + (at.startsWith("-u") ? " -o" : ""));
            second.add("-a " + at + " -r 10.0.1.11:3322 -i -w 1 -x 7");
            second.add("-a " + at + " -r 10.0.1.13:4000 -m -w 9");
        }
        for (String at : List.of("-t [fd00::1]:3322", "-u [fd00::1:0:0:2:3]:3322")) {
            first.add("-A " + at + " -s mh -p 600 -M 64 -b mh-port");
            first.add("-a " + at + " -r [fd00:1::11]:3322 -g -w 1");
            first.add("-a " + at + " -r [fd00:1::12]:4000 -m -w 2");
            first.add("-a " + at + " -r 10.0.1.13:3322 -i -w 3");
            second.add("-A " + at + " -s wrr -p 60");
            second.add("-a " + at + " -r [fd00:1::11]:3322 -i -w 4");
            second.add("-a " + at + " -r 10.0.1.14:3322 -i -w 3");
        }
        Namespaces.shell(
                "modprobe -a " + String.join(" ", modules)); // all at once would take too long of ipvsadm's time
        LvsTable one = table(first.toArray(String[]::new));
        LvsTable other = table(second.toArray(String[]::new));
        in(() -> {
            assertThat(ipvs.restore(lines(plan(table(), one)))).isEmpty();
            LvsTable there = ipvs.read();
            assertThat(there).isEqualTo(one);
            ipvs.apply(plan(there, other));
            there = ipvs.read();
            assertThat(there).isEqualTo(other);
            assertThat(plan(there, other).isEmpty()).isTrue();
            ipvs.apply(plan(there, table()));
            return null;
        });
        assertThat(director("ipvsadm -S -n")).isEmpty();
    }

    @Test
    void foreignServicesAreSeenAndNotTouched() throws Exception {
        List<String> theirs = List.of(
                "-A -t 10.0.0.9:0 -s rr -p 60",
                "-A -t 10.0.0.9:80 -s sh -p 300 -b sh-port",
                "-a -t 10.0.0.9:80 -r 10.0.1.9:80 -i -w 1 --tun-type gre --tun-nocsum",
                "-A -u 10.0.0.4:5060 -s rr -p 360 --pe sip",
                "-A --sctp-service 10.0.0.9:99 -s rr",
                "-A -f 7 -s rr");
        in(() -> {
            assertThat(ipvs.restore(theirs)).isEmpty();
            LvsTable foreign = ipvs.read();
            assertThat(foreign.services()).containsOnlyKeys(tcp("10.0.0.9:80"), udp("10.0.0.4:5060"));
            LvsTable wanted = table(SERVICE, SERVER_1);
            Set<VirtualAddress> owned = wanted.services().keySet();
            ipvs.apply(Planner.plan(wanted, foreign, Set.of()));
            LvsTable both = ipvs.read();
            assertThat(Planner.plan(wanted, both, owned).isEmpty()).isTrue();
            assertThatThrownBy(() -> Planner.plan(foreign, both, owned)).isInstanceOf(ClusterException.class);
            ipvs.apply(Planner.plan(table(), both, owned));
            return null;
        });
        assertThat(director("ipvsadm -S -n").lines()).containsExactlyInAnyOrderElementsOf(theirs);
    }

    @Test
    void aLineThatFailsLeavesNothingHalfApplied() throws Exception {
        in(() -> {
            LvsTable before = table(SERVICE, SERVER_1, SERVER_2, "-A -u 10.0.0.1:3322 -s rr");
            assertThat(ipvs.restore(lines(plan(table(), before)))).isEmpty();
            LvsTable edit = table(
                    "-A -t 10.0.0.1:3322 -s rr -p 60",
                    "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -m -w 7",
                    "-a -t 10.0.0.1:3322 -r 10.0.1.13:3322 -g",
                    "-A -u 10.0.0.1:3322 -s twos",
                    "-A -t [fd00::1]:3322 -s rr",
                    "-a -t [fd00::1]:3322 -r [fd00::2]:3322 -m");
            assertRefused(
                    plan(before, edit),
                    "ipvsadm --restore: '-E -u 10.0.0.1:3322 -s twos': Scheduler or persistence engine not found;"
                            + " all was taken back");
            LvsTable add = table(
                    "-A -t 10.0.0.0:3322 -s rr",
                    "-a -t 10.0.0.0:3322 -r 10.0.1.11:3322 -g",
                    "-A -u 10.0.0.2:3322 -s twos");
            assertRefused(
                    plan(before, add),
                    "ipvsadm --restore: '-A -u 10.0.0.2:3322 -s twos': Scheduler or persistence engine not found;"
                            + " all was taken back");
            return null;
        });
    }

    private static void assertRefused(Plan plan, String message) throws ClusterException {
        assertThatThrownBy(() -> ipvs.apply(plan))
                .isInstanceOf(ClusterException.class)
                .hasMessage(message);
        assertThat(ipvs.read()).isEqualTo(plan.before());
    }

    @Test
    void aTableThatChangedBehindTheDirectorIsLeftAsItIs() throws Exception {
        in(() -> {
            Plan plan = plan(table(SERVICE, SERVER_1), table(SERVICE, SERVER_2));
            LvsTable changed = table(SERVICE, "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 3");
            assertThat(ipvs.restore(lines(plan(table(), changed)))).isEmpty();
            assertThatThrownBy(() -> ipvs.apply(plan))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageStartingWith("virtual service tcp 10.0.0.1:3322 changed between")
                    .hasMessageContaining("nothing was done");
            assertThat(ipvs.read()).isEqualTo(changed);
            return null;
        });
    }

    @Test
    void aServiceThatAnotherMadeAtTheSameMomentStays() throws Exception {
        program("test \"$1\" != --restore || ! test -e " + folder + "/race || { rm " + folder
                + "/race; /usr/sbin/ipvsadm -A -u 10.0.0.1:3322 -s rr; }; exec /usr/sbin/ipvsadm \"$@\"");
        in(() -> {
            Ipvs slow = Ipvs.open();
            Plan plan = plan(table(), table("-A -u 10.0.0.1:3322 -s rr", "-a -u 10.0.0.1:3322 -r 10.0.1.11:3322 -g"));
            Files.createFile(folder.resolve("race"));
            assertThatThrownBy(() -> slow.apply(plan))
                    .hasMessage("ipvsadm --restore: '-A -u 10.0.0.1:3322 -s rr': Service already exists;"
                            + " all was taken back");
            assertThat(ipvs.read()).isEqualTo(table("-A -u 10.0.0.1:3322 -s rr"));
            return null;
        });
    }

    @Test
    void trafficIsCountedForServiceAndServers() throws Exception {
        VirtualAddress tcp = tcp(DIRECTOR4 + ":3322");
        VirtualAddress udp = udp("[" + DIRECTOR6 + "]:3322");
        LvsTable wanted = table(
                "-A " + IpvsCommands.at(tcp) + " -s rr",
                "-a " + IpvsCommands.at(tcp) + " -r " + BACK_END4 + ":4001 -m",
                "-a " + IpvsCommands.at(tcp) + " -r " + BACK_END4 + ":4002 -m",
                "-A " + IpvsCommands.at(udp) + " -s rr",
                "-a " + IpvsCommands.at(udp) + " -r [" + BACK_END6 + "]:4001 -m");
        assertThat(in(() -> ipvs.restore(lines(plan(table(), wanted))))).isEmpty();
        List<Socket> connections = new ArrayList<>();
        try (ServerSocket one = namespaces.in(backEnd, () -> new ServerSocket(4001));
                ServerSocket two = namespaces.in(backEnd, () -> new ServerSocket(4002));
                DatagramSocket server = namespaces.in(backEnd, () -> new DatagramSocket(4001));
                DatagramSocket client = in(() -> new DatagramSocket())) {
            for (int i = 0; i < 3; i++) {
                connections.add(in(() -> connect(DIRECTOR4)));
            }
            byte[] bytes = new byte[1000];
            client.send(new DatagramPacket(
                    bytes, bytes.length, new InetSocketAddress(InetAddress.getByName(DIRECTOR6), 3322)));
            server.setSoTimeout(60_000);
            server.receive(new DatagramPacket(bytes, bytes.length));
            assertThat(one.isBound() && two.isBound()).isTrue();
            LvsCounters counters = Awaitility.await()
                    .atMost(Duration.ofSeconds(240))
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> in(ipvs::counters), IpvsInGuest::isWhole);
            assertTcp(service(counters, tcp));
            Counters datagrams = service(counters, udp).total();
            assertThat(datagrams.connections()).isOne();
            assertThat(datagrams.inactive()).isOne();
            assertThat(datagrams.packetsIn()).isOne();
            assertThat(datagrams.bytesIn()).isEqualTo(bytes.length + 8 + 40); // UDP's and IPv6's headers
        } finally {
            for (Socket connection : connections) {
                connection.close();
            }
        }
    }

    /** The kernel adds up its processors' counts every 2 s. */
    private static boolean isWhole(LvsCounters counters) {
        return sum(counters, Counters::connections) == 4 && sum(counters, Counters::packetsIn) >= 7;
    }

    private static long sum(LvsCounters counters, ToLongFunction<Counters> what) {
        return counters.services().values().stream()
                .map(LvsCounters.Service::total)
                .mapToLong(what)
                .sum();
    }

    private static LvsCounters.Service service(LvsCounters counters, VirtualAddress at) {
        return Objects.requireNonNull(counters.services().get(at));
    }

    private static void assertTcp(LvsCounters.Service service) {
        assertThat(service.total().connections()).isEqualTo(3);
        assertThat(service.total().active()).isEqualTo(3);
        assertThat(service.total().packetsIn()).isGreaterThanOrEqualTo(6); // SYN and ACK of each
        assertThat(service.total().packetsOut()).isGreaterThanOrEqualTo(3);
        assertThat(service.servers().values()).extracting(Counters::connections).containsExactlyInAnyOrder(1L, 2L);
        assertThat(service.servers().values()).extracting(Counters::active).containsExactlyInAnyOrder(1, 2);
    }

    private static Socket connect(String address) throws java.io.IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(address, 3322), 10_000);
        return socket;
    }

    @Test
    void settingsAndOwnershipAreThoseOfTheThreadsNamespace() throws Exception {
        Set<String> name = Set.of("expire_nodest_conn", "no_such_setting");
        in(() -> {
            assertThat(ipvs.settings(name)).hasSize(1).containsEntry("expire_nodest_conn", "0");
            ipvs.set("expire_nodest_conn", "1");
            ipvs.set("sync_threshold", "4 60");
            assertThat(ipvs.settings(Set.of("sync_threshold"))).containsEntry("sync_threshold", "4 60");
            assertThatThrownBy(() -> ipvs.set("expire_nodest_conn", "much"))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageStartingWith("cannot set net.ipv4.vs.expire_nodest_conn to 'much'");
            try (Ownership ownership = Ownership.open(folder)) {
                ownership.own(Set.of(tcp("10.0.0.1:3322")));
            }
            assertThat(Ownership.look(folder)).hasSize(1);
            return null;
        });
        assertThat(director("sysctl -n net.ipv4.vs.expire_nodest_conn").strip()).isEqualTo("1");
        assertThat(ipvs.settings(name)).containsEntry("expire_nodest_conn", "0");
        assertThat(Ownership.look(folder)).isEmpty();
    }

    @Test
    void aProcessWithoutPrivilegeIsTold() throws Exception {
        program("exec setpriv --reuid 1000 --clear-groups /usr/sbin/ipvsadm \"$@\"");
        ClusterException refusal = in(() -> catchThrowableOfType(ClusterException.class, Ipvs::open));
        assertThat(refusal)
                .hasMessage("this process may not see the kernel's table of virtual services: run it as root, or with"
                        + " CAP_NET_ADMIN in its network namespace");
    }

    private void program(String script) throws Exception {
        Path file = folder.resolve("ipvsadm");
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        System.setProperty(Ipvs.PROGRAM, file.toString());
    }

    private static <T> T in(java.util.concurrent.Callable<T> code) throws Exception {
        return namespaces.in(director, code);
    }

    private static String director(String command) {
        return namespaces.run(director, command);
    }
}
