package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.Event;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;

/** Services of the configuration are tried by an init before they are defined; what fails later is their own state. */
@Timeout(240)
class ServiceTrialTest {
    private static final InetSocketAddress FREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final List<String> life = Collections.synchronizedList(new ArrayList<>());
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final RoutingTable routes = new RoutingTable(List.of());
    private ExecutionEnvironment environment = environment(Waiting.PATIENCE);

    private ExecutionEnvironment environment(Duration makeTimeout) {
        return new ExecutionEnvironment(
                EeConfig.defaults()
                        .listening(List.of(FREE), List.of(FREE))
                        .deploying(Waiting.PATIENCE, makeTimeout, 4 << 20),
                routes,
                catalog);
    }

    @AfterEach
    void close() {
        environment.close();
    }

    /** Notes its life; refuses a mark, and one transport. */
    private class Noting extends Service {
        private final Transport refused;

        Noting(Transport refused) {
            this.refused = refused;
        }

        @Override
        public void init(ServiceConfig config) {
            counter("packets").add(1);
            after(Duration.ZERO, () -> life.add("timer"));
            emit(new PacketBuilder().build(ByteBuffer.allocate(4)));
            life.add("init on " + (Thread.currentThread() == this ? "its own" : "another") + " thread with "
                    + control(Noted.class).view());
            config.number("mark", 0, 0, 255);
            if (stream().transport() == refused) {
                throw new IllegalStateException("not over " + refused);
            }
        }

        @Override
        public Verdict process(Packet packet) {
            return drop("test");
        }

        @Override
        public void close() {
            life.add("close");
        }
    }

    private final class Noted implements ServiceControl {
        @Override
        public void init(ServiceConfig config, ControlHost host) {}

        @Override
        public Map<String, Object> view() {
            return Map.of();
        }

        @Override
        public Map<String, Object> change(String operation, Map<String, Object> arguments) {
            return Map.of();
        }

        @Override
        public void close() {
            life.add("control closed");
        }
    }

    private ServiceDefinition service(Map<String, String> config, Supplier<Service> factory) {
        return new ServiceDefinition(
                "org.example.Noting",
                "",
                factory,
                new ServiceConfig(config),
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.of(Noted::new));
    }

    @Test
    void oneThatTakesItsSettingsIsClosedAndLeavesNothing() {
        environment.tryOut(service -> true);
        environment.define(service(Map.of("mark", "7"), () -> new Noting(Transport.TCP)));

        assertThat(life).containsExactly("init on its own thread with {}", "close");
    }

    @Test
    void oneThatDoesNotIsNotDefinedAndItsControlIsClosed() {
        environment.tryOut(service -> true);
        assertThatThrownBy(() -> environment.define(service(Map.of("mark", "banana"), () -> new Noting(Transport.TCP))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "service org.example.Noting: tried with its settings, init failed: mark: banana must be a whole"
                                + " number from 0 to 255");
        assertThat(life).endsWith("close", "control closed").doesNotContain("timer");
    }

    @Test
    void oneThatNamesACounterInTwoKindsIsNotDefined() {
        environment.tryOut(service -> true);
        assertThatThrownBy(() -> environment.define(service(Map.of(), () -> new Noting(Transport.TCP) {
                    @Override
                    public void init(ServiceConfig config) {
                        counter("delay", Counter.Kind.MAXIMUM);
                        counter("delay", Counter.Kind.MINIMUM);
                    }
                })))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("counter delay: is a MAXIMUM already, and cannot be a MINIMUM: use another name");
    }

    @Test
    void oneForTcpAloneIsTriedOverThat() {
        environment.tryOut(service -> true);
        environment.define(service(Map.of(), () -> new Noting(Transport.UDP)));
        assertThat(life).filteredOn(line -> line.startsWith("init")).hasSize(2);
        assertThat(life).filteredOn("close"::equals).hasSize(2);
    }

    @Test
    void oneThatIsRefusedOverBothForDifferentReasonsIsToldBoth() {
        environment.tryOut(service -> true);
        assertThatThrownBy(() -> environment.define(service(Map.of("mark", "banana"), () -> new Service() {
                    @Override
                    public void init(ServiceConfig config) throws IOException {
                        if (stream().transport() == Transport.UDP) {
                            throw new IOException("for streams alone");
                        }
                        config.number("mark", 0, 0, 255);
                    }

                    @Override
                    public Verdict process(Packet packet) {
                        return Verdict.FORWARD;
                    }
                })))
                .hasMessage("service org.example.Noting: tried with its settings, init failed: over UDP: for streams"
                        + " alone; over TCP: mark: banana must be a whole number from 0 to 255");
    }

    @Test
    void oneThatIsNotOfTheConfigurationIsNotTried() {
        environment.tryOut(service -> false);
        environment.define(service(Map.of("mark", "banana"), () -> new Noting(Transport.TCP)));
        assertThat(life).isEmpty();
    }

    @Test
    void aStartIsRefusedWithAllThatFail() {
        environment.tryOut(service -> true);
        catalog.add(service(Map.of("mark", "banana"), () -> new Noting(Transport.TCP)));
        assertThatThrownBy(() -> environment.start()).hasMessageContaining("mark: banana must be");
    }

    @Test
    void oneThatDoesNotReturnIsInterruptedAndRefused() throws Exception {
        environment.close();
        environment = environment(Duration.ofMillis(200));
        environment.tryOut(service -> true);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        assertThatThrownBy(() -> environment.define(service(Map.of(), () -> new Service() {
                    @Override
                    public void init(ServiceConfig config) throws InterruptedException {
                        begun.incrementAndGet();
                        try {
                            new CountDownLatch(1).await();
                        } finally {
                            interrupted.incrementAndGet();
                        }
                    }

                    @Override
                    public Verdict process(Packet packet) {
                        return Verdict.FORWARD;
                    }
                })))
                .hasMessageContaining("it did not return within PT0.2S");
        assertThat(begun).as("not tried over TCP, which would take as long").hasValue(1);
        eventually().until(() -> interrupted.get() == begun.get());
    }

    @Test
    void anInitThatFailsLaterIsAnEventAndTheStateOfItsService() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        catalog.add(later(fails, new ServiceHealth()));
        ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);
        environment.start();
        manager.ready(null);
        send();
        eventually().until(() -> status(manager).state() == ServiceStatus.State.FAILED);
        assertThat(status(manager).health().fault()).isEqualTo("init: java.io.IOException: key store gone");
        send();
        eventually().until(() -> status(manager).health().failures() == 2);
        assertThat(faults(manager))
                .containsExactly("service org.example.Later does not begin: init: java.io.IOException: key store gone; "
                        + "failure policy DROP");
        assertThat(manager.notReady()).isNull();

