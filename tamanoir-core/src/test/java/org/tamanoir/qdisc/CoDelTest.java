package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;
import org.tamanoir.support.Seeds;

class CoDelTest {
    private static final double[] DROPS_MS = {
        100, 200, 270.711, 328.446, 378.446, 423.167, 463.992, 501.788, 537.144, 570.477
    };

    /** A queue with a backlog that stays, looked at every 100 ns. */
    private static final class Backlog {
        private static final long STEP_NS = 100;
        /** Waits for 6 ms. */
        private static final int LONG = (int) (6 * TestItem.MS / STEP_NS);

        final List<Double> dropsMs = new ArrayList<>();
        final List<Double> marksMs = new ArrayList<>();
        private final CoDel codel;
        private final boolean mayDrop;
        private long nowNs;

        Backlog(boolean mayDrop) {
            this.mayDrop = mayDrop;
            codel = new CoDel(TestItem.config(Map.of(), 1), (item, reason) -> {
                dropsMs.add((double) nowNs / TestItem.MS);
                arrive(item, nowNs);
            });
            for (int i = 0; i < LONG; i++) {
                arrive(new Item(), -6 * TestItem.MS + i * STEP_NS);
            }
        }

        private void arrive(Item item, long atNs) {
            item.describe(0, 1000, 0, mayDrop);
            codel.enqueue(item, atNs);
        }

        /** Serves and replaces what was served, so that all wait for 6 ms. */
        void keepUntil(double endMs) {
            for (; nowNs <= endMs * TestItem.MS; nowNs += STEP_NS) {
                Item item = TestItem.next(codel, nowNs);
                if (item.isMarked()) {
                    marksMs.add((double) nowNs / TestItem.MS);
                }
                arrive(item, nowNs);
            }
        }

        /** Serves until the next waits for a shorter time than the target. */
        void shrink() {
            while (codel.packets() > LONG / 2) {
                codel.dequeue(nowNs);
            }
        }

        /** Adds until the next waits for longer again. */
        void grow() {
            while (codel.packets() < LONG) {
                arrive(new Item(), nowNs);
            }
            nowNs += 6 * TestItem.MS;
        }
    }

    @Test
    void dropsAtTheTimesOfTheVector() {
        Backlog backlog = new Backlog(true);
        backlog.keepUntil(571);
        assertTimes(backlog.dropsMs);
        assertThat(backlog.marksMs).isEmpty();
    }

    @Test
    void marksAtTheSameTimesWhatMustNotBeDropped() {
        Backlog backlog = new Backlog(false);
        backlog.keepUntil(571);
        assertTimes(backlog.marksMs);
        assertThat(backlog.dropsMs).isEmpty();
    }

    private static void assertTimes(List<Double> actualMs) {
        assertThat(actualMs).hasSize(DROPS_MS.length);
        for (int i = 0; i < DROPS_MS.length; i++) {
            assertThat(actualMs.get(i)).isCloseTo(DROPS_MS[i], within(0.001));
        }
    }

    @Test
    void beginsWhereItLeftOffWhenTheDelayComesBackSoon() {
        Backlog backlog = new Backlog(true);
        backlog.keepUntil(571);
        backlog.shrink();
        backlog.grow();
        backlog.dropsMs.clear();
        double againMs = (double) backlog.nowNs / TestItem.MS;
        backlog.keepUntil(againMs + 180);
        // Ten drops before, one of them at the start: it goes on with nine.
        assertThat(backlog.dropsMs.get(0)).isCloseTo(againMs + 100, within(0.001));
        assertThat(backlog.dropsMs.get(1)).isCloseTo(againMs + 100 + 100 / 3.0, within(0.001));
        assertThat(backlog.dropsMs.get(2)).isCloseTo(againMs + 100 + 100 / 3.0 + 100 / Math.sqrt(10), within(0.001));
    }

    @Test
    void beginsAnewWhenTheDelayComesBackLate() {
        Backlog backlog = new Backlog(true);
        backlog.keepUntil(571);
        backlog.shrink();
        backlog.nowNs += 1700 * TestItem.MS;
        while (backlog.codel.dequeue(backlog.nowNs) != null) {
            backlog.nowNs += 1;
        }
        backlog.grow();
        backlog.dropsMs.clear();
        double againMs = (double) backlog.nowNs / TestItem.MS;
        backlog.keepUntil(againMs + 210);
        assertThat(backlog.dropsMs).hasSize(2);
        assertThat(backlog.dropsMs.get(1) - backlog.dropsMs.get(0)).isCloseTo(100, within(0.001));
    }

    @Test
    void dropsNothingWhenTheDelayFallsBelowTheTargetOnceInEachInterval() {
        Dropped dropped = new Dropped();
        CoDel codel = new CoDel(TestItem.config(Map.of(), 1), dropped);
        for (int ms = 0; ms < 2000; ms++) {
            codel.enqueue(TestItem.of("", 0, 1000), ms * TestItem.MS);
            // A burst of 50 each 80 ms, served at one a millisecond.
            if (ms % 80 == 0) {
                for (int i = 0; i < 50; i++) {
                    codel.enqueue(TestItem.of("", 0, 1000), ms * TestItem.MS);
                }
            }
            codel.dequeue(ms * TestItem.MS);
            if (ms % 80 == 79) {
                while (codel.packets() > 0) {
                    codel.dequeue(ms * TestItem.MS);
                }
                codel.enqueue(TestItem.of("", 0, 1000), ms * TestItem.MS);
                codel.dequeue(ms * TestItem.MS);
            }
        }
        assertThat(dropped).hasToString("");
    }

