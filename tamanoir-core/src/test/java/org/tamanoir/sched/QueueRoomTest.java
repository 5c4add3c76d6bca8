package org.tamanoir.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.support.Seeds;

/** Who is held back by a queue that one class of turns, or several, fill. */
class QueueRoomTest {
    private static final long SEED = Seeds.ofCommit(QueueRoomTest.class);
    private static final long[] IN_ORDER = {};

    /** A queue in the order of arrival, which the classes that are not held back fill. */
    private static final class Queue {
        static final int STREAM_BYTES = 1 << 20;

        final QueueRoom room;
        final Deque<Integer> bytes = new ArrayDeque<>();
        final long[] comeBytes = new long[Long.SIZE];

        Queue(int limitPackets, int limitBytes, long... weights) {
            TrafficClass limits = new TrafficClass("queue", Set.of(), 1, limitPackets, limitBytes);
            room = new QueueRoom(limits, 0, weights, STREAM_BYTES);
        }

        boolean isHeldBack(int turnClass) {
            return (room.heldBack() >>> turnClass & 1) != 0;
        }

        Queue come(int turnClass, int packetBytes) {
            room.come(turnClass, packetBytes);
            bytes.add(packetBytes);
            comeBytes[turnClass] += packetBytes;
            return this;
        }

        void leave() {
            room.leave(bytes.remove());
        }

        /** Has packets of a class come until it is held back; returns how many. */
        int fill(int turnClass, int packetBytes) {
            int packets = 0;
            while (!isHeldBack(turnClass)) {
                come(turnClass, packetBytes);
                packets++;
            }
            return packets;
        }

        /** Has packets leave until a class is not held back any more. */
        void drain(int turnClass) {
            while (isHeldBack(turnClass)) {
                leave();
            }
        }
    }

    @Test
    void aClassIsHeldBackByTheQueueThatItsPacketsFill() {
        Queue queue = new Queue(160, 1 << 20, 70, 30);
        assertThat(queue.fill(0, 100)).isEqualTo(150);
        assertThat(queue.isHeldBack(1)).describedAs("nothing of it waits here").isFalse();
        queue.drain(0);
        assertThat(queue.bytes).hasSize(120);
        queue.drain(0);
        queue.come(1, 100);
        assertThat(queue.isHeldBack(1)).isFalse();
    }

    @Test
    void roomIsDividedByWeightWhoeverComesFirst() {
        Queue queue = new Queue(1600, 1 << 20, 70, 30);
        queue.come(1, 100);
        queue.fill(0, 100);
        assertThat(queue.isHeldBack(1)).isTrue();
        for (int round = 0; round < 10; round++) {
            queue.drain(0);
            assertThat(queue.isHeldBack(1)).isFalse();
            assertThat(queue.fill(0, 100)).isEqualTo(210);
            assertThat(queue.fill(1, 100)).isEqualTo(90);
        }
    }

    /** Else a class with one stream could not use its part. */
    @Test
    void aQueueThatSeveralFeedIsFilledNoFurtherThanOneStreamCan() {
        Queue queue = new Queue(100_000, 4 * Queue.STREAM_BYTES, 70, 30);
        assertThat(queue.fill(0, 1024)).describedAs("alone, 15/16").isEqualTo(3840);
        queue.come(1, 1024);
        queue.drain(0);
        assertThat(queue.bytes).describedAs("12/15 of the stream's").hasSize(819);
        queue.fill(0, 1024);
        queue.fill(1, 1024);
        assertThat(queue.bytes)
                .describedAs("the stream's, in whole packets of each")
                .hasSizeBetween(1024, 1026);
    }

    @Test
    void aPartThatIsOverdrawnIsPaidForAndOneThatIsNotUsedLapses() {
        Queue queue = new Queue(1600, 1 << 20, 50, 50);
        queue.come(1, 100);
        queue.fill(0, 100);
        queue.drain(0);
        assertThat(queue.fill(0, 10_000))
                .describedAs("two of 10,000 are more than 15,000")
                .isEqualTo(2);
        queue.drain(0);
        assertThat(queue.isHeldBack(1)).isFalse();
    }

