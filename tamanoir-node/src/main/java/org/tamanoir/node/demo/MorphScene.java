package org.tamanoir.node.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;

/** What a chain of the demo gets, how it is changed meanwhile, and what has to come of it. */
enum MorphScene {
    /** Every flight in the receiver's own format. */
    ALL("all flights", "all", true) {
        @Override
        @Nullable
        String difference(List<MorphRecord> sent, MorphArrivals came) {
            List<Map<String, @Nullable Object>> legs = sent.stream()
                    .map(flight -> MorphExpected.leg(flight.values()))
                    .toList();
            return ordered(Map.of(MorphFormats.LEG, legs), came.records());
        }
    },
    /** Few flights, few fields, other units. */
    SELECT("select flights", "select", true) {
        @Override
        @Nullable
        String difference(List<MorphRecord> sent, MorphArrivals came) {
            return byVersions(sent, came.records(), List.of(MorphExpected::late), false);
        }
    },
    /** One message of two, over UDP. */
    OFFERS("merged offers", "offers", false) {
        @Override
        @Nullable
        String difference(List<MorphRecord> sent, MorphArrivals came) {
            List<MorphRecord> sorted = new ArrayList<>(came.records());
            sorted.sort((a, b) -> Long.compare(
                    MorphRecord.number(a.values(), "transaction"), MorphRecord.number(b.values(), "transaction")));
            return ordered(Map.of(MorphFormats.OFFER, MorphExpected.offers(sent)), sorted);
        }
    },
    /** Passengers without names and numbers, and sums of these. */
    PRIVATE("privacy", "private", true) {
        @Override
        @Nullable
        String difference(List<MorphRecord> sent, MorphArrivals came) {
            if (came.passengerNumbers() > 0) {
                return came.passengerNumbers() + " numbers of passengers got through";
            }
            List<Map<String, @Nullable Object>> anonymous = sent.stream()
                    .map(flight -> MorphExpected.anonymous(flight.values()))
                    .toList();
            return ordered(
                    Map.of(MorphFormats.ANONYMOUS, anonymous, MorphFormats.CATERING, MorphExpected.catering(sent)),
                    came.records());
        }
    },
    /** The plan of {@link #SELECT}, changed twice on the way. */
    CHANGED("changed meanwhile", "changed", true) {
        @Override
        List<Change> changes() {
            return List.of(
                    new Change("set", Map.of("handler", "late", "settings", Map.of("filter", "delay > 60"))),
                    new Change(
                            "insert",
                            Map.of(
                                    "handler",
                                    "seconds",
                                    "before",
                                    "metric",
                                    "definition",
                                    Map.of("project", Map.of("fields", Map.of("delay", "delay * 60"))))));
        }

        @Override
        @Nullable
        String difference(List<MorphRecord> sent, MorphArrivals came) {
            return byVersions(
                    sent,
                    came.records(),
                    List.of(MorphExpected::late, MorphExpected::veryLate, MorphExpected::veryLateInSeconds),
                    true);
        }
    };

    static final int FLIGHTS = 6_000;
    static final int TRANSACTIONS = 2_000;
    /** Of reservations, one that no advertiser answers. */
    static final int UNANSWERED = 10;

    private static final long SEED = 2002;

    final String title;
    final String service;
    final boolean tcp;

    MorphScene(String title, String service, boolean tcp) {
        this.title = title;
        this.service = service;
        this.tcp = tcp;
    }

    /** What is done to the chain while messages pass: an operation of its control. */
    record Change(String operation, Map<String, Object> arguments) {}

    /** In equal distances over the messages. */
    List<Change> changes() {
        return List.of();
    }

    /** Returns the first difference between what came and what should have come; null where there is none. */
    abstract @Nullable String difference(List<MorphRecord> sent, MorphArrivals came);

    /** The flights, which four of the scenes send: making them takes longer than sending them. */
    private static final class Flights {
        static final List<MorphRecord> ALL = made();

        private static List<MorphRecord> made() {
            AirlineData data = new AirlineData(SEED);
            List<MorphRecord> records = new ArrayList<>(FLIGHTS);
            for (int id = 0; id < FLIGHTS; id++) {
                records.add(MorphRecord.of(AirlineData.FLIGHT, data.flight(id)));
            }
            return Collections.unmodifiableList(records);
        }
    }

    /** Returns what is sent, the same each time. */
    List<MorphRecord> sent() {
        if (this != OFFERS) {
            return Flights.ALL;
        }
        AirlineData data = new AirlineData(SEED);
        List<MorphRecord> records = new ArrayList<>();
        for (int transaction = 0; transaction < TRANSACTIONS; transaction++) {
            records.add(MorphRecord.of(AirlineData.RESERVATION, data.reservation(transaction)));
            if (transaction % UNANSWERED != 0) {
                records.add(MorphRecord.of(AirlineData.ADVERT, data.advert(transaction)));
            }
        }
        return records;
    }

    /** Returns how many messages wait for others that never come. */
    int held() {
        return this == OFFERS ? TRANSACTIONS / UNANSWERED : 0;
    }

    private static @Nullable String ordered(
            Map<Format, List<Map<String, @Nullable Object>>> expected, List<MorphRecord> came) {
        int all = 0;
        for (Map.Entry<Format, List<Map<String, @Nullable Object>>> each : expected.entrySet()) {
            List<Map<String, @Nullable Object>> wanted = each.getValue();
            List<Map<String, @Nullable Object>> got = MorphExpected.valuesOf(each.getKey(), came);
            all += got.size();
            for (int i = 0; i < Math.min(wanted.size(), got.size()); i++) {
                if (!got.get(i).equals(wanted.get(i))) {
                    return each.getKey().name() + " " + i + " is " + got.get(i) + ", should be " + wanted.get(i);
                }
            }
            if (got.size() != wanted.size()) {
                return got.size() + " records " + each.getKey().name() + " came, " + wanted.size() + " should have";
            }
        }
        return all == came.size() ? null : came.size() - all + " records came of formats that should not";
    }

    /**
     * Compares messages by several versions of a plan, of which each holds from some message on. Taking the next version
     * only where the one before cannot have given what came finds such places if there are any.
     *
     * @param allUsed whether the last message must be of the last version
     */
    private static @Nullable String byVersions(
            List<MorphRecord> sent,
            List<MorphRecord> came,
            List<Function<Map<String, @Nullable Object>, @Nullable Map<String, @Nullable Object>>> versions,
            boolean allUsed) {
        Map<Long, Map<String, @Nullable Object>> byId = new HashMap<>();
        long before = -1;
        for (MorphRecord record : came) {
            long id = MorphRecord.number(record.values(), "id");
            if (record.format() != MorphFormats.LATE_FLIGHT || id <= before) {
                return "after flight " + before + " came " + record.format().name() + " " + id;
            }
            byId.put(id, record.values());
            before = id;
        }
        int version = 0;
        for (MorphRecord flight : sent) {
            Map<String, @Nullable Object> got = byId.remove(MorphRecord.number(flight.values(), "id"));
            while (!Objects.equals(got, versions.get(version).apply(flight.values()))) {
                if (++version == versions.size()) {
                    return "flight " + flight.values().get("id") + " became " + got
                            + ", which no version of the plan makes of it there";
                }
            }
        }
        if (!byId.isEmpty()) {
            return byId.size() + " flights came that were not sent";
        }
        return allUsed && version < versions.size() - 1 ? "not all changes were seen" : null;
    }
}
