package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.Verdict;

/** What a packet is charged with, where the service's thread works all the time. */
class BudgetsTest {
    private static final long BUDGET_NS = Duration.ofMillis(20).toNanos();

    private final Charged instance = new Charged();

    /** An instance that says of itself where it is. */
    private static final class Charged implements Watchdog.Watched {
        final Supervision supervision;
        long call = 7;
        boolean isInService;
        volatile boolean ends;

        Charged() {
            Service service = new Service() {
                @Override
                public Verdict process(Packet packet) {
                    return Verdict.FORWARD;
                }
            };
            ServiceHealth health = new ServiceHealth(0, 0, BUDGET_NS);
            supervision = new Supervision(
                    Platform.SYSTEM,
                    new ServiceDefinition(
                            "charged", "", () -> service, ServiceConfig.EMPTY, FailurePolicy.DROP, health),
                    service,
                    "charged");
            service.setDaemon(true);
            service.start();
            ServiceHost spins = (ServiceHost) Proxy.newProxyInstance(
                    ServiceHost.class.getClassLoader(), new Class<?>[] {ServiceHost.class}, (proxy, method, args) -> {
                        while (!ends) {
                            Thread.onSpinWait();
                        }
                        return null;
                    });
            supervision.start(spins);
        }

        @Override
        public Supervision supervision() {
            return supervision;
        }

        @Override
        public long progress() {
            return 0;
        }

        @Override
        public long call() {
            return call;
        }

        @Override
        public boolean isInService() {
            return isInService;
        }

        @Override
        public void wake() {}
    }

    @AfterEach
    void end() {
        instance.ends = true;
        instance.supervision.clear();
    }

    /** Waits until it has used more than the budget between two looks. */
    private void work() {
        Budgets.look(List.of(instance));
        long endNs = instance.supervision.meter().usedNs() + 2 * BUDGET_NS;
        eventually().until(() -> instance.supervision.meter().usedNs() > endNs);
        Budgets.look(List.of(instance));
    }

    @Test
    void aCallThatUsesMoreThanTheBudgetIsStopped() {
        instance.isInService = true;
        work();
        assertThat(instance.supervision.atCheckpoint(7)).isNotNull();
        assertThat(instance.supervision.atCheckpoint(8)).isNull();
    }

    @Test
    void whatTheNodeDoesBetweenPacketsIsNotChargedToTheNext() {
        work();
        instance.isInService = true;
        Budgets.look(List.of(instance));
        assertThat(instance.supervision.atCheckpoint(7)).isNull();
    }
}
