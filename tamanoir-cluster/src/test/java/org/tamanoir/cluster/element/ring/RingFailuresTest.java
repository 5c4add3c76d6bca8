package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.cluster.element.ring.RingWorld.MS;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;

/** The table of section 6 of the distributed element's specification, row by row, in virtual time. */
class RingFailuresTest {
    private static final long T1_MS = 20;
    private static final long EVERY_NS = MS / 20; // 20,000 packets a second for three units: 3 in 150 us
    private static final long PACE_NS = 3 * EVERY_NS;

    private final List<Token> passedByMaster = new ArrayList<>();

    private static RingWorld ring(int units) {
        RingWorld world = new RingWorld(1, units, true).started();
        world.forMs(200);
        assertThat(world.common(world.plan.units())).isNotNull();
        return world;
    }

    /** A ring under packets, in which each may be sent at once. */
    private static RingWorld busyRing(int units) {
        RingWorld world = ring(units);
        world.hopNs = MS / 50;
        world.distributor.send(PACE_NS);
        world.forMs(100);
        return world;
    }

    private static RingView view(RingWorld world, Integer... units) {
        return Objects.requireNonNull(world.common(List.of(units)), "no common view");
    }

    private void recordMaster(RingWorld world) {
        world.passes = (unit, token) -> {
            if (unit == 0) {
                passedByMaster.add(token);
            }
        };
    }

    @Test
    void aRingIsFoundByAllThatAskForIt() {
        RingView view = view(ring(3), 0, 1, 2);
        assertThat(view.units()).containsExactly(0, 1, 2);
        assertThat(view.master()).isZero();
    }

    @Test
    void aLostTokenIsIssuedAgainWithTheNextSerialForTheSameRound() {
        RingWorld world = busyRing(3);
        int epoch = view(world, 0, 1, 2).epoch();
        recordMaster(world);
        boolean[] lost = new boolean[1];
        world.lose = (from, message) -> from == 1 && message instanceof Token && !lost[0] && (lost[0] = true);
        world.forMs(T1_MS * 2);
        Token before = passedByMaster.get(0);
        Token again = passedByMaster.get(1);
        assertThat(again.serial()).isEqualTo(before.serial() + 1);
        assertThat(again.round()).isEqualTo(before.round());
        assertThat(passedByMaster).hasSizeGreaterThan(3);
        assertThat(view(world, 0, 1, 2).epoch()).isEqualTo(epoch);
    }

    @Test
    void aDoubledTokenEndsAtTheUnitThatHasPassedIt() {
        RingWorld world = busyRing(3);
        world.doubleShare = 1;
        world.forMs(100);
        world.doubleShare = 0;
        world.forMs(100);
        assertThat(world.tokensUnderWay).isLessThanOrEqualTo(1);
        assertThat(world.unit(1).keeper.status().stale()).isPositive();
        assertThat(world.unit(1).tokens)
                .extracting(Token::serial)
                .doesNotHaveDuplicates()
                .isSorted();
    }

    @Test
    void aDeadSlaveCostsFourT1OfSilenceAtMostAndNothingOfOthers() {
        RingWorld world = busyRing(3);
        int epoch = view(world, 0, 1, 2).epoch();
        long killedNs = world.nowNs;
        world.unit(1).kill();
        world.forMs(500);
        RingView view = view(world, 0, 2);
        assertThat(view.units()).containsExactly(0, 2);
        assertThat(view.epoch()).isEqualTo(epoch + 1);
        assertThat(world.distributor.watch.view()).isEqualTo(view);
        long silenceNs = longestSilence(world, killedNs);
        assertThat(silenceNs).isLessThanOrEqualTo((4 * T1_MS + 2) * MS);
        world.distributor.sending = false;
        world.forMs(500);
        assertThat(world.unit(0).queue).isEmpty();
        assertThat(world.unit(2).queue).isEmpty();
    }

    private static long longestSilence(RingWorld world, long fromNs) {
        long last = fromNs;
        long longest = 0;
        for (long[] sent : world.sent) {
            if (sent[0] > fromNs) {
                longest = Math.max(longest, sent[0] - last);
                last = sent[0];
            }
        }
        return longest;
    }

