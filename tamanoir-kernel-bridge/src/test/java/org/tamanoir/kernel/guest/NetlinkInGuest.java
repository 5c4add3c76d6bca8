package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.guest.Packets.KEY;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/** What the module takes over generic netlink, from whom, and what it refuses. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NetlinkInGuest {
    /** Another one: {@code JAVA_TEST_OPTIONS=-Dtamanoir.seed=N}. */
    private static final long SEED = Seeds.ofCommit(NetlinkInGuest.class);

    private static final int SEEDS = Seeds.scaled(3);
    private static final int MESSAGES = 1_000;
    private static final String PROGRAM = "target/native/test/control";

    private Road road;

    @BeforeAll
    void open() {
        road = Road.open();
    }

    @AfterEach
    void clear() {
        if (road != null) {
            road.clear();
        }
    }

    @AfterAll
    void close() {
        if (road != null) {
            road.close();
        }
    }

    @Test
    void aNodeOfAnotherVersionLearnsTheModulesAndIsRefused() {
        Program control = road.control(Road.ROUTER);
        control.ok("abi 99");
        assertThat(control.ok("hello")).contains("abi=1 ");
        assertThat(control.ask("attach 3322")).startsWith("error").contains("version");
        assertThat(control.ask("met")).startsWith("error");
        control.ok("abi 1");
        control.ok("attach 3322");
    }

    @Test
    void withoutThePrivilegeNothingIsToBeHad() {
        Program stranger = road.keep(Program.start(
                "setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", PROGRAM));
        for (String command : new String[] {"attach 3322", "set key=" + KEY + " slot=1", "detach", "met"}) {
            assertThat(stranger.ask(command)).as(command).startsWith("error EPERM");
        }
    }

    @Test
    void rootOfAnotherUserNamespaceHasThePrivilegeInItsOwnNetworkAlone() {
        assertThat(road.keep(Program.start("unshare", "--user", "--map-root-user", PROGRAM))
                        .ask("attach 3322"))
                .startsWith("error EPERM");
        Program own = road.keep(Program.start("unshare", "--user", "--map-root-user", "--net", PROGRAM));
        own.ok("attach 3322");
        own.ok("set key=" + KEY + " slot=1 mark=class value=1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "slot=0",
                "slot=16384",
                "slot=1 share=every number=0",
                "slot=1 share=first number=0",
                "slot=1 mark=class value=256",
                "slot=1 mark=octets offset=7 width=1",
                "slot=1 mark=octets offset=10 width=4",
                "slot=1 mark=octets offset=12 width=3",
                "slot=1 ordered=2",
                "slot=1 fate=to",
                "slot=1 fate=redirect",
            })
    void policiesOutOfBoundsAreRefusedWithTheReason(String policy) {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322");
        assertThat(control.ask("set key=" + KEY + " " + policy)).matches("error E\\w+ .+");
    }

    @Test
    void twoNodesOfANamespaceHavePoliciesOfTheirOwnAndPortsApart() {
        Program one = road.control(Road.ROUTER);
        Program other = road.control(Road.ROUTER);
        one.ok("attach 3322");
        assertThat(other.ask("attach 3322 mark=0x54100000")).startsWith("error").contains("port");
        assertThat(other.ask("attach 3323")).startsWith("error").contains("mark");
        other.ok("attach 3323 mark=0x54100000");
        one.ok("set key=" + KEY + " slot=1 mark=class value=1");
        other.ok("set key=" + KEY + " slot=1 mark=class value=2");
        Program receiver = road.receiver("show");
        Program sender = road.sender(Road.IPV4);
        String hex = Packets.packet(1, 8);
        sender.ok(hex);
        assertThat(receiver.next()).endsWith(Packets.with(hex, Packets.CLASS_AT, 1));
        assertThat(Program.value(other.ok("counters 1"), "packets")).isZero();
        other.ok("detach");
        sender.ok(hex);
        assertThat(receiver.next()).endsWith(Packets.with(hex, Packets.CLASS_AT, 1));
    }

    @Test
    void randomMessagesDoNoHarmWhilePacketsCross() {
        Program flood = road.flood();
        flood.tell("5000 " + Packets.packet(1, 8) + " gap=200000");
        for (long seed = SEED; seed < SEED + SEEDS; seed++) {
            Program control = road.control(Road.ROUTER);
            String answer = control.ask("fuzz " + seed + " " + MESSAGES);
            System.out.println("random messages of seed " + seed + ": " + answer);
            assertThat(answer).as("seed %d", seed).startsWith("ok");
            assertThat(Program.value(answer, "accepted")).as("seed %d", seed).isPositive();
            assertThat(Program.value(answer, "refused")).as("seed %d", seed).isPositive();
            assertThat(control.ok("hello")).contains("abi=1 ");
            control.close();
        }
        Program after = road.control(Road.ROUTER);
        after.ok("attach 3322");
        after.ok("set key=" + KEY + " slot=1 mark=class value=1");
    }
}
