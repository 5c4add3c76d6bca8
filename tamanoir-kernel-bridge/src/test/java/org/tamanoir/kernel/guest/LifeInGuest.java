package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.guest.Packets.KEY;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Ends of sockets, namespaces and the module, while packets cross. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LifeInGuest {
    private static final int LOAD = 5_000; // packets; what the receiver's buffer holds

    private Road road;

    @BeforeAll
    void open() {
        road = Road.open();
    }

    @AfterEach
    void clear() {
        if (road != null) {
            road.clear();
            if (!Road.isLoaded()) {
                Road.load();
            }
        }
    }

    @AfterAll
    void close() {
        if (road != null) {
            road.close();
        }
    }

    @Test
    void aKilledNodeTakesItsPoliciesAlong() {
        Program control = road.control(Road.ROUTER);
        control.ok("attach 3322");
        control.ok("set key=" + KEY + " slot=1 fate=drop");
        Program receiver = road.receiver("show");
        Program sender = road.sender(Road.IPV4);
        sender.ok(Packets.packet(1, 8));
        assertThat(Program.value(control.ok("counters 1"), "dropped")).isOne();
        control.close(); // signal 9
        sender.ok(Packets.packet(2, 8));
        assertThat(receiver.next()).endsWith(Packets.packet(2, 8)); // and not the dropped one before it
        Program next = road.control(Road.ROUTER);
        next.ok("attach 3322");
        assertThat(Program.value(next.ok("met"), "SEEN")).isZero();
    }

    @Test
    void unloadsUnderFullTraffic() {
        Program receiver = road.receiver("count", Integer.toString(Packets.NUMBER_AT));
        Program flood = road.flood();
        Program control = road.control(Road.ROUTER);
        int times = 2;
        flood.tell(LOAD + " " + Packets.packet(1, 20) + " sequence=" + Packets.NUMBER_AT + " gap=400000");
        for (int i = 0; i < times; i++) {
            control.ok("attach 3322");
            control.ok("many 200 key=" + KEY + " mark=class value=1");
            Road.unload();
            assertThat(control.ask("met")).startsWith("error");
            Road.load();
            control.close();
            control = road.control(Road.ROUTER);
        }
        assertThat(flood.next()).startsWith("ok");
        assertThat(receiver.ok("quiet 500")).isEqualTo("ok received=" + LOAD + " missing=0 disordered=0");
    }

    @Test
    void aNamespaceGoesAwayWithItsPoliciesUnderTraffic() {
        for (int i = 0; i < 2; i++) {
            Program.run("bash", "-ec", "ip netns add tmn-x; ip -n tmn-x link set lo up");
            Program control = road.control("tmn-x");
            Program flood = road.in("tmn-x", "traffic", "flood", "127.0.0.1", Integer.toString(Road.PORT));
            control.ok("attach 3322");
            control.ok("many 500 key=" + KEY + " mark=class value=1");
            flood.tell("1000000 " + Packets.packet(1, 20));
            if (i % 2 == 0) {
                Program.run("ip", "netns", "del", "tmn-x"); // the sockets hold what the name does not
                control.close();
                flood.close();
            } else {
                control.close();
                flood.close();
                Program.run("ip", "netns", "del", "tmn-x");
            }
        }
        Program after = road.control(Road.ROUTER);
        after.ok("attach 3322");
        after.ok("set key=" + KEY + " slot=1 mark=class value=1");
    }

    @Test
    void unloadsWhileANamespaceWithPoliciesLives() {
        Program control = road.control(Road.ROUTER);
        Program other = road.control(Road.RECEIVER);
        control.ok("attach 3322");
        other.ok("attach 3322");
        control.ok("many 1000 key=" + KEY);
        other.ok("many 1000 key=" + KEY);
        Road.unload();
        assertThat(control.ask("met")).startsWith("error");
        assertThat(road.control(Road.ROUTER).ask("hello")).startsWith("error ENOENT");
    }
}