    @Test
    void aDeadMasterIsFollowedByTheFirstSlaveThatMissesIt() {
        RingWorld world = busyRing(3);
        int epoch = view(world, 0, 1, 2).epoch();
        long round = world.unit(2).sender.round();
        world.unit(0).kill();
        world.forMs(800);
        RingView view = view(world, 1, 2);
        assertThat(view.master()).isEqualTo(1);
        assertThat(view.units()).containsExactly(1, 2);
        assertThat(view.epoch()).isEqualTo(epoch + 1);
        assertThat(view.round()).isGreaterThanOrEqualTo(round);
        world.distributor.sending = false;
        world.forMs(500);
        assertThat(world.unit(1).queue).isEmpty();
        assertThat(world.unit(2).queue).isEmpty();
    }

    @Test
    void ofTwoCandidatesTheHigherEpochHolds() {
        Keeper slave = candidates();
        slave.message(0, 2, new Message.Ring(new RingView(8, 2, 0, List.of(1, 2))));
        slave.message(0, 0, new Message.Ring(new RingView(7, 0, 0, List.of(0, 1))));
        assertThat(Objects.requireNonNull(slave.status().view()).master()).isEqualTo(2);
    }

    @Test
    void ofTwoCandidatesWithTheSameEpochTheLowerUnitHolds() {
        Keeper slave = candidates();
        slave.message(0, 2, new Message.Ring(new RingView(7, 2, 0, List.of(1, 2))));
        slave.message(0, 0, new Message.Ring(new RingView(7, 0, 0, List.of(0, 1))));
        slave.message(0, 2, new Message.Ring(new RingView(7, 2, 0, List.of(1, 2))));
        assertThat(Objects.requireNonNull(slave.status().view()).master()).isZero();
    }

    @Test
    void ofTwoRingsWithTheSameEpochThatOfTheHigherMasterEndsWhenACommonVoterSaysWhereItIs() {
        Keeper unit = candidates();
        unit.message(0, 2, new Message.Ring(new RingView(7, 2, 0, List.of(1, 2))));
        unit.message(0, RingPlan.DISTRIBUTOR, distributorIn(7, 2));
        assertThat(unit.status().view()).isNotNull();
        unit.message(0, RingPlan.DISTRIBUTOR, distributorIn(7, 0));
        assertThat(unit.status().view()).isNull();
    }

    private static Message distributorIn(int epoch, int master) {
        return new Message.Report(
                false, RingPlan.DISTRIBUTOR, 0, master, 0, new RingMember.State(Epoch.begin(epoch), 0, 0, 0, false));
    }

    @Test
    void aDistributorThatForgotItsRingAndTookAnOlderOneIsToldAgain() {
        RingWorld world = busyRing(3);
        RingView view = view(world, 0, 1, 2);
        world.distributor.restart();
        Message older = new Message.Ring(new RingView(view.epoch() - 1, 2, 0, List.of(2)));
        world.distributor.watch.message(2, older, 0);
        world.forMs(300);
        assertThat(world.distributor.watch.view()).isEqualTo(view);
        assertThat(view(world, 0, 1, 2)).isEqualTo(view);
    }

    @Test
    void aMasterAsksTheUnitsThatItLacks() {
        List<Integer> asked = new ArrayList<>();
        Keeper master =
                new Keeper(RingPlan.of(List.of(0, 1, 2), false), 0, RunStart.SAME, questions(asked), call -> {});
        master.start(0);
        master.expire(0);
        RingMember.State state = new RingMember.State(0, 0, 0, 0, false);
        master.message(0, 1, new Message.Report(true, 1, Message.Report.JOINS, RingPlan.DISTRIBUTOR, 1, state));
        master.expire(T1_MS * MS);
        master.message(T1_MS * MS, 1, new Message.Taken(1, 1));
        assertThat(master.status().view()).isEqualTo(new RingView(1, 0, 0, List.of(0, 1)));
        asked.clear();
        master.expire(master.deadlineNs());
        assertThat(asked).containsExactly(2);
    }

