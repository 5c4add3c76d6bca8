package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.support.Namespaces;

@Tag("namespace")
class WayUpTest {
    private Namespaces namespaces;
    private String here;

    @BeforeEach
    void makeNamespace() {
        Namespaces.require("bpf");
        namespaces = new Namespaces("way");
        here = namespaces.add("here");
    }

    @AfterEach
    void removeNamespace() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    @Test
    void theWayUpAppearsAndVanishes() throws Exception {
        String before = everything();
        namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                wayUp.make(15);
                assertThat(namespaces.run(here, "ip rule"))
                        .contains("99:\tfrom all fwmark 0x54f00000/0xfff00000 lookup 5524751 proto 84");
                assertThat(namespaces.run(here, "ip -6 rule"))
                        .contains("99:\tfrom all fwmark 0x54f00000/0xfff00000 lookup 5524751 proto 84");
                assertThat(namespaces.run(here, "ip route show table 5524751"))
                        .contains("local default dev lo proto 84 scope host");
                assertThat(namespaces.run(here, "ip -6 route show table 5524751"))
                        .contains("local default dev lo proto 84");

                assertThat(wayUp.remove(15)).isEqualTo(4);
                assertThat(wayUp.remove(15)).isZero();
                return 0;
            }
        });
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void addingTwiceIsOnceAndTakesNothingFromOtherInstances() throws Exception {
        namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                wayUp.make(0);
                wayUp.make(1);
                wayUp.make(1);
                assertThat(wayUp.remove(1)).isEqualTo(4);
                assertThat(wayUp.remove(0)).isEqualTo(4);
                return 0;
            }
        });
    }

    @Test
    void withoutLoopbackInterfaceTheRemedyIsNamedAndNothingStays() throws Exception {
        String before = everything();
        namespaces.run(here, "ip link set lo down");
        namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                assertThatThrownBy(() -> wayUp.make(0))
                        .isInstanceOf(LevelException.class)
                        .hasMessage("way up: interface lo is down: ip link set lo up");
                return 0;
            }
        });
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void withoutIpv6TheWayUpIsThatOfIpv4() throws Exception {
        namespaces.run(here, "sysctl -qw net.ipv6.conf.all.disable_ipv6=1");
        namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                wayUp.make(2);
                assertThat(namespaces.run(here, "ip rule")).contains("lookup 5524738");
                assertThat(wayUp.remove(2)).isBetween(2, 4);
                return 0;
            }
        });
        assertThat(everything()).doesNotContain("84");
    }

    @Test
    void addressesAreThoseOfTheNamespace() throws Exception {
        String there = namespaces.add("there");
        namespaces.link(here, "left", there, "right");
        namespaces.address(here, "left", "10.9.0.1/24");
        namespaces.address(here, "left", "fd09::1/64");
        Set<InetAddress> addresses = namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                return wayUp.addresses();
            }
        });
        assertThat(addresses)
                .contains(
                        InetAddress.getByName("127.0.0.1"),
                        InetAddress.getByName("::1"),
                        InetAddress.getByName("10.9.0.1"),
                        InetAddress.getByName("fd09::1"));
    }

    @Test
    void manyAddressesComeInParts() throws Exception {
        namespaces.run(
                here,
                "for i in $(seq 1 250); do for j in 1 2 3 4; do echo addr add 10.8.$j.$i/32 dev lo; done; done | ip -batch -");
        Set<InetAddress> addresses = namespaces.in(here, () -> {
            try (WayUp wayUp = WayUp.open()) {
                return wayUp.addresses();
            }
        });
        assertThat(addresses).hasSizeGreaterThanOrEqualTo(1_001);
    }

    private String everything() {
        return namespaces.run(
                here,
                "ip rule; ip -6 rule; ip route show table all type local default; ip -6 route show table all proto 84");
    }
}
