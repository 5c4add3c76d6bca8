package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.tamanoir.cluster.lvs.Tables.lines;
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
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.Tiers;
import org.tamanoir.cluster.ClusterException;
import org.tamanoir.kernel.Namespaces;
import org.tamanoir.kernel.TestNet;

/** The kernel's own table, in the virtual machine; a namespace of three is the director's. */
class IpvsInGuest {
    private static final String SERVICE = "-A -t 10.0.0.1:3322 -s wlc";
    private static final String SERVER_1 = "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -g -w 100";
    private static final String SERVER_2 = "-a -t 10.0.0.1:3322 -r 10.0.1.12:3322 -i -w 50";

    private static TestNet net;

    @TempDir
    private Path folder;

    @BeforeAll
    static void namespaces() {
        Tiers.require(
                "ipvs",
                System.getenv("TAMANOIR_GUEST") != null && Files.isExecutable(Path.of("/usr/sbin/ipvsadm")),
                "needs the virtual machine's kernel, and the package ipvsadm");
        net = new TestNet("lvs");
    }

    @AfterAll
    static void remove() {
        if (net != null) {
            net.close();
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
        for (Scheduler scheduler : Scheduler.values()) {
            if (scheduler == Scheduler.TWOS) {
                continue; // not built for Debian 12's kernel
            }
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
        LvsTable one = table(first.toArray(String[]::new));
        LvsTable other = table(second.toArray(String[]::new));
        in(() -> {
            Ipvs ipvs = Ipvs.open();
            for (LvsTable wanted : List.of(one, other, table())) {
                LvsTable there = ipvs.read();
                Set<VirtualAddress> owned = there.services().keySet();
                ipvs.apply(Planner.plan(wanted, there, owned));
                assertThat(ipvs.read()).isEqualTo(wanted);
                assertThat(Planner.plan(wanted, ipvs.read(), wanted.services().keySet())
                                .isEmpty())
                        .isTrue();
            }
            return null;
        });
    }

    @Test
    void foreignServicesAreSeenAndNotTouched() throws Exception {
        director("ipvsadm -A -t 10.0.0.9:80 -s sh -p 300 -b sh-port && ipvsadm -a -t 10.0.0.9:80 -r 10.0.1.9 -i"
                + " --tun-type gre && ipvsadm -A -u 10.0.0.4:5060 -s rr --pe sip -p 360 && ipvsadm -A -f 7 -s rr"
                + " && ipvsadm -A --sctp-service 10.0.0.9:99 -s rr && ipvsadm -A -t 10.0.0.9:0 -s rr -p 60");
        String before = director("ipvsadm -S -n");
        in(() -> {
            Ipvs ipvs = Ipvs.open();
            LvsTable foreign = ipvs.read();
            assertThat(foreign.services()).containsOnlyKeys(tcp("10.0.0.9:80"), udp("10.0.0.4:5060"));
            LvsTable wanted = table(SERVICE, SERVER_1);
            ipvs.apply(Planner.plan(wanted, foreign, Set.of()));
            assertThat(lines(Planner.plan(wanted, ipvs.read(), Set.of(tcp("10.0.0.1:3322")))))
                    .isEmpty();
            assertThatThrownBy(() -> Planner.plan(foreign, ipvs.read(), Set.of(tcp("10.0.0.1:3322"))))
                    .isInstanceOf(ClusterException.class);
            ipvs.apply(Planner.plan(table(), ipvs.read(), Set.of(tcp("10.0.0.1:3322"))));
            return null;
        });
        assertThat(director("ipvsadm -S -n")).isEqualTo(before);
    }

    @Test
    void aLineThatFailsLeavesNothingHalfApplied() throws Exception {
        in(() -> {
            Ipvs ipvs = Ipvs.open();
            LvsTable before = table(SERVICE, SERVER_1, SERVER_2, "-A -u 10.0.0.1:3322 -s rr");
            Set<VirtualAddress> owned = before.services().keySet();
            ipvs.apply(Planner.plan(before, ipvs.read(), Set.of()));
            LvsTable edit = table(
                    "-A -t 10.0.0.1:3322 -s rr -p 60",
                    "-a -t 10.0.0.1:3322 -r 10.0.1.11:3322 -m -w 7",
                    "-a -t 10.0.0.1:3322 -r 10.0.1.13:3322 -g",
                    "-A -u 10.0.0.1:3322 -s twos",
                    "-A -t [fd00::1]:3322 -s rr",
                    "-a -t [fd00::1]:3322 -r [fd00::2]:3322 -m");
            assertRefused(
                    ipvs,
                    Planner.plan(edit, ipvs.read(), owned),
                    "ipvsadm --restore: '-E -u 10.0.0.1:3322 -s twos': Scheduler or persistence engine not found;"
                            + " all was taken back");
            LvsTable add = table(
                    "-A -t 10.0.0.0:3322 -s rr",
                    "-a -t 10.0.0.0:3322 -r 10.0.1.11:3322 -g",
                    "-A -u 10.0.0.2:3322 -s twos");
            assertRefused(
                    ipvs,
                    Planner.plan(add, ipvs.read(), owned),
                    "ipvsadm --restore: '-A -u 10.0.0.2:3322 -s twos': Scheduler or persistence engine not found;"
                            + " all was taken back");
            return null;
        });
    }

    private static void assertRefused(Ipvs ipvs, Plan plan, String message) throws ClusterException {
        assertThatThrownBy(() -> ipvs.apply(plan))
                .isInstanceOf(ClusterException.class)
                .hasMessage(message);
        assertThat(ipvs.read()).isEqualTo(plan.before());
    }

    @Test
    void aTableThatChangedBehindTheDirectorIsLeftAsItIs() throws Exception {
        in(() -> {
            Ipvs ipvs = Ipvs.open();
            ipvs.apply(Planner.plan(table(SERVICE, SERVER_1), ipvs.read(), Set.of()));
            Plan plan = Planner.plan(table(SERVICE, SERVER_2), ipvs.read(), Set.of(tcp("10.0.0.1:3322")));
            director("ipvsadm -e -t 10.0.0.1:3322 -r 10.0.1.11 -g -w 3");
            LvsTable changed = ipvs.read();
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
            Ipvs ipvs = Ipvs.open();
            Plan plan = Planner.plan(
                    table("-A -u 10.0.0.1:3322 -s rr", "-a -u 10.0.0.1:3322 -r 10.0.1.11:3322 -g"),
                    ipvs.read(),
                    Set.of());
            Files.createFile(folder.resolve("race"));
            assertThatThrownBy(() -> ipvs.apply(plan))
                    .hasMessage("ipvsadm --restore: '-A -u 10.0.0.1:3322 -s rr': Service already exists;"
                            + " all was taken back");
            assertThat(ipvs.read()).isEqualTo(table("-A -u 10.0.0.1:3322 -s rr"));
            return null;
        });
    }

    @Test
    void trafficIsCountedForServiceAndServers() throws Exception {
        LvsTable wanted = table(
                "-A -t " + TestNet.ROUTER4 + ":3322 -s rr",
                "-a -t " + TestNet.ROUTER4 + ":3322 -r " + TestNet.SERVER4 + ":4001 -m",
                "-a -t " + TestNet.ROUTER4 + ":3322 -r " + TestNet.SERVER4 + ":4002 -m",
                "-A -u [" + TestNet.ROUTER6 + "]:3322 -s rr",
                "-a -u [" + TestNet.ROUTER6 + "]:3322 -r [" + TestNet.SERVER6 + "]:4001 -m");
        Ipvs ipvs = in(Ipvs::open);
        in(() -> {
            ipvs.apply(Planner.plan(wanted, ipvs.read(), Set.of()));
            return null;
        });
        Namespaces namespaces = net.namespaces();
        List<Socket> connections = new ArrayList<>();
        try (ServerSocket one = namespaces.in(net.server(), () -> new ServerSocket(4001));
                ServerSocket two = namespaces.in(net.server(), () -> new ServerSocket(4002));
                DatagramSocket backEnd = namespaces.in(net.server(), () -> new DatagramSocket(4001));
                DatagramSocket client = namespaces.in(net.client(), () -> new DatagramSocket())) {
            for (int i = 0; i < 3; i++) {
                connections.add(namespaces.in(net.client(), () -> connect(TestNet.ROUTER4)));
            }
            byte[] octets = new byte[1000];
            client.send(new DatagramPacket(
                    octets, octets.length, new InetSocketAddress(InetAddress.getByName(TestNet.ROUTER6), 3322)));
            backEnd.setSoTimeout(10_000);
            backEnd.receive(new DatagramPacket(octets, octets.length));
            assertThat(one.isBound() && two.isBound()).isTrue();
            LvsCounters counters = Awaitility.await()
                    .atMost(Duration.ofSeconds(40))
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> in(ipvs::counters), IpvsInGuest::isWhole);
            assertTcp(service(counters, tcp(TestNet.ROUTER4 + ":3322")));
            Counters datagrams =
                    service(counters, udp("[" + TestNet.ROUTER6 + "]:3322")).total();
            assertThat(datagrams.connections()).isOne();
            assertThat(datagrams.inactive()).isOne();
            assertThat(datagrams.packetsIn()).isOne();
            assertThat(datagrams.octetsIn()).isEqualTo(octets.length + 8 + 40); // UDP's and IPv6's headers
        } finally {
            for (Socket connection : connections) {
                connection.close();
            }
        }
    }

    /** The kernel adds up its processors' counts every 2 s. */
    private static boolean isWhole(LvsCounters counters) {
        return counters.services().values().stream()
                        .mapToLong(service -> service.total().packetsIn())
                        .sum()
                == 7;
    }

    private static LvsCounters.Service service(LvsCounters counters, VirtualAddress at) {
        return Objects.requireNonNull(counters.services().get(at));
    }

    private static void assertTcp(LvsCounters.Service service) {
        assertThat(service.total().connections()).isEqualTo(3);
        assertThat(service.total().active()).isEqualTo(3);
        assertThat(service.total().packetsIn()).isEqualTo(6); // SYN and ACK of each
        assertThat(service.total().packetsOut()).isEqualTo(3);
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
            Ipvs ipvs = Ipvs.open();
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
        assertThat(Ipvs.open().settings(name)).containsEntry("expire_nodest_conn", "0");
        assertThat(Ownership.look(folder)).isEmpty();
    }

    @Test
    void aProcessWithoutPrivilegeIsTold() throws Exception {
        director("ipvsadm -S -n"); // loads the module
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
        return net.namespaces().in(net.router(), code);
    }

    private static String director(String command) {
        return net.namespaces().run(net.router(), command);
    }
}
