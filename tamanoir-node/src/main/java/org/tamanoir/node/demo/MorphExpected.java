package org.tamanoir.node.demo;

import static org.tamanoir.node.demo.MorphRecord.each;
import static org.tamanoir.node.demo.MorphRecord.number;
import static org.tamanoir.node.demo.MorphRecord.some;
import static org.tamanoir.node.demo.MorphRecord.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;

/** What the plans of the demo should give, in Java of its own that knows nothing of handlers. */
final class MorphExpected {
    /** As the plan's {@code count}. */
    private static final int WINDOW = 250;

    private static final int LATE_MIN = 15;
    private static final int VERY_LATE_MIN = 60;
    private static final int SECONDS = 60;
    private static final double KG_PER_LB = 0.45359237;
    private static final List<String> MEALS = List.of("vegetarian", "kosher", "halal");

    private MorphExpected() {}

    static Map<String, @Nullable Object> leg(Map<String, @Nullable Object> flight) {
        Map<String, @Nullable Object> leg = some(flight, "id", "number", "hub", "to", "delay", "departs_ms", "n");
        leg.put("passengers", each(flight, "passengers", passenger -> some(passenger, "name", "seat")));
        return leg;
    }

    /** Returns null for a flight that the filter holds back. */
    static @Nullable Map<String, @Nullable Object> late(Map<String, @Nullable Object> flight) {
        boolean passes =
                number(flight, "delay") > LATE_MIN && Set.of("ATL", "DFW").contains(text(flight, "hub"));
        return passes ? metric(flight) : null;
    }

    /** The same after the filter has been changed. */
    static @Nullable Map<String, @Nullable Object> veryLate(Map<String, @Nullable Object> flight) {
        return number(flight, "delay") > VERY_LATE_MIN ? metric(flight) : null;
    }

    /** The same after a handler has been inserted. */
    static @Nullable Map<String, @Nullable Object> veryLateInSeconds(Map<String, @Nullable Object> flight) {
        Map<String, @Nullable Object> late = veryLate(flight);
        if (late != null) {
            late.put("delay", number(late, "delay") * SECONDS);
        }
        return late;
    }

    private static Map<String, @Nullable Object> metric(Map<String, @Nullable Object> flight) {
        Map<String, @Nullable Object> metric = some(flight, "id", "number", "hub", "delay");
        metric.put("fuel_kg", flight.get("fuel_lb") instanceof Double pounds ? pounds * KG_PER_LB : null);
        return metric;
    }

    static Map<String, @Nullable Object> anonymous(Map<String, @Nullable Object> flight) {
        Map<String, @Nullable Object> anonymous = some(flight, "id", "hub", "n");
        anonymous.put("passengers", each(flight, "passengers", passenger -> some(passenger, "seat", "meal")));
        return anonymous;
    }

    /** Returns meals by hub, window after window, the last one shorter. */
    static List<Map<String, @Nullable Object>> catering(List<MorphRecord> flights) {
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        for (int from = 0; from < flights.size(); from += WINDOW) {
            Map<String, Map<String, @Nullable Object>> byHub = new LinkedHashMap<>();
            for (MorphRecord flight : flights.subList(from, Math.min(from + WINDOW, flights.size()))) {
                Map<String, @Nullable Object> sums =
                        byHub.computeIfAbsent(text(flight.values(), "hub"), hub -> new HashMap<>(Map.of("hub", hub)));
                sums.put("flights", number(sums, "flights") + 1);
                MEALS.forEach(meal -> sums.putIfAbsent(meal, 0L));
                each(flight.values(), "passengers", passenger -> {
                    sums.computeIfPresent(text(passenger, "meal"), (meal, sum) -> number(sums, meal) + 1);
                    return passenger;
                });
            }
            all.addAll(byHub.values());
        }
        return all;
    }

    /** Returns an offer for each reservation that has an advertisement, by transaction. */
    static List<Map<String, @Nullable Object>> offers(List<MorphRecord> sent) {
        Map<Long, Map<String, @Nullable Object>> reservations = new HashMap<>();
        Map<Long, Map<String, @Nullable Object>> offers = new TreeMap<>();
        for (MorphRecord record : sent) {
            long transaction = number(record.values(), "transaction");
            if (record.format() == AirlineData.RESERVATION) {
                reservations.put(transaction, record.values());
            } else {
                Map<String, @Nullable Object> offer = new HashMap<>(reservations.getOrDefault(transaction, Map.of()));
                offer.put("text", record.values().get("text"));
                offers.put(transaction, offer);
            }
        }
        return List.copyOf(offers.values());
    }

    /** Returns the values of the records of a format, in their order. */
    static List<Map<String, @Nullable Object>> valuesOf(Format format, List<MorphRecord> records) {
        return records.stream()
                .filter(record -> record.format() == format)
                .map(MorphRecord::values)
                .toList();
    }
}
