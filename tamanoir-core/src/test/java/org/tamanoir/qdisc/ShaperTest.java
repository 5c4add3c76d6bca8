package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;
import org.tamanoir.support.Seeds;

class ShaperTest {
    private final Dropped dropped = new Dropped();
    private TokenBucket bucket = new TokenBucket(1000, 1500, 0);

    private Shaper shaper(boolean police) {
        return new Shaper(Disciplines.create("pq", TestItem.config(Map.of(), 1, 1), dropped), bucket, police, dropped);
    }

    @Test
    void departsAtTheTimesOfTheVector() {
        Shaper shaper = shaper(false);
        for (int i = 1; i <= 10; i++) {
            shaper.enqueue(TestItem.of("p" + i, 0, 500), 0);
        }
        List<Long> departuresMs = new ArrayList<>();
        long nowNs = 0;
        while (shaper.packets() > 0) {
            nowNs = shaper.readyNs(nowNs);
            assertThat(shaper.dequeue(nowNs)).hasToString("p" + (departuresMs.size() + 1));
            departuresMs.add(nowNs / TestItem.MS);
        }
        assertThat(departuresMs).containsExactly(0L, 0L, 0L, 500L, 1000L, 1500L, 2000L, 2500L, 3000L, 3500L);
        assertThat(shaper.readyNs(nowNs)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theHeadThatWaitsForTokensStandsInItUntilItLeavesOrIsRemoved() {
        Shaper shaper = shaper(false);
        TestItem head = TestItem.of("head", 0, 1000);
        TestItem next = TestItem.of("next", 0, 600);
        for (TestItem item : new TestItem[] {TestItem.of("first", 0, 1500), head, next}) {
            shaper.enqueue(item, 0);
        }
        assertThat(shaper.dequeue(0)).hasToString("first");
        assertThat(shaper.readyNs(0)).isEqualTo(TestItem.SECOND); // It has chosen the head.
        for (TestItem item : new TestItem[] {head, next}) {
            assertThatThrownBy(() -> shaper.enqueue(item, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("stands in a discipline already");
        }
        shaper.remove(head, 0);
        assertThat(shaper.bytes()).isEqualTo(600);
        assertThat(shaper.readyNs(0)).isEqualTo(600 * TestItem.MS);
        shaper.enqueue(head, 0);
        shaper.remove(next, 0);
        assertThat(shaper.dequeue(TestItem.SECOND)).isSameAs(head);
        assertThat(shaper.packets()).isZero();
        assertThat(dropped).hasToString("");
    }

    @Test
    void saysToTheNanosecondWhenTheHeadMayGo() {
        for (long seed : Seeds.ofCommit(ShaperTest.class, 1_000)) {
            Random random = new Random(seed);
            bucket = new TokenBucket(1 + random.nextLong(2_000_000_000), 65_535, 0);
            Shaper shaper = shaper(false);
            long nowNs = 0;
            long bytes = 0;
            for (int step = 0; step < 50; step++) {
                int size = 1 + random.nextInt(65_535);
                bytes += size;
                shaper.enqueue(TestItem.of("", random.nextInt(2), size), nowNs);
                if (random.nextBoolean()) {
                    assertThat(shaper.bytes()).isEqualTo(bytes);
                    int packets = shaper.packets();
                    long readyNs = shaper.readyNs(nowNs);
                    if (readyNs > nowNs) {
                        assertThat(shaper.dequeue(readyNs - 1))
                                .as("seed %d", seed)
                                .isNull();
                    }
                    assertThat(shaper.packets()).isEqualTo(packets);
                    bytes -= TestItem.next(shaper, readyNs).size();
                    assertThat(shaper.packets()).isEqualTo(packets - 1);
                    nowNs = readyNs;
                }
            }
        }
    }

    @Test
    void nothingOvertakesTheHeadThatWasChosen() {
        Shaper shaper = shaper(false);
        assertThat(bucket.take(1500, 0)).isTrue();
        shaper.enqueue(TestItem.of("b1", 1, 500), 0);
        shaper.enqueue(TestItem.of("b2", 1, 500), 0);
        assertThat(shaper.dequeue(0)).isNull();
        shaper.enqueue(TestItem.of("a", 0, 500), 0);
        assertThat(shaper.packets()).isEqualTo(3);
        assertThat(shaper.bytes()).isEqualTo(1500);
        assertThat(TestItem.drainByDequeue(shaper, 1500 * TestItem.MS)).isEqualTo("b1 a b2");
    }

    @Test
    void dropsWhatCanNeverLeave() {
        Shaper shaper = shaper(false);
        shaper.enqueue(TestItem.of("a", 0, 1501), 7);
        shaper.enqueue(TestItem.keep("b", 0, 1501), 7);
        shaper.enqueue(TestItem.of("c", 0, 1500), 7);
        assertThat(dropped).hasToString("a:PACKET_TOO_LONG b:PACKET_TOO_LONG");
        assertThat(TestItem.drainByDequeue(shaper, 7)).isEqualTo("c");
    }

    @Test
    void dropsWhatCanNoLongerLeaveWhenTheBucketBecameSmaller() {
        Shaper shaper = shaper(false);
        assertThat(bucket.take(1500, 0)).isTrue();
        for (int size : new int[] {1000, 1100, 200, 1200}) {
            shaper.enqueue(TestItem.of("" + size, 0, size), 0);
        }
        assertThat(shaper.dequeue(0)).isNull();
        bucket.change(1000, 999, 0);
        assertThat(shaper.readyNs(0)).isEqualTo(200 * TestItem.MS);
        assertThat(TestItem.drainByDequeue(shaper, 200 * TestItem.MS)).isEqualTo("200");
        assertThat(dropped).hasToString("1000:PACKET_TOO_LONG 1100:PACKET_TOO_LONG 1200:PACKET_TOO_LONG");
        assertThat(shaper.packets()).isZero();
    }

    @Test
    void policesWhatMayBeDropped() {
        Shaper shaper = shaper(true);
        for (int i = 1; i <= 4; i++) {
            shaper.enqueue(TestItem.of("p" + i, 0, 500), 0);
        }
        assertThat(dropped).hasToString("p4:RATE_EXCEEDED");
        assertThat(TestItem.drainByDequeue(shaper, 0)).isEqualTo("p1 p2 p3");
        shaper.enqueue(TestItem.keep("k", 0, 500), 0);
        assertThat(shaper.dequeue(0)).isNull();
        shaper.enqueue(TestItem.of("p5", 0, 500), 600 * TestItem.MS); // 600 there, 500 of them for k
        shaper.enqueue(TestItem.of("p6", 0, 100), 600 * TestItem.MS);
        assertThat(TestItem.drainByDequeue(shaper, 600 * TestItem.MS)).isEqualTo("k p6");
        assertThat(dropped).hasToString("p4:RATE_EXCEEDED p5:RATE_EXCEEDED");
    }

    @Test
    void policedPacketsNeverWait() {
        for (long seed : Seeds.ofCommit(ShaperTest.class, 1_000)) {
            Random random = new Random(seed);
            bucket = new TokenBucket(1_000_000, 3000, 0);
            Shaper shaper = shaper(true);
            long nowNs = 0;
            for (int step = 0; step < 50; step++) {
                nowNs += random.nextInt(1_000_000);
                int taken = 0;
                for (int i = random.nextInt(4); i > 0; i--) {
                    int before = dropped.list.size();
                    shaper.enqueue(TestItem.of("", random.nextInt(2), 1 + random.nextInt(1500)), nowNs);
                    taken += before == dropped.list.size() ? 1 : 0;
                }
                for (; taken > 0; taken--) {
                    assertThat(shaper.dequeue(nowNs)).as("seed %d", seed).isNotNull();
                }
            }
        }
    }
}
