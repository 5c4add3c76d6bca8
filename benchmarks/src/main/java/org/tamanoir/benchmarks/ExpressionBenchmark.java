package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
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
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;
import org.tamanoir.services.morph.expression.Expression;

/**
 * What a filter over ten fields costs a record, by the generality of what runs it: an interpreter that finds each field by
 * its name in the description, dev.cel's runtime, closures, code generated for the format. All are given a record anew, as
 * a message is. Other expressions have run before, so that calls have as many targets as in a node with several handlers.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ExpressionBenchmark {
    private static final int NUMBERS = 8;
    private static final int OTHERS = 20_000;
    private static final byte[] ATLANTA = "ATL".getBytes(StandardCharsets.US_ASCII);
    private static final String FILTER =
            "f0 >= 100 && f1 > 100 && f2 <= 102 && f3 < 104 && f4 != 1 && f5 == 105 && f6 >= 100"
                    + " && f7 < 1000 && fuel > 1.0 && hub == 'ATL'";
    private static final String[] OTHER = {
        "f0 + f1 > 3 || hub.startsWith('X')",
        "fuel * 2.0 < 3.0 && f1 == f2",
        "hub in ['DFW', 'JFK'] || !(f3 > 3 && f4 < 5)",
        "(f5 > 3 ? f6 : f7) >= 9 && size(hub) > 1 && f0 - f1 != 4",
        "f1 >= 100 && f2 > 90 && f3 <= 200 && f4 < 300 && f5 != 7 && fuel <= 100.0 && hub != 'X'"
    };

    private final Format flight = flight();
    private final ByteBuffer memory;
    private final RecordView record = new RecordView();
    private final Expression generated = Expression.compile(FILTER, flight);
    private final Expression closures = Expression.compileForClosures(FILTER, flight);
    private final Expression runtime = Expression.compileForRuntime(FILTER, flight);

    /** Makes the record and runs other expressions. */
    public ExpressionBenchmark() {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < NUMBERS; i++) {
            values.put("f" + i, 100 + i);
        }
        values.put("hub", "ATL");
        values.put("fuel", 12.5);
        memory = ByteBuffer.wrap(new RecordEncoder(flight).encode(values));
        wrap();
        for (String other : OTHER) {
            Expression one = Expression.compile(other, flight);
            Expression two = Expression.compileForClosures(other, flight);
            for (int i = 0; i < OTHERS; i++) {
                if (one.test(record) != two.test(record)) {
                    throw new IllegalStateException(other + " means one thing and another");
                }
            }
        }
        if (!byName() || !onRuntime() || !byClosures() || !byGeneratedCode()) {
            throw new IllegalStateException("the record passes");
        }
    }

    private static Format flight() {
        FormatBuilder builder = Format.builder(Layout.X86_64).structure("flight");
        for (int i = 0; i < NUMBERS; i++) {
            builder.field("f" + i, "integer", i % 2 == 0 ? 4 : 8);
        }
        return builder.field("hub", "string").field("fuel", "float").build();
    }

    private void wrap() {
        record.wrap(flight, memory, 0, memory.capacity());
    }

    private long number(String name) {
        return flight.accessor(name).getLong(record);
    }

    /** Looks each field up in the description. */
    @Benchmark
    public final boolean byName() {
        wrap();
        return number("f0") >= 100
                && number("f1") > 100
                && number("f2") <= 102
                && number("f3") < 104
                && number("f4") != 1
                && number("f5") == 105
                && number("f6") >= 100
                && number("f7") < 1000
                && flight.accessor("fuel").getDouble(record) > 1
                && flight.accessor("hub").textEquals(record, 0, ATLANTA);
    }

    /** Runs on dev.cel. */
    @Benchmark
    public final boolean onRuntime() {
        wrap();
        return runtime.test(record);
    }

    /** Runs as closures. */
    @Benchmark
    public final boolean byClosures() {
        wrap();
        return closures.test(record);
    }

    /** Runs as code generated for the format. */
    @Benchmark
    public final boolean byGeneratedCode() {
        wrap();
        return generated.test(record);
    }

    /** Does what all the others do besides: points at the record. */
    @Benchmark
    public final RecordView wrapAlone() {
        wrap();
        return record;
    }
}
