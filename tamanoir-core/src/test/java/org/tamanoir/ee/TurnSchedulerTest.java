package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.QosConfig;

/** Turns by hand: who gets one, when, and what it is charged. */
class TurnSchedulerTest extends TurnTesting {
    /** Ends the turn that runs after it has cost so much, and says who is next. */
    private static Turn next(List<Turn> all, Turn ending, long costNs, TurnScheduler scheduler) {
        scheduler.release(ending, costNs);
        return granted(all);
    }

    private static Turn granted(List<Turn> all) {
        List<Turn> granted = all.stream().filter(Turn::isGranted).toList();
        assertThat(granted).hasSize(1);
        return granted.get(0);
    }

    @Test
    void aTurnIsGrantedAtOnceWhileAProcessorIsFree() {
        schedule("fifo", 2, named("one", 1, 1));
        assertThat(turn().request(config, 0)).isTrue();
        assertThat(turn().request(config, 0)).isTrue();
        Turn third = turn();
        assertThat(third.request(config, 0)).isFalse();
        assertThat(third.state()).isEqualTo(Turn.State.WAITING);
        assertThat(scheduler.isContended()).isTrue();
        assertThat(status("one").waitingTurns()).isEqualTo(1);
        assertThat(woken).isEmpty();
    }

    @Test
    void strictPriorityServesTheFirstClassFirstAndEachClassInItsOrder() {
        schedule("pq", 1, named("high", 0, 1), named("middle", 1, 1), named("low", 2, 1));
        Turn first = asking(2);
        List<Turn> asked = IntStream.of(2, 1, 2, 0, 1, 0).mapToObj(this::asking).toList();
        List<Integer> order = new ArrayList<>();
        Turn running = first;
        for (int i = 0; i < asked.size(); i++) {
            running = next(asked, running, 5, scheduler);
            order.add(asked.indexOf(running));
        }
        assertThat(order).containsExactly(3, 5, 1, 4, 0, 2);
        assertThat(woken)
                .containsExactlyElementsOf(
                        order.stream().map(asked::get).map(turn -> turn.owner).toList());
    }

    @Test
    void weightsShareWhatTurnsReallyCostNotHowManyThereAre() {
        schedule("stfq", 1, named("thirty", 0, 30), named("seventy", 1, 70));
        Turn thirty = asking(0);
        Turn seventy = asking(1);
        List<Turn> both = List.of(thirty, seventy);
        // Turns of the first class cost five times those of the second.
        long[] usedNs = new long[2];
        Turn running = thirty;
        for (int i = 0; i < 100_000; i++) {
            long costNs = running == thirty ? 500_000 : 100_000;
            usedNs[both.indexOf(running)] += costNs;
            scheduler.yield(running, costNs);
            running = granted(both);
        }
        long total = usedNs[0] + usedNs[1];
        assertThat((double) usedNs[0] / total).isBetween(0.2999, 0.3001);
        assertThat(status("thirty").share()).isBetween(0.2999, 0.3001);
        assertThat(status("seventy").share()).isBetween(0.6999, 0.7001);
        assertThat(status("thirty").processorTime().toNanos()).isEqualTo(usedNs[0]);
    }

    @Test
    void theFirstGrantsUnderWeightsOfThirtyAndSeventyAreTheseExactly() {
        schedule("stfq", 1, named("thirty", 0, 30), named("seventy", 1, 70));
        Turn thirty = asking(0);
        Turn seventy = asking(1);
        List<Turn> both = List.of(thirty, seventy);
        StringBuilder order = new StringBuilder();
        Turn running = thirty;
        for (int i = 0; i < 12; i++) {
            order.append(running == thirty ? 'A' : 'B');
            scheduler.yield(running, QUANTUM_NS);
            running = granted(both);
        }
        // Starts in quanta / weight: A 0, 1/30, 2/30, ...; B 0, 1/70, 2/70, ...; ties go to the smaller index.
        assertThat(order).hasToString("ABBBABBABBAB");
    }

    @Test
    void whoGoesOnWhileNobodyWaitsOwesNothingAfterwards() {
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        Turn alone = asking(0);
        for (int i = 0; i < 1000; i++) {
            assertThat(scheduler.yield(alone, QUANTUM_NS)).isTrue();
        }
        Turn late = asking(1);
        List<Turn> both = List.of(alone, late);
        StringBuilder order = new StringBuilder();
        Turn running = alone;
        for (int i = 0; i < 8; i++) {
            scheduler.yield(running, QUANTUM_NS);
            running = granted(both);
            order.append(running == alone ? 'a' : 'b');
        }
        assertThat(order).hasToString("babababa");
    }

