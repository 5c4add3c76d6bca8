package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.morph.handler.PlanNames;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;

/** Plans on real threads, that change while messages pass. The test's thread is the service's. */
class ChangeTest {
    private final TestKinds kinds = new TestKinds();
    private final Receiver receiver = new Receiver();
    private final Flights flights = new Flights();
    private final MorphControl control = new MorphControl();
    private final AtomicBoolean woken = new AtomicBoolean();
    private Engine engine = begin(Transport.TCP);

    private Engine begin(Transport transport, String... lines) {
        control.init(new TestNode(), kinds, lines.length == 0 ? Map.of() : Plans.tree(lines));
        return control.open(transport, () -> {
            woken.set(true);
            return true;
        });
    }

    private void run(Transport transport, String... lines) {
        control.close(engine);
        engine = begin(transport, lines);
    }

    @AfterEach
    void close() {
        kinds.stall.countDown();
        control.close(engine);
    }

    private void give(long id) {
        if (woken.getAndSet(false)) {
            engine.expire(System.nanoTime(), receiver);
        }
        receiver.give(engine, flights.flight(id));
    }

    /** Looks after what comes back until so many messages have left. */
    private void awaitLeft(int messages) {
        awaitThat(() -> receiver.left.size() >= messages);
        assertThat(receiver.left).hasSize(messages);
    }

