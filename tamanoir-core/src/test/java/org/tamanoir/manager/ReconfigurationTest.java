package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.tamanoir.manager.ManagedNode.send;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.manager.NodeChange.Redefined;
import org.tamanoir.nodeos.Level;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;

/** Changes of many things at once: all of them or nothing, whatever is refused or fails. */
@Timeout(240)
class ReconfigurationTest {
    private static final InetSocketAddress FREE = new InetSocketAddress("127.0.0.1", 0);
    private static final Prefix TEN = Prefix.parse("10.0.0.0/8");
    private static final QosConfig QOS = qos("pq");
    private static final QosConfig OPERATORS = qos("wfq");

    private final RoutingTable routes = new RoutingTable(List.of(route(TEN, 1)));
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final ExecutionEnvironment environment = new ExecutionEnvironment(
            EeConfig.defaults()
                    .listening(List.of(FREE), List.of(FREE))
                    .deploying(Waiting.PATIENCE, Waiting.PATIENCE, 4 << 20),
            routes,
            catalog);
    private final ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);
    private final CountDownLatch mayBeMade = new CountDownLatch(1);

    /** Drops what comes, so that no next hop is needed. */
    private static final class Drops extends Service {
        @Override
        public Verdict process(Packet packet) {
            return drop("test");
        }
    }

    /** Refuses its settings, or does something, when it is made. */
    private static final class Control implements ServiceControl {
        private final Runnable atInit;

        Control(Runnable atInit) {
            this.atInit = atInit;
        }

        @Override
        public void init(ServiceConfig config, ControlHost host) {
            atInit.run();
        }

        @Override
        public Map<String, Object> view() {
            return Map.of();
        }

        @Override
        public Map<String, Object> change(String operation, Map<String, Object> arguments) {
            return Map.of();
        }
    }

    private static QosConfig qos(String discipline) {
        return new QosConfig(
                List.of(new TrafficClass("all", Set.of(), 1)),
                "all",
                List.of(),
                new PreProcessing(discipline, 1),
                List.of());
    }

    private static Route route(Prefix prefix, int port) {
        return new Route(
                prefix, new NextHop(InetAddress.getLoopbackAddress(), port, NextHop.Transport.SAME, NextHop.Kind.HOST));
    }

    private static ServiceDefinition service(String name) {
        return service(name, Drops::new, () -> {});
    }

    private static ServiceDefinition service(String name, Supplier<Service> factory, Runnable atInit) {
        return new ServiceDefinition(
                name,
                "",
                factory,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.of(() -> new Control(atInit)));
    }

    private static NodeChange redefining(List<Redefined> services) {
        return new NodeChange(List.of(), List.of(), null, services, Map.of(), null, null);
    }

    private static NodeChange levels(Map<String, Placement.Wanted> levels, Redefined... services) {
        return new NodeChange(List.of(), List.of(), null, List.of(services), levels, null, null);
    }

    @BeforeEach
    void start() throws IOException {
        environment.start();
    }

    @AfterEach
    void stop() {
        mayBeMade.countDown();
        environment.stop(Duration.ZERO);
        manager.close();
    }

    private ServiceDefinition defined(String name) {
        ServiceDefinition definition = service(name);
        environment.define(definition);
        catalog.add(definition);
        return definition;
    }

    private @Nullable ServiceDefinition found(String name) {
        return catalog.find(ServiceKey.of(name));
    }

    private static boolean isOpen(ServiceDefinition definition) {
        return definition.control().get() != null;
    }

    private List<String> events() {
        return manager.events().after(0).stream().map(Event::text).toList();
    }

    private void assertRefusesWhole(
            NodeChange change, String reason, ServiceDefinition before, ServiceDefinition fresh) {
        ManagerException refusal = catchThrowableOfType(ManagerException.class, () -> manager.change(change));
        assertThat(refusal.kind()).isEqualTo(Kind.INVALID);
        assertThat(refusal).hasMessageContaining(reason);
        assertThat(found(before.name())).isSameAs(before);
        assertThat(isOpen(before)).isTrue();
        assertThat(isOpen(fresh)).as("what was defined is taken back").isFalse();
        assertThat(routes.get(TEN)).isEqualTo(route(TEN, 1));
        assertThat(manager.qos()).isEqualTo(QosConfig.OFF);
        assertThat(events()).isEmpty();
    }

    @Test
    void aServiceThatIsRefusedBehindOthersTakesThemBack() {
        ServiceDefinition before = defined("Good");
        ServiceDefinition fresh = service("Good");
        ServiceDefinition bad = service("Wrong", Drops::new, () -> {
            assertThat(isOpen(fresh)).as("it comes behind").isTrue();
            throw new IllegalArgumentException("limit 7: must be 0 to 5");
        });
        NodeChange change = new NodeChange(
                List.of(route(TEN, 2)),
                List.of(),
                QOS,
                List.of(new Redefined(before, fresh), new Redefined(null, bad)),
                Map.of(),
                null,
                null);
        assertRefusesWhole(change, "service Wrong: limit 7: must be 0 to 5", before, fresh);
    }

    @Test
    void routesThatAreRefusedTakeServicesAndQosBack() throws Exception {
        ServiceDefinition before = defined("Good");
        ServiceDefinition fresh = service("Good");
        List<Route> tooMany = new ArrayList<>(); // The number of a next hop has 16 bits.
        for (int i = 0; i < 1 << 16; i++) {
            InetAddress via = InetAddress.getByAddress(new byte[] {127, 0, (byte) (i >> 8), (byte) i});
            Prefix prefix = new Prefix(TEN.high(), TEN.low() + ((long) i << 8), 120);
            tooMany.add(new Route(prefix, new NextHop(via, 1, NextHop.Transport.SAME, NextHop.Kind.HOST)));
        }
        NodeChange change =
                new NodeChange(tooMany, List.of(TEN), QOS, List.of(new Redefined(before, fresh)), Map.of(), null, null);
        assertRefusesWhole(change, "let routes share next hops", before, fresh);
    }

    @Test
    void qosThatIsRefusedTakesServicesBack() {
        ServiceDefinition before = defined("Good");
        ServiceDefinition fresh = service("Good");
        NodeChange change = new NodeChange(
                List.of(route(TEN, 2)),
                List.of(),
                qos("no such discipline"),
                List.of(new Redefined(before, fresh)),
                Map.of(),
                null,
                null);
        assertRefusesWhole(change, "no such discipline", before, fresh);
    }

    @Test
    void aRefusalLeavesTheQosThatAnOperatorHasChangedMeanwhile() {
        ServiceDefinition bad = service("Wrong", Drops::new, () -> {
            environment.qos(OPERATORS);
            throw new IllegalArgumentException("not so");
        });
        NodeChange change =
                new NodeChange(List.of(), List.of(), QOS, List.of(new Redefined(null, bad)), Map.of(), null, null);
        assertThatThrownBy(() -> manager.change(change)).hasMessageContaining("not so");
        assertThat(manager.qos()).isEqualTo(OPERATORS);
    }

    @Test
    void aHundredServicesAreChangedAtOnceAndTheirControlsClosed() throws Exception {
        List<ServiceDefinition> before =
                IntStream.range(0, 100).mapToObj(i -> defined("S" + i)).toList();
        List<Redefined> all = before.stream()
                .map(each -> new Redefined(each, service(each.name())))
                .toList();
        assertThat(manager.change(redefining(all))).isEmpty();
        all.forEach(
                each -> assertThat(isOpen(Objects.requireNonNull(each.fresh()))).isTrue());
        eventually().until(() -> before.stream().noneMatch(ReconfigurationTest::isOpen));
    }

    @Test
    void aControlStaysOpenUntilTheLastStreamEndsWhileOthersAreClosed() throws Exception {
        ServiceDefinition kept = defined("Kept");
        try (AnepSender stream = AnepSender.tcp(environment.tcpAddresses().get(0))) {
            send(stream, "Kept");
            eventually().until(() -> environment.traffic(kept).dropped() == 1);
            manager.change(redefining(List.of(new Redefined(kept, service("Kept")))));
            List<ServiceDefinition> others = new ArrayList<>();
            for (int i = 0; i < 70; i++) { // Each of them in a change of its own.
                ServiceDefinition other = defined("Other");
                others.add(other);
                manager.change(redefining(List.of(new Redefined(other, null))));
            }
            eventually().until(() -> others.stream().noneMatch(ReconfigurationTest::isOpen));
            send(stream, "Kept");
            eventually().until(() -> environment.traffic(kept).dropped() == 2);
            assertThat(isOpen(kept)).isTrue();
        }
        eventually().until(() -> !isOpen(kept));
    }

    @Test
    void anInterruptWhileServicesArePlacedTakesNothingBack() throws Exception {
        Thread caller = Thread.currentThread();
        ServiceDefinition slow = service(
                "Slow",
                () -> {
                    caller.interrupt();
                    try {
                        mayBeMade.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return new Drops();
                },
                () -> {});
        environment.define(slow);
        catalog.add(slow);
        ServiceDefinition before = defined("Good");
        ServiceDefinition fresh = service("Good");
        List<String> failed =
                manager.change(levels(Map.of("Slow", new Placement.Wanted(Level.TC)), new Redefined(before, fresh)));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(failed)
                .singleElement()
                .asString()
                .startsWith("service Slow is handled at level jvm, wanted at tc: that is still being tried");
        assertThat(found("Good")).isSameAs(fresh);
    }

    @Test
    void aLevelThatCannotBeHadIsALineAndOneOfAServiceThatIsNotThereIsNone() throws Exception {
        defined("Good");
        Placement.Wanted tc = new Placement.Wanted(Level.TC);
        assertThat(manager.change(levels(Map.of("Good", tc, "Absent", tc))))
                .singleElement()
                .asString()
                .startsWith("service Good is handled at level jvm, wanted at tc: ");
        assertThat(Objects.requireNonNull(found("Good")).placement().wanted()).isEqualTo(tc);
    }
}
