package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.support.Seeds;

/** What an engine does with messages, in exact order: contexts are run by hand, in a time of the test's own. */
class EngineTest {
    private final TestKinds kinds = new TestKinds();
    private final Receiver receiver = new Receiver();
    private final Flights flights = new Flights();

    private Engine engine(String... lines) {
        return engine(Plans.read(kinds, lines));
    }

    private Engine engine(Plan plan) {
        return new Engine("test", plan, 1, kinds, Transport.TCP, () -> receiver.nowNs, () -> true, false);
    }

    private void give(Engine engine, long... ids) {
        for (long id : ids) {
            receiver.give(engine, flights.flight(id));
        }
    }

    /** Runs all contexts until nothing waits. */
    private void settle(Engine engine) {
        boolean worked = true;
        while (worked) {
            worked = false;
            for (Context context : engine.chain().contexts()) {
                worked |= context.number != Plan.RECEIVE && context.turn();
            }
            engine.expire(receiver.nowNs, receiver);
        }
        assertConserved(engine);
    }

    private void assertConserved(Engine engine) {
        assertThat(Balance.of(List.of(engine)).unaccounted()).isZero();
        assertThat(receiver.unaccounted()).isZero();
    }

    @Test
    void passesAMessageInThePacketThatItCameIn() {
        Engine engine =
                engine("handlers:", "  a: {pass: , then: b}", "  b: {pass: , then: out}", "paths: [{enter: a}]");
        give(engine, 1, 2);
        assertThat(receiver.left).containsExactly("1!", "2!");
        assertConserved(engine);
    }

    @Test
    void replacesARecordInThePacketThatItCameIn() {
        Engine engine = engine("handlers:", "  a: {late: , then: out}", "paths: [{enter: a}]");
        give(engine, 4);
        assertThat(receiver.left).containsExactly("4late!");
    }

    @Test
    void countsADropByTheHandlersReason() {
        Engine engine = engine("handlers:", "  a: {modulo: 2, then: out}", "paths: [{enter: a}]");
        give(engine, 1, 2, 3);
        assertThat(receiver.left).containsExactly("2!");
        assertThat(receiver.dropped).isEqualTo(Map.of("not a multiple of 2", 2L));
        assertConserved(engine);
    }

    @Test
    void copiesAMessageBeforeItGoesOn() {
        Engine engine = engine(
                "handlers:",
                "  a: {pass: , then: [b, c, out]}",
                "  b: {late: , then: out}",
                "  c: {pass: , then: b}",
                "paths: [{enter: a}]");
        give(engine, 1);
        assertThat(receiver.left).containsExactly("1late", "1late", "1!");
        assertConserved(engine);
    }

    @Test
    void keepsDestinationsOfCopiesApart() {
        Engine engine = engine(
                "handlers:",
                "  a: {copies: 2, then: [b, out]}",
                "  b: {pass: , context: work, then: out}",
                "contexts: {work: }",
                "paths: [{enter: a}]");
        give(engine, 1);
        settle(engine);
        assertThat(receiver.left).containsExactly("1@1", "1@2", "1!", "1@1", "1@2", "1");
    }

    @Test
    void sendsMessagesOfNoPathOnOrDropsThem() {
        give(
                engine(
                        "handlers:",
                        "  a: {pass: , then: out}",
                        "paths: [{format: other, enter: a}, {format: late, enter: a}]"),
                1);
        assertThat(receiver.left).containsExactly("1!");
        Engine drops = engine("default: drop");
        give(drops, 2);
        assertThat(receiver.dropped).containsExactly(Map.entry("NO_PATH", 1L));
        assertConserved(drops);
    }

    @Test
    void takesTheFirstPathThatFits() {
        Engine engine = engine(
                "handlers:",
                "  a: {late: , then: out}",
                "paths:",
                "  - {format: flight, destination: 10.0.8.0/24, enter: a}",
                "  - {format: flight, protocol: udp, enter: a}",
                "  - {format: flight, port: 4001, enter: a}",
                "  - {format: flight, class: 3, source: 10.0.0.1, destination: 10.0.9.0/24, port: 4000, protocol: tcp, enter: out}",
                "  - {enter: a}");
        give(engine, 1);
        assertThat(receiver.left).containsExactly("1!");
    }