    private void awaitThat(BooleanSupplier condition) {
        long untilNs = System.nanoTime() + Waiting.PATIENCE.toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() < untilNs) {
            engine.expire(System.nanoTime(), receiver);
            LockSupport.parkNanos(100_000);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private static List<String> numbers(int to) {
        return LongStream.range(0, to).mapToObj(Long::toString).toList();
    }

    private static final String[] TWO_CONTEXTS = {
        "contexts: {one: {ring: 4096}, two: {ring: 4096}}",
        "handlers:",
        "  a: {pass: , context: one, then: b}",
        "  b: {pass: , context: two, then: out}",
        "paths: [{enter: a}]"
    };

    @Test
    void losesNothingBetweenThreadsOverTcp() {
        run(Transport.TCP, TWO_CONTEXTS);
        for (int i = 0; i < 20_000; i++) {
            give(i);
        }
        awaitLeft(20_000);
        assertThat(receiver.left).isEqualTo(numbers(20_000));
        assertThat(Balance.of(List.of(engine)).unaccounted()).isZero();
    }

    @Test
    void givesEachMessageOnceWhileThePlanChanges() throws Exception {
        run(Transport.TCP, TWO_CONTEXTS);
        long seed = Seeds.ofCommit(ChangeTest.class);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> changes = Waiting.async(() -> change(new Random(seed), done));
        int given = 0;
        while (engine.chain().generation < Seeds.scaled(25) && given < Seeds.scaled(2_000_000) || given < 5_000) {
            give(given++);
            if (given % 1000 == 0) {
                engine.expire(System.nanoTime(), receiver);
            }
        }
        done.set(true);
        while (!changes.isDone()) {
            engine.expire(System.nanoTime(), receiver);
            LockSupport.parkNanos(100_000);
        }
        assertThat(changes.get()).as("seed " + seed).isPositive();
        awaitLeft(given);
        List<String> left =
                receiver.left.stream().map(text -> text.replace("!", "")).toList();
        assertThat(left).as("seed " + seed).isEqualTo(numbers(given));
        assertThat(Balance.of(List.of(engine)).unaccounted()).as("seed " + seed).isZero();
        assertThat(receiver.unaccounted()).isZero();
    }

    /** Changes the plan at random, without another effect on messages. */
    private int change(Random random, AtomicBoolean done) {
        int changes = 0;
        boolean inserted = false;
        while (!done.get()) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    control.change(
                            inserted ? "remove" : "insert",
                            inserted
                                    ? Map.of("handler", "c")
                                    : Map.of("handler", "c", "before", "b", "definition", Map.of("pass", Map.of())));
                    inserted = !inserted;
                }
                case 1 -> control.change("reload", Map.of("handler", "a"));
                case 2 ->
                    control.change("place", Map.of("handlers", Map.of("b", random.nextBoolean() ? "one" : "two")));
                case 3 ->
                    control.change("replace", Map.of("handler", "b", "definition", Map.of("modulo", 1, "then", "out")));
                default ->
                    control.change(
                            "apply", Map.of("plan", inserted ? control.view().get("plan") : Plans.tree(TWO_CONTEXTS)));
            }
            changes++;
        }
        return changes;
    }

    @Test
    void keepsTheStateOfAHandlerThatStays() {
        run(
                Transport.TCP,
                "contexts: {one: }",
                "handlers:",
                "  p: {pair: 3, context: one, then: out}",
                "paths: [{enter: p}]");
        give(1);
        give(2);
        CompletableFuture<Map<String, Object>> changed = Waiting.async(() -> control.change(
                "insert",
                Map.of("handler", "q", "definition", Map.of("pass", Map.of(), "context", "receive"), "before", "p")));
        awaitThat(changed::isDone);
        give(3);
        awaitLeft(1);
        assertThat(receiver.left).containsExactly("3");
        assertThat(engine.chain().plan.stage("q")).isGreaterThanOrEqualTo(0);
    }

    @Test
    void finishesAHandlerThatGoes() {
        run(
                Transport.TCP,
                "contexts: {one: }",
                "handlers:",
                "  w: {window: 1h, context: one, then: out}",
                "paths: [{enter: w}]");
        give(1);
        give(2);
        CompletableFuture<Map<String, Object>> changed =
                Waiting.async(() -> control.change("set", Map.of("handler", "w", "settings", Map.of("window", "2h"))));
        awaitThat(changed::isDone);
        assertThat(receiver.left).containsExactly("1", "2");
        give(3);
        assertThat(receiver.left).containsExactly("1", "2");
    }

    @Test
    void refusesAChangeWholly() {
        run(Transport.TCP, TWO_CONTEXTS);
        int open = kinds.open.get();
        assertThatThrownBy(() -> control.change(
                        "insert", Map.of("handler", "c", "before", "b", "definition", Map.of("modulo", -1))))
                .hasMessageContaining("handlers.c.modulo.n: -1 is out of bounds");
        assertThat(kinds.open.get()).isEqualTo(open);
        assertThat(control.view().get("generation")).isEqualTo(1L);
        give(1);
        awaitLeft(1);
    }

    @Test
    void leavesAStalledContextBehind() {
        run(
                Transport.UDP,
                "contexts: {one: }",
                "handlers:",
                "  s: {stall: 5, context: one, then: out}",
                "  o: {pass: , then: out}",
                "paths: [{enter: [o, s]}]");
        for (int i = 0; i < 10; i++) {
            give(i);
        }
        awaitThat(() -> String.valueOf(control.view().get("contexts")).contains("in s for"));
        give(10);
        assertThat(receiver.left).contains("10", "4");
        CompletableFuture<Map<String, Object>> changed = Waiting.async(() ->
                control.change("replace", Map.of("handler", "s", "definition", Map.of("pass", Map.of()))));
        awaitThat(changed::isDone);
        awaitThat(() -> engine.chain().generation == 2);
        give(11);
        awaitThat(() -> receiver.held == 0);
        assertThat(receiver.dropped).isEqualTo(Map.of("CONTEXT_STALLED", 6L));
        assertThat(Balance.of(List.of(engine)).unaccounted())
                .as(control.view().toString())
                .isZero();
        assertThat(receiver.unaccounted()).isZero();
    }

    @Test
    void dropsDatagramsThatFindNoRoom() {
        run(
                Transport.UDP,
                "contexts: {one: {ring: 4096}}",
                "handlers:",
                "  s: {stall: 0, context: one, then: out}",
                "paths: [{enter: s}]");
        for (int i = 0; i < 100; i++) {
            give(i);
        }
        assertThat(receiver.dropped.get("RING_FULL")).isPositive();
        kinds.stall.countDown();
        awaitThat(() -> receiver.held == 0);
        assertThat(receiver.unaccounted()).isZero();
        assertThat(Balance.of(List.of(engine)).unaccounted()).isZero();
    }

    @Test
    void makesAHandlerAnewWhoseFormatIsAnother() {
        control.close(engine);
        TestNode node = new TestNode();
        String[] lines = {
            "declare: {flight: {id: integer(8), delay: integer, hub: string}, less: {id: integer(8)}}",
            "reorder: false",
            "handlers:",
            "  p: {translate: less, then: none}",
            "  none: {filter: 'id < 0', then: out}",
            "  k: {reduce: {fields: {n: count}, count: 9}, then: out}",
            "paths: [{format: flight, enter: [p, k]}]"
        };
        control.init(node, new PlanKinds(node), PlanTree.parse("test", String.join("\n", lines)));
        engine = control.open(Transport.TCP, () -> true);
        give(1);
        MessageHandler counting = engine.chain().stage(engine.chain().plan.stage("k")).handler;
        lines[0] = lines[0].replace("{id: integer(8)}}", "{id: integer(8), hub: string}}");
        CompletableFuture<Map<String, Object>> changed =
                Waiting.async(() -> control.change("apply", Map.of("plan", String.join("\n", lines))));
        awaitThat(changed::isDone);
        give(2);

        Stage projecting = engine.chain().stage(engine.chain().plan.stage("p"));
        assertThat(projecting.rows())
                .singleElement()
                .satisfies(row -> assertThat(Objects.requireNonNull(row.bound)
                                .output(0)
                                .top()
                                .fields())
                        .hasSize(2));
        assertThat(engine.chain().stage(engine.chain().plan.stage("k")).handler).isSameAs(counting);
    }

    /** Makes what the tests' kinds make, but waits where it is told to. */
    private static final class Slow implements HandlerMaker {
        private final TestKinds kinds;
        private volatile CountDownLatch mayGo = new CountDownLatch(0);
        private final CountDownLatch waits = new CountDownLatch(1);

        Slow(TestKinds kinds) {
            this.kinds = kinds;
        }

        @Override
        public Set<String> kinds() {
            return kinds.kinds();
        }

        @Override
        public MessageHandler make(String path, String kind, @Nullable Object settings, PlanNames names) {
            if (kind.equals("modulo")) {
                waits.countDown();
                try {
                    mayGo.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return kinds.make(path, kind, settings, names);
        }
    }

    @Test
    void opensInstancesWhileAChangeIsBeingMade() throws Exception {
        control.close(engine);
        Slow slow = new Slow(kinds);
        control.init(new TestNode(), slow, Plans.tree(TWO_CONTEXTS));
        engine = control.open(Transport.TCP, () -> true);
        slow.mayGo = new CountDownLatch(1);
        CompletableFuture<Map<String, Object>> changed = Waiting.async(
                () -> control.change("replace", Map.of("handler", "b", "definition", Map.of("modulo", 1))));
        slow.waits.await();
        Engine other;
        try {
            other = Waiting.async(() -> control.open(Transport.TCP, () -> true))
                    .get(Waiting.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(other.chain().generation).isEqualTo(1);
        } finally {
            slow.mayGo.countDown();
        }
        awaitThat(() -> {
            other.expire(System.nanoTime(), receiver);
            return changed.isDone();
        });
        assertThat(changed.get()).containsEntry("instances", 2).containsEntry("changed", 2L);
        assertThat(other.chain().generation).isEqualTo(2);
        control.close(other);
    }

    @Test
    void accountsForInstancesThatAreGone() {
        run(Transport.TCP, "handlers:", "  p: {pair: 9, then: out}", "paths: [{enter: p}]");
        give(1);
        give(2);
        control.close(engine);
        assertThat(control.view().get("conservation"))
                .isEqualTo("2 in + 0 made = 0 out + 2 dropped + 0 merged + 0 held + 0 queued");
        assertThat(String.valueOf(control.view().get("handlers")))
                .contains("droppedBy={ENDED=2}")
                .doesNotContain("held=2");
    }
}
