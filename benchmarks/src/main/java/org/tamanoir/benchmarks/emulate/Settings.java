package org.tamanoir.benchmarks.emulate;

import org.tamanoir.benchmarks.GeneratedTable;

/**
 * How experiments run.
 *
 * @param seed of destinations and models
 * @param seconds of a measurement, the half of which warms up
 */
record Settings(GeneratedTable table, long seed, double seconds) {
    long ns() {
        return (long) (seconds * 1e9);
    }

    /** Returns packets to prefixes drawn uniformly, at this many a second. */
    Model uniform(Model.Law law, int bytes, double perSecond, long more) {
        return new Model(
                law,
                bytes,
                perSecond * (bytes + Model.LINE_BYTES) * 8 / 1e9,
                Destinations.of(Destinations.Kind.UNIFORM, table, seed),
                seed + more);
    }
}
