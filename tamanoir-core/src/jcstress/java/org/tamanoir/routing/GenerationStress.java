package org.tamanoir.routing;

import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** All routes are replaced: a number of one generation is not looked up among the next hops of another. */
@JCStressTest
@Outcome(
        id = {"old, old", "old, new", "new, new"},
        expect = Expect.ACCEPTABLE)
@Outcome(expect = Expect.FORBIDDEN, desc = "a next hop of the other prefix, or the first one again")
@State
public class GenerationStress {
    private static final Prefix ASKED = Prefix.parse("10.0.0.0/8");
    private static final Prefix BESIDE = Prefix.parse("11.0.0.0/8");
    private static final NextHop NEW = Spot.hop(2);
    private static final NextHop OTHER = Spot.hop(3);

    private final RoutingTable table = new RoutingTable(List.of(new Route(BESIDE, OTHER), new Route(ASKED, Spot.OLD)));

    @Actor
    public void writer() {
        table.replace(List.of(new Route(ASKED, NEW), new Route(BESIDE, OTHER)));
    }

    @Actor
    public void reader(LL_Result seen) {
        Spot.watch(() -> table.lookup(ASKED.high(), ASKED.low()), NEW, "old", seen);
    }
}
