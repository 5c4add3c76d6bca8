package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.GuardedDiscipline;
import org.tamanoir.qdisc.Item;

class FctDisciplineTest {
    private static final int LIMIT = 500;
    private static final int BYTES = 100;

    private final List<String> dropped = new ArrayList<>();
    private final TestRing ring = new TestRing();
    private final FctUnit unit = new FctUnit(new FctSettings(0, true, 0, 0, 20, 1_000, 64), ring, () -> {});
    private final TestGate gate = new TestGate();
    private final GuardedDiscipline discipline = discipline(dropped);

    private static GuardedDiscipline discipline(List<String> drops) {
        return Disciplines.create(
                "fct",
                new DisciplineConfig(List.of(new FlowConfig(1, LIMIT, 1 << 20)), 0, Map.of()),
                (item, reason) -> drops.add(item + " " + reason));
    }

    private static final class TestGate implements GatedDiscipline.Gate {
        boolean open = true;
        int changes;

        @Override
        public String name() {
            return "out";
        }

        @Override
        public boolean change(BooleanSupplier change) {
            changes++;
            return change.getAsBoolean();
        }

        @Override
        public boolean isOpen() {
            return open;
        }
    }

    private static final class Named extends Item {
        private final String name;

        Named(long round) {
            name = "r" + round;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private void attach() {
        unit.attach(gated(), gate);
    }

    private GatedDiscipline gated() {
        return Objects.requireNonNull(discipline.gated());
    }

    private Item enqueue(long round) {
        return enqueue(round, true);
    }

    private Item enqueue(long round, boolean mayDrop) {
        return enqueue(discipline, round, mayDrop);
    }

    private static Item enqueue(GuardedDiscipline into, long round, boolean mayDrop) {
        Item item = new Named(round);
        item.describe(0, BYTES, round << 1, mayDrop);
        into.enqueue(item, 0);
        return item;
    }

    private List<String> dequeueAll() {
        List<String> all = new ArrayList<>();
        Item item;
        while ((item = discipline.dequeue(0)) != null) {
            all.add(item.toString());
        }
        return all;
    }

    private void asSlave() {
        attach();
        unit.view(0, false, 3, 0);
    }

    private static Token token(long serial, long round) {
        return new Token(serial, round, 0, 0, 0, 0);
    }

    @Test
    void tellsRoundsAndTheLastPacketOfAPath() throws Exception {
        byte[] round = {0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 4, 0};
        Packet last = new PacketBuilder().option(Option.ROUND.wireType(), round).build(ByteBuffer.allocate(0));
        Packet without = new PacketBuilder().build(ByteBuffer.allocate(0));

        assertThat(gated().tag(last)).isEqualTo(256 << 1 | 1);
        assertThat(gated().tag(without)).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MIN_VALUE, -1})
    void takesNoNoticeOfARoundThatIsNone(long round) throws Exception {
        byte[] option = ByteBuffer.allocate(12)
                .putLong(round)
                .putShort((short) 0)
                .put((byte) Anep.ROUND_PATH_ENDS)
                .array();
        Packet forged =
                new PacketBuilder().option(Option.ROUND.wireType(), option).build(ByteBuffer.allocate(0));

        assertThat(gated().tag(forged)).isZero();
    }

    @Test
    void givesNothingBeyondTheRoundOfTheToken() {
        asSlave();
        enqueue(1);
        enqueue(2);
        assertThat(dequeueAll()).isEmpty();
        assertThat(discipline.readyNs(0)).isEqualTo(Long.MAX_VALUE);

        unit.token(token(1, 1));

        assertThat(dequeueAll()).containsExactly("r1");
    }

    @Test
    void givesPacketsWithoutARoundAtOnce() {
        asSlave();
        enqueue(1);
        enqueue(0);

        assertThat(dequeueAll()).containsExactly("r0");
    }

    @Test
    void givesPacketsOfConnectionsAtOnce() {
        asSlave();
        enqueue(1, false);

        assertThat(dequeueAll()).containsExactly("r1");
    }

    @Test
    void givesEverythingWithoutAUnit() {
        enqueue(1);

        assertThat(dequeueAll()).containsExactly("r1");
    }

    @Test
    void passesTheTokenOnlyWhenWhatItGaveHasLeft() {
        asSlave();
        unit.token(token(1, 1));
        enqueue(1);
        dequeueAll();
        ring.takeDone();

        unit.token(token(2, 2));
        assertThat(ring.done).isEmpty();
        gated().departed(1);

        assertThat(ring.done).containsExactly("PASS 2 2 0 0");
    }

