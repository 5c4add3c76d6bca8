package org.tamanoir.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.tamanoir.benchmarks.report.Numbers;

/** All measurements of a comparison, in the order in which they were made. Thread contract: one thread. */
final class Results {
    /** One measurement. */
    record Row(String scenario, String load, String forwarder, int round, Map<Figure, Double> figures) {}

    private final List<Row> rows = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private String interrupted = "";

    void add(Row row) {
        rows.add(row);
    }

    void fail(String what) {
        failures.add(what);
    }

    /** Says that a signal ended the comparison at this measurement. */
    void interrupt(String at) {
        interrupted = at;
    }

    /** Returns the measurement at which a signal ended the comparison; empty when none did. */
    String interrupted() {
        return interrupted;
    }

    List<Row> rows() {
        return rows;
    }

    List<String> failures() {
        return failures;
    }

    List<String> scenarios() {
        return rows.stream().map(Row::scenario).distinct().toList();
    }

    List<String> loads(String scenario) {
        return rows.stream()
                .filter(row -> row.scenario.equals(scenario))
                .map(Row::load)
                .distinct()
                .toList();
    }

    List<String> forwarders(String scenario) {
        return rows.stream()
                .filter(row -> row.scenario.equals(scenario))
                .map(Row::forwarder)
                .distinct()
                .toList();
    }

    /** The figures of this cell over all rounds. */
    Map<Figure, List<Double>> cell(String scenario, String load, String forwarder) {
        Map<Figure, List<Double>> values = new LinkedHashMap<>();
        for (Row row : rows) {
            if (row.scenario.equals(scenario) && row.load.equals(load) && row.forwarder.equals(forwarder)) {
                row.figures.forEach((figure, value) ->
                        values.computeIfAbsent(figure, f -> new ArrayList<>()).add(value));
            }
        }
        return values;
    }

    /** The median of one figure; empty when it was not measured. */
    OptionalDouble median(String scenario, String load, String forwarder, Figure figure) {
        List<Double> values = cell(scenario, load, forwarder).get(figure);
        return values == null ? OptionalDouble.empty() : OptionalDouble.of(Numbers.median(values));
    }
}