    private static Wire questions(List<Integer> asked) {
        return new Wire() {
            @Override
            public void send(int to, Token token) {}

            @Override
            public void send(int to, Message message) {
                if (message instanceof Message.Report report && !report.answer()) {
                    asked.add(to);
                }
            }
        };
    }

    private static Keeper candidates() {
        return new Keeper(
                RingPlan.of(List.of(0, 1, 2), true), 1, RunStart.SAME, questions(new ArrayList<>()), call -> {});
    }

    private record Heard(int from, int to, Object message) {}

    /** Has what was recorded come again, all of it each so many nanoseconds. */
    private static void replay(RingWorld world, List<Heard> recorded, long everyNs, long forNs) {
        for (long ns = 0; ns < forNs; ns += everyNs) {
            world.after(ns, () -> recorded.forEach(it -> world.deliver(it.from(), it.to(), it.message())));
        }
    }

    @Test
    void aNoticeThatIsPlayedAgainPutsNoUnitOutThatHasComeBack() {
        RingWorld world = busyRing(3);
        List<Heard> notices = new ArrayList<>();
        world.sniffer = (from, to, message) -> {
            if (from == 2 && message instanceof Message.Report report && report.answer() && report.goes()) {
                notices.add(new Heard(from, to, message));
            }
        };
        world.unit(2).act(() -> world.unit(2).keeper.announceLeaving(world.nowNs));
        world.forMs(1000);
        assertThat(world.unit(2).keeper.status().ended()).isTrue();
        assertThat(notices).extracting(Heard::to).contains(0, RingPlan.DISTRIBUTOR);
        world.sniffer = (from, to, message) -> {};
        world.unit(2).kill();
        world.unit(2).restart();
        world.forMs(500);
        RingView view = view(world, 0, 1, 2);
        List<Heard> toAll = new ArrayList<>();
        for (int to : new int[] {0, 1, RingPlan.DISTRIBUTOR}) {
            toAll.add(new Heard(2, to, notices.get(0).message()));
        }

        replay(world, toAll, MS / 4, 500 * MS);
        for (int i = 0; i < 500; i++) {
            world.forMs(1);
            assertThat(world.common(List.of(0, 1, 2))).isEqualTo(view);
            assertThat(Objects.requireNonNull(world.distributor.watch.report(2)).goes())
                    .isFalse();
        }
    }

    @Test
    void answersOfADeadUnitThatArePlayedAgainKeepNoViewFromComing() {
        RingWorld world = busyRing(3);
        List<Heard> answers = new ArrayList<>();
        world.sniffer = (from, to, message) -> {
            if (from == 1 && message instanceof Message.Report) {
                answers.add(new Heard(from, to, message));
            }
        };
        world.unit(2).kill(); // so that the others ask
        world.forMs(500);
        assertThat(answers).extracting(Heard::to).contains(0, RingPlan.DISTRIBUTOR);
        world.unit(2).restart();
        world.forMs(500);
        world.sniffer = (from, to, message) -> {};
        world.unit(1).kill();

        replay(world, List.copyOf(answers), MS, 3_000 * MS);
        world.forMs(2_500);

        assertThat(view(world, 0, 2).units()).containsExactly(0, 2);
        assertThat(world.distributor.watch.silent(1)).isTrue();
    }

    @Test
    void messagesOfARunBeforeChangeNothingInThisOne() {
        List<Heard> recorded = new ArrayList<>();
        RingWorld before = new RingWorld(1, 3, true, 40_000);
        before.sniffer = (from, to, message) -> recorded.add(new Heard(from, to, message));
        before.started().forMs(200);
        before.distributor.send(MS);
        before.forMs(100);
        before.unit(2).kill();
        before.forMs(500);
        assertThat(recorded).anyMatch(it -> it.message() instanceof Token);
        assertThat(recorded).anyMatch(it -> it.message() instanceof Message.Ring);
        RingWorld world = new RingWorld(2, 3, true, 40_000 + 10).started();
        world.hopNs = MS / 50;
        world.forMs(200);
        world.distributor.send(PACE_NS);
        world.forMs(100);
        RingView view = view(world, 0, 1, 2);

        replay(world, recorded, 20 * MS, 400 * MS);
        for (int i = 0; i < 400; i++) {
            world.forMs(1);
            assertThat(world.common(List.of(0, 1, 2))).isEqualTo(view);
        }
        assertThat(world.distributor.watch.view()).isEqualTo(view);
    }

