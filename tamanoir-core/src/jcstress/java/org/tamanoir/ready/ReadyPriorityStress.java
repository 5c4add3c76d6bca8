package org.tamanoir.ready;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Who has put an int under a priority whose bit another thread clears is not brought a lower one in its place. */
@JCStressTest
@Outcome(
        id = {"2, 1", "1, 2"},
        expect = Expect.ACCEPTABLE)
@Outcome(expect = Expect.FORBIDDEN, desc = "a higher priority was passed over")
@State
public class ReadyPriorityStress {
    private final ReadyQueue queue = new ReadyQueue(2);

    public ReadyPriorityStress() {
        int[] taken = new int[1];
        queue.put(7, 0);
        queue.take(taken, 1); // The bit stays.
        queue.put(2, 1);
    }

    @Actor
    public void taker(II_Result seen) {
        seen.r1 = take();
    }

    @Actor
    public void putter(II_Result seen) {
        queue.put(1, 0);
        seen.r2 = take();
    }

    private int take() {
        int[] taken = new int[1];
        return queue.take(taken, 1) == 0 ? 0 : taken[0];
    }
}
