package org.tamanoir.benchmarks;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.sym.PropertyNameMatcher;
import tools.jackson.core.util.Named;
import tools.jackson.databind.ObjectReader;
import tools.jackson.dataformat.cbor.CBORFactory;
import tools.jackson.dataformat.cbor.CBORMapper;

/**
 * The filter of {@link FormatBenchmark#filterTenFields} on the same ten fields as CBOR, by Jackson's stream and into an
 * object, and as protobuf, by hand as generated code reads, without the message object. Scores are nanoseconds a record.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class FormatPeersBenchmark {
    private static final int NUMBERS = 8;
    private static final int HUB = NUMBERS;
    private static final int FUEL = NUMBERS + 1;

    private final CBORMapper mapper = new CBORMapper(new CBORFactory());
    private final ObjectReader reader = mapper.readerFor(Flight.class);
    private final PropertyNameMatcher names;
    private final byte[] cbor;
    private final byte[] protobuf;

    /** The record, as databind fills it. */
    public static final class Flight {
        public int f0 = 100;
        public long f1 = 101;
        public int f2 = 102;
        public long f3 = 103;
        public int f4 = 104;
        public long f5 = 105;
        public int f6 = 106;
        public long f7 = 107;
        public String hub = "ATL";
        public double fuel = 12.5;

        boolean passes() {
            return f0 >= 100
                    && f1 >= 100
                    && f2 >= 100
                    && f3 >= 100
                    && f4 >= 100
                    && f5 >= 100
                    && f6 >= 100
                    && f7 >= 100
                    && fuel > 1
                    && hub.equals("ATL");
        }
    }

    /** Makes the records. */
    public FormatPeersBenchmark() {
        List<Named> all = new ArrayList<>();
        for (int i = 0; i < NUMBERS; i++) {
            all.add(Named.fromString("f" + i));
        }
        all.add(Named.fromString("hub"));
        all.add(Named.fromString("fuel"));
        names = mapper.tokenStreamFactory().constructNameMatcher(all, false);
        cbor = mapper.writeValueAsBytes(new Flight());
        protobuf = protobuf();
    }

    /** Checks that all ways find the record's fields. */
    @Setup
    public void check() {
        if (!filterCborStream() || !filterCborObject() || !filterProtobuf()) {
            throw new IllegalStateException("a record does not pass the filter");
        }
    }

    private static byte[] protobuf() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            for (int i = 0; i < NUMBERS; i++) {
                out.writeInt64(i + 1, 100 + i);
            }
            out.writeString(HUB + 1, "ATL");
            out.writeDouble(FUEL + 1, 12.5);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Reads ten fields from a stream of tokens, names found by a matcher, and compares them. */
    @Benchmark
    public boolean filterCborStream() {
        boolean passes = true;
        try (JsonParser in = mapper.tokenStreamFactory().createParser(ObjectReadContext.empty(), cbor)) {
            in.nextToken();
            for (int field = in.nextNameMatch(names); field >= 0; field = in.nextNameMatch(names)) {
                in.nextToken();
                if (field == HUB) {
                    passes &= in.getString().equals("ATL");
                } else if (field == FUEL) {
                    passes &= in.getDoubleValue() > 1;
                } else {
                    passes &= in.getLongValue() >= 100;
                }
            }
        }
        return passes;
    }

    /** Reads an object of ten fields, and compares them. */
    @Benchmark
    public boolean filterCborObject() {
        return reader.<Flight>readValue(cbor).passes();
    }

    /** Reads ten fields by their tags, and compares them. */
    @Benchmark
    public boolean filterProtobuf() {
        boolean passes = true;
        CodedInputStream in = CodedInputStream.newInstance(protobuf);
        try {
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                int field = (tag >>> 3) - 1;
                if (field == HUB) {
                    passes &= in.readStringRequireUtf8().equals("ATL");
                } else if (field == FUEL) {
                    passes &= in.readDouble() > 1;
                } else {
                    passes &= in.readInt64() >= 100;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return passes;
    }
}
