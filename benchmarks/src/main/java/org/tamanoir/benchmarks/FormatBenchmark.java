package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Target;

/**
 * What a record costs: a filter over ten of its fields where it lies, and conversion into the other byte order, of a
 * small record and of 8,000 doubles. Scores are nanoseconds a record; {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class FormatBenchmark {
    private static final int NUMBERS = 8;
    private static final int DOUBLES = 8_000;
    private static final byte[] ATLANTA = "ATL".getBytes(StandardCharsets.US_ASCII);

    private final Format flight = flight(Layout.X86_64);
    private final Accessor[] numbers = new Accessor[NUMBERS];
    private final Accessor hub = flight.accessor("hub");
    private final Accessor fuel = flight.accessor("fuel");
    private final ByteBuffer memory;
    private final ByteBuffer room = ByteBuffer.allocate(DOUBLES * Double.BYTES + 256);
    private final RecordView record = new RecordView();
    private final Conversion small =
            Conversion.compile(flight, Target.of(flight(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN))));

    private final Format array = array(Layout.X86_64);
    private final ByteBuffer arrayMemory;
    private final Conversion large =
            Conversion.compile(array, Target.of(array(Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN))));

    /** Makes the records. */
    public FormatBenchmark() {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < NUMBERS; i++) {
            numbers[i] = flight.accessor("f" + i);
            values.put("f" + i, 100 + i);
        }
        values.put("hub", "ATL");
        values.put("fuel", 12.5);
        memory = ByteBuffer.wrap(new RecordEncoder(flight).encode(values));
        List<Double> doubles = new ArrayList<>();
        for (int i = 0; i < DOUBLES; i++) {
            doubles.add(i * 0.25);
        }
        arrayMemory = ByteBuffer.wrap(new RecordEncoder(array).encode(Map.of("values", doubles)));
    }

    private static Format flight(Layout layout) {
        FormatBuilder builder = Format.builder(layout).structure("flight");
        for (int i = 0; i < NUMBERS; i++) {
            builder.field("f" + i, "integer", i % 2 == 0 ? 4 : 8);
        }
        return builder.field("hub", "string").field("fuel", "float").build();
    }

    private static Format array(Layout layout) {
        return Format.builder(layout)
                .structure("array")
                .field("n", "integer")
                .field("values", "float[n]")
                .build();
    }

    /** Checks the record and compares ten of its fields. */
    @Benchmark
    public boolean filterTenFields() {
        record.wrap(flight, memory, 0, memory.capacity());
        for (int i = 0; i < NUMBERS; i++) {
            if (numbers[i].getLong(record) < 100) {
                return false;
            }
        }
        return fuel.getDouble(record) > 1 && hub.textEquals(record, 0, ATLANTA);
    }

    /** Converts a record of ten fields into the other order. */
    @Benchmark
    public int convertTenFields() {
        record.wrap(flight, memory, 0, memory.capacity());
        return small.convert(record, room, 0);
    }

    /** Converts 64,000 bytes of doubles into the other order. */
    @Benchmark
    public int convertDoubles() {
        record.wrap(array, arrayMemory, 0, arrayMemory.capacity());
        return large.convert(record, room, 0);
    }
}