        fails.set(false);
        send();
        eventually().until(() -> status(manager).state() == ServiceStatus.State.RUNNING);
        assertThat(status(manager).health().fault()).isEmpty();
    }

    @Test
    void aStreamThatBeginsHidesNotThatDatagramsAreNotServed() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        catalog.add(later(fails, new ServiceHealth(0, 0, () -> 0))); // By whose clock no second passes.
        ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);
        environment.start();
        manager.ready(null);
        send(AnepSender.udp(environment.udpAddresses().get(0)));
        eventually().until(() -> status(manager).state() == ServiceStatus.State.FAILED);
        fails.set(false);
        send();
        eventually().until(() -> status(manager).traffic().packetsIn() == 2);
        assertThat(status(manager).state()).isEqualTo(ServiceStatus.State.FAILED);
        assertThat(status(manager).health().fault()).isEqualTo("init: java.io.IOException: key store gone");
        assertThat(faults(manager)).hasSize(1);

        manager.release("org.example.Later");
        eventually().until(() -> status(manager).state() == ServiceStatus.State.RUNNING);
        send(AnepSender.udp(environment.udpAddresses().get(0)));
        eventually().until(() -> environment.traffic().drops().getOrDefault(DropReason.SERVICE, 0L) == 2);
    }

    private static ServiceDefinition later(AtomicBoolean fails, ServiceHealth health) {
        Supplier<Service> factory = () -> new Service() {
            @Override
            public void init(ServiceConfig config) throws Exception {
                if (fails.get()) {
                    throw new IOException("key store gone");
                }
            }

            @Override
            public Verdict process(Packet packet) {
                return drop("test");
            }
        };
        return new ServiceDefinition("org.example.Later", "", factory, ServiceConfig.EMPTY, FailurePolicy.DROP, health);
    }

    private void send() throws Exception {
        send(AnepSender.tcp(environment.tcpAddresses().get(0)));
    }

    private static void send(AnepSender to) throws Exception {
        try (AnepSender sender = to) {
            sender.send(
                    new PacketBuilder().service("org.example.Later").destination(InetAddress.getLoopbackAddress()),
                    ByteBuffer.allocate(4));
            sender.finish();
        }
    }

    private static ServiceStatus status(ActiveNodeManager manager) {
        return manager.services().get(0);
    }

    private static List<String> faults(ActiveNodeManager manager) {
        return manager.events().after(0).stream()
                .filter(event -> event.kind().equals("fault"))
                .map(Event::text)
                .toList();
    }

    @Test
    void oneThatIsNamedAndNotThereIsMissingUntilItIs() {
        ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);
        manager.wanted(() -> Map.of("org.example.Noting", "gateway 127.0.0.1:1=127.0.0.1:2,octets,org.example.Noting"));
        manager.reportMissing();
        assertThat(manager.events().after(0)).extracting(Event::kind).containsExactly("missing");
        assertThat(status(manager).state()).isEqualTo(ServiceStatus.State.MISSING);
        assertThat(status(manager).health().fault()).contains("gateway 127.0.0.1:1=127.0.0.1:2");

        catalog.add(service(Map.of(), () -> new Noting(Transport.TCP)));
        assertThat(manager.services())
                .singleElement()
                .extracting(ServiceStatus::state)
                .isEqualTo(ServiceStatus.State.RUNNING);
        manager.reportMissing();
        assertThat(manager.events().after(0)).hasSize(1);
    }
}
