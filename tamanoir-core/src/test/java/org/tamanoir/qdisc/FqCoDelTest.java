package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;

class FqCoDelTest {
    /** 10 Mbit/s. */
    private static final long BYTES_PER_SECOND = 1_250_000;

    private final Dropped dropped = new Dropped();

    private FqCoDel fqCoDel(Map<String, String> options) {
        return new FqCoDel(TestItem.config(options, 1), dropped);
    }

    @Test
    void dropsFromTheHeadOfTheFattestFlow() {
        FqCoDel queue = fqCoDel(Map.of("limit", "4"));
        for (String name : new String[] {"a1", "a2", "a3"}) {
            queue.enqueue(TestItem.of(name, 1, 120), 0);
        }
        queue.enqueue(TestItem.of("b1", 2, 120), 0);
        assertThat(dropped).hasToString("");
        queue.enqueue(TestItem.of("b2", 2, 120), 0);
        assertThat(dropped).hasToString("a1:QUEUE_FULL a2:QUEUE_FULL");
        assertThat(queue.packets()).isEqualTo(3);
        assertThat(TestItem.drainByDequeue(queue, 0)).isEqualTo("a3 b1 b2");
    }

    @Test
    void movesFlowsBetweenTheListsAsTheirDeficitsSay() {
        FqCoDel queue = fqCoDel(Map.of("quantum", "90"));
        queue.enqueue(TestItem.of("a1", 1, 120), 0);
        assertThat(queue.dequeue(0)).hasToString("a1");
        assertThat(queue.deficit(1)).isEqualTo(-30);
        for (String name : new String[] {"a2", "a3"}) {
            queue.enqueue(TestItem.of(name, 1, 120), 0);
        }
        for (String name : new String[] {"b1", "b2"}) {
            queue.enqueue(TestItem.of(name, 2, 120), 0);
        }
        assertThat(queue.dequeue(0)).hasToString("b1");
        check(queue, 1, 60, false);
        check(queue, 2, -30, true);
        assertThat(queue.dequeue(0)).hasToString("a2");
        check(queue, 1, -60, false);
        check(queue, 2, 60, false);
        assertThat(queue.dequeue(0)).hasToString("b2");
        check(queue, 1, 30, false);
        check(queue, 2, -60, false);
    }

    private static void check(FqCoDel queue, long hash, long deficit, boolean isNew) {
        assertThat(queue.deficit(hash)).isEqualTo(deficit);
        assertThat(queue.isNew(hash)).isEqualTo(isNew);
        assertThat(queue.isOld(hash)).isEqualTo(!isNew);
    }

    @Test
    void dropsWhatFitsNoClassAndMakesNoQueueForIt() {
        FqCoDel queue = fqCoDel(Map.of());
        TestItem item = TestItem.of("a", -1, 100);
        queue.enqueue(item, 3);
        assertThat(dropped).hasToString("a:UNCLASSIFIED");
        assertThat(queue.packets()).isZero();
        assertThat(queue.isNew(item.hash())).isFalse();
        queue.enqueue(TestItem.keep("b", -1, 100), 3);
        assertThat(queue.dequeue(3)).hasToString("b");
    }

    @Test
    void anEmptyFlowOfTheNewListWaitsBehindTheOldOnes() {
        FqCoDel queue = fqCoDel(Map.of("quantum", "100"));
        for (int i = 1; i <= 4; i++) {
            queue.enqueue(TestItem.of("a" + i, 1, 100), 0);
        }
        assertThat(queue.dequeue(0)).hasToString("a1");
        queue.enqueue(TestItem.of("b1", 2, 50), 0);
        assertThat(queue.dequeue(0)).hasToString("b1");
        assertThat(queue.isNew(2)).isTrue();
        assertThat(queue.dequeue(0)).hasToString("a2");
        check(queue, 2, 50, false);
        queue.enqueue(TestItem.of("b2", 2, 50), 0);
        assertThat(queue.dequeue(0)).hasToString("b2");
    }

    @Test
    void dropsNoMoreThanABatchAtOnce() {
        FqCoDel queue = fqCoDel(Map.of("limit", "100", "drop-batch", "3"));
        for (int i = 0; i <= 100; i++) {
            queue.enqueue(TestItem.of("" + i, 1, 100), 0);
        }
        assertThat(dropped).hasToString("0:QUEUE_FULL 1:QUEUE_FULL 2:QUEUE_FULL");
    }

