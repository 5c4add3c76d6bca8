package org.tamanoir.arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ArenaTest {
    private final Arena arena = new Arena();

    private static void write(Slot slot, long value) {
        slot.begin();
        for (int field = 0; field < Slot.FIELDS; field++) {
            slot.set(field, value);
        }
        slot.end();
    }

    @Test
    void aReaderSeesAChangeWholeOrNotAtAll() throws Exception {
        Slot slot = arena.take();
        AtomicBoolean ended = new AtomicBoolean();
        Thread writer = new Thread(() -> {
            for (long value = 1; !ended.get(); value++) {
                write(slot, value);
            }
        });
        writer.start();
        try {
            long[] seen = new long[Slot.FIELDS];
            long[] read = {0};
            eventually().until(() -> {
                for (int i = 0; i < 10_000; i++) {
                    if (slot.read(seen)) {
                        read[0]++;
                        assertThat(Arrays.stream(seen).allMatch(each -> each == seen[0]))
                                .isTrue();
                    }
                }
                return read[0] >= 100_000;
            });
        } finally {
            ended.set(true);
            writer.join();
        }
    }

    @Test
    void aReaderDoesNotWaitForAWriterThatStandsStill() {
        Slot slot = arena.take();
        slot.begin();
        slot.set(0, 7);
        assertThat(slot.read(new long[Slot.FIELDS])).isFalse();
    }

    @Test
    void aSlotThatWasGivenBackIsTakenAnewAndEmpty() {
        Slot before = arena.take();
        write(before, 7);
        arena.give(before);
        Slot next = arena.take();
        long[] seen = new long[Slot.FIELDS];
        assertThat(next.index()).isEqualTo(before.index());
        assertThat(next.read(seen)).isTrue();
        assertThat(seen).containsOnly(0);
    }

    @Test
    void whoGaveItsSlotBackWritesToNoOther() {
        Slot kept = arena.give(arena.take());
        Slot next = arena.take();
        write(kept, 7);
        long[] seen = new long[Slot.FIELDS];
        assertThat(next.read(seen)).isTrue();
        assertThat(seen).containsOnly(0);
    }

    @Test
    void aSlotBeyondTheRegionWorksAlike() {
        for (int i = 0; i < Arena.SLOTS; i++) {
            arena.take();
        }
        Slot outside = arena.take();
        write(outside, 7);
        long[] seen = new long[Slot.FIELDS];
        assertThat(outside.index()).isEqualTo(Slot.OUTSIDE);
        assertThat(outside.read(seen)).isTrue();
        assertThat(seen).containsOnly(7);
    }
}
