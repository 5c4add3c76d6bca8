package org.tamanoir.benchmarks.element;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.cluster.element.ElementModel;
import org.tamanoir.cluster.element.ElementModel.Mode;

/** Runs in virtual time, each made once. One thread. */
final class Runs {
    /** Of the paper's sweep, in Mb/s of payload. */
    static final List<Integer> RATES =
            IntStream.rangeClosed(1, 10).map(each -> 100 * each).boxed().toList();

    static final int MOST_UNITS = 6;

    private record Key(Mode mode, int units, int megabits) {}

    private final Map<Key, ElementModel.Run> made = new HashMap<>();
    private final int packets;
    private final long seed;

    /** @param packets of each run */
    Runs(int packets, long seed) {
        this.packets = packets;
        this.seed = seed;
    }

    ElementModel.Run of(Mode mode, int units, int megabits) {
        return made.computeIfAbsent(
                new Key(mode, units, megabits),
                key -> ElementModel.run(mode, units, megabits, packets, seed + 10_000L * units + megabits));
    }

    int packets() {
        return packets;
    }

    long seed() {
        return seed;
    }
}
