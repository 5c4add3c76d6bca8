package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

/** Business data as the paper replays it: flights of 274 to 949 bytes with their passengers (the paper: 350 to 1,150), made from a seed. */
final class Flights {
    static final Format FLIGHT = flight("flight", ByteOrder.LITTLE_ENDIAN);
    /** The same in the other byte order, and what is left of it. */
    static final Format FOREIGN = flight("foreign", ByteOrder.BIG_ENDIAN);

    static final Format FOREIGN_STRONG = strong("foreign_strong");
    static final Format FOREIGN_WEAK = weak("foreign_weak");
    /** Eight whole numbers, a string, a double: the record of the filter that peers run too. */
    static final Format FLAT = flat();

    static final String STRONG_FIELDS = "[id, delay, fuel_lb]";
    static final String WEAK_FIELDS = "[id, hub, delay, seats, fuel_lb, departs_ms, n, passengers]";
    static final int NUMBERS = 8;
    private static final List<String> HUBS = List.of("ATL", "DFW", "ORD", "LAX", "DEN", "JFK", "SFO", "SEA");
    private static final List<String> NAMES = List.of("Abel", "Brandt", "Costa", "Dumas", "Eriksson", "Fong", "Garcia");
    private static final int LATE_OF_TEN = 1;

    private final SplittableRandom random;

    Flights(long seed) {
        random = new SplittableRandom(seed);
    }

    private static FormatBuilder builder(ByteOrder order) {
        return Format.builder(Layout.X86_64.withOrder(order));
    }

    private static Format flight(String name, ByteOrder order) {
        return passengers(builder(order)
                .structure(name)
                .field("id", "integer", 8)
                .field("number", "string")
                .field("hub", "string")
                .field("to", "string")
                .field("delay", "integer", 4)
                .field("seats", "integer", 4)
                .field("fuel_lb", "float", 8)
                .field("departs_ms", "integer", 8)
                .field("n", "integer", 4)
                .field("passengers", "passenger[n]"));
    }

    private static Format strong(String name) {
        return builder(ByteOrder.BIG_ENDIAN)
                .structure(name)
                .field("id", "integer", 8)
                .field("delay", "integer", 4)
                .field("fuel_lb", "float", 8)
                .build();
    }

    private static Format weak(String name) {
        return passengers(builder(ByteOrder.BIG_ENDIAN)
                .structure(name)
                .field("id", "integer", 8)
                .field("hub", "string")
                .field("delay", "integer", 4)
                .field("seats", "integer", 4)
                .field("fuel_lb", "float", 8)
                .field("departs_ms", "integer", 8)
                .field("n", "integer", 4)
                .field("passengers", "passenger[n]"));
    }

    private static Format passengers(FormatBuilder flight) {
        return flight.structure("passenger")
                .field("seat", "integer", 4)
                .field("name", "string")
                .field("meal", "string")
                .build();
    }

    private static Format flat() {
        FormatBuilder builder = builder(ByteOrder.LITTLE_ENDIAN).structure("flat");
        for (int i = 0; i < NUMBERS; i++) {
            builder.field("f" + i, "integer", i % 2 == 0 ? 4 : 8);
        }
        return builder.field("hub", "string").field("fuel", "float", 8).build();
    }

    /** Writes the formats where plans find them. */
    static void write(Path folder) throws IOException {
        for (Format format : List.of(FLIGHT, FOREIGN, FOREIGN_STRONG, FOREIGN_WEAK, FLAT)) {
            try (OutputStream out = Files.newOutputStream(folder.resolve(format.name() + ".ffs"));
                    FfsWriter writer = FfsWriter.ofFile(out)) {
                writer.format(format);
            }
        }
    }

    /** Returns so many flights of this format, {@link #FLIGHT} or {@link #FOREIGN}; one of ten is late. */
    List<byte[]> records(Format format, int count) {
        RecordEncoder encoder = new RecordEncoder(format);
        return IntStream.range(0, count)
                .mapToObj(id -> encoder.encode(flight(id)))
                .toList();
    }

    private Map<String, Object> flight(long id) {
        List<Map<String, Object>> passengers = IntStream.range(0, random.nextInt(4, 21))
                .mapToObj(i -> Map.<String, Object>of("seat", i, "name", one(NAMES), "meal", "vegetarian"))
                .toList();
        Map<String, Object> flight = new LinkedHashMap<>();
        flight.put("id", id);
        flight.put("number", "DL" + random.nextInt(100, 9_999));
        flight.put("hub", one(HUBS));
        flight.put("to", one(HUBS));
        flight.put("delay", id % 10 < LATE_OF_TEN ? random.nextInt(16, 180) : random.nextInt(16));
        flight.put("seats", 90 + random.nextInt(280));
        flight.put("fuel_lb", (double) random.nextInt(20_000, 240_000));
        flight.put("departs_ms", id * 30_000);
        flight.put("passengers", passengers);
        return flight;
    }

    /** Returns the values of a flat record; every second one passes the filter of the peers. */
    static Map<String, Object> flatValues(int id) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < NUMBERS; i++) {
            values.put("f" + i, 100 + i);
        }
        values.put("hub", id % 2 == 0 ? "ATL" : "DFW");
        values.put("fuel", 12.5);
        return values;
    }

    private String one(List<String> values) {
        return values.get(random.nextInt(values.size()));
    }
}