    @Test
    void inAnOrderEveryoneIsHeldBackTogether() {
        Queue queue = new Queue(160, 1 << 20, IN_ORDER);
        queue.come(1, 100);
        assertThat(queue.fill(0, 100)).isEqualTo(149);
        assertThat(queue.isHeldBack(1)).isTrue();
        queue.drain(0);
        assertThat(queue.isHeldBack(1)).isFalse();
        assertThat(queue.fill(0, 100)).isEqualTo(30);
    }

    @Test
    void whatOthersKeepFullLetsAClassInOnceAllHasLeftThatWasThere() {
        Queue queue = new Queue(160, 1 << 20, 1, 1);
        queue.fill(0, 100);
        for (int i = 0; i < 149; i++) {
            queue.room.come(LinkItem.NO_TURN, 100);
            queue.bytes.add(100);
            queue.leave();
            assertThat(queue.isHeldBack(0)).isTrue();
        }
        queue.leave();
        assertThat(queue.isHeldBack(0)).isFalse();
    }

    @Test
    void packetsThatNeedNoTurnHaveAPartOfTheQueuesClass() {
        Queue queue = new Queue(1600, 1 << 20, 1, 2);
        for (int i = 0; i < 1600; i++) {
            queue.come(LinkItem.NO_TURN, 100);
        }
        assertThat(queue.room.isUsedUp(LinkItem.NO_TURN))
                .describedAs("nobody else comes")
                .isFalse();
        queue.room.refuse(1);
        assertThat(queue.isHeldBack(1)).isTrue();
        queue.drain(1);
        int packets = 0;
        while (!queue.room.isUsedUp(LinkItem.NO_TURN)) {
            queue.come(LinkItem.NO_TURN, 100);
            packets++;
        }
        queue.room.refuse(LinkItem.NO_TURN);
        assertThat(queue.fill(1, 100)).isEqualTo(2 * packets);
    }

    @Test
    void whatTheDisciplineDoesNotTakeCostsNothing() {
        Queue queue = new Queue(1600, 1 << 20, 70, 30);
        queue.come(1, 100);
        queue.fill(0, 100);
        queue.drain(0);
        for (int i = 0; i < 10_000; i++) {
            queue.room.come(0, 100);
            queue.room.takeBack(0, 100);
        }
        assertThat(queue.fill(0, 100)).isEqualTo(210);
    }

    @Test
    void noClassIsHeldBackByAnEmptyQueue() {
        Queue queue = new Queue(1, 65_536, 1, 1_000_000);
        queue.room.refuse(0);
        assertThat(queue.room.heldBack()).isZero();
        queue.come(0, 100).come(1, 60_000);
        queue.room.refuse(1);
        assertThat(queue.room.heldBack()).isEqualTo(3);
        queue.leave();
        queue.leave();
        assertThat(queue.room.heldBack()).isZero();
    }

    /** Some classes always have something, others now and then; who has a turn first is by chance. */
    @Test
    void classesThatAlwaysHaveSomethingShareBytesByWeight() {
        for (int round = 0; round < Seeds.scaled(200); round++) {
            Random random = new Random(SEED + round);
            int classes = 2 + random.nextInt(5);
            long[] weights = random.longs(classes, 10, 40).toArray();
            Queue queue = new Queue(100 + random.nextInt(1000), (1 << 18) + random.nextInt(1 << 20), weights);
            long[] before = {};
            for (int step = 0; step < 12_000; step++) {
                before = step == 2_000 ? queue.comeBytes.clone() : before;
                int first = random.nextInt(classes);
                for (int i = first; i < first + classes; i++) {
                    int turnClass = i % classes;
                    if (turnClass < 2) {
                        while (!queue.isHeldBack(turnClass)) {
                            queue.come(turnClass, 60 + random.nextInt(1400));
                        }
                    } else if (random.nextInt(20) == 0 && !queue.isHeldBack(turnClass)) {
                        queue.come(turnClass, 60 + random.nextInt(1400));
                    }
                }
                for (int i = random.nextInt(4); i > 0 && !queue.bytes.isEmpty(); i--) {
                    queue.leave();
                }
            }
            double first = (queue.comeBytes[0] - before[0]) / (double) weights[0];
            double second = (queue.comeBytes[1] - before[1]) / (double) weights[1];
            assertThat(first / second)
                    .describedAs("-Dtamanoir.seed=%d round %d, weights %s", SEED, round, Arrays.toString(weights))
                    .isBetween(0.95, 1.05);
        }
    }
}
