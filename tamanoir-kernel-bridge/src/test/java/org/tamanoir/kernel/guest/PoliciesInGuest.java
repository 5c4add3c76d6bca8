package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.tamanoir.kernel.guest.Packets.KEY;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies under load: many, changing ones, and those that switch from the node to the module. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PoliciesInGuest {
    private static final int MANY = 10_000;
    private static final int MOST = 16_383;
    private static final int LOAD = 6_000; // packets; what the receiver's buffer holds

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
    void tenThousandPoliciesAreEachFound() {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322");
        String took = control.ok("many " + MANY + " key=" + KEY + " mark=class value=5");
        System.out.printf("%,d policies set in %,d ms%n", MANY, Program.value(took, "ns") / 1_000_000);
        Program receiver = road.receiver("show");
        Program sender = road.sender(Road.IPV4);
        for (int stream : new int[] {1, 17, 4_096, 9_999, MANY}) {
            String hex = Packets.packet(stream, 8);
            sender.ok(hex);
            assertThat(receiver.next()).endsWith(Packets.with(hex, Packets.CLASS_AT, 5));
            assertThat(Program.value(control.ok("counters " + stream), "on")).isOne();
        }
        sender.ok(Packets.packet(MANY + 1, 8));
        assertThat(receiver.next()).endsWith(Packets.packet(MANY + 1, 8));
    }

    @Test
    void thereIsRoomForAllSlotsAndNoMore() {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322");
        control.ok("many " + MOST + " key=" + KEY);
        assertThat(control.ask("set key=" + KEY + " stream=20000 slot=16384")).startsWith("error");
    }

    @Test
    void aStormOfChangesLosesAndReordersNothing() {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322");
        control.ok("set key=" + KEY + " slot=1 mark=class value=1");
        Program receiver = road.receiver("count", Integer.toString(Packets.NUMBER_AT));
        Program flood = road.flood();
        flood.tell(LOAD + " " + Packets.packet(1, 20) + " sequence=" + Packets.NUMBER_AT);
        String took = control.ok("storm 1000 key=" + KEY + " slot=1 mark=class");
        assertThat(flood.next()).startsWith("ok");
        System.out.printf("a change in %,d ns, as the caller sees it%n", Program.value(took, "ns") / 1_000);
        assertThat(receiver.ok("quiet 500")).isEqualTo("ok received=" + LOAD + " missing=0 disordered=0");
        String counters = control.ok("counters 1");
        assertThat(Program.value(counters, "packets")).as(counters).isEqualTo(LOAD);
        assertThat(Program.value(counters, "marked")).as(counters).isEqualTo(LOAD);
    }

    @Test
    void policiesThatComeAndGoLoseNothing() {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322 unknown_up=0");
        Program receiver = road.receiver("count", Integer.toString(Packets.NUMBER_AT));
        Program flood = road.flood();
        flood.tell(LOAD + " " + Packets.packet(1, 20) + " sequence=" + Packets.NUMBER_AT);
        for (int i = 0; i < 100; i++) {
            control.ok("set key=" + KEY + " slot=1 mark=class value=1");
            control.ok("set key=" + KEY + " stream=1 slot=2 mark=class value=2");
            control.ok("remove key=" + KEY);
            control.ok("remove key=" + KEY + " stream=1");
        }
        assertThat(flood.next()).startsWith("ok");
        assertThat(receiver.ok("quiet 500")).isEqualTo("ok received=" + LOAD + " missing=0 disordered=0");
    }

    /** The node's part is a program that sends on what comes up and tells the module. */
    @ParameterizedTest(name = "a pause behind the first: {0}")
    @ValueSource(booleans = {true, false})
    void theFirstFiveHundredGoUpAndTheRestFollowInOrder(boolean pauses) throws InterruptedException {
        int first = 500;
        int rest = 1_000;
        Program control = road.control(Road.ROUTER);
        Program node = road.listening(Road.ROUTER, "relay");
        control.ok("attach 3322");
        control.ok("set key=" + KEY + " slot=1 share=first number=" + first + " mark=class value=1");
        Thread settling = new Thread(() -> settle(node, control), "settling");
        settling.start();
        Program receiver = road.receiver("count", Integer.toString(Packets.NUMBER_AT));
        Program flood = road.flood();
        String load = " " + Packets.packet(1, 20) + " sequence=" + Packets.NUMBER_AT;
        flood.ok(first + load);
        if (pauses) {
            await().atMost(Duration.ofSeconds(240))
                    .until(() -> Program.value(control.ok("counters 1"), "settled") == first);
        }
        flood.ok(rest + load + " from=" + (first + 1));
        assertThat(receiver.ok("quiet 1000")).isEqualTo("ok received=" + (first + rest) + " missing=0 disordered=0");
        await().atMost(Duration.ofSeconds(240)).until(() -> {
            String counters = control.ok("counters 1");
            return Program.value(counters, "settled") == Program.value(counters, "state_up");
        });
        settling.interrupt();
        settling.join(10_000);
        String counters = control.ok("counters 1");
        System.out.println("first " + first + " of " + (first + rest) + " up: " + counters);
        long up = Program.value(counters, "up");
        if (pauses) {
            assertThat(up).as("packet 501 is the module's: %s", counters).isEqualTo(first);
        } else {
            assertThat(up).as("at least: %s", counters).isBetween((long) first, (long) first + rest);
        }
        assertThat(Program.value(counters, "on")).as(counters).isEqualTo(first + rest - up);
        assertThat(Program.value(counters, "marked")).as(counters).isEqualTo(first + rest - up);
    }

    /** Tells the module what the node has sent on, until interrupted. */
    private static void settle(Program node, Program control) {
        while (!Thread.currentThread().isInterrupted()) {
            String settled = node.latest();
            if (settled != null) {
                control.ok(settled);
            }
        }
    }
}
