package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Contexts join what they keep while the service's thread pays for what they have finished. */
class KeptAllowanceTest {
    private static final long BYTES = 400;

    private static KeptAllowance of(long bytes) {
        KeptAllowance kept = new KeptAllowance(BYTES);
        kept.add(bytes, 0, 1, new UdpReactionTest.Source());
        return kept;
    }

    private static void together(Runnable... works) throws Exception {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Runnable work : works) {
            Thread thread = new Thread(work);
            thread.setUncaughtExceptionHandler((of, e) -> {
                synchronized (failures) {
                    failures.add(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    /** An empty one is joined with a full one: the full one pays all the time, whichever of the two has it meanwhile. */
    @Test
    void whatIsThereIsThereWhileItIsJoined() throws Exception {
        int pairs = 200_000;
        KeptAllowance[] empty = new KeptAllowance[pairs];
        KeptAllowance[] full = new KeptAllowance[pairs];
        for (int i = 0; i < pairs; i++) {
            empty[i] = of(0);
            full[i] = of(BYTES);
        }
        int[] refused = new int[1];
        together(
                () -> IntStream.range(0, pairs).forEach(i -> empty[i].join(full[i], 2)),
                () -> IntStream.range(0, pairs).forEach(i -> refused[0] += full[i].pay(false, BYTES) ? 0 : 1));
        assertThat(refused[0]).isZero();
    }

    @Test
    void nothingIsLostOrMadeWhereThreadsJoinAcrossEachOther() throws Exception {
        int count = 20_000;
        KeptAllowance[] all = IntStream.range(0, count).mapToObj(i -> of(BYTES)).toArray(KeptAllowance[]::new);
        together(
                () -> IntStream.range(1, count).forEach(i -> all[i - 1].join(all[i], count)),
                () -> IntStream.range(1, count).forEach(i -> all[count - i].join(all[count - i - 1], count)));
        assertThat(all[count / 2].pay(false, count * BYTES)).isTrue();
        assertThat(all[0].pay(false, 1)).isFalse();
    }
}
