package org.tamanoir.node.demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

/**
 * Business data of an airline as the paper on data morphing replays it: flights with their passengers, reservations and
 * the advertisements that belong to them, made from a seed. An encoded flight has some 350 to 1,150 bytes, as the
 * paper's records.
 *
 * <p>Thread contract: one thread.
 */
public final class AirlineData {
    /** Flights as they fly: fuel in pounds, delays in minutes, passengers with what should not leave the house. */
    public static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("number", "string")
            .field("hub", "string")
            .field("to", "string")
            .field("delay", "integer", 4)
            .field("seats", "integer", 4)
            .field("fuel_lb", "float", 8)
            .field("departs_ms", "integer", 8)
            .field("n", "integer", 4)
            .field("passengers", "passenger[n]")
            .structure("passenger")
            .field("seat", "integer", 4)
            .field("name", "string")
            .field("ssn", "string")
            .field("meal", "string")
            .build();

    /** The answer of a reservation system. */
    public static final Format RESERVATION = Format.builder(Layout.X86_64)
            .structure("reservation")
            .field("transaction", "integer", 8)
            .field("passenger", "string")
            .field("flight", "string")
            .field("fare", "float", 8)
            .build();

    /** What an advertiser has for the client of a reservation. */
    public static final Format ADVERT = Format.builder(Layout.X86_64)
            .structure("advert")
            .field("transaction", "integer", 8)
            .field("text", "string")
            .build();

    private static final int MIN_PASSENGERS = 5;
    private static final int MAX_PASSENGERS = 19;
    private static final int PERCENT = 100;
    private static final List<String> HUBS = List.of("ATL", "DFW", "ORD", "LAX", "DEN", "JFK", "SFO", "SEA");
    private static final List<String> CARRIERS = List.of("DL", "AA", "UA", "WN");
    private static final List<String> MEALS = List.of("standard", "vegetarian", "kosher", "halal", "none");
    private static final List<String> NAMES =
            List.of("Abel", "Brandt", "Costa", "Dumas", "Eriksson", "Fong", "Garcia", "Haddad", "Ito", "Jansen");

    private final SplittableRandom random;
    private final RecordEncoder flights = new RecordEncoder(FLIGHT);
    private final RecordEncoder reservations = new RecordEncoder(RESERVATION);
    private final RecordEncoder adverts = new RecordEncoder(ADVERT);

    /** Makes the data that follow from a seed. */
    public AirlineData(long seed) {
        random = new SplittableRandom(seed);
    }

    /** Returns a flight of this number, encoded. */
    public byte[] flight(long id) {
        List<Map<String, Object>> passengers = new ArrayList<>();
        for (int n = random.nextInt(MIN_PASSENGERS, MAX_PASSENGERS + 1); n > 0; n--) {
            passengers.add(passenger());
        }
        Map<String, Object> flight = new LinkedHashMap<>();
        flight.put("id", id);
        flight.put("number", number());
        flight.put("hub", one(HUBS));
        flight.put("to", one(HUBS));
        // One flight in four is late.
        flight.put("delay", random.nextInt(4) == 0 ? random.nextInt(1, 180) : 0);
        flight.put("seats", 90 + random.nextInt(280));
        flight.put("fuel_lb", (double) random.nextInt(20_000, 240_000));
        flight.put("departs_ms", id * 30_000);
        flight.put("passengers", passengers);
        return flights.encode(flight);
    }

    private Map<String, Object> passenger() {
        Map<String, Object> passenger = new LinkedHashMap<>();
        passenger.put("seat", random.nextInt(1, 370));
        passenger.put("name", one(NAMES));
        // 900 and above are never given out.
        passenger.put(
                "ssn", String.format(Locale.ROOT, "9%02d-%02d", random.nextInt(PERCENT), random.nextInt(1, PERCENT)));
        passenger.put("meal", one(MEALS));
        return passenger;
    }

    /** Returns the answer to a reservation, encoded. */
    public byte[] reservation(long transaction) {
        return reservations.encode(Map.of(
                "transaction",
                transaction,
                "passenger",
                one(NAMES),
                "flight",
                number(),
                "fare",
                random.nextInt(80, 900) + 0.5));
    }

    /** Returns the advertisement for the client of a reservation, encoded. */
    public byte[] advert(long transaction) {
        return adverts.encode(
                Map.of("transaction", transaction, "text", "a room near " + one(HUBS) + " for " + one(NAMES)));
    }

    private String number() {
        return one(CARRIERS) + random.nextInt(PERCENT, 9_999);
    }

    private String one(List<String> values) {
        return values.get(random.nextInt(values.size()));
    }
}
