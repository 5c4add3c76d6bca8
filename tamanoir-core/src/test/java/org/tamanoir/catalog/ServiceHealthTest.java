package org.tamanoir.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.tamanoir.service.StreamInfo.Transport;

/** When a service is put into quarantine, and for how long, in simulated time. */
class ServiceHealthTest {
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 5); // System.nanoTime may wrap around.
    private final ServiceHealth life = new ServiceHealth(0, 0, nowNs::get);

    private void pass(Duration time) {
        nowNs.addAndGet(time.toNanos());
    }

    private Duration failUntilQuarantine() {
        for (int i = 1; i < ServiceHealth.FAILURES_TOLERATED; i++) {
            assertThat(life.failed(1, "it throws")).isNull();
            assertThat(life.isQuarantined()).isFalse();
        }
        Duration time = life.failed(1, "it throws");
        assertThat(time).isNotNull();
        assertThat(life.isQuarantined()).isTrue();
        return time == null ? Duration.ZERO : time;
    }

    @Test
    void aHundredFailuresAreEnough() {
        assertThat(life.quarantinedUntil()).isNull();
        assertThat(failUntilQuarantine()).isEqualTo(ServiceHealth.FIRST_QUARANTINE);
        assertThat(life.failures()).isEqualTo(100);
        assertThat(life.quarantines()).isEqualTo(1);
        assertThat(life.quarantinedUntil()).isNotNull();
        assertThat(life.quarantineReason()).isEqualTo("it throws");
        pass(Duration.ofNanos(999_999_999));
        assertThat(life.isQuarantined()).isTrue();
        pass(Duration.ofNanos(1));
        assertThat(life.isQuarantined()).isFalse();
        assertThat(life.isOpen()).isTrue();
        assertThat(life.quarantinedUntil()).isNull();
    }

    /** As of an init whose message names a peer, a port or a time. */
    @Test
    void reasonsThatDifferWithEachInstanceAreNewsOnceAMinute() {
        assertThat(life.began(Transport.UDP, "")).isFalse();
        assertThat(life.began(Transport.UDP, "init: no peer 1")).isTrue();
        assertThat(life.began(Transport.UDP, "init: no peer 2")).isFalse();
        assertThat(life.fault()).isEqualTo("init: no peer 2");
        assertThat(life.began(Transport.UDP, "")).isFalse();
        pass(Duration.ofMinutes(1).minusNanos(1));
        assertThat(life.began(Transport.UDP, "init: no peer 3")).isFalse();
        pass(Duration.ofNanos(1));
        assertThat(life.began(Transport.UDP, "init: no peer 3")).isTrue();
        pass(Duration.ofMinutes(1));
        assertThat(life.began(Transport.UDP, "init: no peer 3"))
                .as("the same still")
                .isFalse();
        assertThat(life.began(Transport.UDP, "")).isFalse();
        assertThat(life.began(Transport.UDP, "init: no peer 3")).as("again").isTrue();
    }

    @Test
    void theOneInstanceForUdpIsTriedAgainLaterEachTime() {
        assertThat(life.untilRetry()).isEqualTo(Duration.ZERO);
        for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
            assertThat(life.began(Transport.UDP, "init: no peer")).isEqualTo(seconds == 1);
            assertThat(life.untilRetry()).isEqualTo(Duration.ofSeconds(seconds));
            pass(Duration.ofMillis(500));
            life.began(Transport.UDP, "init: no peer"); // Another worker's, of the same attempt.
            life.began(Transport.TCP, "");
            assertThat(life.untilRetry()).isEqualTo(Duration.ofSeconds(seconds).minusMillis(500));
            assertThat(life.fault()).isEqualTo("init: no peer");
            pass(Duration.ofSeconds(seconds).minusMillis(500));
        }
        life.quarantine(Duration.ofSeconds(7), "on request");
        assertThat(life.untilRetry()).isEqualTo(Duration.ofSeconds(7));
        life.release();
        assertThat(life.untilRetry()).isEqualTo(Duration.ZERO);
        life.began(Transport.TCP, "init: no peer");
        life.began(Transport.UDP, "");
        assertThat(life.fault()).as("of streams").isEqualTo("init: no peer");
        life.began(Transport.UDP, "init: no peer");
        assertThat(life.untilRetry()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void tenSuccessesMakeUpForAFailure() {
        for (int i = 0; i < 1000; i++) {
            assertThat(life.failed(1, "now and then")).isNull();
            life.succeeded(3);
            life.succeeded(7);
        }
        assertThat(life.failures()).isEqualTo(1000);
        assertThat(life.hasFailed()).isFalse();
        for (int i = 0; i < 197; i++) {
            assertThat(life.failed(1, "often")).as("failure %s", i).isNull();
            life.succeeded(5);
        }
        assertThat(life.failed(1, "often")).isNotNull();
    }

    @Test
    void eachQuarantineIsTwiceAsLongUpToABound() {
        for (long seconds : new long[] {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
            assertThat(failUntilQuarantine()).isEqualTo(Duration.ofSeconds(seconds));
            pass(Duration.ofSeconds(seconds));
        }
        pass(ServiceHealth.GOOD_PERIOD.minusSeconds(1));
        assertThat(failUntilQuarantine()).isEqualTo(ServiceHealth.LONGEST_QUARANTINE);
        pass(ServiceHealth.LONGEST_QUARANTINE.plus(ServiceHealth.GOOD_PERIOD));
        assertThat(failUntilQuarantine()).isEqualTo(ServiceHealth.FIRST_QUARANTINE);
    }

    @Test
    void anOperatorQuarantinesAndReleases() {
        life.quarantine(Duration.ofHours(1), "on request");
        assertThat(life.isQuarantined()).isTrue();
        assertThat(life.quarantines()).isEqualTo(1);
        pass(Duration.ofMinutes(59));
        assertThat(life.isQuarantined()).isTrue();
        life.release();
        assertThat(life.isQuarantined()).isFalse();
        failUntilQuarantine();
        life.release();
        assertThat(failUntilQuarantine()).as("failures are forgotten").isEqualTo(ServiceHealth.FIRST_QUARANTINE);
    }

    @Test
    void instancesThatDoNotReturnWeighMore() {
        for (int i = 1; i < ServiceHealth.FAILURES_TOLERATED / ServiceHealth.STUCK_WEIGHT; i++) {
            assertThat(life.failed(ServiceHealth.STUCK_WEIGHT, "stuck")).isNull();
        }
        assertThat(life.failed(ServiceHealth.STUCK_WEIGHT, "stuck")).isEqualTo(ServiceHealth.FIRST_QUARANTINE);
    }

    @Test
    void pauseQuarantineAndSuspicionEndEachForItself() {
        life.pause(true);
        life.suspected();
        life.suspected();
        life.quarantine(Duration.ofSeconds(1), "on request");
        assertThat(life.isPaused()).isTrue();
        life.pause(false);
        assertThat(life.isPaused()).isFalse();
        life.cleared();
        life.release();
        assertThat(life.isOpen()).isFalse();
        life.cleared();
        assertThat(life.isOpen()).isTrue();
        assertThat(life.throttles()).isEqualTo(1);
    }
}