    @Test
    void aUnitThatBeginsByALaterClockJoinsARing() {
        RingWorld world = new RingWorld(1, 3, true, 40_000).started();
        world.forMs(1_000);
        RingView first = view(world, 0, 1, 2);
        world.unit(1).kill();
        world.unit(1).restart();
        world.forMs(300);
        RingView view = view(world, 0, 1, 2);
        assertThat(Epoch.newer(view.epoch(), first.epoch() + 5)).isTrue();
        assertThat(world.distributor.watch.view()).isEqualTo(view);
    }

    @Test
    void withoutAMajorityAUnitSendsWithoutAToken() {
        RingWorld world = busyRing(3);
        world.unit(0).kill();
        world.unit(1).kill();
        world.forMs(2000);
        assertThat(world.unit(2).keeper.status().alone()).isTrue();
        long before = world.unit(2).sender.sentPackets();
        world.forMs(100);
        assertThat(world.unit(2).sender.sentPackets()).isGreaterThan(before);
        assertThat(world.unit(2).queue).isEmpty();
    }

    @Test
    void aMajorityThatComesBackEndsThat() {
        RingWorld world = busyRing(3);
        world.unit(0).kill();
        world.unit(1).kill();
        world.forMs(2000);
        world.unit(1).restart();
        world.forMs(500);
        assertThat(view(world, 1, 2).units()).containsExactly(1, 2);
    }

    @Test
    void unitsThatCannotAgreeOnAViewSendWithoutATokenAfterASecond() {
        RingWorld world = new RingWorld(1, 3, true);
        // Unit 0, which is to begin, hears unit 1 alone, which has a majority as unit 2 has.
        world.cut = (from, to) -> (from == 0 || to == 0) && from != 1 && to != 1;
        world.started().forMs(2_000);
        for (int unit : world.units.keySet()) {
            assertThat(world.unit(unit).keeper.status().alone())
                    .as("unit " + unit)
                    .isTrue();
        }
    }

    @Test
    void aRingIsFoundThoughAnswersTakeLongerThanT1() {
        RingWorld world = new RingWorld(1, 3, true);
        world.hopNs = T1_MS * MS * 9 / 10;
        world.started().forMs(5_000);
        assertThat(view(world, 0, 1, 2).units()).containsExactly(0, 1, 2);
    }

    @Test
    void aRingWhoseTurnsTakeLongerThanRepairsLearnsIt() {
        RingWorld world = ring(3);
        world.hopNs = T1_MS * MS * 3 / 2;
        world.distributor.send(PACE_NS);
        world.forMs(5_000);
        long views = world.unit(0).keeper.status().views();
        long turns = world.unit(2).keeper.status().turns();
        world.forMs(5_000);
        assertThat(world.unit(0).keeper.status().views()).isEqualTo(views);
        assertThat(world.unit(2).keeper.status().turns()).isGreaterThan(turns + 20);
    }

    @Test
    void aUnitComesAndNothingIsLost() {
        RingWorld world = busyRing(3);
        world.unit(1).kill();
        world.forMs(500);
        long before = world.lostWithUnits;
        int epoch = view(world, 0, 2).epoch();
        world.unit(1).restart();
        world.forMs(100);
        RingView view = view(world, 0, 1, 2);
        assertThat(view.units()).containsExactly(0, 1, 2);
        assertThat(view.epoch()).isEqualTo(epoch + 1);
        world.forMs(100);
        assertThat(world.unit(1).sender.sentPackets()).isPositive();
        world.distributor.sending = false;
        world.forMs(500);
        assertThat(world.lostWithUnits).isEqualTo(before);
        world.units.values().forEach(unit -> assertThat(unit.queue).isEmpty());
    }

