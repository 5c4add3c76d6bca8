package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class RingTest {
    private static final int NUMBER = 4;

    /** Adds, frees anywhere, and gives up the oldest where there is no room; numbers tell entries apart wherever they lie. */
    @Test
    void randomEntriesStayInOrderAndKeepWhatIsInThem() {
        long seed = Seeds.ofCommit(RingTest.class);
        Random random = new Random(seed);
        Ring ring = new Ring(10_000);
        Deque<Integer> expected = new ArrayDeque<>();
        int moved = 0;
        for (int step = 0; step < Seeds.scaled(20_000); step++) {
            int bytes = 8 + random.nextInt(random.nextInt(20) == 0 ? 3_000 : 100);
            int at = ring.append(bytes);
            while (at == Ring.NONE) {
                if (ring.makeRoom(bytes)) {
                    moved++;
                } else {
                    ring.free(ring.oldest());
                    expected.removeFirst();
                }
                at = ring.append(bytes);
            }
            ring.memory().putInt(at + NUMBER, step);
            ring.memory().put(at + bytes - 1, (byte)
                    (bytes > NUMBER + 4 ? step : ring.memory().get(at + bytes - 1)));
            expected.addLast(step);
            for (int one = ring.oldest(); one != Ring.NONE; one = ring.after(one)) {
                int number = ring.memory().getInt(one + NUMBER);
                if (random.nextInt(30) == 0) {
                    ring.free(one);
                    expected.remove(number);
                    break;
                }
            }
            assertThat(numbers(ring)).as("seed %d step %d", seed, step).isEqualTo(new ArrayList<>(expected));
            assertThat(ring.usedBytes()).isLessThanOrEqualTo(10_000);
        }
        assertThat(moved).as("entries were moved").isPositive();
    }

    private static List<Integer> numbers(Ring ring) {
        List<Integer> numbers = new ArrayList<>();
        for (int one = ring.oldest(); one != Ring.NONE; one = ring.after(one)) {
            numbers.add(ring.memory().getInt(one + NUMBER));
        }
        return numbers;
    }

    @Test
    void anEntryMayTakeAllOfTheMemory() {
        Ring ring = new Ring(8_192);

        assertThat(ring.append(8_192)).isEqualTo(Ring.NONE);
        assertThat(ring.makeRoom(8_192)).isTrue();
        int at = ring.append(8_192);
        assertThat(at).isZero();
        assertThat(ring.append(8)).isEqualTo(Ring.NONE);
        assertThat(ring.after(at)).isEqualTo(Ring.NONE);
        ring.free(at);
        assertThat(ring.usedBytes()).isZero();
    }

    @Test
    void anEntryLargerThanTheMemoryHasNoRoom() {
        assertThat(new Ring(8_192).makeRoom(8_193)).isFalse();
    }
}
