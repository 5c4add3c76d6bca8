package org.tamanoir.ready;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class ReadyQueueTest {
    private final ReadyQueue queue = new ReadyQueue(8);
    private final int[] taken = new int[8];

    @Test
    void highestPriorityIsTakenFirst() {
        queue.put(1, 63);
        queue.put(2, 0);
        queue.put(3, 17);
        assertThat(take(1)).containsExactly(2);
        assertThat(take(1)).containsExactly(3);
        assertThat(take(1)).containsExactly(1);
        assertThat(take(1)).isEmpty();
    }

    @Test
    void onePriorityIsTakenInItsOrder() {
        for (int lap = 0; lap < 5; lap++) { // More than once round the ring.
            for (int i = 0; i < 5; i++) {
                queue.put(i - 2, 4);
            }
            assertThat(take(8)).containsExactly(-2, -1, 0, 1, 2);
        }
    }

    @Test
    void severalAreTakenOfOnePriorityAlone() {
        queue.put(1, 5);
        queue.put(2, 5);
        queue.put(3, 5);
        queue.put(4, 6);
        assertThat(take(2)).containsExactly(1, 2);
        assertThat(take(8)).containsExactly(3);
        assertThat(take(8)).containsExactly(4);
    }

    @Test
    void fullPriorityTakesNoMoreAndOthersDo() {
        for (int i = 0; i < 8; i++) {
            assertThat(queue.put(i, 9)).isTrue();
        }
        assertThat(queue.put(8, 9)).isFalse();
        assertThat(queue.put(8, 10)).isTrue();
        assertThat(take(1)).containsExactly(0);
        assertThat(queue.put(8, 9)).isTrue();
    }

    @Test
    void anyOrderOfCallsAgreesWithLists() {
        Random random = new Random(Seeds.ofCommit(ReadyQueueTest.class));
        QueueModel model = new QueueModel(8);
        for (int i = 0; i < Seeds.scaled(200_000); i++) {
            if (random.nextBoolean()) {
                int priority = random.nextInt(ReadyQueue.PRIORITIES);
                assertThat(queue.put(i, priority)).isEqualTo(model.put(i, priority));
            } else {
                int limit = 1 + random.nextInt(8);
                assertThat(take(limit)).isEqualTo(model.take(limit));
            }
        }
    }

    @Test
    void capacityOutOfBoundsIsRefused() {
        assertThatThrownBy(() -> new ReadyQueue(1)).hasMessage("capacity 1: must be from 2 to 1048576");
    }

    private int[] take(int limit) {
        return Arrays.copyOf(taken, queue.take(taken, limit));
    }
}