    @Test
    void asManyTurnsRunAsThereAreProcessors() {
        schedule("fifo", 2, named("one", 0, 1));
        List<Turn> turns = IntStream.range(0, 5).mapToObj(i -> asking(0)).toList();
        assertThat(turns).extracting(Turn::isGranted).containsExactly(true, true, false, false, false);
        scheduler.release(turns.get(0), 1);
        scheduler.release(turns.get(1), 1);
        assertThat(turns).extracting(Turn::isGranted).containsExactly(false, false, true, true, false);
        assertThat(woken).containsExactly(turns.get(2).owner, turns.get(3).owner);
    }

    @Test
    void theQuantumCountsOnlyWhileOthersWait() {
        schedule("fifo", 1, named("one", 0, 1));
        Turn turn = asking(0);
        turn.serves(100);
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(Stream.generate(turn::mayGoOn).limit(7)).containsOnly(true);
        assertThat(turn.mayGoOn()).isFalse(); // It charges itself now and then.
        assertThat(turn.goOn()).isTrue();
        turn.serves(100);
        asking(0);
        assertThat(turn.mayGoOn()).isTrue();
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(turn.mayGoOn()).isFalse();
        assertThat(turn.goOn()).isFalse();
    }

    @Test
    void theFirstPacketOfATurnIsServedHoweverLateItsThreadComes() {
        schedule("fifo", 1, named("a", 0, 1));
        Turn late = asking(0);
        Turn other = asking(0);
        nowNs.addAndGet(5 * QUANTUM_NS);

        late.begin();
        assertThat(late.mayGoOn()).isTrue();
        late.serves(100);
        assertThat(late.mayGoOn()).isFalse();
        assertThat(late.goOn()).isFalse();
        assertThat(other.isGranted()).isTrue();
    }

    @Test
    void aTurnIsChargedWithTheProcessorTimeOfItsThread() {
        schedule("stfq", 1, named("one", 0, 1));
        Turn turn = turn();
        turn.request(config, 0);
        processorNs.addAndGet(1000); // Not yet begun: the thread did something else.
        turn.begin();
        turn.serves(60);
        turn.serves(40);
        processorNs.addAndGet(700);
        turn.begin();
        turn.goOn();
        processorNs.addAndGet(70);
        turn.serves(10);
        turn.release();
        assertThat(status("one").processorTime()).isEqualTo(Duration.ofNanos(770));
        assertThat(status("one").servedPackets()).isEqualTo(3);
        assertThat(status("one").servedOctets()).isEqualTo(110);
        assertThat(turn.isIdle()).isTrue();
        turn.release();
        assertThat(status("one").servedPackets()).isEqualTo(3);
    }

    @Test
    void waitingTimesAreCountedAndImmediateGrantsAreZero() {
        schedule("fifo", 1, named("one", 0, 1));
        Turn first = asking(0);
        asking(0);
        nowNs.addAndGet(3_000);
        scheduler.release(first, 1);
        QosStatus.Waiting waiting = status("one").waiting();
        assertThat(waiting.counts().get(0)).isEqualTo(1);
        assertThat(waiting.counts().get(2)).isEqualTo(1);
        assertThat(waiting.totalNs()).isEqualTo(3_000);
    }

    @Test
    void aClassThatIsHeldBackStandsAsideAndComesBackInItsOrder() {
        schedule("pq", 1, named("high", 0, 1), named("low", 1, 1));
        Turn running = asking(1);
        heldBack.add("high");
        Turn first = asking(0);
        Turn second = asking(0);
        Turn low = asking(1);
        assertThat(first.state()).isEqualTo(Turn.State.ASIDE);
        assertThat(status("high").waitingTurns()).isEqualTo(2);
        List<Turn> all = List.of(first, second, low);
        Turn now = next(all, running, 1, scheduler);
        assertThat(now).isSameAs(low);
        scheduler.release(now, 1);
        assertThat(all).noneMatch(Turn::isGranted);
        scheduler.recheck();
        assertThat(all).noneMatch(Turn::isGranted);
        heldBack.clear();
        scheduler.recheck();
        now = granted(all);
        assertThat(now).isSameAs(first);
        assertThat(next(all, now, 1, scheduler)).isSameAs(second);
    }

    @Test
    void aClassThatBecomesHeldBackWhileItWaitsStandsAsideToo() {
        schedule("pq", 1, named("high", 0, 1), named("low", 1, 1));
        Turn running = asking(1);
        Turn high = asking(0);
        Turn low = asking(1);
        heldBack.add("high");
        scheduler.release(running, 1);
        assertThat(high.state()).isEqualTo(Turn.State.ASIDE);
        assertThat(low.isGranted()).isTrue();
        heldBack.clear();
        scheduler.recheck();
        assertThat(next(List.of(high, low), low, 1, scheduler)).isSameAs(high);
    }

