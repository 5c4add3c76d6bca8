package org.tamanoir.arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ArenaTest {
    private final Arena arena = new Arena();

    private Slot take() {
        return arena.take(SlotKind.LINK, "any");
    }

    private static void write(Slot slot, long value) {
        for (int field = 0; field < Slot.FIELDS; field++) {
            slot.set(field, value);
        }
    }

    private static long[] read(Slot slot) {
        return IntStream.range(0, Slot.FIELDS).mapToLong(slot::get).toArray();
    }

    @Test
    void aReaderSeesNoNumberHalfWrittenAndTheLastInTheEnd() throws Exception {
        Slot slot = take();
        Thread writer = new Thread(() -> {
            for (long value = 1; value <= 1_000_000; value++) {
                slot.set(1, value << 32 | value);
            }
        });
        writer.start();
        eventually().until(() -> {
            long seen = slot.get(1);
            assertThat(seen >>> 32).isEqualTo(seen & 0xFFFFFFFFL);
            return seen == (1_000_000L << 32 | 1_000_000);
        });
        writer.join();
    }

    @Test
    void numbersOfASlotAreItsOwn() {
        Slot one = take();
        Slot next = take();
        write(one, 7);
        assertThat(read(next)).containsOnly(0);
        assertThat(read(one)).containsOnly(7);
    }

    @Test
    void aSlotThatWasGivenBackIsTakenAnewAndEmpty() {
        Slot before = take();
        write(before, 7);
        arena.give(before);
        Slot next = take();
        assertThat(next.index()).isEqualTo(before.index());
        assertThat(read(next)).containsOnly(0);
    }

    @Test
    void whoGaveItsSlotBackWritesToNoOther() {
        Slot kept = arena.give(take());
        Slot next = take();
        write(kept, 7);
        assertThat(read(next)).containsOnly(0);
    }

    @Test
    void aSlotBeyondTheRegionWorksAlike() {
        for (int i = 0; i < Arena.SLOTS; i++) {
            take();
        }
        Slot outside = take();
        write(outside, 7);
        assertThat(outside.index()).isEqualTo(Slot.OUTSIDE);
        assertThat(read(outside)).containsOnly(7);
    }
}