    @Test
    void dropsUntilTheMemoryIsEnough() {
        FqCoDel queue = fqCoDel(Map.of("memory", "1000"));
        for (int i = 1; i <= 5; i++) {
            queue.enqueue(TestItem.of("a" + i, 1, 200), 0);
        }
        queue.enqueue(TestItem.of("b", 2, 900), 0);
        assertThat(queue.bytes()).isLessThanOrEqualTo(1000);
        assertThat(dropped).hasToString("a1:QUEUE_FULL a2:QUEUE_FULL a3:QUEUE_FULL b:QUEUE_FULL");
        queue.enqueue(TestItem.of("c", 3, 1001), 0);
        assertThat(dropped.list).contains("c:QUEUE_FULL");
        assertThat(queue.bytes()).isLessThanOrEqualTo(1000);
    }

    @Test
    void shedsOnlyWhatMayBeDropped() {
        FqCoDel queue = fqCoDel(Map.of("limit", "4"));
        TestItem first = TestItem.keep("k1", 1, 1000);
        queue.enqueue(first, 0);
        queue.enqueue(TestItem.of("a1", 1, 100), 0);
        queue.enqueue(TestItem.keep("k2", 1, 1000), 0);
        queue.enqueue(TestItem.of("a2", 1, 100), 0);
        queue.enqueue(TestItem.keep("k3", 2, 100), 0);
        assertThat(dropped).hasToString("a1:QUEUE_FULL");
        assertThat(first.isMarked()).isTrue();
        queue.enqueue(TestItem.keep("k4", 1, 100), 0);
        queue.enqueue(TestItem.keep("k5", 2, 100), 0);
        assertThat(dropped).hasToString("a1:QUEUE_FULL a2:QUEUE_FULL");
        queue.enqueue(TestItem.of("b", 3, 100), 0);
        assertThat(dropped).hasToString("a1:QUEUE_FULL a2:QUEUE_FULL b:QUEUE_FULL");
        assertThat(queue.packets()).isEqualTo(5);
    }

    @Test
    void keepsTheDelayOfASparseFlowBelowAQuantumOfEachActiveOne() {
        Link link = new Link(1250, 1250, 1250, 1250);
        long quantaNs = 4 * 1514 * TestItem.SECOND / BYTES_PER_SECOND;
        long sparseNs = 100 * TestItem.MS; // the others are new themselves before
        int served = 0;
        while (link.nowNs < 10 * TestItem.SECOND) {
            for (; sparseNs <= link.nowNs; sparseNs += 10 * TestItem.MS) {
                link.queue.enqueue(TestItem.of("", 4, 100), link.nowNs);
            }
            long nowNs = link.nowNs;
            Item item = link.serve();
            if (item.flow() == 4) {
                served++;
                assertThat(nowNs - item.enqueuedNs()).isLessThanOrEqualTo(quantaNs);
            }
        }
        assertThat(served).isEqualTo(990);
    }

    @Test
    void sharesEquallyBetweenFlowsOfDifferentSizes() {
        Link link = new Link(1500, 300);
        while (link.nowNs < 10 * TestItem.SECOND) {
            link.serve();
        }
        double sum = link.served[0] + link.served[1];
        double squares = link.served[0] * link.served[0] + link.served[1] * link.served[1];
        assertThat(sum * sum / (2 * squares)).as("Jain's index").isGreaterThanOrEqualTo(0.99);
        assertThat(link.lost).as("the queues were too long all the time").isPositive();
    }

    /** A link with flows that have 50 packets inside at any time, each flow's of one size. */
    private static final class Link {
        final FqCoDel queue;
        final double[] served;
        private final int[] sizes;
        private final int[] inside;
        private long lost;
        private long nowNs;

        Link(int... sizes) {
            this.sizes = sizes;
            served = new double[sizes.length];
            inside = new int[sizes.length];
            queue = new FqCoDel(TestItem.config(Map.of(), 1), (item, reason) -> {
                inside[item.flow()]--;
                lost++;
            });
        }

        Item serve() {
            for (int flow = 0; flow < sizes.length; flow++) {
                for (; inside[flow] < 50; inside[flow]++) {
                    queue.enqueue(TestItem.of("", flow, sizes[flow]), nowNs);
                }
            }
            Item item = TestItem.next(queue, nowNs);
            if (item.flow() < sizes.length) {
                inside[item.flow()]--;
                served[item.flow()] += item.size();
            }
            nowNs += item.size() * TestItem.SECOND / BYTES_PER_SECOND;
            return item;
        }
    }
}
