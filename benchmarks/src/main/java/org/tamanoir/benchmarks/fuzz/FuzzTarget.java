package org.tamanoir.benchmarks.fuzz;

import java.io.IOException;
import java.util.SplittableRandom;

/** One thing that takes input from strangers. One thread. */
interface FuzzTarget extends AutoCloseable {
    /** As {@code --only} names it. */
    String name();

    /**
     * Makes inputs from the random numbers, gives them to the target, and compares what becomes of them.
     *
     * @return how many inputs that were
     * @throws FuzzFault if it is not what the oracle says
     */
    long round(SplittableRandom random) throws Exception;

    @Override
    void close() throws IOException;
}
