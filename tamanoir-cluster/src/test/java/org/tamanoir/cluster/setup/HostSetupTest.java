package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.setup.Configs.address;
import static org.tamanoir.cluster.setup.Configs.served;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.support.Namespaces;

/** In network namespaces of this host, each test in one of its own; tunnels need the virtual machine. */
@Tag("once")
@Tag("namespace")
class HostSetupTest {
    private static final String VIRTUAL4 = "10.74.0.1";
    private static final String VIRTUAL6 = "fd74::1";
    private static final List<Welcome.Served> DIRECT =
            List.of(served(VIRTUAL4, "direct"), served(VIRTUAL4, "direct"), served(VIRTUAL6, "direct"));

    private static Namespaces namespaces;
    private static int number;

    @TempDir
    private Path folder;

    @BeforeAll
    static void open() {
        Namespaces.require("namespace");
        namespaces = new Namespaces("setup");
    }

    @AfterAll
    static void close() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    /** A namespace with an interface e0 that has 10.74.1.11 and fd74:1::11. */
    private static String host() {
        int own = number++;
        String host = namespaces.add("h" + own);
        namespaces.run(
                host,
                "ip link add e0 type veth peer name e1; ip link set e0 addrgenmode none up; ip link set e1 addrgenmode none up");
        namespaces.address(host, "e0", "10.74.1.11/24");
        namespaces.address(host, "e0", "fd74:1::11/64");
        return host;
    }

    private Path file() {
        return folder.resolve("state").resolve("setup.json");
    }

    private HostSetup direct() throws ClusterException {
        return HostSetup.backEnd(DIRECT, "e0", file(), List.of());
    }

    private static void apply(String host, HostSetup setup) throws Exception {
        namespaces.in(host, () -> {
            setup.apply();
            return true;
        });
    }

    private static void undo(String host, HostSetup setup) throws Exception {
        namespaces.in(host, () -> {
            setup.undo();
            return true;
        });
    }

    private static List<String> findings(String host, HostSetup setup) throws Exception {
        return namespaces.in(host, setup::findings);
    }

    private static String facts(String host) {
        return namespaces.run(
                host,
                "ip -oneline address show up; sysctl -a 2>/dev/null | grep -E "
                        + "\"^net.ipv[46].conf.*(arp_|rp_filter|forwarding|redirects)|ip_forward \"");
    }

    private static String addresses(String host, String device) {
        return namespaces.run(host, "ip -brief address show dev " + device);
    }

    private static String setting(String host, String name) {
        return namespaces.run(host, "sysctl -n " + name).strip();
    }

