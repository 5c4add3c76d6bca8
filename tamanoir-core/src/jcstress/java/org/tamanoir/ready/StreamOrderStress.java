package org.tamanoir.ready;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A job is appended while the one before it finishes: one of the two lets it go, and one of them frees the other. */
@JCStressTest
@Outcome(id = "1, -3", expect = Expect.ACCEPTABLE, desc = "it waits, and the finisher lets it go")
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "it came behind the end")
@Outcome(id = "-2, 0", expect = Expect.ACCEPTABLE, desc = "they met: the appender lets it go, and frees the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost or doubled")
@State
public class StreamOrderStress {
    private final StreamOrder order = new StreamOrder(1, 2);

    public StreamOrderStress() {
        order.append(0, 0);
    }

    @Actor
    public void finisher(II_Result seen) {
        seen.r1 = order.finish(0, 0);
    }

    @Actor
    public void appender(II_Result seen) {
        seen.r2 = order.append(0, 1);
    }
}
