package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.tamanoir.kernel.OrderTesting.SERVICE;
import static org.tamanoir.kernel.OrderTesting.VERSIONED;
import static org.tamanoir.support.Waiting.eventually;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;

/** No packet overtakes another where a service moves between the JVM and traffic control. */
@Tag("once")
@Tag("namespace")
class PlacementOrderTest {
    private static TestNet net;

    private OrderTesting order;

    @BeforeAll
    static void link() {
        BpfBed.require();
        net = new TestNet("order");
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    @BeforeEach
    void start() throws Exception {
        order = new OrderTesting(net, true, Level.TC);
    }

    @AfterEach
    void stop() {
        order.close();
    }

    @Test
    void movesUnderTraffic() throws Exception {
        order.moveToAndFro(Level.TC, 10);
    }

    /** The level's packets leave by a queue of their own, past those that the JVM has sent before. */
    @Test
    void movesToALevelWhereTheServicesQueueIsSlow() throws Exception {
        requireTwoProcessors();
        order.twoQueues(false);
        try {
            order.moveToAndFro(Level.TC, 5);
        } finally {
            order.oneQueue();
        }
    }

    /** The JVM's packets leave by a queue of their own, past those that the level has sent on before. */
    @Test
    void movesToTheJvmWhereTheLevelsQueueIsSlow() throws Exception {
        requireTwoProcessors();
        order.twoQueues(true);
        try {
            order.moveToAndFro(Level.TC, 5);
        } finally {
            order.oneQueue();
        }
    }

    private static void requireTwoProcessors() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "needs two processors, a queue for each");
    }

    /** Packets of a flow name the service in two ways: those of one wait for those of the other. */
    @Test
    void packetsThatAreHeldUnderAnotherKeyAreWaitedFor() throws Exception {
        order.send(1, SERVICE);
        order.receiveAll();
        order.place(Level.TC);
        assertNonePassesThoseThatAreHeld(() -> order.send(5, VERSIONED));
    }

    @Test
    void packetsThatAreHeldFromBeforeAreWaitedFor() throws Exception {
        order.send(1, SERVICE);
        order.receiveAll();
        assertNonePassesThoseThatAreHeld(() -> {
            order.send(5, SERVICE);
            order.awaitSeen(6);
            order.place(Level.TC);
        });
    }

    /** Where packets without a policy go on, none passes the service by, whatever moves. */
    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "XDP"})
    void noPacketPassesTheServiceByWhereUnknownOnesGoOn(Level level) throws Exception {
        order.close();
        order = new OrderTesting(net, false, Level.TC, level);
        order.place(Level.JVM);
        order.sendUntilTheyGo(Level.JVM, SERVICE, VERSIONED);
        for (int i = 0; i < 3; i++) {
            order.wish(level);
            order.sendOneByOne(20, SERVICE, VERSIONED);
            order.place(Level.TC);
            order.sendUntilTheyGo(Level.TC, SERVICE, VERSIONED);
            order.wish(Level.JVM);
            order.sendUntilTheyGo(Level.JVM, SERVICE, VERSIONED);
        }
        order.assertNonePassed();
        order.assertInOrder("packets without a policy go on");
        order.assertAllIsCounted();
    }

    /** It cannot wait; so it begins behind the first try, when the JVM has had no packet for a while. */
    @Test
    void xdpBeginsByItselfWhenNoPacketComes() throws Exception {
        order.close();
        order = new OrderTesting(net, true, Level.TC, Level.XDP);
        order.send(2, SERVICE, VERSIONED);
        order.receiveAll();
        order.place(Level.TC);
        order.wish(Level.XDP);
        eventually().until(() -> order.status().actual() == Level.XDP);
        order.sendUntilTheyGo(Level.XDP, SERVICE, VERSIONED);
        order.assertInOrder("to xdp");
        order.assertAllIsCounted();
    }

    /** A service sends the packets of one stream up, while a level handles the others, and then no longer. */
    @Test
    void packetsThatAreHeldUnderAPolicyThatEndsAreWaitedForByTheOther() throws Exception {
        AtomicReference<Offload> up = new AtomicReference<>();
        Queue<Suspension> held = new ConcurrentLinkedQueue<>();
        order.step = (service, packet) -> {
            up.set(service.ask(new Flow(Flow.Protocol.UDP, null, null, 7L), Policy.up()));
            return Verdict.FORWARD;
        };
        order.send(1, SERVICE);
        order.receiveAll();
        order.place(Level.TC);
        order.step = (service, packet) -> {
            held.add(service.suspend(packet));
            if (held.size() == 5) {
                up.get().close();
            }
            return Verdict.HELD;
        };
        order.send(5, SERVICE);
        order.awaitSeen(6);
        eventually().until(() -> up.get().isClosed());
        order.step = (service, packet) -> Verdict.FORWARD;
        assertNonePasses(held);
    }

    private interface Sending {
        void run() throws Exception;
    }

    private void assertNonePassesThoseThatAreHeld(Sending five) throws Exception {
        Queue<Suspension> held = new ConcurrentLinkedQueue<>();
        order.step = (service, packet) -> {
            held.add(service.suspend(packet));
            return Verdict.HELD;
        };
        five.run();
        order.awaitSeen(6);
        order.step = (service, packet) -> Verdict.FORWARD;
        assertNonePasses(held);
    }

    private void assertNonePasses(Queue<Suspension> held) throws Exception {
        for (int i = 0; i < 40; i++) {
            order.send(5, SERVICE);
            order.receive(5);
        }
        long passed = order.by(Level.TC);
        held.forEach(each -> each.resume(Verdict.FORWARD));
        order.receive(5);
        assertThat(passed)
                .as("packets that a level let pass those that the service holds")
                .isZero();
        order.sendUntilTheyGo(Level.TC, SERVICE, VERSIONED);
    }
}