    @Test
    void handlesInAContextAndGivesBackInOrder() {
        Engine engine = engine(
                "contexts: {work: {ring: 4096}}",
                "handlers:",
                "  a: {modulo: 2, then: b}",
                "  b: {late: , context: work, then: out}",
                "paths: [{enter: a}]");
        give(engine, 1, 2, 3, 4, 6);
        assertThat(receiver.left).isEmpty();
        assertThat(receiver.held).isEqualTo(3);
        settle(engine);
        assertThat(receiver.left).containsExactly("2late", "4late", "6late");
        assertThat(receiver.held).isZero();
    }

    @Test
    void tellsTheServiceOfDropsInAContext() {
        Engine engine = engine(
                "contexts: {work: }", "handlers:", "  b: {modulo: 2, context: work, then: out}", "paths: [{enter: b}]");
        give(engine, 1, 2, 3);
        settle(engine);
        assertThat(receiver.left).containsExactly("2");
        assertThat(receiver.dropped).isEqualTo(Map.of("not a multiple of 2", 2L));
        assertThat(receiver.merged).isEqualTo(1);
    }

    @Test
    void waitsForRoomAndLosesNothing() {
        Engine engine = engine(
                "contexts: {one: {ring: 4096}, two: {ring: 4096}}",
                "handlers:",
                "  a: {pass: , context: one, then: b}",
                "  b: {copies: 3, context: two, then: out}",
                "paths: [{enter: a}]");
        for (int i = 0; i < 1000; i++) {
            give(engine, i);
        }
        settle(engine);
        assertThat(receiver.left).hasSize(4000);
        assertThat(engine.chain().context(Plan.RECEIVE).waits.get()).isPositive();
    }

    @Test
    void dropsWhatNoRingHolds() {
        Engine engine = engine(
                "contexts: {work: {ring: 4096}}",
                "handlers:",
                "  b: {pass: , context: work, then: out}",
                "paths: [{enter: b}]");
        receiver.give(engine, flights.flight(1, 0, "x".repeat(3000)));
        assertThat(receiver.dropped).containsExactly(Map.entry("RING_TOO_SMALL", 1L));
        assertConserved(engine);
    }

    @Test
    void holdsAndMergesInAContext() {
        Engine engine = engine(
                "contexts: {work: }", "handlers:", "  p: {pair: 3, context: work, then: out}", "paths: [{enter: p}]");
        give(engine, 1, 2, 3, 4, 5);
        settle(engine);
        assertThat(receiver.left).containsExactly("3");
        assertThat(receiver.held).isEqualTo(2);
        engine.finish(receiver);
        assertThat(receiver.dropped).isEqualTo(Map.of("no partner", 2L));
        assertThat(receiver.held).isZero();
        assertConserved(engine);
    }

    @Test
    void letsTimePassInContexts() {
        Engine engine = engine(
                "contexts: {work: }",
                "handlers:",
                "  w: {window: 5s, then: out}",
                "  v: {window: 2s, context: work, then: out}",
                "paths: [{enter: [w, v]}]");
        give(engine, 1);
        settle(engine);
        receiver.nowNs = 1_999_999_999;
        settle(engine);
        assertThat(receiver.left).isEmpty();
        receiver.nowNs = 2_000_000_000;
        settle(engine);
        assertThat(receiver.left).containsExactly("1");
        receiver.nowNs = 5_000_000_000L;
        settle(engine);
        assertThat(receiver.left).containsExactly("1", "1");
    }

    @Test
    void dropsOrPassesWhatAHandlerFailsOn() {
        Engine engine = engine(
                "handlers:",
                "  a: {throws: , failure: pass, then: b}",
                "  b: {modulo: 2, then: c}",
                "  c: {throws: , then: out}",
                "paths: [{enter: a}]");
        give(engine, 1, 2);
        assertThat(receiver.dropped).isEqualTo(Map.of("IllegalStateException", 1L, "not a multiple of 2", 1L));
        assertThat(engine.chain().stage(2).counts.lastFailure).contains("flight 2 is refused");
        assertThat(engine.chain().stage(0).counts.failed.get()).isEqualTo(2);
        assertConserved(engine);
    }

    @Test
    void boundsWhatAHandlerMakes() {
        Engine engine = engine("emits: 10", "handlers:", "  a: {endless: , then: out}", "paths: [{enter: a}]");
        give(engine, 1);
        assertThat(receiver.left).hasSize(10);
        assertThat(receiver.dropped).isEqualTo(Map.of("EMITS", 1L));
        assertConserved(engine);
    }

