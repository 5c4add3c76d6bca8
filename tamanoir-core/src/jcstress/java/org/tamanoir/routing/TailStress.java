package org.tamanoir.routing;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A prefix beyond /64 comes: the ranges of its /64 are there before a leaf asks for them. */
@JCStressTest
@Outcome(
        id = {"old, old", "old, new", "new, new"},
        expect = Expect.ACCEPTABLE)
@Outcome(expect = Expect.FORBIDDEN, desc = "a third answer, or the first one again")
@State
public class TailStress {
    private final Spot spot = Spot.next(false);

    @Actor
    public void writer() {
        spot.add(127);
    }

    @Actor
    public void reader(LL_Result seen) {
        spot.watch("old", seen);
    }
}