    @Test
    void aUnitGoesAfterItsLastPacketAndNothingIsLost() {
        goes(1);
    }

    @Test
    void aMasterGoesAfterItsLastPacketAndTheNextFollowsAtOnce() {
        goes(0);
    }

    private static void goes(int number) {
        RingWorld world = busyRing(3);
        RingWorld.Unit unit = world.unit(number);
        unit.act(() -> unit.keeper.announceLeaving(world.nowNs));
        world.forMs(100);
        assertThat(unit.keeper.status().ended()).isTrue();
        assertThat(unit.sender.isDrained()).isTrue();
        RingView view = number == 0 ? view(world, 1, 2) : view(world, 0, 2);
        assertThat(view.units()).doesNotContain(number);
        unit.kill();
        world.forMs(500);
        assertThat(longestSilence(world, 250 * MS)).isLessThanOrEqualTo(4 * T1_MS * MS);
        world.distributor.sending = false;
        world.forMs(500);
        assertThat(world.lostWithUnits).isZero();
        world.units.values().forEach(each -> assertThat(each.queue).isEmpty());
    }

    @Test
    void aSlaveThatHungJoinsAnewAndKeepsItsQueue() {
        hangs(1);
    }

    @Test
    void aMasterThatHungJoinsAnewAsASlave() {
        hangs(0);
    }

    private static void hangs(int number) {
        RingWorld world = busyRing(3);
        int epoch = view(world, 0, 1, 2).epoch();
        world.unit(number).pause(3_000 * MS);
        world.forMs(2_000);
        assertThat(view(world, 3 - number - (number == 0 ? 2 : 0), 2).units()).doesNotContain(number);
        world.forMs(1_500);
        RingView view = view(world, 0, 1, 2);
        assertThat(view.units()).containsExactly(0, 1, 2);
        assertThat(view.epoch()).isGreaterThan(epoch + 1);
        world.distributor.sending = false;
        world.forMs(500);
        world.units.values().forEach(each -> assertThat(each.queue).isEmpty());
        assertThat(world.lostWithUnits).isZero();
    }

    @Test
    void aDistributorThatRestartsBeginsAboveAllRounds() {
        RingWorld world = busyRing(3);
        world.distributor.sending = false;
        world.forMs(300);
        long last = world.distributor.round;
        world.distributor.restart();
        world.forMs(300);
        assertThat(world.distributor.round).isEqualTo(last + 1000);
        assertThat(world.distributor.watch.view()).isEqualTo(view(world, 0, 1, 2));
    }

    @Test
    void theEffectsOfAForeignTokenEndAtTheFirstUnit() {
        RingWorld world = busyRing(3);
        RingView view = view(world, 0, 1, 2);
        RingWorld.Unit unit = world.unit(1);
        int tokens = unit.tokens.size();
        unit.hear(0, new Token(Epoch.begin(view.epoch()) + (1L << 40), 1, 0, 0, 0, 2));
        unit.hear(0, new Token(Epoch.begin(view.epoch() - 1) + (1L << 40), 1, 0, 0, 0, 0));
        unit.hear(0, new Token(Epoch.begin(view.epoch()) + 1, 1, 0, 0, 0, 0));
        assertThat(unit.tokens).hasSize(tokens);
    }

    @Test
    void anIdleRingTakesFiveTurnsASecond() {
        RingWorld world = ring(3);
        world.distributor.sendRound();
        world.forMs(1_000);
        long before = world.unit(2).keeper.status().turns();
        world.forMs(10_000);
        assertThat(world.unit(2).keeper.status().turns() - before).isBetween(45L, 55L);
    }

    @Test
    void aPacketWakesAnIdleRing() {
        RingWorld world = ring(3);
        world.distributor.sendRound();
        world.forMs(1_010);
        world.distributor.round++;
        world.give(2, world.distributor.round, false);
        world.forMs(20);
        assertThat(world.unit(2).queue).isEmpty();
    }

    @Test
    void aUnitWhoseSenderIsStuckIsLeftOutForAWhile() {
        isStuck(1, 0, 2);
    }

