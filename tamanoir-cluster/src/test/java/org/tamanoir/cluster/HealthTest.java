package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.cluster.BackEndState.DOWN;
import static org.tamanoir.cluster.BackEndState.DRAINED;
import static org.tamanoir.cluster.BackEndState.DRAINING;
import static org.tamanoir.cluster.BackEndState.HELD;
import static org.tamanoir.cluster.BackEndState.JOINING;
import static org.tamanoir.cluster.BackEndState.UP;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.HealthPolicy;

class HealthTest {
    private static final HealthPolicy POLICY = new HealthPolicy(Duration.ofSeconds(1), Duration.ofSeconds(1), 3, 2, 3);
    private static final long END_NS = TimeUnit.HOURS.toNanos(1);

    private long nowNs = -TimeUnit.SECONDS.toNanos(5); // clocks may begin below zero and pass it

    private void fail(Health health, int times) {
        for (int i = 0; i < times; i++) {
            pass(1);
            health.fails("no answer within 1 s", nowNs);
        }
    }

    private static void ready(Health health, int times) {
        for (int i = 0; i < times; i++) {
            health.ready();
        }
    }

    private void pass(long seconds) {
        nowNs += TimeUnit.SECONDS.toNanos(seconds);
    }

    private static Health up() {
        return Health.trusted(POLICY);
    }

    @Test
    void aNewBackEndComesInAfterItsSuccesses() {
        Health health = Health.joining(POLICY);
        health.ready();
        assertThat(health.state()).isEqualTo(JOINING);
        health.ready();
        assertThat(health.state()).isEqualTo(UP);
        assertThat(health.reason()).isNull();
    }

    @Test
    void aNewBackEndThatDoesNotAnswerIsDownAndSaysWhyFromTheFirst() {
        Health health = Health.joining(POLICY);
        fail(health, 1);
        assertThat(health.reason()).isEqualTo("no answer within 1 s");
        fail(health, 2);
        assertThat(health.state()).isEqualTo(DOWN);
    }

    @Test
    void onlyFailuresInARowTakeABackEndOut() {
        Health health = up();
        fail(health, 2);
        assertThat(health.state()).isEqualTo(UP);
        assertThat(health.reason()).isEqualTo("no answer within 1 s (2 of 3)");
        health.ready();
        assertThat(health.reason()).isNull();
        fail(health, 2);
        assertThat(health.state()).isEqualTo(UP);
        fail(health, 1);
        assertThat(health.state()).isEqualTo(DOWN);
        assertThat(health.reason()).isEqualTo("no answer within 1 s");
    }

    @Test
    void onlySuccessesInARowTakeItInAgain() {
        Health health = up();
        fail(health, 3);
        ready(health, 1);
        fail(health, 1);
        ready(health, 1);
        assertThat(health.state()).isEqualTo(DOWN);
        ready(health, 1);
        assertThat(health.state()).isEqualTo(UP);
    }

    @Test
    void anAnswerThatItIsNotReadyCountsAsAFailureWithItsReason() {
        Health health = up();
        for (int i = 0; i < 3; i++) {
            health.notReady("no port is open", nowNs);
        }
        assertThat(health.state()).isEqualTo(DOWN);
        assertThat(health.reason()).isEqualTo("no port is open");
    }

    @Test
    void oneThatGoesDownTooOftenIsHeldForAWhile() {
        Health health = up();
        for (int i = 0; i < 2; i++) {
            fail(health, 3);
            assertThat(health.state()).isEqualTo(DOWN);
            ready(health, 2);
        }
        fail(health, 3);
        assertThat(health.state()).isEqualTo(HELD);
        assertThat(health.reason()).contains("3 times in 5 min", "no answer within 1 s", "2 min");

        ready(health, 10);
        assertThat(health.state()).isEqualTo(HELD);
        pass(119);
        health.tick(nowNs);
        assertThat(health.state()).isEqualTo(HELD);
        pass(1);
        health.tick(nowNs);
        assertThat(health.state()).isEqualTo(DOWN);
        ready(health, 2);
        assertThat(health.state()).isEqualTo(UP);
        fail(health, 3);
        assertThat(health.state()).as("its past is forgotten").isEqualTo(DOWN);
    }

    @Test
    void goingDownNowAndThenIsNoFlapping() {
        Health health = up();
        for (int i = 0; i < 10; i++) {
            pass(151);
            fail(health, 3);
            assertThat(health.state()).isEqualTo(DOWN);
            ready(health, 2);
        }
    }

    @Test
    void dampingCanBeOff() {
        Health health = Health.trusted(new HealthPolicy(Duration.ofSeconds(1), Duration.ofSeconds(1), 1, 1, 0));
        for (int i = 0; i < 50; i++) {
            fail(health, 1);
            assertThat(health.state()).isEqualTo(DOWN);
            ready(health, 1);
        }
    }

