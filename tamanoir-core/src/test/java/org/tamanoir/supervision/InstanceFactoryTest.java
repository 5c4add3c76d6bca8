package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.service.FailurePolicy;

/** Who is told of an instance, and fails. */
class InstanceFactoryTest {
    @Test
    void anOrderThatWasTakenBackMakesNoInstance() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        AtomicInteger constructed = new AtomicInteger();
        ServiceDefinition slow = new ServiceDefinition(
                "slow",
                () -> {
                    constructed.incrementAndGet();
                    boolean ignored = Uninterruptibles.awaitUninterruptibly(first, Duration.ofSeconds(40));
                    return MARK.factory().get();
                },
                MARK.config(),
                FailurePolicy.DROP);
        try (InstanceFactory maker =
                new InstanceFactory(Duration.ofSeconds(40), new CoreThreads(Platform.SYSTEM), made -> {})) {
            CompletableFuture<Boolean> last = new CompletableFuture<>();
            InstanceFactory.Outcome unwanted = (service, failure) -> last.complete(false);
            maker.make(
                    slow, (service, failure) -> Objects.requireNonNull(service).dismiss());
            for (int i = 0; i < 3; i++) {
                maker.make(slow, unwanted);
                maker.cancel(slow, unwanted);
            }
            maker.make(slow, (service, failure) -> {
                Objects.requireNonNull(service).dismiss();
                last.complete(true);
            });
            first.countDown();
            assertThat(last.get(40, TimeUnit.SECONDS)).isTrue();
            assertThat(constructed).hasValue(2);
        }
    }

    @Test
    void aServiceWithABudgetHasThreadsWhoseProcessorTimeIsCounted() throws Exception {
        ServiceHealth health = new ServiceHealth(0, 0, Duration.ofMillis(5).toNanos());
        ServiceDefinition budget =
                new ServiceDefinition("budget", "", MARK.factory(), MARK.config(), FailurePolicy.DROP, health);
        try (InstanceFactory maker =
                new InstanceFactory(Duration.ofSeconds(40), new CoreThreads(Platform.SYSTEM), made -> {})) {
            CompletableFuture<Boolean> isItsOwn = new CompletableFuture<>();
            maker.make(budget, ThreadKind.VIRTUAL, (service, failure) -> {
                isItsOwn.complete(service != null && service.thread() == service);
                if (service != null) {
                    service.dismiss();
                }
            });
            assertThat(isItsOwn.get(40, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 1", "true, 2"})
    void whatIsToldIsRepeatedForWantOfMemoryAlone(boolean lacksMemory, int expected) throws Exception {
        try (InstanceFactory maker =
                new InstanceFactory(Duration.ofSeconds(40), new CoreThreads(Platform.SYSTEM), made -> {})) {
            AtomicInteger told = new AtomicInteger();
            CompletableFuture<Integer> next = new CompletableFuture<>();
            maker.make(MARK, (service, failure) -> {
                if (told.incrementAndGet() == 1) {
                    maker.make(MARK, (another, none) -> next.complete(told.get())); // Waits behind.
                }
                if (!lacksMemory) {
                    throw new IllegalStateException("on purpose");
                } else if (told.get() == 1) {
                    throw new OutOfMemoryError("on purpose");
                }
            });
            assertThat(next.get(40, TimeUnit.SECONDS)).isEqualTo(expected);
        }
    }
}
