package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.arena.Arena;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.sched.LinkContent;
import org.tamanoir.sched.LinkItem;
import org.tamanoir.sched.LinkQueue;
import org.tamanoir.sched.Preemption;
import org.tamanoir.sched.QosTimer;
import org.tamanoir.sched.QualityOfService;

/** A unit's links and their changes, in time that stands still: a link sends its burst, and no more. */
class FctLinkTest {
    private static final int BURST = 1_000;
    private static final int BYTES = 600;

    private final TestRing ring = new TestRing();
    private final FctUnit unit = new FctUnit(new FctSettings(0, true, 0, 0, 20, 1_000, 64), ring, () -> {});
    private final QualityOfService quality = new QualityOfService(
            NoTimer::new, () -> 0, () -> 0, Preemption.NONE, 68 << 10, Duration.ofSeconds(10), new Arena());
    private final LinkQueue<long[]> queue = new LinkQueue<>(() -> {}, () -> new long[1]);
    private @Nullable LinkContent content;

    private static final class NoTimer implements QosTimer {
        @Override
        public void at(Task task, long timeNs) {}

        @Override
        public void add(Task task) {}

        @Override
        public void remove(Task task) {}

        @Override
        public void close() {}
    }

    @BeforeEach
    void start() {
        quality.opener(unit);
        unit.view(0, false, 3, 0);
        use("out");
    }

    private void use(String link) {
        quality.change(new QosConfig(
                List.of(new TrafficClass("all", Set.of(), 1)),
                "all",
                List.of(),
                null,
                List.of(new Link(link, List.of(Prefix.parse("0.0.0.0/0")), 1_000, BURST, false, "fct", Map.of()))));
        content = quality.now().links().get(0);
    }

    private void enqueue(long round) {
        LinkContent its = Objects.requireNonNull(content);
        LinkItem<long[]> item = queue.newItem();
        item.stored()[0] = round;
        assertThat(its.link().enqueue(item, its, 0, BYTES, round << 1)).isNull();
    }

    /** Returns the rounds of what came back, and why it may not leave. */
    private List<String> returned() {
        List<String> all = new ArrayList<>();
        LinkContent its = Objects.requireNonNull(content);
        for (LinkItem<long[]> item = its.link().takeReturned(queue); item != null; item = item.behind()) {
            all.add("r" + item.stored()[0] + (item.reason() == null ? "" : " " + item.reason()));
        }
        return all;
    }

    private void token(long serial, long round) {
        unit.token(new Token(serial, round, 0, 0, 0, 0));
    }

    @Test
    void holdsPacketsForTheTokenUnderAnotherNameOfItsLink() {
        use("other");

        enqueue(5);

        assertThat(unit.status().waiting()).isEqualTo(1);
    }

    @Test
    void saysWhetherALinkHoldsPackets() {
        assertThat(unit.status().holds()).isTrue();

        quality.change(QosConfig.OFF);

        assertThat(unit.status().holds()).isFalse();
    }

    @Test
    void letsAllGoAtItsEndAlthoughTheTokenDropsWhatIsLateMeanwhile() {
        token(1, 3);
        enqueue(3); // takes the burst
        enqueue(3); // waits for the link's rate
        enqueue(3);
        token(2, 5); // waits until these have left
        enqueue(2); // will be late
        Objects.requireNonNull(content).link().departed(queue, 1);

        quality.change(QosConfig.OFF);

        assertThat(returned()).containsExactly("r3", "r3", "r2 LATE", "r3");
        assertThat(ring.passed).hasSize(2);
    }
}