    @Test
    void directRoutingIsSetUpAndTakenBack() throws Exception {
        String host = host();
        String before = facts(host);

        apply(host, direct());

        assertThat(addresses(host, "lo")).contains(VIRTUAL4 + "/32", VIRTUAL6 + "/128");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_ignore")).isEqualTo("1");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_announce")).isEqualTo("2");
        assertThat(findings(host, direct())).isEmpty();
        assertThat(file()).exists();

        undo(host, direct());

        assertThat(facts(host)).isEqualTo(before);
        assertThat(file()).doesNotExist();
    }

    @Test
    void setUpTwiceIsSetUpOnce() throws Exception {
        String host = host();
        String before = facts(host);
        apply(host, direct());
        String after = facts(host);

        apply(host, direct());

        assertThat(facts(host)).isEqualTo(after);
        undo(host, direct());
        assertThat(facts(host)).isEqualTo(before);
    }

    @Test
    void whatWasThereIsLeftAndFormerValuesComeBack() throws Exception {
        String host = host();
        namespaces.run(
                host,
                "ip address add " + VIRTUAL4 + "/32 dev lo && sysctl -qw net.ipv4.conf.e0.arp_announce=1"
                        + " net.ipv4.conf.e0.arp_ignore=2");

        apply(host, direct());

        assertThat(setting(host, "net.ipv4.conf.e0.arp_announce")).isEqualTo("2");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_ignore"))
                .as("as good as 1")
                .isEqualTo("2");
        undo(host, direct());
        assertThat(addresses(host, "lo")).contains(VIRTUAL4).doesNotContain(VIRTUAL6);
        assertThat(setting(host, "net.ipv4.conf.e0.arp_announce")).isEqualTo("1");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_ignore")).isEqualTo("2");
    }

    @Test
    void whatAnotherChangedSinceIsLeft() throws Exception {
        String host = host();
        apply(host, direct());
        namespaces.run(host, "sysctl -qw net.ipv4.conf.e0.arp_announce=1 && ip address del " + VIRTUAL4 + "/32 dev lo");

        undo(host, direct());

        assertThat(setting(host, "net.ipv4.conf.e0.arp_announce")).isEqualTo("1");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_ignore")).isEqualTo("0");
        assertThat(addresses(host, "lo")).doesNotContain("74");
    }

    @Test
    void whatIsNotWantedAnyMoreIsTakenBack() throws Exception {
        String host = host();
        apply(host, direct());

        apply(host, HostSetup.backEnd(List.of(served("10.74.0.2", "direct")), "e0", file(), List.of()));

        assertThat(addresses(host, "lo")).contains("10.74.0.2").doesNotContain(VIRTUAL4, VIRTUAL6);
        apply(host, HostSetup.backEnd(List.of(served("10.74.0.2", "nat")), "e0", file(), List.of()));
        assertThat(addresses(host, "lo")).doesNotContain("10.74.0");
        assertThat(setting(host, "net.ipv4.conf.e0.arp_ignore")).isEqualTo("0");
    }

    @Test
    void aFailureLeavesNothing() throws Exception {
        String host = host();
        namespaces.run(host, "sysctl -qw net.ipv6.conf.lo.disable_ipv6=1");
        String before = facts(host);

        assertThatThrownBy(() -> apply(host, direct()))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("ip address add fd74::1/128 dev lo nodad: ")
                .hasMessageNotContaining("\n");

        assertThat(facts(host)).isEqualTo(before);
        assertThat(file()).doesNotExist();
    }

    @Test
    void aRecordOfAnotherNamespaceCountsForNothing() throws Exception {
        String host = host();
        String other = host();
        apply(host, direct());
        namespaces.run(other, "ip address add " + VIRTUAL4 + "/32 dev lo");

        undo(other, direct());

        assertThat(addresses(other, "lo")).contains(VIRTUAL4);
    }

    @Test
    void findingsSayWhatIsMissingAndTheRemedy() throws Exception {
        String host = host();

        assertThat(findings(host, direct()))
                .containsExactly(
                        "net.ipv4.conf.e0.arp_ignore is 0, not 1: sysctl -w net.ipv4.conf.e0.arp_ignore=1",
                        "net.ipv4.conf.e0.arp_announce is 0, not 2: sysctl -w net.ipv4.conf.e0.arp_announce=2",
                        "no interface has the virtual address 10.74.0.1: ip address add 10.74.0.1/32 dev lo",
                        "no interface has the virtual address fd74::1: ip address add fd74::1/128 dev lo nodad");
        assertThat(direct().undoCommands())
                .containsExactly(
                        "ip address del fd74::1/128 dev lo",
                        "ip address del 10.74.0.1/32 dev lo",
                        "ip link set lo down",
                        "sysctl -w net.ipv4.conf.e0.arp_announce=0",
                        "sysctl -w net.ipv4.conf.e0.arp_ignore=0");
    }

    @Test
    void theCommandsDoWhatApplyDoes() throws Exception {
        String host = host();

        namespaces.run(host, String.join("; ", direct().commands()));

        assertThat(findings(host, direct())).isEmpty();
        apply(host, direct());
        assertThat(file()).as("nothing was left to do").doesNotExist();
    }

    @Test
    void whatNoStepCanMendIsAnObstacle() throws Exception {
        String host = host();
        namespaces.run(host, "sysctl -qw net.ipv4.conf.all.arp_ignore=3");
        HostSetup elsewhere = HostSetup.backEnd(DIRECT, "eth7", file(), List.of());

        assertThat(findings(host, direct()))
                .containsExactly("net.ipv4.conf.all.arp_ignore is 3, and 3 and more let no interface keep quiet about"
                        + " virtual addresses alone: sysctl -w net.ipv4.conf.all.arp_ignore=1");
        assertThatThrownBy(() -> apply(host, elsewhere))
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("no interface eth7: name the one that leads to the director, see ip link; net");
        assertThat(addresses(host, "lo")).doesNotContain(VIRTUAL4);
    }

    @Test
    void aBackEndThatAnswersForTheVirtualAddressIsFound() throws Exception {
        String host = host();
        apply(host, direct());
        namespaces.address(host, "e0", VIRTUAL4 + "/32");

        assertThat(findings(host, direct()))
                .containsExactly("interface e0 has the virtual address 10.74.0.1 and answers for it, which is the"
                        + " director's part: ip address del 10.74.0.1/32 dev e0");
    }

    @Test
    void byNatTheDefaultRouteMustLeadToADirector() throws Exception {
        String host = host();
        HostSetup nat = HostSetup.backEnd(
                List.of(served(VIRTUAL4, "nat")), "e0", file(), List.of(address("10.74.1.1"), address("fd74:1::1")));
        String remedy = "but by NAT answers must pass the director: ip -4 route replace default via 10.74.1.1 dev e0";

        assertThat(nat.commands()).isEmpty();
        assertThat(findings(host, nat)).containsExactly("there is no default route, " + remedy);
        namespaces.route(host, "default", "10.74.1.254");
        assertThat(findings(host, nat)).containsExactly("the default route leads to 10.74.1.254, " + remedy);
        namespaces.run(
                host,
                "ip neighbour add 10.74.1.254 lladdr 02:00:00:00:00:01 dev e0;"
                        + " ip neighbour add 10.74.1.1 lladdr 02:00:00:00:00:01 dev e0");
        assertThat(findings(host, nat)).as("the same hardware").isEmpty();
        namespaces.run(host, "ip neighbour flush dev e0 nud all; ip route replace default via 10.74.1.1 dev e0");
        assertThat(findings(host, nat)).isEmpty();
    }

    @Test
    void aDirectorGetsTheVirtualAddressesAndByNatForwards() throws Exception {
        String host = host();
        namespaces.run(host, "sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0");
        namespaces.run(host, "sysctl -qw net.ipv4.conf.all.accept_redirects=0");
        String before = facts(host);
        HostSetup director =
                HostSetup.director(Configs.director(folder, "e0", null, Forwarding.NAT, VIRTUAL4, VIRTUAL6));

        assertThat(director.commands())
                .containsExactly(
                        "sysctl -w net.ipv4.conf.all.send_redirects=0",
                        "sysctl -w net.ipv4.conf.e0.send_redirects=0",
                        "sysctl -w net.ipv4.conf.all.accept_redirects=0",
                        "sysctl -w net.ipv4.ip_forward=1",
                        "sysctl -w net.ipv6.conf.all.forwarding=1",
                        "sysctl -w net.ipv6.conf.e0.ndisc_notify=1",
                        "ip address add 10.74.0.1/32 dev e0",
                        "ip address add fd74::1/128 dev e0");
        apply(host, director);
        assertThat(findings(host, director)).allMatch(line -> line.contains("IPVS"));
        assertThat(addresses(host, "e0")).contains(VIRTUAL4, VIRTUAL6);

        undo(host, HostSetup.director(Configs.director(folder, "e0", null, Forwarding.NAT, VIRTUAL4, VIRTUAL6)));
        assertThat(facts(host)).isEqualTo(before);
    }

    @Test
    void aDirectorWithoutInterfaceWantsTheAddressToBeThere() throws Exception {
        String host = host();
        HostSetup director = HostSetup.director(Configs.director(folder, null, null, Forwarding.DIRECT, VIRTUAL4));

        assertThat(findings(host, director))
                .contains("no interface has the virtual address 10.74.0.1: name an interface in the configuration, or"
                        + " ip address add 10.74.0.1/32 dev INTERFACE");
        assertThat(director.commands()).isEmpty();
    }

    @Test
    void namesAndAddressesThatCannotBeAreRefused() {
        assertThatThrownBy(() -> HostSetup.backEnd(DIRECT, "e0; reboot", file(), List.of()))
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("interface 'e0; reboot' must be 1 to 15 letters");
        for (String address : List.of("127.0.0.1", "0.0.0.0", "224.0.0.1", "fe80::1", "localhost", "", "1.2.3.4/8")) {
            assertThatThrownBy(() -> HostSetup.backEnd(List.of(served(address, "direct")), "e0", file(), List.of()))
                    .isInstanceOf(ClusterException.class)
                    .hasMessage("service anep: '" + address + "' cannot be a virtual address: one of a host is wanted");
        }
        assertThatThrownBy(() -> HostSetup.backEnd(List.of(served(VIRTUAL4, "magic")), "e0", file(), List.of()))
                .isInstanceOf(ClusterException.class)
                .hasMessage("service anep: forwarding 'magic' must be nat, direct or tunnel");
    }

    @Test
    void rootMayAndItIsTold() {
        assertThat(HostSetup.isPrivileged()).isTrue();
    }
}