    @Test
    void doesNotWaitForWhatWasTakenOutBeforeItLeft() {
        asSlave();
        unit.token(token(1, 1));
        Item taken = enqueue(1);
        ring.takeDone();

        unit.token(token(2, 2));
        discipline.remove(taken, 0);

        assertThat(ring.done).containsExactly("PASS 2 2 0 0");
    }

    @Test
    void dropsWhatIsLateWhereThatIsDiscarded() {
        asSlave();
        unit.token(token(1, 3));

        enqueue(2);
        enqueue(3);

        assertThat(dropped).containsExactly("r2 LATE");
        assertThat(dequeueAll()).containsExactly("r3");
        assertThat(unit.status().late()).isEqualTo(1);
    }

    @Test
    void dropsWhatFindsTheQueueFull() {
        asSlave();
        for (int i = 1; i <= LIMIT + 1; i++) {
            enqueue(i);
        }

        assertThat(dropped).containsExactly("r501 QUEUE_FULL");
        assertThat(unit.state().queued()).isEqualTo(LIMIT);
    }

    @Test
    void dropsWhatHasNoRoundToo() {
        asSlave();
        for (int i = 0; i <= LIMIT; i++) {
            enqueue(0);
        }

        assertThat(dropped).containsExactly("r0 QUEUE_FULL");
    }

    @Test
    void passesTheTokenOnceItHasFailed() {
        asSlave();
        unit.token(token(1, 1));
        enqueue(1);
        enqueue(2);
        unit.token(token(2, 2));
        ring.takeDone();

        gated().abandoned();

        assertThat(ring.takeDone()).containsExactly("PASS 2 2 0 0");
    }

    @Test
    void takesWhatComesUnderAnOlderConfigurationThatWasForgotten() {
        asSlave();
        unit.attach(Objects.requireNonNull(discipline(new ArrayList<>()).gated()), gate);
        enqueue(1);

        unit.token(token(1, 1));

        assertThat(dequeueAll()).containsExactly("r1");
    }

    @Test
    void changesWhatWaitsInsideTheLockOfItsLinkWhenWhatAClosedOneGaveHasLeft() {
        asSlave();
        unit.token(token(1, 1));
        enqueue(1);
        dequeueAll();
        gate.open = false;
        TestGate second = new TestGate();
        unit.attach(Objects.requireNonNull(discipline(new ArrayList<>()).gated()), second);
        unit.token(token(2, 2));
        ring.takeDone();
        int before = second.changes;

        gated().departed(1);

        assertThat(ring.takeDone()).containsExactly("PASS 2 2 0 0");
        assertThat(second.changes).isEqualTo(before + 1);
    }

    @Test
    void letsWhatWaitsUnderAnOlderConfigurationGoFirst() {
        asSlave();
        enqueue(2);
        List<String> later = new ArrayList<>();
        GuardedDiscipline next = discipline(later);
        unit.attach(Objects.requireNonNull(next.gated()), gate);
        enqueue(next, 1, true);

        unit.token(token(1, 2));

        assertThat(dequeueAll()).containsExactly("r2");
        gated().departed(1);
        assertThat(later).containsExactly("r1 LATE");
    }

    @Test
    void refusesASecondLink() {
        attach();

        assertThatThrownBy(() -> unit.attach(gated(), new TestGate()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("link out has the discipline fct already, and a node one such link: give that all the next"
                        + " hops");
    }

    @Test
    void takesALinkThatFollowsAClosedOne() {
        attach();
        gate.open = false;

        unit.attach(gated(), new TestGate());
        enqueue(1);

        assertThat(unit.state().queued()).isEqualTo(1);
    }

    @Test
    void passesTheTokenWithoutALink() {
        unit.view(0, false, 3, 0);

        unit.token(token(1, 5));

        assertThat(ring.takeDone()).containsExactly("PASS 1 5 0 0");
    }

    @Test
    void tellsTheRingWhenTheLastPacketOfItsPathHasLeft() {
        attach();
        unit.alone();

        endPath();

        assertThat(ring.takeDone()).containsExactly("DRAINED");
    }

    private void endPath() {
        Item last = new Named(1);
        last.describe(0, BYTES, 1 << 1 | 1, true);
        discipline.enqueue(last, 0);
        dequeueAll();
        gated().departed(1);
    }

    @Test
    void hasNoOptions() {
        assertThatThrownBy(() -> Disciplines.create(
                        "fct",
                        new DisciplineConfig(List.of(new FlowConfig(1, 1, 1)), 0, Map.of("ring", "x")),
                        (item, reason) -> {}))
                .hasMessage("option 'ring': discipline fct has none; the token is configured in section element");
    }
}
