package org.tamanoir.benchmarks.emulate;

import java.io.IOException;

/** Packets in the order in which they come: a trace or a model. Thread contract: one thread. */
interface Arrivals {
    /**
     * Fills in the next packet.
     *
     * @return false when there is none
     * @throws IOException in one line, if a trace cannot be read further
     */
    boolean next(Arrival into) throws IOException;
}
