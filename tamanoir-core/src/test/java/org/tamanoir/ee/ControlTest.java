package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.PATIENCE;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.Verdict;

/** Controls of services in a running node. */
class ControlTest extends TcpNodeTesting {
    private static final List<String> LIFE = Collections.synchronizedList(new ArrayList<>());

    /** Notes its life, and what its instances tell it. */
    static class Noting implements ServiceControl {
        private final List<Service> instances = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void init(ServiceConfig config, ControlHost host) throws Exception {
            LIFE.add("init of " + host.serviceName());
        }

        @Override
        public void follow(ServiceControl before) {
            LIFE.add("follows one of " + before.view());
        }

        @Override
        public Map<String, Object> view() {
            return Map.of("instances", instances.size());
        }

        @Override
        public Map<String, Object> change(String operation, Map<String, Object> arguments) {
            if (!operation.equals("note")) {
                throw new IllegalArgumentException("operation '" + operation + "': there is 'note'");
            }
            return Map.of("noted", arguments);
        }

        @Override
        public void close() {
            LIFE.add("close");
        }
    }

    /** Tells its control that it is there. */
    private static final class Told extends Service {
        @Override
        public void init(ServiceConfig config) {
            LIFE.add("instance");
            control(Noting.class).instances.add(this);
        }

        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private static ServiceDefinition define(Supplier<? extends ServiceControl> control) {
        return new ServiceDefinition(
                "told",
                "",
                Told::new,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.of(control));
    }

    @BeforeEach
    void forget() {
        LIFE.clear();
    }

    @Test
    void oneIsThereForAllInstancesFromBeforeTheFirstUntilAfterTheLast() throws Exception {
        TestSink sink = sink();
        ServiceDefinition told = define(Noting::new);
        TestNode node = node(told).toHost(sink.address());
        assertThat(LIFE).containsExactly("init of told");
        for (int i = 0; i < 2; i++) {
            AnepSender sender = sender(node);
            sender.send(packets("told"), number(i));
            sender.flush();
        }
        sink.await(2);
        assertThat(node.environment.control(told, ServiceControl::view)).isEqualTo(Map.of("instances", 2));
        node.environment.stop(Duration.ZERO);
        assertThat(LIFE).containsExactly("init of told", "instance", "instance", "close");
    }

    @Test
    void oneFollowsThatOfTheDefinitionWhosePlaceItTakes() throws Exception {
        TestNode node = node(define(Noting::new));
        ServiceDefinition changed = define(Noting::new);
        node.environment.define(changed);
        assertThat(LIFE).containsExactly("init of told", "init of told", "follows one of {instances=0}");
        node.services.add(changed);
        node.environment.define(define(() -> new Noting() {})); // Of another class, as of another version.
        assertThat(LIFE).hasSize(4).endsWith("init of told");
    }