    @Test
    void aHeldBackEndCanBeToldToJoin() {
        Health health = up();
        for (int i = 0; i < 3; i++) {
            fail(health, 3);
            ready(health, 2);
        }
        assertThat(health.state()).isEqualTo(HELD);
        health.join();
        ready(health, 2);
        assertThat(health.state()).isEqualTo(UP);
    }

    @Test
    void aNodeThatStopsIsDrainedAndComesBackWhenItIsStartedAgain() {
        Health health = up();
        health.stops("the node stops", nowNs, END_NS);
        assertThat(health.state()).isEqualTo(DRAINING);
        assertThat(health.drainEndsNs()).isEqualTo(END_NS);
        assertThat(health.reason()).isEqualTo("the node stops");

        for (int i = 0; i < 10; i++) {
            health.stops("the node stops", nowNs, END_NS + 1);
        }
        assertThat(health.state()).isEqualTo(DRAINING);
        assertThat(health.drainEndsNs()).as("the first deadline holds").isEqualTo(END_NS);

        fail(health, 3);
        assertThat(health.state()).isEqualTo(DRAINED);
        assertThat(health.isGone()).isTrue();
        ready(health, 2);
        assertThat(health.state()).isEqualTo(UP);
    }

    @Test
    void aNodeThatStopsBeforeItWasInIsNotTakenIn() {
        Health health = Health.joining(POLICY);
        health.stops("the node stops", nowNs, END_NS);
        assertThat(health.state()).isEqualTo(JOINING);
        assertThat(health.reason()).isEqualTo("the node stops");
    }

    @Test
    void aDrainedBackEndWaitsForTheOrderToJoin() {
        Health health = up();
        health.drain(Health.Cause.ORDER, "told to drain", END_NS);
        ready(health, 5);
        health.notReady("no port is open", nowNs);
        assertThat(health.state()).isEqualTo(DRAINING);
        health.drained("drained");
        ready(health, 5);
        fail(health, 5);
        ready(health, 5);
        assertThat(health.state()).isEqualTo(DRAINED);
        assertThat(health.isGone()).isFalse();
        health.join();
        assertThat(health.state()).isEqualTo(JOINING);
        ready(health, 2);
        assertThat(health.state()).isEqualTo(UP);
    }

    @Test
    void oneThatDiesWhileItDrainsIsOutAtOnce() {
        Health health = up();
        health.drain(Health.Cause.ORDER, "told to drain", END_NS);
        fail(health, 3);
        assertThat(health.state()).isEqualTo(DRAINED);
        ready(health, 5);
        assertThat(health.state()).as("the order holds").isEqualTo(DRAINED);
    }

    @Test
    void anOrderToDrainOutlivesTheNodesStop() {
        Health health = up();
        health.stops("the node stops", nowNs, END_NS);
        health.drain(Health.Cause.ORDER, "told to drain", END_NS + 5);
        assertThat(health.drainEndsNs()).isEqualTo(END_NS + 5);
        fail(health, 3);
        ready(health, 5);
        assertThat(health.state()).isEqualTo(DRAINED);
    }

    @Test
    void oneThatIsNotInTheTableIsDrainedAtOnce() {
        Health health = Health.joining(POLICY);
        health.drain(Health.Cause.ORDER, "told to drain", END_NS);
        assertThat(health.state()).isEqualTo(DRAINED);
    }

    @Test
    void joiningWhileItDrainsKeepsItsStreams() {
        Health health = up();
        health.drain(Health.Cause.ORDER, "told to drain", END_NS);
        health.join();
        assertThat(health.state()).isEqualTo(UP);
    }

    @Test
    void aLeavingNodeStaysOutThoughItStillAnswersUntilItWasGone() {
        Health health = up();
        health.drain(Health.Cause.LEAVING, "it leaves", END_NS);
        ready(health, 5);
        assertThat(health.state()).isEqualTo(DRAINING);
        health.drained("it left");
        ready(health, 5);
        assertThat(health.state()).isEqualTo(DRAINED);
        fail(health, 3);
        assertThat(health.isGone()).isTrue();
        ready(health, 2);
        assertThat(health.state()).as("started again").isEqualTo(UP);
    }

    @Test
    void aLeavingNodeThatSaysThatItStopsComesBackLikeAny() {
        Health health = up();
        health.drain(Health.Cause.LEAVING, "it leaves", END_NS);
        health.stops("the node stops", nowNs, END_NS);
        health.drained("it left");
        ready(health, 2);
        assertThat(health.state()).isEqualTo(UP);
    }
}
