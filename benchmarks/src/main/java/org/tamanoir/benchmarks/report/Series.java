package org.tamanoir.benchmarks.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a plot shows: values by name, in the order in which they came. One thread. */
public final class Series {
    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    /** Adds a value to those of this name. */
    public Series add(String name, double value) {
        values.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
        return this;
    }

    /** Adds values to those of this name, which is there then even without any. */
    public Series add(String name, Collection<? extends Number> more) {
        List<Double> of = values.computeIfAbsent(name, unused -> new ArrayList<>());
        more.forEach(each -> of.add(each.doubleValue()));
        return this;
    }

    /** Returns all of them by name. */
    public Map<String, List<Double>> values() {
        return values;
    }
}
