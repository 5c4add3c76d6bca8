package org.tamanoir.ready;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An int is put into a ring whose bit is being cleared: it is taken once, then or later. */
@JCStressTest
@Outcome(
        id = {"1, 0", "0, 1"},
        expect = Expect.ACCEPTABLE)
@Outcome(expect = Expect.FORBIDDEN, desc = "lost or doubled")
@State
public class ReadyClearStress {
    private final ReadyQueue queue = new ReadyQueue(2);
    private final int[] taken = new int[1];

    public ReadyClearStress() {
        queue.put(7, 5);
        queue.take(taken, 1); // The bit stays.
    }

    @Actor
    public void taker(II_Result seen) {
        seen.r1 = queue.take(taken, 1);
    }

    @Actor
    public void putter() {
        queue.put(1, 5);
    }

    @Arbiter
    public void later(II_Result seen) {
        seen.r2 = queue.take(taken, 1);
    }
}
