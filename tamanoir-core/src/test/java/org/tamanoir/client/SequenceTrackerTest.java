package org.tamanoir.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.client.SequenceTracker.Outcome;
import org.tamanoir.support.Seeds;

class SequenceTrackerTest {
    private final SequenceTracker tracker = new SequenceTracker();

    @Test
    void packetsInOrderAreAllThere() {
        for (long sequence = 0; sequence < 3L * SequenceTracker.WINDOW_PACKETS; sequence++) {
            assertThat(tracker.track(sequence)).isEqualTo(Outcome.NEW);
        }
        assertThat(tracker.lost()).isZero();
        assertThat(tracker.received()).isEqualTo(3L * SequenceTracker.WINDOW_PACKETS);
    }

    @Test
    void aHoleIsLostUntilItsPacketComes() {
        tracker.track(0);
        tracker.track(3);
        assertThat(tracker.lost()).isEqualTo(2);
        assertThat(tracker.track(1)).isEqualTo(Outcome.REORDERED);
        assertThat(tracker.track(1)).isEqualTo(Outcome.DUPLICATE);
        assertThat(tracker.lost()).isEqualTo(1);
    }

    @Test
    void packetsLostAtTheBeginningCount() {
        tracker.track(5);
        assertThat(tracker.lost()).isEqualTo(5);
    }

    @Test
    void aPacketBehindTheWindowIsLate() {
        tracker.track(SequenceTracker.WINDOW_PACKETS);
        assertThat(tracker.track(1)).isEqualTo(Outcome.REORDERED);
        assertThat(tracker.track(0)).isEqualTo(Outcome.LATE);
    }

    @Test
    void aJumpOverTheWholeWindowLeavesNothingBehind() {
        for (int sequence = 0; sequence < 200; sequence++) {
            tracker.track(sequence);
        }
        long far = 10L * (SequenceTracker.WINDOW_PACKETS + 64) + 150;
        tracker.track(far);
        assertThat(tracker.track(far - 100)).isEqualTo(Outcome.REORDERED);
        assertThat(tracker.lost()).isEqualTo(far + 1 - 202);
    }

    @Test
    void aNegativeNumberIsLateAndChangesNothingElse() {
        assertThat(tracker.track(Long.MIN_VALUE)).isEqualTo(Outcome.LATE);
        assertThat(tracker.track(-1)).isEqualTo(Outcome.LATE);
    }

    @Test
    void agreesWithASetOnRandomLossDuplicatesAndReordering() {
        long seed = Seeds.ofCommit(SequenceTrackerTest.class);
        Random random = new Random(seed);
        List<Long> sent = new ArrayList<>();
        for (long sequence = 0; sequence < 100_000; sequence++) {
            int copies = random.nextInt(20) == 0 ? random.nextInt(3) : 1;
            sent.addAll(Collections.nCopies(copies, sequence));
        }
        for (int i = 0; i + 500 < sent.size(); i += 100) {
            Collections.swap(sent, i, i + random.nextInt(500));
        }
        Set<Long> came = new HashSet<>();
        long duplicates = 0;
        for (long sequence : sent) {
            tracker.track(sequence);
            duplicates += came.add(sequence) ? 0 : 1;
        }
        assertThat(tracker.received()).as("seed %d", seed).isEqualTo(came.size());
        assertThat(tracker.duplicates()).as("seed %d", seed).isEqualTo(duplicates);
        assertThat(tracker.lost()).as("seed %d", seed).isEqualTo(Collections.max(came) + 1 - came.size());
        assertThat(tracker.late()).as("seed %d", seed).isZero();
    }
}