    @Test
    void aTurnThatRunsEndsWhenItsClassIsHeldBack() {
        schedule("pq", 1, named("high", 0, 1));
        Turn turn = asking(0);
        heldBack.add("high");
        assertThat(Stream.generate(turn::mayGoOn).limit(8)).contains(false);
        assertThat(turn.goOn()).isFalse();
        assertThat(turn.state()).isEqualTo(Turn.State.ASIDE);
    }

    @Test
    void anOverdueTurnLosesItsProcessorAndIsChargedWithEverythingWhenItComesBack() {
        schedule("stfq", 1, named("spins", 0, 1), named("other", 1, 1));
        Turn spinning = asking(0);
        Turn other = asking(1);
        nowNs.addAndGet(19_999_999);
        scheduler.look();
        assertThat(other.isGranted()).isFalse();
        nowNs.addAndGet(1);
        scheduler.look();
        assertThat(other.isGranted()).isTrue();
        assertThat(spinning.state()).isEqualTo(Turn.State.OVERDUE);
        Turn third = asking(1);
        assertThat(spinning.mayGoOn()).isFalse();
        assertThat(scheduler.yield(spinning, 50_000_000)).isFalse();
        assertThat(next(List.of(spinning, third), other, QUANTUM_NS, scheduler)).isSameAs(third);
        assertThat(status("spins").processorTime()).isEqualTo(Duration.ofMillis(50));
        scheduler.release(third, QUANTUM_NS);
        assertThat(spinning.isGranted()).isTrue();
        assertThat(turn().request(config, 1)).isFalse(); // One processor, not two.
    }

    @Test
    void aTurnThatLastsLongWhileNobodyWaitsKeepsItsProcessor() {
        schedule("fifo", 1, named("one", 0, 1));
        Turn turn = asking(0);
        nowNs.addAndGet(1_000_000_000);
        scheduler.look();
        assertThat(turn.state()).isEqualTo(Turn.State.RUNNING);
    }

    @Test
    void theTimerReplacesATurnThatSpinsByItself() {
        TurnScheduler real = new TurnScheduler(timer, name -> false);
        config = config("pq", 1, Duration.ofNanos(QUANTUM_NS), named("spins", 0, 1), named("other", 1, 1));
        real.change(config, 1);
        Turn spinning = new Turn(real, owner());
        Turn other = new Turn(real, owner());
        assertThat(spinning.request(config, 0)).isTrue();
        assertThat(other.request(config, 1)).isFalse();
        TestServices.eventually().until(other::isGranted);
        assertThat(spinning.state()).isEqualTo(Turn.State.OVERDUE);
        real.close();
    }

    @Test
    void oneThreadHasOneTurnAtATime() {
        schedule("pq", 2, named("high", 0, 1), named("low", 1, 1));
        TurnOwner one = owner();
        Turn low = turn(one);
        Turn high = turn(one);
        assertThat(low.request(config, 1)).isTrue();
        low.serves(100);
        assertThat(high.request(config, 0)).isFalse();
        assertThat(high.state()).isEqualTo(Turn.State.BEHIND);
        assertThat(scheduler.isContended()).isTrue();
        Turn other = turn();
        assertThat(other.request(config, 1)).isTrue();
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(low.mayGoOn()).isFalse();
        assertThat(low.goOn()).isFalse();
        assertThat(high.isGranted()).isTrue();
        assertThat(one.running()).isSameAs(high);
        high.release();
        assertThat(low.isGranted()).isTrue();
        assertThat(woken).isEmpty(); // Its own thread did all of it.
        assertThat(status("high").processorTime()).isZero();
    }

    @Test
    void aThreadThatIsGivenUpForfeitsItsTurnAndAllItAskedFor() {
        schedule("fifo", 1, named("one", 0, 1), named("two", 1, 1));
        TurnOwner gone = owner();
        Turn held = turn(gone);
        Turn asked = turn(gone);
        held.request(config, 0);
        asked.request(config, 1);
        Turn other = asking(1);
        nowNs.addAndGet(5_000_000);
        scheduler.forfeit(gone);
        assertThat(other.isGranted()).isTrue();
        assertThat(held.isGranted()).isFalse();
        assertThat(asked.isGranted()).isFalse();
        assertThat(status("one").processorTime()).isEqualTo(Duration.ofMillis(5));
        assertThat(status("two").waitingTurns()).isZero();
        held.release();
        assertThat(turn().request(config, 0)).isFalse();
        assertThat(held.request(config, 0)).isFalse();
        assertThat(held.isIdle()).isTrue();
    }