    @Test
    void aChangeIsGivenItsArgumentsAndARefusalItsLine() throws Exception {
        ServiceDefinition told = define(Noting::new);
        TestNode node = node(told);
        Map<String, Object> done = node.environment.control(told, control -> control.change("note", Map.of("a", 1)));
        assertThat(done).isEqualTo(Map.of("noted", Map.of("a", 1)));
        assertThatThrownBy(() -> node.environment.control(told, control -> control.change("forget", Map.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("operation 'forget': there is 'note'");
    }

    @Test
    void anInitThatFailsKeepsTheNodeFromStartingWithItsLine() {
        ServiceDefinition told = define(() -> new Noting() {
            @Override
            public void init(ServiceConfig config, ControlHost host) {
                throw new IllegalArgumentException("plan x.yaml: there is no such file: write one");
            }
        });
        assertThatThrownBy(() -> node(told))
                .isInstanceOf(IOException.class)
                .hasMessage("service told: plan x.yaml: there is no such file: write one");
        assertThat(LIFE).containsExactly("close");
    }

    @Test
    void anInitThatDoesNotReturnIsGivenUpAndClosedWhenItDoes() throws Exception {
        settings.deployTimeout = Duration.ofMillis(100);
        settings.makeTimeout = Duration.ofMillis(100);
        CountDownLatch released = new CountDownLatch(1);
        ServiceDefinition told = define(() -> new Noting() {
            @Override
            public void init(ServiceConfig config, ControlHost host) throws Exception {
                boolean interrupted = true;
                while (interrupted) {
                    try {
                        released.await();
                        interrupted = false;
                    } catch (InterruptedException e) {
                        // As code does that does not know better.
                    }
                }
            }
        });
        assertThatThrownBy(() -> node(told)).hasMessageContaining("service told: it did not return within");
        assertThat(LIFE).isEmpty();
        released.countDown();
        eventually().until(() -> LIFE.equals(List.of("close")));
        assertThat(told.control().get()).isNull();
    }

    /** What it throws is foreign code too, which nobody but its own thread runs. */
    @Test
    void whatAnInitThrowsIsReadWhereItMayNotReturn() throws Exception {
        settings.deployTimeout = Duration.ofMillis(100);
        settings.makeTimeout = Duration.ofMillis(100);
        CountDownLatch released = new CountDownLatch(1);
        ServiceDefinition told = define(() -> new Noting() {
            @Override
            public void init(ServiceConfig config, ControlHost host) throws Exception {
                throw new IllegalStateException() {
                    private static final long serialVersionUID = 1;

                    @Override
                    public String getMessage() {
                        Uninterruptibles.awaitUninterruptibly(released);
                        return "late";
                    }
                };
            }
        });
        try {
            assertThatThrownBy(() -> node(told)).hasMessageContaining("service told: it did not return within");
        } finally {
            released.countDown();
        }
    }

    /** Whose text throws what has such a text: whoever reads any of it runs its code. */
    private static final class Unreadable extends IllegalArgumentException {
        private static final long serialVersionUID = 1;
        private final List<Thread> readers;

        Unreadable(List<Thread> readers) {
            this.readers = readers;
        }

        @Override
        public String getMessage() {
            readers.add(Thread.currentThread());
            throw this;
        }
    }

    @Test
    void whatThrowsAgainWhereItIsReadIsReadByNobodyElse() throws Exception {
        List<Thread> readers = Collections.synchronizedList(new ArrayList<>());
        ServiceDefinition told = define(Noting::new);
        TestNode node = node(told);
        assertThatThrownBy(() -> node.environment.control(told, control -> {
                    throw new Unreadable(readers);
                }))
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessage("it failed: " + Unreadable.class.getName());
        assertThat(readers).isNotEmpty().doesNotContain(Thread.currentThread());
    }

    @Test
    void aServiceWithoutControlIsToldWhatIsMissing() throws Exception {
        TestSink sink = sink();
        ServiceDefinition told = TestServices.define("told", Told::new);
        TestNode node = node(told).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("told"), number(1));
            sender.flush();
            eventually().until(() -> log().stream().anyMatch(line -> line.contains("name it in @ControlledBy")));
        }
        assertThatThrownBy(() -> node.environment.control(told, ServiceControl::view))
                .hasMessageContaining("service told has no control");
    }

    /** Wants an instance of another service. */
    private static final class Wanting extends Noting {
        private final String other;

        Wanting(String other) {
            this.other = other;
        }

        @Override
        public void init(ServiceConfig config, ControlHost host) {
            Service instance = host.instance(other, PATIENCE);
            LIFE.add(instance.getState() + " " + (host.formats().known().size() == 0));
        }
    }

    @Test
    void aControlGetsAnInstanceOfAnotherServiceThatIsNotStarted() throws Exception {
        node(define(() -> new Wanting("mark")), MARK);
        assertThat(LIFE).containsExactly("NEW true");
    }

    @Test
    void aControlGetsAnInstanceOfAServiceThatIsFetchedForIt() throws Exception {
        settings.source = (key, then) -> origin -> then.accept(ServiceSource.Answer.of(MARK));
        node(define(() -> new Wanting("mark")));
        assertThat(LIFE).containsExactly("NEW true");
    }

    @Test
    void aControlIsToldWhyThereIsNoSuchService() {
        settings.source =
                (key, then) -> origin -> then.accept(ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        assertThatThrownBy(() -> node(define(() -> new Wanting("mark"))))
                .hasMessageContaining("service told: service mark is not to be had: DEPLOYMENT_FAILED");
    }
}