    @Test
    void leavesAQueueOfOneLargestPacketAlone() {
        Dropped dropped = new Dropped();
        CoDel codel = new CoDel(TestItem.config(Map.of(), 1), dropped);
        codel.enqueue(TestItem.of("", 0, 1000), 0);
        for (int i = 0; i < 100; i++) {
            codel.enqueue(TestItem.of("", 0, 1000), i * 50 * TestItem.MS);
            assertThat(codel.dequeue((i + 1) * 50 * TestItem.MS)).isNotNull();
        }
        assertThat(dropped).hasToString("");
    }

    @Test
    void forgetsTheLargestPacketWhenTheQueueIsEmpty() {
        Dropped dropped = new Dropped();
        CoDel codel = new CoDel(TestItem.config(Map.of(), 1), dropped);
        codel.enqueue(TestItem.of("large", 0, 60_000), 0);
        assertThat(codel.dequeue(0)).hasToString("large");
        for (int i = 1; i <= 10; i++) {
            codel.enqueue(TestItem.of("p" + i, 0, 1000), 0);
        }
        assertThat(codel.dequeue(10 * TestItem.MS)).hasToString("p1");
        assertThat(codel.dequeue(110 * TestItem.MS)).hasToString("p3");
        assertThat(dropped).hasToString("p2:QUEUE_DELAY");
    }

    @Test
    void countsNoTimeWhileTheClockIsBehind() {
        Dropped dropped = new Dropped();
        CoDel codel = new CoDel(TestItem.config(Map.of(), 1), dropped);
        long lateNs = 3_600L * TestItem.SECOND;
        codel.enqueue(TestItem.of("p0", 0, 1000), lateNs);
        for (int i = 1; i <= 10; i++) {
            codel.enqueue(TestItem.of("p" + i, 0, 1000), 0); // the clock stepped back by an hour
        }
        assertThat(codel.dequeue(1)).hasToString("p0");
        assertThat(codel.dequeue(lateNs + 4 * TestItem.MS)).hasToString("p1"); // waited for 4 ms, not for an hour
        assertThat(codel.dequeue(lateNs + 104 * TestItem.MS)).hasToString("p2");
        assertThat(dropped).hasToString("");
        assertThat(codel.dequeue(lateNs + 204 * TestItem.MS)).hasToString("p4");
        assertThat(dropped).hasToString("p3:QUEUE_DELAY");
    }

    @Test
    void refusesWhatExceedsItsLimits() {
        Dropped dropped = new Dropped();
        CoDel codel = new CoDel(TestItem.config(Map.of("limit-packets", "2", "limit-bytes", "100")), dropped);
        codel.enqueue(TestItem.of("a", -1, 50), 0);
        codel.enqueue(TestItem.of("b", -1, 51), 0);
        codel.enqueue(TestItem.of("c", -1, 1), 0);
        codel.enqueue(TestItem.of("d", -1, 1), 0);
        codel.enqueue(TestItem.keep("e", -1, 1000), 0);
        assertThat(dropped).hasToString("b:QUEUE_FULL d:QUEUE_FULL");
        assertThat(TestItem.drainByDequeue(codel, 1)).isEqualTo("a c e");
    }

    /** A sender that halves its window on a drop and widens it by a packet each round trip of 50 ms. */
    @Test
    void takesTheStandingQueueOfAWindowedSenderAway() {
        long roundTripNs = 50 * TestItem.MS;
        double[] window = {300};
        int[] inFlight = {0};
        long[] halvedNs = {-roundTripNs};
        long[] nowNs = {0};
        CoDel codel = new CoDel(TestItem.config(Map.of(), 1), (item, reason) -> {
            inFlight[0]--;
            if (nowNs[0] - halvedNs[0] >= roundTripNs) {
                window[0] = Math.max(2, window[0] / 2);
                halvedNs[0] = nowNs[0];
            }
        });
        PriorityQueue<Long> acknowledged = new PriorityQueue<>();
        long leastNs = Long.MAX_VALUE;
        long firstNs = 0;
        for (; nowNs[0] < 20 * TestItem.SECOND; nowNs[0] += TestItem.MS) {
            while (!acknowledged.isEmpty() && acknowledged.element() <= nowNs[0]) {
                acknowledged.remove();
                inFlight[0]--;
                window[0] += 1 / window[0];
            }
            for (; inFlight[0] < (int) window[0]; inFlight[0]++) {
                codel.enqueue(TestItem.of("", 0, 1250), nowNs[0]);
            }
            Item item = codel.dequeue(nowNs[0]); // 10 Mbit/s: one a millisecond
            if (item != null) {
                acknowledged.add(nowNs[0] + roundTripNs);
                long waitedNs = nowNs[0] - item.enqueuedNs();
                firstNs = nowNs[0] < TestItem.SECOND ? Math.max(firstNs, waitedNs) : firstNs;
                leastNs = Math.min(leastNs, waitedNs);
            }
            if (nowNs[0] % TestItem.SECOND == 0) {
                assertThat(leastNs).as("standing queue at %d ns", nowNs[0]).satisfies(least -> {
                    if (nowNs[0] > 3 * TestItem.SECOND) {
                        assertThat(least).isLessThanOrEqualTo(5 * TestItem.MS);
                    }
                });
                leastNs = Long.MAX_VALUE;
            }
        }
        assertThat(firstNs).as("it was there").isGreaterThan(100 * TestItem.MS);
    }

    @Test
    void takesSquareRootsExactly() {
        long seed = Seeds.ofCommit(CoDelTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(10_000); i++) {
            long square = random.nextLong(1L << 1 + random.nextInt(62));
            long root = CoDelQueue.squareRoot(square);
            assertThat(root * root).as("%d", square).isLessThanOrEqualTo(square);
            assertThat((root + 1) * (root + 1)).as("%d", square).isGreaterThan(square);
        }
    }
}
