package org.tamanoir.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * One row of a table, or one for each phase.
 *
 * @param scenario the table
 * @param load what is sent
 * @param forwarders what forwards it
 * @param measurement how it is measured
 */
record Case(String scenario, String load, List<Forwarder> forwarders, Phases measurement) {

    /** One measurement of one forwarder: starts all that it needs and ends it again. */
    interface Measurement {
        Map<Figure, Double> of(Forwarder forwarder) throws Exception;
    }

    /** The same where one process of the forwarder goes through several phases. */
    interface Phases {
        /** Returns the figures of each phase by its name, which is a row of its own. */
        Map<String, Map<Figure, Double>> of(Forwarder forwarder) throws Exception;
    }

    /** Makes a case that has one phase, without a name. */
    static Case single(String scenario, String load, List<Forwarder> forwarders, Measurement measurement) {
        return new Case(scenario, load, forwarders, forwarder -> Map.of("", measurement.of(forwarder)));
    }

    /** Returns the name of a phase's row. */
    String row(String phase) {
        return phase.isEmpty() ? load : load + ", " + phase;
    }
}
