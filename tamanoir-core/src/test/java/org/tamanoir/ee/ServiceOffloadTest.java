package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.UdpTestNode.at;
import static org.tamanoir.ee.UdpTestNode.builder;
import static org.tamanoir.ee.UdpTestNode.packet;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.NodeChange;
import org.tamanoir.manager.NodeChange.Redefined;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.offload.KeyedOffload;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Services that have levels below work for them, and operators that place services; the levels are the test's. */
class ServiceOffloadTest {
    private static final String NAME = "org.example.Light";
    private static final long KEY = ServiceKey.of(NAME);

    @RegisterExtension
    final UdpTestNode.NoLeaks noLeaks = new UdpTestNode.NoLeaks();

    private final TestLevels levels = new TestLevels();
    private final List<LevelCounters> counted = new CopyOnWriteArrayList<>();
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO));

    @AfterEach
    void stop() {
        released.countDown();
        node.close();
        assertThat(levels.open()).as("policies after the end").isEmpty();
    }

    /** Forwards; what it asks for, and what it says of its policy, is the test's. */
    private class Light extends Service {
        private final @Nullable Policy policy;

        Light(@Nullable Policy policy) {
            this.policy = policy;
        }

        @Override
        public @Nullable Policy policy() throws LevelException {
            return policy;
        }

        @Override
        public Verdict process(Packet packet) throws Exception {
            return Verdict.FORWARD;
        }

        @Override
        public void counted(LevelCounters since) {
            assertThat(Thread.currentThread()).isSameAs(this);
            calls.add("counted");
            counted.add(since);
        }

        @Override
        public void close() {
            calls.add("close");
        }
    }

    /** Asks for this policy in init. */
    private final class Asking extends Light {
        private final Policy asked;

        Asking(Policy asked) {
            super(null);
            this.asked = asked;
        }

        @Override
        public void init(ServiceConfig config) throws Exception {
            try {
                counter("offloads").add(offload(Flow.ANY, asked) == null ? 0 : 1);
            } catch (LevelException e) {
                counter("refused").add(1);
            }
        }
    }

    private static ServiceDefinition definition(
            String version, Supplier<? extends Service> factory, Placement placement) {
        return new ServiceDefinition(
                NAME, version, factory, ServiceConfig.EMPTY, FailurePolicy.DROP, new ServiceHealth(), placement);
    }

    private ServiceDefinition start(Supplier<? extends Service> factory, Placement placement) throws IOException {
        ServiceDefinition definition = definition("", factory, placement);
        node.services.add(definition);
        start();
        return definition;
    }

    private void start() throws IOException {
        node.environment.levels(levels);
        node.environment.stuckAfter(Duration.ofMillis(500));
        node.environment.start();
    }

    private void send() throws IOException {
        byte[] bytes = packet(builder(at("127.0.0.1", 9), NAME, 1), 100);
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(bytes, bytes.length, node.udp()));
        }
    }

    private static Placement wanting(String level) {
        return new Placement(EnumSet.allOf(Level.class), Placement.Wanted.of(level));
    }

    private void awaitOpen(int policies) {
        eventually().untilAsserted(() -> assertThat(levels.open()).hasSize(policies));
    }

    private void awaitStatus(ServiceDefinition definition, Level actual, @Nullable String reason) {
        eventually().untilAsserted(() -> {
            Placement.Status status = definition.placement().status();
            assertThat(status.actual()).as("%s", status).isEqualTo(actual);
            if (reason == null) {
                assertThat(status.reason()).isNull();
            } else {
                assertThat(status.reason()).contains(reason);
            }
        });
    }

    /** Asks for this policy, on several threads. */
    @PerPacket
    private final class AskingWorker extends Light {
        AskingWorker(Policy asked) {
            super(asked);
        }

        @Override
        public void init(ServiceConfig config) throws Exception {
            try {
                offload(Flow.ANY, Policy.forward());
            } catch (LevelException e) {
                calls.add(String.valueOf(e.getMessage()));
            }
        }
    }

    @Test
    void workersPlaceNothingAndAreToldSo() throws IOException {
        ServiceDefinition definition = new ServiceDefinition(
                NAME,
                "",
                () -> new AskingWorker(Policy.forward()),
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                wanting("xdp"),
                DefinedControl.NONE,
                new Dispatch(true, true, 1024),
                ServiceTraits.of(AskingWorker.class));
        node.services.add(definition);
        start();
        send();
        eventually()
                .untilAsserted(
                        () -> assertThat(calls)
                                .contains(
                                        "dispatch packet: workers are in the JVM, and a level works for one instance; take dispatch stream"));
        node.environment.place(definition);
        awaitStatus(definition, Level.JVM, "dispatch packet with level xdp: workers are in the JVM");
        node.balanced(1);
        assertThat(levels.open()).isEmpty();
    }

    /** Its instance of before goes on until its levels are the next one's. */
    @Test
    void whatLevelsHaveDoneStaysUnderOtherSettings() throws Exception {
        ServiceDefinition before = definition("", () -> new Asking(Policy.forward()), new Placement());
        ServiceDefinition fresh = definition("", () -> new Light(null), new Placement());
        node.services.add(before);
        try (ActiveNodeManager manager = new ActiveNodeManager(node.environment, node.services, node.routes, null)) {
            start();
            send();
            awaitOpen(1);
            levels.open().get(0).passOn(5);
            assertPassedOn(manager, 5);
            manager.change(new NodeChange(
                    List.of(), List.of(), null, List.of(new Redefined(before, fresh)), Map.of(), null, null));
            assertPassedOn(manager, 5);
            awaitOpen(0);
            node.balanced(1);
            assertPassedOn(manager, 5);
        }
    }

    private static void assertPassedOn(ActiveNodeManager manager, long packets) {
        assertThat(manager.services())
                .singleElement()
                .extracting(service -> service.below().on())
                .isEqualTo(packets);
    }

    // ---- what a service asks for -----------------------------------------------------------------------------------

    @Test
    void aPolicyWorksForEveryKeyOfItsServiceAndFollowsTheCatalog() throws IOException {
        levels.there.remove(Level.XDP);
        ServiceDefinition definition = definition("1.0", () -> new Asking(Policy.forward()), new Placement());
        long versioned = ServiceKey.of(NAME + ":1.0");
        node.services.add(definition);
        node.services.add(versioned, definition);
        start();
        send();

        awaitOpen(1); // One gate for both keys.
        assertThat(levels.open()).allMatch(placed -> placed.isOrdered && placed.level == Level.TC);
        assertThat(levels.openKeys()).containsExactlyInAnyOrder(KEY, versioned);

        node.services.add(definition("2.0", () -> new Light(null), new Placement()));
        eventually().until(() -> levels.openKeys().equals(List.of(versioned)));
        eventually().until(() -> levels.open().get(0).isCaughtUp);
        assertThat(levels.left)
                .as("what it has for fewer keys, it goes on to handle")
                .hasValue(0);
        node.services.add(77, definition);
        awaitOpenKeys(77L, versioned);
        eventually().until(() -> levels.open().get(0).isCaughtUp);
        assertThat(levels.left)
                .as("what the level had handled is out before what came up is read")
                .hasValue(1);
    }

    /** XDP takes no new key; what another still has, or the level has no room for, is asked for again. */
    @Test
    void aPolicyLeavesKeysThatAnotherServiceHasNowWhateverElseIsRefused() throws Exception {
        ServiceDefinition definition = definition("1.0", () -> new Asking(Policy.forward()), new Placement());
        long versioned = ServiceKey.of(NAME + ":1.0");
        node.services.add(definition);
        node.services.add(versioned, definition);
        start();
        send();
        awaitOpen(1);
        assertThat(levels.open()).allMatch(placed -> placed.level == Level.XDP);
        node.services.add(77, definition);
        node.services.add(definition("2.0", () -> new Light(null), new Placement()));
        awaitOpenKeys(versioned);
        TestLevels.Placed asked = levels.open().get(0);

        Offload other = levels.offload(List.of(77L), Flow.ANY, Policy.drop(), Set.of(Level.TC), false);
        asked.level = Level.TC;
        node.services.add(78, definition);
        eventually().until(() -> asked.keys.equals(List.of(versioned, 78L)));
        eventually().until(() -> asked.isCaughtUp);
        other.close();
        eventually().until(() -> asked.keys.contains(77L));
        eventually().until(() -> asked.isCaughtUp);

        node.services.add(versioned, definition("3.0", () -> new Light(null), new Placement()));
        node.services.add(78, definition("3.1", () -> new Light(null), new Placement()));
        node.services.add(77, definition("3.2", () -> new Light(null), new Placement()));
        eventually().until(() -> asked.keys.isEmpty());
    }

    private void awaitOpenKeys(Long... keys) {
        List<Long> sorted = List.of(keys).stream().sorted().toList();
        eventually().until(() -> levels.openKeys().equals(sorted));
    }

    @Test
    void aServiceIsToldWhatWasDoneBetweenPacketsAndOnceMoreBeforeItCloses() throws IOException {
        start(() -> new Asking(Policy.forward()), new Placement());
        send();
        awaitOpen(1);
        TestLevels.Placed placed = levels.open().get(0);

        placed.passOn(3);
        eventually().until(() -> counted.size() == 1);
        placed.passOn(4);
        eventually().until(() -> counted.size() == 2);
        assertThat(node.instance(NAME).below().on()).isEqualTo(7);
        placed.passOn(5);
        node.close();

        assertThat(counted.stream().mapToLong(LevelCounters::on).sum()).isEqualTo(12);
        assertThat(counted.get(1).on()).isEqualTo(4);
        assertThat(calls).endsWith("counted", "close").containsOnlyOnce("close");
    }

    @Test
    void aServiceThatIsRefusedGoesOnInTheJvmAndTheOperatorSeesWhy() throws IOException {
        levels.there.clear();
        ServiceDefinition definition = start(() -> new Asking(Policy.forward()), new Placement());
        send();
        send();

        node.balanced(2);
        assertThat(node.instance(NAME).counters()).containsEntry("refused", 1L);
        assertThat(definition.placement().status().refusal()).contains("is there");
        assertThat(definition.placement().status().reason()).isNull();
    }

    @Test
    void anInstanceHasSixtyFourPoliciesAtMost() throws IOException {
        List<Offload> mine = new CopyOnWriteArrayList<>();
        List<String> refusals = new CopyOnWriteArrayList<>();
        start(
                () -> new Light(null) {
                    @Override
                    public void init(ServiceConfig config) throws LevelException {
                        for (long stream = 0; stream < 64; stream++) {
                            mine.add(offload(new Flow(Flow.Protocol.UDP, null, null, stream), Policy.drop()));
                        }
                        try {
                            offload(Flow.ANY, Policy.drop());
                        } catch (LevelException e) {
                            refusals.add(String.valueOf(e.getMessage()));
                        }
                        mine.get(0).close();
                        mine.add(offload(Flow.ANY, Policy.drop()));
                    }
                },
                new Placement());
        send();

        eventually().until(() -> mine.size() == 65);
        assertThat(refusals)
                .containsExactly("offload 65 of one instance: at most 64 at once; close one that is no longer needed");
    }

    @Test
    void aChangeThatOneKeyRefusesIsNoChange() throws Exception {
        KeyedOffload offload = new KeyedOffload(levels, Flow.ANY, Policy.up());
        offload.begin(List.of(1L, 2L), Set.of(Level.TC), false);

        offload.change(Policy.forward().share(Share.first(5)));
        assertThat(levels.open()).allMatch(placed -> placed.policy().share().equals(Share.first(5)));
        try {
            offload.change(Policy.forward().share(Share.first(13)));
        } catch (LevelException e) {
            calls.add(String.valueOf(e.getMessage()));
        }
        assertThat(calls).containsExactly("share 13: unlucky; take another number");
        assertThat(offload.policy().share()).isEqualTo(Share.first(5));
        offload.close();
        start();
    }

    @Test
    void policiesEndWithAnInstanceThatDoesNotReturn() throws IOException {
        start(
                () -> new Light(null) {
                    @Override
                    public void init(ServiceConfig config) throws LevelException {
                        offload(Flow.ANY, Policy.up());
                    }

                    @Override
                    public Verdict process(Packet packet) {
                        Uninterruptibles.awaitUninterruptibly(released);
                        return Verdict.FORWARD;
                    }
                },
                new Placement());
        send();

        eventually().until(() -> levels.all.size() == 1);
        awaitOpen(0);
        assertThat(calls).isEmpty();
    }

    @Test
    void policiesEndWhenInitFails() throws IOException {
        start(
                () -> new Light(null) {
                    @Override
                    public void init(ServiceConfig config) throws Exception {
                        offload(Flow.ANY, Policy.up());
                        throw new IOException("no disk");
                    }
                },
                new Placement());
        send();

        eventually().until(() -> levels.all.size() == 1);
        awaitOpen(0);
    }

    @Test
    void policiesEndWithAServiceThatIsTakenAway() throws IOException {
        ServiceDefinition definition = start(() -> new Asking(Policy.forward()), new Placement());
        send();
        awaitOpen(1);
        levels.open().get(0).passOn(2);

        node.services.remove(definition);
        node.environment.retire(definition, UdpTestNode.PATIENCE);

        assertThat(levels.open()).isEmpty();
        assertThat(counted.stream().mapToLong(LevelCounters::on).sum()).isEqualTo(2);
    }

    // ---- where an operator wants it --------------------------------------------------------------------------------

    @Test
    void aServiceIsPlacedBeforeItsFirstPacket() throws IOException {
        Policy policy = Policy.forward().markClass(9);
        ServiceDefinition definition = start(() -> new Light(policy), wanting("tc"));
        definition.placement().calm();
        node.environment.place(definition);

        awaitStatus(definition, Level.TC, null);
        assertThat(levels.open()).hasSize(1);
        TestLevels.Placed placed = levels.open().get(0);
        assertThat(placed.policy()).isEqualTo(policy);
        assertThat(placed.flow).isEqualTo(Flow.ANY);
        assertThat(placed.isOrdered).isFalse();
    }

    @Test
    void autoTakesTheNearestToTheWire() throws IOException {
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), wanting("auto"));
        node.environment.place(definition);

        awaitStatus(definition, Level.XDP, null);
        assertThat(definition.placement().status().wanted()).isEqualTo("auto");
    }

    @Test
    void aPlacementChangesUnderTrafficInOrder() throws Exception {
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), new Placement());
        send();
        node.balanced(1);

        for (Level level : List.of(Level.TC, Level.XDP, Level.JVM)) {
            definition.placement().want(Placement.Wanted.of(level.label()));
            node.environment.place(definition);
            definition.placement().awaitTried(UdpTestNode.PATIENCE);
            assertThat(definition.placement().status())
                    .isEqualTo(new Placement.Status(level.label(), level, null, null));
            assertThat(levels.open()).hasSize(level == Level.JVM ? 0 : 1);
        }
        assertThat(levels.all).hasSize(1).allMatch(placed -> placed.isOrdered);
    }

    @Test
    void aServiceThatIsPlacedInTheJvmIsPassedByNoPacket() throws Exception {
        levels.passesUnknown = true;
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), new Placement());
        node.environment.place(definition);
        assertThat(levels.all).as("nobody has placed it").isEmpty();

        place(definition, Level.JVM);
        assertThat(levels.open()).hasSize(1).allMatch(placed -> placed.policy().equals(Policy.up()));
        for (Level level : List.of(Level.TC, Level.XDP, Level.JVM)) {
            place(definition, level);
            assertThat(levels.open()).hasSize(1);
            assertThat(levels.open().get(0).policy()).isEqualTo(level == Level.JVM ? Policy.up() : Policy.forward());
        }
        assertThat(levels.all).as("never without").hasSize(1);
    }

    @Test
    void thatPacketsPassAServiceByIsSaid() throws IOException {
        levels.passesUnknown = true;
        levels.there.clear();
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), wanting("tc"));
        node.environment.place(definition);
        awaitStatus(definition, Level.JVM, "packets in transit pass it by, since levels.unknown is on: none of");
        levels.there.add(Level.TC);
        awaitStatus(definition, Level.TC, null);
    }

    @Test
    void whatSendsUpStaysWhileALevelIsTriedAgain() throws Exception {
        levels.passesUnknown = true;
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), new Placement());
        place(definition, Level.JVM);
        levels.there.remove(Level.XDP);
        definition.placement().want(Placement.Wanted.of("xdp"));
        node.environment.place(definition);
        awaitStatus(definition, Level.JVM, "none of");
        eventually().until(() -> levels.moves.size() >= 3);
        assertThat(levels.moves).containsOnly(Policy.forward());
    }

    @Test
    void thatAPolicyStaysIsSaidWhereItsPacketsCannotBeSentUp() throws Exception {
        levels.passesUnknown = true;
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), new Placement());
        place(definition, Level.TC);
        levels.there.clear();
        definition.placement().want(Placement.Wanted.JVM);
        node.environment.place(definition);
        awaitStatus(definition, Level.TC, "the policy of before stays, since packets cannot be sent up: none of");
        assertThat(levels.open()).allMatch(placed -> placed.policy().equals(Policy.forward()));
    }

    private void place(ServiceDefinition definition, Level level) throws InterruptedException {
        definition.placement().want(Placement.Wanted.of(level.label()));
        node.environment.place(definition);
        assertThat(definition.placement().awaitTried(UdpTestNode.PATIENCE)).isTrue();
        awaitStatus(definition, level, null);
    }

    @Test
    void aLevelBeginsWhenTheServiceHoldsNothingOfBefore() throws Exception {
        List<Suspension> held = new CopyOnWriteArrayList<>();
        ServiceDefinition definition = start(
                () -> new Light(Policy.forward()) {
                    @Override
                    public Verdict process(Packet packet) {
                        held.add(hold(packet, Duration.ofMinutes(1)));
                        return Verdict.HELD;
                    }
                },
                new Placement());
        send();
        eventually().until(() -> held.size() == 1);
        place(definition, Level.TC);
        TestLevels.Placed placed = levels.open().get(0);
        eventually().until(() -> levels.passed.get() > 0);
        assertThat(placed.isCaughtUp).isFalse();
        held.get(0).resume(Verdict.FORWARD);
        eventually().until(() -> placed.isCaughtUp);
    }

    @Test
    void whyAServiceStaysInTheJvmIsSaid() throws IOException {
        ServiceDefinition none = start(() -> new Light(null), wanting("tc"));
        node.environment.place(none);
        awaitStatus(none, Level.JVM, "only the JVM can do what it does");

        ServiceDefinition refusing = definition(
                "2",
                () -> new Light(null) {
                    @Override
                    public Policy policy() throws LevelException {
                        throw new LevelException("17 rules: at most 16");
                    }
                },
                wanting("tc"));
        node.services.add(2, refusing);
        node.environment.place(refusing);
        awaitStatus(refusing, Level.JVM, "17 rules: at most 16");

        ServiceDefinition throwing = definition(
                "3",
                () -> new Light(null) {
                    @Override
                    public Policy policy() {
                        throw new IllegalStateException("oops");
                    }
                },
                wanting("tc"));
        node.services.add(3, throwing);
        node.environment.place(throwing);
        awaitStatus(throwing, Level.JVM, "its policy() failed");

        ServiceDefinition bound = definition(
                "4", () -> new Light(Policy.forward()), new Placement(Set.of(Level.JVM), Placement.Wanted.of("tc")));
        node.services.add(4, bound);
        node.environment.place(bound);
        awaitStatus(bound, Level.JVM, "its manifest allows jvm and not tc");

        ServiceDefinition broken = definition(
                "5",
                () -> {
                    throw new IllegalStateException("no constructor today");
                },
                wanting("tc"));
        node.services.add(5, broken);
        node.environment.place(broken);
        awaitStatus(broken, Level.JVM, "no constructor today");
    }

    @Test
    void whatHindersAPlacementMayPass() throws IOException {
        levels.there.clear();
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), wanting("tc"));
        node.environment.place(definition);
        awaitStatus(definition, Level.JVM, "is there; the node tries again each second");

        levels.there.add(Level.TC);
        awaitStatus(definition, Level.TC, null);
        levels.open().get(0).close(); // Its level went.
        eventually().until(() -> levels.all.size() == 2);
        awaitStatus(definition, Level.TC, null);
    }

    @Test
    void aFaultOfALevelIsNoEndOfTrying() throws IOException {
        levels.faulty = true;
        ServiceDefinition definition = start(() -> new Light(Policy.forward()), wanting("tc"));
        node.environment.place(definition);
        awaitStatus(definition, Level.JVM, "a fault of the test's");
        levels.faulty = false;
        awaitStatus(definition, Level.TC, null);
    }

    @Test
    void aPlacedServiceThatIsReplacedLeavesItsFlowToTheNewOne() throws IOException {
        ServiceDefinition first = definition("1", () -> new Light(Policy.forward()), wanting("tc"));
        node.services.add(first);
        start();
        node.environment.place(first);
        awaitStatus(first, Level.TC, null);

        ServiceDefinition second = definition("2", () -> new Light(Policy.drop()), wanting("tc"));
        node.services.add(second);
        node.environment.place(second);
        node.environment.retire(first, UdpTestNode.PATIENCE);

        awaitStatus(second, Level.TC, null);
        assertThat(levels.open()).hasSize(1).allMatch(placed -> placed.policy().equals(Policy.drop()));
        assertThat(first.placement().status().actual()).isEqualTo(Level.JVM);
    }

    @Test
    void aPlacementStaysWhenItsInstanceIsReplacedByAnother() throws IOException {
        AtomicInteger made = new AtomicInteger();
        ServiceDefinition definition = start(
                () -> new Light(Policy.forward()) {
                    private final boolean hangs = made.getAndIncrement() == 0;

                    @Override
                    public Verdict process(Packet packet) {
                        if (hangs) {
                            Uninterruptibles.awaitUninterruptibly(released);
                        }
                        return Verdict.FORWARD;
                    }
                },
                wanting("tc"));
        node.environment.place(definition);
        awaitStatus(definition, Level.TC, null);
        send();

        awaitStatus(definition, Level.JVM, "its instance has ended");
        released.countDown();
        definition.health().release();
        eventually().untilAsserted(() -> {
            send(); // One may still find the instance that has ended.
            assertThat(definition.placement().status().actual())
                    .as("%s, %s, %s", definition.placement().status(), node.environment.traffic(), made)
                    .isEqualTo(Level.TC);
        });
    }
}
