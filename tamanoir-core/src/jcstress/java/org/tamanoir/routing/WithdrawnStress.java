package org.tamanoir.routing;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A prefix goes: its addresses lead at once where the wider one leads, and never nowhere. */
@JCStressTest
@Outcome(
        id = {"new, new", "new, old", "old, old"},
        expect = Expect.ACCEPTABLE)
@Outcome(expect = Expect.FORBIDDEN, desc = "a third answer, or the first one again")
@State
public class WithdrawnStress {
    private final Spot spot = Spot.next(true);

    public WithdrawnStress() {
        spot.add(96 + 24);
    }

    @Actor
    public void writer() {
        spot.table.remove(spot.prefix(96 + 24));
    }

    @Actor
    public void reader(LL_Result seen) {
        spot.watch("new", seen);
    }
}