    @Test
    void aChangeOfDisciplineKeepsWhatRunsAndWhatWaits() {
        schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1));
        Turn running = asking(0);
        Turn b = asking(1);
        Turn a = asking(0);
        heldBack.add("a");
        Turn aside = asking(0);
        heldBack.clear();
        schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        assertThat(running.isGranted()).isTrue();
        List<Turn> all = List.of(a, aside, b);
        Turn now = next(all, running, 1, scheduler);
        assertThat(now).isSameAs(a);
        now = next(all, now, 1, scheduler);
        assertThat(now).isSameAs(aside);
        assertThat(next(all, now, 1, scheduler)).isSameAs(b);
        assertThat(status("a").processorTime()).isEqualTo(Duration.ofNanos(3));
    }

    @Test
    void classesAreMappedByNameWhenTheConfigurationChanges() {
        QosConfig before = schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1), named("c", 2, 1));
        Turn running = asking(2);
        Turn waiting = asking(0);
        schedule("pq", 1, named("c", 2, 1), named("b", 1, 1));
        Turn old = turn();
        old.request(before, 2); // Of a thread that has not seen the change.
        assertThat(status("b").waitingTurns()).isEqualTo(1); // What was a's is the default class's.
        assertThat(status("c").waitingTurns()).isEqualTo(1);
        Turn now = next(List.of(old, waiting), running, 7, scheduler);
        assertThat(now).isSameAs(old);
        assertThat(status("c").processorTime()).isEqualTo(Duration.ofNanos(7));
        assertThat(next(List.of(old, waiting), old, 1, scheduler)).isSameAs(waiting);
    }

    @Test
    void moreProcessorsGrantAtOnceAndFewerLetTurnsEnd() {
        schedule("fifo", 1, named("a", 0, 1));
        List<Turn> turns = IntStream.range(0, 4).mapToObj(i -> asking(0)).toList();
        schedule("fifo", 3, named("a", 0, 1));
        assertThat(turns).extracting(Turn::isGranted).containsExactly(true, true, true, false);
        assertThat(woken).containsExactly(turns.get(1).owner, turns.get(2).owner);
        schedule("fifo", 1, named("a", 0, 1));
        scheduler.release(turns.get(0), 1);
        scheduler.release(turns.get(1), 1);
        assertThat(turns.get(3).isGranted()).isFalse();
        scheduler.release(turns.get(2), 1);
        assertThat(turns.get(3).isGranted()).isTrue();
    }

    @Test
    void whatRanBeforeAChangeIsChargedToTheNewDisciplineInFull() {
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        Turn a = asking(0);
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        Turn b = asking(1);
        scheduler.yield(a, 3 * QUANTUM_NS);
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            Turn running = granted(List.of(a, b));
            order.append(running == a ? 'a' : 'b');
            scheduler.yield(running, QUANTUM_NS);
        }
        assertThat(order).hasToString("bbbaba");
    }

    @Test
    void sharesCountFromTheLastChange() {
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        scheduler.release(asking(0), 100);
        assertThat(status("a").share()).isEqualTo(1);
        schedule("stfq", 1, named("a", 0, 2), named("b", 1, 1));
        assertThat(status("a").share()).isZero();
        scheduler.release(asking(0), 30);
        scheduler.release(asking(1), 10);
        assertThat(status("a").share()).isEqualTo(0.75);
        assertThat(status("a").processorTime()).isEqualTo(Duration.ofNanos(130));
    }

    @Test
    void closingGrantsEverything() {
        schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        TurnOwner two = owner();
        Turn running = turn(two);
        running.request(config, 0);
        Turn sibling = turn(two);
        sibling.request(config, 1);
        Turn waiting = asking(1);
        heldBack.add("a");
        Turn aside = asking(0);
        scheduler.close();
        assertThat(List.of(running, sibling, waiting, aside)).allMatch(Turn::isGranted);
        assertThat(woken).contains(waiting.owner, aside.owner);
        assertThat(asking(0).isGranted()).isTrue();
        assertThat(running.goOn()).isTrue();
        running.release();
        waiting.release();
        assertThat(waiting.isIdle()).isTrue();
        assertThat(waiting.request(config, 1)).isTrue();
    }

    @Test
    void queuesOfDatagramsAreCountedByClass() {
        QosConfig before = schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        scheduler.queued(config, 0, 5, 500);
        scheduler.dropped(config, 0, DropReason.TURN_QUEUE_FULL, 2, 200);
        scheduler.queued(config, 0, -1, -100);
        assertThat(status("a").waitingPackets()).isEqualTo(4);
        assertThat(status("a").waitingOctets()).isEqualTo(400);
        assertThat(status("a").dropped()).isEqualTo(Map.of(DropReason.TURN_QUEUE_FULL, new QosStatus.Dropped(2, 200)));
        schedule("pq", 1, named("b", 1, 1));
        assertThat(status("b").waitingPackets()).isEqualTo(4);
        scheduler.queued(before, 0, -4, -400);
        assertThat(status("b").waitingPackets()).isZero();
    }
}
