package org.tamanoir.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * One row of a table.
 *
 * @param scenario the table
 * @param load what is sent
 * @param forwarders what forwards it
 * @param measurement how it is measured
 */
record Case(String scenario, String load, List<Forwarder> forwarders, Measurement measurement) {

    /** One measurement of one forwarder: starts all that it needs and ends it again. */
    interface Measurement {
        Map<Figure, Double> of(Forwarder forwarder) throws Exception;
    }
}
