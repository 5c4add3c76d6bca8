package org.tamanoir.sched;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.YieldingProvider;

/** Turns by hand: who gets one, when, and what it is charged. */
class TurnSchedulerTest extends TurnTesting {
    /** Ends the turn that runs after it has cost so much, and says who is next. */
    private static CpuGrant next(List<CpuGrant> all, CpuGrant ending, long costNs, TurnScheduler scheduler) {
        scheduler.release(ending, costNs);
        return granted(all);
    }

    private static CpuGrant granted(List<CpuGrant> all) {
        List<CpuGrant> granted = all.stream().filter(CpuGrant::isGranted).toList();
        assertThat(granted).hasSize(1);
        return granted.get(0);
    }

    @Test
    void aTurnIsGrantedAtOnceWhileAProcessorIsFree() {
        schedule("fifo", 2, named("one", 1, 1));
        assertThat(turn().request(0)).isTrue();
        assertThat(turn().request(0)).isTrue();
        CpuGrant third = turn();
        assertThat(third.request(0)).isFalse();
        assertThat(third.state()).isEqualTo(CpuGrant.State.WAITING);
        assertThat(scheduler.isContended()).isTrue();
        assertThat(status("one").waitingTurns()).isEqualTo(1);
        assertThat(woken).isEmpty();
    }