    @Test
    void aMasterWhoseSenderIsStuckIsLeftOutForAWhile() {
        isStuck(0, 1, 2);
    }

    private static void isStuck(int stuck, Integer... others) {
        RingWorld world = busyRing(3);
        world.unit(stuck).stuck = true;
        world.forMs(4_000);
        assertThat(view(world, others).units()).containsExactly(others);
        long turns = world.unit(2).keeper.status().turns();
        world.forMs(1_000);
        assertThat(world.unit(2).keeper.status().turns()).isGreaterThan(turns);
        world.unit(stuck).stuck = false;
        world.forMs(10_000);
        assertThat(view(world, 0, 1, 2).units()).containsExactly(0, 1, 2);
    }

    @Test
    void aUnitThatStoodStillForLongIsNotTakenForStuck() {
        RingWorld world = busyRing(3);
        world.unit(1).pause(5_000 * MS);
        world.forMs(6_000);
        assertThat(view(world, 0, 1, 2).units()).containsExactly(0, 1, 2);
    }

    @Test
    void aFirstTurnThatTookLongDoesNotMakeTheMasterDeafToLosses() {
        RingWorld world = ring(3);
        world.distributor.sendRound();
        world.unit(1).pause(2 * T1_MS * MS);
        world.forMs(100);
        int epoch = view(world, 0, 1, 2).epoch();
        world.unit(1).kill();
        world.forMs(700);
        assertThat(view(world, 0, 2).epoch()).isEqualTo(epoch + 1);
    }

    @Test
    void aUnitThatHasSentAllGoesThoughThereIsNoMajorityToLetIt() {
        RingWorld world = ring(3);
        world.unit(2).kill();
        world.distributor.sendRound();
        world.forMs(1_000);
        assertThat(view(world, 0, 1).master()).isZero();
        world.distributor.dead = true;
        RingWorld.Unit unit = world.unit(0);
        unit.act(() -> unit.keeper.announceLeaving(world.nowNs));
        unit.act(() -> unit.keeper.drained(world.nowNs));
        world.forMs(2_000);
        assertThat(unit.keeper.status().ended()).isTrue();
        assertThat(world.unit(1).keeper.status().alone()).isTrue();
    }

    @Test
    void aUnitWhosePathEndsThoughItDoesNotLeaveStays() {
        RingWorld world = busyRing(3);
        world.unit(1).act(() -> world.unit(1).keeper.drained(world.nowNs));
        world.forMs(500);
        assertThat(view(world, 0, 1, 2).units()).containsExactly(0, 1, 2);
        assertThat(world.unit(1).keeper.status().ended()).isFalse();
    }

    @Test
    void aUnitThatIsInNoGroupIsOutThoughItAnswers() {
        RingWorld world = busyRing(3);
        world.units.values().forEach(unit -> unit.act(() -> unit.keeper.group(world.nowNs, Set.of(0, 2))));
        world.forMs(100);
        assertThat(view(world, 0, 2).units()).containsExactly(0, 2);
        world.units.values().forEach(unit -> unit.act(() -> unit.keeper.group(world.nowNs, Set.of(0, 1, 2))));
        world.forMs(1_000);
        assertThat(view(world, 0, 1, 2).units()).containsExactly(0, 1, 2);
    }

    @Test
    void aMasterThatIsInNoGroupIsFollowedAtOnce() {
        RingWorld world = busyRing(3);
        world.units.values().forEach(unit -> unit.act(() -> unit.keeper.group(world.nowNs, Set.of(1, 2))));
        world.forMs(100);
        assertThat(view(world, 1, 2).master()).isEqualTo(1);
    }

    @Test
    void anEpochFollowsTheLastOne() {
        assertThat(Epoch.next(0xFFFF)).isZero();
        assertThat(Epoch.newer(0, 0xFFFF)).isTrue();
        assertThat(Epoch.newer(0xFFFF, 0)).isFalse();
        assertThat(Epoch.newer(0, Epoch.NONE)).isTrue();
        assertThat(Epoch.newer(Epoch.NONE, 0)).isFalse();
    }
}