    @Test
    void refusesFormatsThatAHandlerDoesNotTake() {
        Engine engine =
                engine("handlers:", "  a: {late: , then: b}", "  b: {late: , then: out}", "paths: [{enter: a}]");
        give(engine, 1);
        assertThat(receiver.dropped).isEqualTo(Map.of("FORMAT", 1L));
        assertThat(engine.chain().stage(1).counts.lastFailure).contains("late").contains("inputs: flight");
    }

    @Test
    void conservesMessagesOfRandomPlans() {
        for (long seed : Seeds.ofCommit(EngineTest.class, 40)) {
            Random random = new Random(seed);
            try {
                runRandom(random);
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(kinds.open.get()).isZero();
    }

    private void runRandom(Random random) {
        receiver.left.clear();
        Engine engine = engine(randomPlan(random));
        for (int i = 0; i < 200; i++) {
            give(engine, random.nextInt(1000));
            if (random.nextInt(20) == 0) {
                receiver.nowNs += random.nextInt(3) * 1_000_000_000L;
                settle(engine);
            }
            if (random.nextInt(60) == 0) {
                Plan next = randomPlan(random);
                engine.propose(engine.prepare(next, i));
            }
        }
        settle(engine);
        engine.finish(receiver);
        assertConserved(engine);
        assertThat(receiver.held).isZero();
        assertThat(engine.heldBytes()).isZero();
        engine.close();
    }

    private Plan randomPlan(Random random) {
        int handlers = 1 + random.nextInt(6);
        StringBuilder text = new StringBuilder("contexts: {work: {ring: 8192}, more: {ring: 4096}}\nhandlers:\n");
        List<String> some = List.of(
                "pass: ",
                "modulo: 2",
                "modulo: 3",
                "pair: 2",
                "pair: 3",
                "copies: 2",
                "window: 1s",
                "throws: , failure: pass");
        int context = 0;
        for (int i = 0; i < handlers; i++) {
            context = Math.min(2, context + random.nextInt(2));
            String where = List.of("receive", "work", "more").get(context);
            String next = i + 1 < handlers ? "h" + (i + 1) : "out";
            String then = random.nextInt(3) == 0 && i + 1 < handlers ? "[" + next + ", out]" : next;
            text.append("  h" + i + ": {" + some.get(random.nextInt(some.size())) + ", context: " + where + ", then: "
                    + then + "}\n");
        }
        return Plans.read(kinds, text + "paths: [{enter: h0}]");
    }

    @Test
    void keepsTheDestinationThatAHandlerGivesTheLastOfSeveral() {
        Engine engine = engine(
                "handlers:", "  a: {pass: , then: [out, b]}", "  b: {aims: 5, then: out}", "paths: [{enter: a}]");
        give(engine, 1);
        assertThat(receiver.left).containsExactly("1", "1@5!");
        assertConserved(engine);
    }

    @Test
    void failsMessagesOfAFormatThatAHandlerIsNotPreparedForWhateverItThrows() {
        Engine engine = engine(
                "contexts: {work: }",
                "handlers:",
                "  a: {unbound: , failure: pass, context: work, then: b}",
                "  b: {unbound: , context: work, then: out}",
                "paths: [{enter: a}]");
        give(engine, 1, 2);
        settle(engine);
        assertThat(receiver.dropped).isEqualTo(Map.of("FORMAT", 2L));
        assertThat(engine.chain().stage(0).counts.lastFailure).contains("nothing is prepared for flight");
    }

    @Test
    void goesOnWithAHandlerThatCannotSayWhatItHolds() {
        Engine engine = engine(
                "contexts: {work: }",
                "handlers:",
                "  a: {unweighed: , context: work, then: out}",
                "paths: [{enter: a}]");
        give(engine, 1);
        settle(engine);
        give(engine, 2);
        settle(engine);
        assertThat(receiver.left).containsExactly("1", "2");
    }

    @Test
    void letsTimePassForAHandlerThatMovedBeforeItsNextMessage() {
        String[] lines = {
            "contexts: {work: }",
            "handlers:",
            "  v: {window: 2s, context: work, then: w}",
            "  w: {pass: , context: work, then: out}",
            "paths: [{enter: v}]"
        };
        Engine engine = engine(lines);
        give(engine, 1);
        settle(engine);
        lines[3] = "  w: {modulo: 1, context: work, then: out}";
        engine.propose(engine.prepare(Plans.read(kinds, lines), 2));
        settle(engine);
        receiver.nowNs = 2_000_000_000;
        settle(engine);
        assertThat(receiver.left).containsExactly("1");
    }
}
