package org.tamanoir.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.arena.Arena;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;

/** What a service sees of its turn, its class and its link. */
class AllotmentViewTest extends TurnTesting {
    private final AllotmentView view = new AllotmentView();

    private AllotmentView look(@Nullable CpuGrant turn) {
        view.look(turn, new QosSnapshot(QosConfig.OFF, null, null, List.of()), Long.MAX_VALUE);
        return view;
    }

    @Test
    void allIsZeroWithoutATurn() {
        look(null);
        assertThat(view.processors()).isZero();
        assertThat(view.isContended()).isFalse();
        assertThat(view.share()).isZero();
        assertThat(view.due()).isZero();
        assertThat(view.quantumRestNs()).isZero();
        assertThat(view.linkQueueLimitBytes()).isZero();
    }

    @Test
    void turnsThatRunAndWaitAreToldByClassAndInAll() {
        schedule("stfq", 2, named("one", 0, 1), named("other", 1, 3));
        CpuGrant running = asking(0);
        asking(1);
        asking(1);
        asking(1);
        look(running);
        assertThat(view.processors()).isEqualTo(2);
        assertThat(view.turnsRunning()).isEqualTo(1);
        assertThat(view.turnsWaiting()).isZero();
        assertThat(view.allTurnsRunning()).isEqualTo(2);
        assertThat(view.allTurnsWaiting()).isEqualTo(2);
        assertThat(view.due()).isEqualTo(0.25);
    }

    @Test
    void contentionIsSeenWhenItBeginsAndWhenItEnds() {
        schedule("stfq", 1, named("one", 0, 1));
        CpuGrant running = asking(0);
        assertThat(look(running).isContended()).isFalse();
        CpuGrant waiting = asking(0);
        assertThat(look(running).isContended()).isTrue();
        scheduler.release(waiting, 0);
        assertThat(look(running).isContended()).isFalse();
    }

    @Test
    void theShareIsThatOfTheLastHundredMilliseconds() {
        schedule("stfq", 1, named("one", 0, 1), named("other", 1, 1));
        CpuGrant one = asking(0);
        scheduler.release(one, 3_000_000);
        CpuGrant other = asking(1);
        scheduler.release(other, 1_000_000);
        one.request(0);
        assertThat(look(one).share()).isEqualTo(0.75);
        nowNs.addAndGet(200_000_000);
        scheduler.release(one, 0);
        other.request(1);
        scheduler.yield(other, 1_000_000, false);
        assertThat(look(other).share()).isEqualTo(1);
    }

    @Test
    void whatIsLeftOfTheQuantumShrinksWithTheClock() {
        schedule("stfq", 1, named("one", 0, 1));
        CpuGrant running = asking(0);
        look(running);
        assertThat(view.quantumRestNs()).isEqualTo(QUANTUM_NS);
        nowNs.addAndGet(QUANTUM_NS + 5);
        assertThat(view.quantumRestNs()).isEqualTo(-5);
    }

    @Test
    void dropsOfTheLastSecondAreTold() {
        WaitingGrants grants = schedule("stfq", 1, named("one", 0, 1));
        CpuGrant running = asking(0);
        grants.dropped(0, DropReason.STARVED, 3, 300);
        assertThat(look(running).recentDrops()).isEqualTo(3);
        nowNs.addAndGet(1_100_000_000);
        scheduler.yield(running, 0, false);
        assertThat(look(running).recentDrops()).isZero();
    }

    @Test
    void datagramsThatWaitBeforeProcessingAreTold() {
        WaitingGrants grants = schedule("stfq", 1, named("one", 0, 1));
        CpuGrant running = asking(0);
        grants.queued(0, 2, 2800);
        assertThat(look(running).waitingBytes()).isEqualTo(2800);
    }

    @Test
    void aClassThatIsGoneWritesToNoSlotOfAnother() {
        schedule("stfq", 1, named("gone", 0, 1));
        CpuGrant old = asking(0);
        schedule("stfq", 1, named("next", 0, 1));
        scheduler.release(old, 5_000_000);
        CpuGrant next = asking(0);
        assertThat(look(next).turnsRunning()).isEqualTo(1);
        assertThat(view.turnsWaiting()).isZero();
    }

    @Test
    void theQueueTheRateAndTheTokensAreThoseOfTheLink() {
        try (Node node = new Node()) {
            CpuGrant turn = node.turn();
            turn.request(0);
            LinkContent link = node.snapshot().links().get(0);
            assertThat(link.link().pass(1000)).isEqualTo(2048);
            view.look(turn, node.snapshot(), Long.MAX_VALUE);
            assertThat(view.linkRate()).isEqualTo(100_000);
            assertThat(view.linkTokens()).isEqualTo(8192 - 2048);
            assertThat(view.linkQueuedBytes()).isZero();
            assertThat(view.linkQueueLimitBytes()).isEqualTo(1 << 20);
            LinkQueue<Object> queue = new LinkQueue<>(() -> {}, Object::new);
            for (int i = 0; i < 10; i++) {
                link.link().enqueue(queue.newItem(), link, 0, 1000, i);
            }
            view.look(turn, node.snapshot(), Long.MAX_VALUE);
            assertThat(view.linkTokens()).isEqualTo(144);
            assertThat(view.linkQueuedBytes()).isEqualTo(4000);
        }
    }

    /** Both points, by hand. */
    private final class Node implements AutoCloseable {
        private final QualityOfService quality = new QualityOfService(
                () -> timer,
                nowNs::get,
                processorNs::get,
                Preemption.NONE,
                1 << 16,
                Duration.ofSeconds(10),
                new Arena());

        Node() {
            quality.change(new QosConfig(
                    List.of(named("one", 0, 1)),
                    "one",
                    List.of(),
                    new PreProcessing("stfq", Map.of(), 1, Duration.ofMillis(1)),
                    List.of(new Link(
                            "up", List.of(Prefix.parse("0.0.0.0/0")), 100_000, 8192, false, "fifo", Map.of()))));
        }

        QosSnapshot snapshot() {
            return quality.now();
        }

        CpuGrant turn() {
            return new CpuGrant(Objects.requireNonNull(snapshot().turns()), owner());
        }

        @Override
        public void close() {
            quality.close();
        }
    }
}
