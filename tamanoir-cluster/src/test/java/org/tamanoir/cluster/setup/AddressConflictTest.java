package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Waiting;

/** Two hosts on one link, in network namespaces. */
@Tag("once")
@Tag("namespace")
class AddressConflictTest {
    private static final String VIRTUAL4 = "10.74.2.9";
    private static final String VIRTUAL6 = "fd74:2::9";
    private static final Duration SHORT = Duration.ofMillis(1500);
    private static final Duration LONG = Waiting.PATIENCE;

    private static Namespaces namespaces;
    private static String here;
    private static String there;

    @BeforeAll
    static void open() {
        Namespaces.require("namespace");
        namespaces = new Namespaces("setup");
        here = namespaces.add("here");
        there = namespaces.add("there");
        namespaces.link(here, "e0", there, "f0");
        namespaces.link(here, "e1", there, "f1");
        namespaces.address(there, "f0", "10.74.2.2/24");
        namespaces.address(there, "f0", "fd74:2::2/64");
        namespaces.address(here, "e0", "10.74.2.1/24");
        namespaces.address(here, "e0", "fd74:2::1/64");
    }

    @AfterAll
    static void close() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    private static @Nullable String holder(String device, String address, Duration patience) throws Exception {
        InetAddress wanted = Configs.address(address);
        return namespaces.in(here, () -> AddressConflict.holder(device, wanted, patience));
    }

    private static String hardware(String namespace, String device) {
        return namespaces
                .run(namespace, "ip -brief link show dev " + device)
                .strip()
                .split("\\s+")[2];
    }

    @Test
    void whoHasTheAddressIsFound() throws Exception {
        assertThat(holder("e0", "10.74.2.2", LONG)).isEqualTo(hardware(there, "f0"));
        assertThat(holder("e0", "fd74:2::2", LONG)).isEqualTo(hardware(there, "f0"));
    }

    @Test
    void nobodyAnswersForAFreeAddressAndOwnOnesDoNotCount() throws Exception {
        for (String address : List.of("10.74.2.77", "10.74.2.1", "fd74:2::77", "fd74:2::1")) {
            assertThat(holder("e0", address, SHORT)).as(address).isNull();
        }
    }

    @Test
    void ownOtherInterfacesOnTheLinkDoNotCount() throws Exception {
        namespaces.run(there, "ip link add b0 type bridge && ip link set f1 master b0 && ip link set b0 up");
        namespaces.run(there, "ip link add g0 type veth peer name g1 && ip link set g1 master b0 && ip link set g1 up");
        namespaces.run(there, "ip link set g0 netns " + here);
        namespaces.run(here, "ip link set g0 up");
        namespaces.address(here, "g0", "10.74.3.1/24");
        namespaces.address(here, "g0", "fd74:3::1/64");

        assertThat(namespaces.in(there, () -> AddressConflict.holder("b0", Configs.address("10.74.3.1"), LONG)))
                .as("that it does answer")
                .isEqualTo(hardware(here, "g0"));
        assertThat(holder("e1", "10.74.3.1", SHORT)).isNull();
        assertThat(holder("e1", "fd74:3::1", SHORT)).isNull();
    }

    @Test
    void aBackEndThatKeepsQuietIsNoHolder() throws Exception {
        namespaces.run(there, "sysctl -qw net.ipv4.conf.f0.arp_ignore=1 && ip address add 10.74.2.8/32 dev lo");
        namespaces.run(there, "ip address add fd74:2::8/128 dev lo");

        assertThat(holder("e0", "10.74.2.8", SHORT)).isNull();
        assertThat(holder("e0", "fd74:2::8", SHORT)).isNull();
    }

    @Test
    void anAnnouncementIsBelieved() throws Exception {
        namespaces.run(
                there,
                "ip neighbour replace " + VIRTUAL4 + " lladdr 02:00:00:00:00:99 dev f0 nud stale;"
                        + " ip neighbour replace " + VIRTUAL6 + " lladdr 02:00:00:00:00:99 dev f0 nud stale");

        namespaces.run(
                here, "sysctl -qw net.ipv6.conf.e0.ndisc_notify=1 && ip address add " + VIRTUAL6 + "/128 dev e0");
        if (Program.find("arping") != null) {
            namespaces.run(here, "ip address add " + VIRTUAL4 + "/32 dev e0");
            namespaces.in(here, () -> {
                AddressConflict.announce("e0", Configs.address(VIRTUAL4));
                return true;
            });
        }

        String mine = hardware(here, "e0");
        String known = Program.find("arping") != null ? VIRTUAL4 + " lladdr " + mine : "";
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(namespaces.run(there, "ip neighbour show dev f0"))
                        .contains(known, VIRTUAL6 + " lladdr " + mine));
    }

    @Test
    void withoutTheProgramTheRemedyIsSaid() throws Exception {
        if (Program.find("arping") == null) {
            assertThatThrownBy(() -> namespaces.in(here, () -> {
                        AddressConflict.announce("e0", Configs.address(VIRTUAL4));
                        return true;
                    }))
                    .isInstanceOf(ClusterException.class)
                    .hasMessage("no program arping: install the package iputils-arping");
        }
    }

    @Test
    void whereThereAreNoNeighboursNobodyIsAsked() throws Exception {
        assertThat(holder("lo", VIRTUAL4, LONG)).isNull();
        assertThat(holder("lo", VIRTUAL6, LONG)).isNull();
        namespaces.in(here, () -> {
            AddressConflict.announce("lo", Configs.address(VIRTUAL6));
            return true;
        });
        assertThatThrownBy(() -> holder("none", VIRTUAL4, SHORT))
                .isInstanceOf(ClusterException.class)
                .hasMessage("no interface none: see ip link");
        namespaces.run(here, "ip link add d0 type dummy 2>/dev/null || ip link add d0 type veth peer name d1");
        assertThatThrownBy(() -> holder("d0", VIRTUAL4, SHORT))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("down");
    }
}