    @Test
    void strictPriorityServesTheFirstClassFirstAndEachClassInItsOrder() {
        schedule("pq", 1, named("high", 0, 1), named("middle", 1, 1), named("low", 2, 1));
        CpuGrant first = asking(2);
        List<CpuGrant> asked =
                IntStream.of(2, 1, 2, 0, 1, 0).mapToObj(this::asking).toList();
        List<Integer> order = new ArrayList<>();
        CpuGrant running = first;
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
        CpuGrant thirty = asking(0);
        CpuGrant seventy = asking(1);
        List<CpuGrant> both = List.of(thirty, seventy);
        // Turns of the first class cost five times those of the second.
        long[] usedNs = new long[2];
        CpuGrant running = thirty;
        for (int i = 0; i < 100_000; i++) {
            long costNs = running == thirty ? 500_000 : 100_000;
            usedNs[both.indexOf(running)] += costNs;
            scheduler.yield(running, costNs, false);
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
        CpuGrant thirty = asking(0);
        CpuGrant seventy = asking(1);
        List<CpuGrant> both = List.of(thirty, seventy);
        StringBuilder order = new StringBuilder();
        CpuGrant running = thirty;
        for (int i = 0; i < 12; i++) {
            order.append(running == thirty ? 'A' : 'B');
            scheduler.yield(running, QUANTUM_NS, false);
            running = granted(both);
        }
        // Starts in quanta / weight: A 0, 1/30, 2/30, ...; B 0, 1/70, 2/70, ...; ties go to the smaller index.
        assertThat(order).hasToString("ABBBABBABBAB");
    }

    @Test
    void whoGoesOnWhileNobodyWaitsOwesNothingAfterwards() {
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant alone = asking(0);
        for (int i = 0; i < 1000; i++) {
            assertThat(scheduler.yield(alone, QUANTUM_NS, false)).isTrue();
        }
        CpuGrant late = asking(1);
        List<CpuGrant> both = List.of(alone, late);
        StringBuilder order = new StringBuilder();
        CpuGrant running = alone;
        for (int i = 0; i < 8; i++) {
            scheduler.yield(running, QUANTUM_NS, false);
            running = granted(both);
            order.append(running == alone ? 'a' : 'b');
        }
        assertThat(order).hasToString("babababa");
    }

    /** The first class uses a tenth of each turn, of two that have the same weight. */
    private String orderOfOneThatMostlySleeps(String discipline, boolean asksAtOnce) {
        schedule(discipline, 1, named("sleeps", 0, 1), named("busy", 1, 1));
        CpuGrant sleeps = asking(0);
        CpuGrant busy = asking(1);
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < 33; i++) {
            if (granted(List.of(sleeps, busy)) == busy) {
                order.append('b');
                scheduler.yield(busy, QUANTUM_NS, false);
            } else {
                order.append('s');
                if (asksAtOnce) {
                    scheduler.yield(sleeps, QUANTUM_NS / 10, false);
                } else {
                    scheduler.release(sleeps, QUANTUM_NS / 10);
                    sleeps.request(0);
                }
            }
        }
        return order.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"wfq", "wf2q+"})
    void whoLeavesMostOfItsTurnsUnusedGetsMoreOfThemWhileItGoesOn(String discipline) {
        assertThat(orderOfOneThatMostlySleeps(discipline, true).substring(0, 33).replaceAll("[^b]", ""))
                .hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"wfq", "wf2q+"})
    void whoEndsItsTurnHasNoClaimOnWhatItLeftUnused(String discipline) {
        assertThat(orderOfOneThatMostlySleeps(discipline, false)).startsWith("sbsbsbsbsbsbsbsb");
    }

    @Test
    void asManyTurnsRunAsThereAreProcessors() {
        schedule("fifo", 2, named("one", 0, 1));
        List<CpuGrant> turns = IntStream.range(0, 5).mapToObj(i -> asking(0)).toList();
        assertThat(turns).extracting(CpuGrant::isGranted).containsExactly(true, true, false, false, false);
        scheduler.release(turns.get(0), 1);
        scheduler.release(turns.get(1), 1);
        assertThat(turns).extracting(CpuGrant::isGranted).containsExactly(false, false, true, true, false);
        assertThat(woken).containsExactly(turns.get(2).owner, turns.get(3).owner);
    }

    @Test
    void theQuantumCountsOnlyWhileOthersWait() {
        schedule("fifo", 1, named("one", 0, 1));
        CpuGrant turn = asking(0);
        turn.serves(100);
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(Stream.generate(turn::continueQuantum).limit(7)).containsOnly(true);
        assertThat(turn.continueQuantum()).isFalse(); // It charges itself now and then.
        assertThat(turn.goOn()).isTrue();
        turn.serves(100);
        asking(0);
        assertThat(turn.continueQuantum()).isTrue();
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(turn.continueQuantum()).isFalse();
        assertThat(turn.goOn()).isFalse();
    }

    @Test
    void theFirstPacketOfATurnIsServedHoweverLateItsThreadComes() {
        schedule("fifo", 1, named("a", 0, 1));
        CpuGrant late = asking(0);
        CpuGrant other = asking(0);
        nowNs.addAndGet(5 * QUANTUM_NS);

        late.begin();
        assertThat(late.continueQuantum()).isTrue();
        late.serves(100);
        assertThat(late.continueQuantum()).isFalse();
        assertThat(late.goOn()).isFalse();
        assertThat(other.isGranted()).isTrue();
    }

    @Test
    void aTurnIsChargedWithTheProcessorTimeOfItsThread() {
        schedule("stfq", 1, named("one", 0, 1));
        CpuGrant turn = turn();
        turn.request(0);
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
        assertThat(status("one").servedBytes()).isEqualTo(110);
        assertThat(turn.isIdle()).isTrue();
        turn.release();
        assertThat(status("one").servedPackets()).isEqualTo(3);
    }

    @Test
    void waitingTimesAreCountedAndImmediateGrantsAreZero() {
        schedule("fifo", 1, named("one", 0, 1));
        CpuGrant first = asking(0);
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
        CpuGrant running = asking(1);
        heldBack.add("high");
        CpuGrant first = asking(0);
        CpuGrant second = asking(0);
        CpuGrant low = asking(1);
        assertThat(first.state()).isEqualTo(CpuGrant.State.PARKED);
        assertThat(status("high").waitingTurns()).isEqualTo(2);
        List<CpuGrant> all = List.of(first, second, low);
        CpuGrant now = next(all, running, 1, scheduler);
        assertThat(now).isSameAs(low);
        scheduler.release(now, 1);
        assertThat(all).noneMatch(CpuGrant::isGranted);
        scheduler.recheck();
        assertThat(all).noneMatch(CpuGrant::isGranted);
        heldBack.clear();
        scheduler.recheck();
        now = granted(all);
        assertThat(now).isSameAs(first);
        assertThat(next(all, now, 1, scheduler)).isSameAs(second);
    }

    @Test
    void aClassThatBecomesHeldBackWhileItWaitsStandsAsideToo() {
        schedule("pq", 1, named("high", 0, 1), named("low", 1, 1));
        CpuGrant running = asking(1);
        CpuGrant high = asking(0);
        CpuGrant low = asking(1);
        heldBack.add("high");
        scheduler.release(running, 1);
        assertThat(high.state()).isEqualTo(CpuGrant.State.PARKED);
        assertThat(low.isGranted()).isTrue();
        heldBack.clear();
        scheduler.recheck();
        assertThat(next(List.of(high, low), low, 1, scheduler)).isSameAs(high);
    }

    @Test
    void aTurnThatRunsEndsWhenItsClassIsHeldBack() {
        schedule("pq", 1, named("high", 0, 1));
        CpuGrant turn = asking(0);
        heldBack.add("high");
        assertThat(Stream.generate(turn::continueQuantum).limit(8)).contains(false);
        assertThat(turn.goOn()).isFalse();
        assertThat(turn.state()).isEqualTo(CpuGrant.State.PARKED);
    }

    @Test
    void anOverdueTurnLosesItsProcessorAndIsChargedWithEverythingWhenItComesBack() {
        schedule("stfq", 1, named("spins", 0, 1), named("other", 1, 1));
        CpuGrant spinning = asking(0);
        CpuGrant other = asking(1);
        nowNs.addAndGet(19_999_999);
        scheduler.look();
        assertThat(other.isGranted()).isFalse();
        nowNs.addAndGet(1);
        scheduler.look();
        assertThat(other.isGranted()).isTrue();
        assertThat(spinning.state()).isEqualTo(CpuGrant.State.OVERDUE);
        CpuGrant third = asking(1);
        assertThat(spinning.continueQuantum()).isFalse();
        assertThat(scheduler.yield(spinning, 50_000_000, false)).isFalse();
        assertThat(next(List.of(spinning, third), other, QUANTUM_NS, scheduler)).isSameAs(third);
        assertThat(status("spins").processorTime()).isEqualTo(Duration.ofMillis(50));
        scheduler.release(third, QUANTUM_NS);
        assertThat(spinning.isGranted()).isTrue();
        assertThat(turn().request(1)).isFalse(); // One processor, not two.
    }

    @Test
    void aTurnThatLastsLongWhileNobodyWaitsKeepsItsProcessor() {
        schedule("fifo", 1, named("one", 0, 1));
        CpuGrant turn = asking(0);
        nowNs.addAndGet(1_000_000_000);
        scheduler.look();
        assertThat(turn.state()).isEqualTo(CpuGrant.State.RUNNING);
    }

    @Test
    void theTimerIsToldWhenATurnThatSpinsIsOverdue() {
        schedule("pq", 1, named("spins", 0, 1), named("other", 1, 1));
        CpuGrant spinning = asking(0);
        CpuGrant other = asking(1);
        assertThat(other.isGranted()).isFalse();
        long beganNs = nowNs.get();
        while (!other.isGranted()) {
            assertThat(nowNs.get() - beganNs).isLessThanOrEqualTo(20_000_000);
            alarm();
        }
        assertThat(spinning.state()).isEqualTo(CpuGrant.State.OVERDUE);
    }

    /** Lets the timer look when it is to. */
    private void alarm() {
        nowNs.set(alarms.get(0).dueNs());
        alarms.get(0).due();
    }

    @Test
    void aTurnWhoseQuantumIsOverInTheMidstOfAPacketIsAskedToGiveWayToOthers() {
        schedule("stfq", 1, named("long", 0, 1), named("short", 1, 1));
        CpuGrant running = asking(0);
        running.begin();
        running.serves(100);
        CpuGrant other = asking(1);
        nowNs.addAndGet(QUANTUM_NS - 1);
        scheduler.look();
        assertThat(preempting).isFalse();
        assertThat(running.isOver()).isFalse();
        nowNs.addAndGet(1);
        scheduler.look();
        assertThat(preempting).isTrue();
        assertThat(running.isOver()).isTrue();
        processorNs.addAndGet(QUANTUM_NS);
        assertThat(running.giveWay()).isFalse();
        assertThat(preempting).isFalse();
        assertThat(other.isGranted()).isTrue();
        assertThat(running.isAnswered()).isFalse();
        assertThat(status("long").processorTime()).isEqualTo(Duration.ofNanos(QUANTUM_NS));
        scheduler.release(other, QUANTUM_NS);
        assertThat(running.isAnswered()).isTrue();
        assertThat(woken).containsExactly(other.owner, running.owner);
        running.resume();
        processorNs.addAndGet(300_000);
        running.release();
        assertThat(status("long").processorTime()).isEqualTo(Duration.ofNanos(QUANTUM_NS + 300_000));
    }

    @Test
    void theTimerLooksWhenTheFirstQuantumIsOver() {
        schedule("stfq", 2, named("long", 0, 1));
        asking(0);
        long firstEndsNs = nowNs.get() + QUANTUM_NS;
        nowNs.addAndGet(300_000);
        asking(0);
        asking(0);
        assertThat(alarms.get(0).dueNs()).isEqualTo(firstEndsNs);
    }

    @Test
    void nobodyIsAskedToGiveWayWhileNobodyWaits() {
        schedule("stfq", 2, named("long", 0, 1));
        CpuGrant running = asking(0);
        nowNs.addAndGet(5 * QUANTUM_NS);
        scheduler.look();
        assertThat(preempting).isFalse();
        assertThat(running.isOver()).isFalse();
    }

    @Test
    void theRestOfAPacketIsNotTheFirstOfATurnThatMayAlwaysGo() {
        schedule("stfq", 1, named("long", 0, 1), named("short", 1, 1));
        CpuGrant running = asking(0);
        running.begin();
        running.serves(100);
        CpuGrant other = asking(1);
        nowNs.addAndGet(QUANTUM_NS);
        running.giveWay();
        scheduler.release(other, QUANTUM_NS);
        running.resume();
        asking(1);
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(running.continueQuantum()).isFalse();
    }

    @Test
    void whoHasGivenWayInTheMidstOfAPacketGetsNoTurnOfAnotherClassBefore() {
        schedule("fifo", 1, named("long", 0, 1), named("short", 1, 1));
        TurnOwner owner = owner();
        CpuGrant inMidst = turn(owner);
        CpuGrant second = turn(owner);
        inMidst.request(0);
        second.request(1);
        CpuGrant other = asking(1);
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(inMidst.giveWay()).isFalse();
        assertThat(second.state()).isEqualTo(CpuGrant.State.DEFERRED);
        assertThat(other.isGranted()).isTrue();
        CpuGrant third = asking(1);
        scheduler.release(other, QUANTUM_NS);
        assertThat(inMidst.isGranted()).isTrue();
        scheduler.release(inMidst, QUANTUM_NS);
        assertThat(third.isGranted()).isTrue();
        scheduler.release(third, QUANTUM_NS);
        assertThat(second.isGranted()).isTrue();
    }

    @Test
    void aPacketInMidstWhoseTurnDoesNotComeGoesOnBesideOthersAndIsCharged() {
        schedule("pq", 1, named("high", 0, 1), named("low", 1, 1));
        TurnOwner owner = owner();
        CpuGrant low = turn(owner);
        CpuGrant second = turn(owner);
        low.request(1);
        low.begin();
        CpuGrant high = asking(0);
        second.request(0);
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(low.giveWay()).isFalse();
        nowNs.addAndGet(low.patienceNs());
        low.resume();
        assertThat(low.state()).isEqualTo(CpuGrant.State.OVERDUE);
        assertThat(high.isGranted()).isTrue();
        assertThat(low.isOver()).isFalse(); // For a quantum.
        processorNs.addAndGet(3_000_000);
        low.release();
        assertThat(status("low").processorTime()).isEqualTo(Duration.ofMillis(3));
        scheduler.release(high, QUANTUM_NS);
        assertThat(second.isGranted()).isTrue();
    }

    @Test
    void nobodyIsAskedToGiveWayWhileAProcessorIsFree() {
        schedule("fifo", 2, named("long", 0, 1), named("short", 1, 1));
        TurnOwner owner = owner();
        CpuGrant running = turn(owner);
        CpuGrant second = turn(owner);
        running.request(0);
        second.request(1);
        assertThat(second.state()).isEqualTo(CpuGrant.State.DEFERRED);
        nowNs.addAndGet(2 * QUANTUM_NS);
        scheduler.look();
        assertThat(preempting).isFalse();
    }

    @Test
    void nobodyIsAskedToGiveWayAfterTheEnd() {
        schedule("fifo", 1, named("long", 0, 1), named("short", 1, 1));
        TurnOwner owner = owner();
        turn(owner).request(0);
        turn(owner).request(1);
        asking(1);
        scheduler.close();
        nowNs.addAndGet(2 * QUANTUM_NS);
        scheduler.recheck();
        assertThat(preempting).isFalse();
    }

    @Test
    void aTurnThatIsOnlyMovedIsNeverSeenIdle() {
        List<CpuGrant> watched = new ArrayList<>();
        List<CpuGrant.State> seen = new ArrayList<>();
        whenAsked = () -> watched.forEach(turn -> seen.add(turn.state()));
        schedule("fifo", 1, named("one", 0, 1), named("two", 1, 1));
        CpuGrant running = asking(0);
        heldBack.add("two");
        CpuGrant parked = asking(1);
        assertThat(parked.state()).isEqualTo(CpuGrant.State.PARKED);
        watched.add(parked);
        heldBack.clear();
        scheduler.recheck();
        running.release();
        assertThat(parked.isGranted()).isTrue();
        assertThat(seen).isNotEmpty().doesNotContain(CpuGrant.State.IDLE);
    }

    @Test
    void aThreadThatCameToNoCheckpointIsNotAskedAgainForASecond() {
        schedule("fifo", 1, named("spins", 0, 1), named("other", 1, 1));
        CpuGrant spinning = asking(0);
        CpuGrant other = asking(1);
        nowNs.addAndGet(QUANTUM_NS);
        scheduler.look();
        assertThat(preempting).isTrue();
        nowNs.addAndGet(19 * QUANTUM_NS);
        scheduler.look();
        assertThat(spinning.state()).isEqualTo(CpuGrant.State.OVERDUE);
        assertThat(preempting).isFalse();
        assertThat(askedToGiveWay(spinning, other)).isFalse();
        nowNs.addAndGet(1_000_000_000);
        assertThat(askedToGiveWay(spinning, other)).isTrue();
    }

    /** Has a turn last for its quantum while the other waits; returns whether it is asked to give way, and ends both. */
    private boolean askedToGiveWay(CpuGrant first, CpuGrant second) {
        first.release();
        second.release();
        first.request(0);
        second.request(1);
        nowNs.addAndGet(QUANTUM_NS);
        scheduler.look();
        return preempting;
    }

    @Test
    void oneThreadHasOneTurnAtATime() {
        schedule("pq", 2, named("high", 0, 1), named("low", 1, 1));
        TurnOwner one = owner();
        CpuGrant low = turn(one);
        CpuGrant high = turn(one);
        assertThat(low.request(1)).isTrue();
        low.serves(100);
        assertThat(high.request(0)).isFalse();
        assertThat(high.state()).isEqualTo(CpuGrant.State.DEFERRED);
        assertThat(scheduler.isContended()).isTrue();
        CpuGrant other = turn();
        assertThat(other.request(1)).isTrue();
        nowNs.addAndGet(QUANTUM_NS);
        assertThat(low.continueQuantum()).isFalse();
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
        CpuGrant held = turn(gone);
        CpuGrant asked = turn(gone);
        held.request(0);
        asked.request(1);
        CpuGrant other = asking(1);
        nowNs.addAndGet(5_000_000);
        scheduler.forfeit(gone);
        assertThat(other.isGranted()).isTrue();
        assertThat(held.isGranted()).isFalse();
        assertThat(asked.isGranted()).isFalse();
        assertThat(status("one").processorTime()).isEqualTo(Duration.ofMillis(5));
        assertThat(status("two").waitingTurns()).isZero();
        held.release();
        assertThat(turn().request(0)).isFalse();
        assertThat(held.request(0)).isFalse();
        assertThat(held.isIdle()).isTrue();
    }

    static SortedSet<String> disciplines() {
        return Disciplines.namesForTurns();
    }

    @ParameterizedTest
    @MethodSource("disciplines")
    void aTurnThatWaitsMayBeWithdrawnAndAskedForAgain(String discipline) {
        schedule(discipline, 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(0);
        List<CpuGrant> waiting = IntStream.of(0, 1, 0, 1).mapToObj(this::asking).toList();
        waiting.forEach(CpuGrant::release);
        assertThat(waiting).allMatch(CpuGrant::isIdle);
        assertThat(status("a").waitingTurns()).isZero();
        assertThat(status("b").waitingTurns()).isZero();
        assertThat(scheduler.isContended()).isFalse();
        waiting.forEach(turn -> turn.request(1));
        CpuGrant now = running;
        for (int i = 0; i < waiting.size(); i++) {
            now = next(waiting, now, 1, scheduler);
        }
        scheduler.release(now, 1);
        assertThat(waiting).allMatch(CpuGrant::isIdle);
        assertThat(status("b").waitingTurns()).isZero();
    }

    @Test
    void aTurnThatStandsAsideOrBehindMayBeWithdrawn() {
        schedule("fifo", 2, named("a", 0, 1), named("b", 1, 1));
        TurnOwner two = owner();
        CpuGrant held = turn(two);
        assertThat(held.request(0)).isTrue();
        CpuGrant behind = turn(two);
        behind.request(1);
        heldBack.add("a");
        CpuGrant aside = asking(0);
        assertThat(behind.state()).isEqualTo(CpuGrant.State.DEFERRED);
        assertThat(aside.state()).isEqualTo(CpuGrant.State.PARKED);
        behind.release();
        aside.release();
        assertThat(List.of(behind, aside)).allMatch(CpuGrant::isIdle);
        assertThat(status("a").waitingTurns()).isZero();
        heldBack.clear();
        scheduler.recheck();
        held.release();
        assertThat(List.of(held, behind, aside)).allMatch(CpuGrant::isIdle);
        assertThat(scheduler.isContended()).isFalse();
    }

    @Test
    void aTurnIsNotAskedForTwice() {
        schedule("drr", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(0);
        CpuGrant waiting = asking(0);
        CpuGrant last = asking(0);
        for (CpuGrant asked : List.of(running, waiting)) {
            assertThatThrownBy(() -> asked.request(1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a turn that is " + asked.state()
                            + " is asked for: only one that is idle may be; release it before");
        }
        assertThat(status("a").waitingTurns()).isEqualTo(2);
        assertThat(next(List.of(waiting, last), running, 1, scheduler)).isSameAs(waiting);
        assertThat(next(List.of(waiting, last), waiting, 1, scheduler)).isSameAs(last);
    }

    @Test
    void nothingOfAThreadThatEndsStaysInTheScheduler() {
        schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(0);
        heldBack.add("b");
        for (int i = 0; i < 100; i++) { // As many as a stranger's connections, while their class gets no turn.
            TurnOwner ends = owner();
            turn(ends).request(0);
            turn(ends).request(1);
            scheduler.forfeit(ends);
        }
        assertThat(status("a").waitingTurns()).isZero();
        assertThat(status("b").waitingTurns()).isZero();
        assertThat(scheduler.isContended()).isFalse();
        assertThat(running.isGranted()).isTrue();
    }

    @Test
    void aDisciplineThatThrowsLeavesNoTurnWaiting() {
        schedule("yielding", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(0);
        List<CpuGrant> asked = IntStream.of(0, 1, 1, 0).mapToObj(this::asking).toList();
        YieldingProvider.FAILS.set(true);
        for (CpuGrant inOrderOfArrival : asked) {
            running = next(asked, running, 1, scheduler);
            assertThat(running).isSameAs(inOrderOfArrival);
        }
        assertThat(status("a").waitingTurns()).isZero();
        schedule("yielding", 1, named("a", 0, 1), named("b", 1, 1));
        List<CpuGrant> later = IntStream.of(0, 1).mapToObj(this::asking).toList();
        assertThat(next(later, running, 1, scheduler)).isSameAs(later.get(1));
    }

    @Test
    void aThreadThatCannotBeWokenKeepsNoOtherAsleep() {
        schedule("fifo", 1, named("a", 0, 1));
        asking(0);
        turn(new TurnOwner(
                        () -> {
                            throw new IllegalStateException("its loop is gone");
                        },
                        ProcessorUse.UNKNOWN))
                .request(0);
        CpuGrant other = asking(0);
        schedule("fifo", 3, named("a", 0, 1));
        assertThat(other.isGranted()).isTrue();
        assertThat(woken).containsExactly(other.owner);
    }

    @Test
    void aChangeKeepsWhatRunsAndGrantsWhatWaitsByTheOldOrder() {
        schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(0);
        CpuGrant b = asking(1);
        CpuGrant a = asking(0);
        schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant later = asking(1);
        CpuGrant first = asking(0);
        assertThat(running.isGranted()).isTrue();
        List<CpuGrant> all = List.of(a, b, later, first);
        CpuGrant now = running;
        for (CpuGrant expected : List.of(b, a, first, later)) {
            now = next(all, now, 1, scheduler);
            assertThat(now).isSameAs(expected);
        }
        assertThat(status("a").processorTime()).isEqualTo(Duration.ofNanos(3));
    }

    @Test
    void whatIsHeldBackUnderTheOldConfigurationKeepsNobodyWaiting() {
        schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant running = asking(1);
        heldBack.add("a");
        CpuGrant aside = asking(0);
        schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant b = asking(1);
        CpuGrant now = next(List.of(aside, b), running, 1, scheduler);
        assertThat(now).isSameAs(b);
        CpuGrant later = asking(1);
        heldBack.clear();
        scheduler.recheck();
        assertThat(next(List.of(aside, later), now, 1, scheduler)).isSameAs(aside);
        assertThat(next(List.of(aside, later), aside, 1, scheduler)).isSameAs(later);
    }

    @Test
    void aThreadThatHasNotSeenAChangeAsksByItsOwnClasses() {
        WaitingGrants before = schedule("fifo", 1, named("a", 0, 1), named("b", 1, 1), named("c", 2, 1));
        CpuGrant running = asking(2);
        schedule("pq", 1, named("c", 2, 1), named("b", 1, 1));
        CpuGrant next = asking(0);
        CpuGrant old = new CpuGrant(before, owner());
        old.request(0);
        assertThat(status("c").waitingTurns()).isEqualTo(1);
        CpuGrant now = next(List.of(old, next), running, 7, scheduler);
        assertThat(now).isSameAs(old);
        assertThat(status("c").processorTime()).isEqualTo(Duration.ofNanos(7));
        assertThat(next(List.of(old, next), old, 1, scheduler)).isSameAs(next);
        assertThat(scheduler.status().classes())
                .extracting(QosStatus.ClassStatus::name)
                .containsExactly("c", "b");
    }

    @Test
    void aHundredChangesUnderLoadLoseNoTurnAndGrantInTheOrderOfConfigurations() {
        List<String> disciplines = List.copyOf(Disciplines.namesForTurns());
        schedule("fifo", 1, named("a", 0, 1), named("b", 1, 2));
        CpuGrant running = asking(0);
        List<CpuGrant> all = new ArrayList<>();
        for (int change = 0; change < 100; change++) {
            schedule(disciplines.get(change % disciplines.size()), 1, named("a", 0, 1), named("b", 1, 2));
            all.add(asking(change % 2));
            all.add(asking(1));
            if (change % 3 == 0) {
                running = next(all, running, QUANTUM_NS, scheduler);
            }
        }
        List<Integer> order = new ArrayList<>();
        for (CpuGrant now = running; order.size() < 166; ) {
            now = next(all, now, QUANTUM_NS, scheduler);
            order.add(all.indexOf(now) / 2);
        }
        assertThat(order).isSorted();
        scheduler.release(all.stream().filter(CpuGrant::isGranted).findFirst().orElseThrow(), 1);
        assertThat(all).allMatch(CpuGrant::isIdle);
        assertThat(status("a").waitingTurns()).isZero();
        assertThat(status("b").waitingTurns()).isZero();
    }

    @Test
    void moreProcessorsGrantAtOnceAndFewerLetTurnsEnd() {
        schedule("fifo", 1, named("a", 0, 1));
        List<CpuGrant> turns = IntStream.range(0, 4).mapToObj(i -> asking(0)).toList();
        schedule("fifo", 3, named("a", 0, 1));
        assertThat(turns).extracting(CpuGrant::isGranted).containsExactly(true, true, true, false);
        assertThat(woken).containsExactly(turns.get(1).owner, turns.get(2).owner);
        schedule("fifo", 1, named("a", 0, 1));
        scheduler.release(turns.get(0), 1);
        scheduler.release(turns.get(1), 1);
        assertThat(turns.get(3).isGranted()).isFalse();
        scheduler.release(turns.get(2), 1);
        assertThat(turns.get(3).isGranted()).isTrue();
    }

    @Test
    void whatRanBeforeAChangeIsChargedByTheConfigurationThatGrantedIt() {
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant a = asking(0);
        schedule("stfq", 1, named("a", 0, 1), named("b", 1, 1));
        CpuGrant b = asking(1);
        CpuGrant next = asking(0);
        assertThat(next(List.of(b, next), a, 3 * QUANTUM_NS, scheduler)).isSameAs(next);
        List<CpuGrant> all = List.of(b, next);
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            CpuGrant running = granted(all);
            order.append(running == next ? 'a' : 'b');
            scheduler.yield(running, QUANTUM_NS, false);
        }
        assertThat(order).hasToString("ababab");
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
        CpuGrant running = turn(two);
        running.request(0);
        CpuGrant sibling = turn(two);
        sibling.request(1);
        CpuGrant waiting = asking(1);
        heldBack.add("a");
        CpuGrant aside = asking(0);
        scheduler.close();
        assertThat(List.of(running, sibling, waiting, aside)).allMatch(CpuGrant::isGranted);
        assertThat(woken).contains(waiting.owner, aside.owner);
        assertThat(asking(0).isGranted()).isTrue();
        assertThat(running.goOn()).isTrue();
        running.release();
        waiting.release();
        assertThat(waiting.isIdle()).isTrue();
        assertThat(waiting.request(1)).isTrue();
    }

    @Test
    void queuesOfDatagramsAreCountedByClass() {
        WaitingGrants before = schedule("pq", 1, named("a", 0, 1), named("b", 1, 1));
        before.queued(0, 5, 500);
        before.dropped(0, DropReason.TURN_QUEUE_FULL, 2, 200);
        before.queued(0, -1, -100);
        assertThat(status("a").waitingPackets()).isEqualTo(4);
        assertThat(status("a").waitingBytes()).isEqualTo(400);
        assertThat(status("a").dropped()).isEqualTo(Map.of(DropReason.TURN_QUEUE_FULL, new QosStatus.Dropped(2, 200)));
        WaitingGrants now = schedule("pq", 1, named("b", 1, 1));
        now.queued(0, 4, 400);
        before.queued(0, -4, -400);
        assertThat(status("b").waitingPackets()).isEqualTo(4);
        assertThat(scheduler.status().classes())
                .extracting(QosStatus.ClassStatus::name)
                .containsExactly("b");
    }
}
