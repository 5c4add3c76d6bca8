package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.handler.HandlerKinds;
import org.tamanoir.services.morph.handler.PlanNames;

/**
 * What a message costs in a handler, without the engine around it: nanoseconds for each message that comes in; {@code
 * -prof gc} shows what is allocated. Flights have 15 fields of some 150 bytes, 1,000 keys come in turns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class HandlerBenchmark {
    private static final int KEYS = 1_000;
    private static final int NUMBERS = 12;

    private final Format flight = flight("flight", Layout.X86_64);
    private final Format foreign = flight("foreign", Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN));
    private final Format advert = Format.builder(Layout.X86_64)
            .structure("advert")
            .field("id", "integer", 8)
            .field("text", "string")
            .build();
    private final Format offer = Format.builder(Layout.X86_64)
            .structure("offer")
            .field("id", "integer", 8)
            .field("hub", "string")
            .field("fuel", "double")
            .field("text", "string")
            .build();
    private final PlanNames names = new PlanNames(
            Map.of(
                    "flight", Target.of(flight),
                    "foreign", Target.of(foreign),
                    "advert", Target.of(advert),
                    "offer", Target.of(offer)),
            Path.of("."));

    private final Packet header = header();
    private final Message message = new Message();
    private final Sink sink = new Sink();
    private final ByteBuffer[] flights = records(flight, id -> {
        Map<String, Object> values = new java.util.HashMap<>(Map.of("id", id, "hub", "H" + id % 100, "fuel", 12.5));
        for (int i = 0; i < NUMBERS; i++) {
            values.put("f" + i, id + i);
        }
        return values;
    });
    private final ByteBuffer[] adverts =
            records(advert, id -> Map.of("id", id, "text", "fly with us, again and again"));

    private final Bound nothing = bound("nothing", Map.of());
    private final Bound translate = bound("translate", Map.of("output", "foreign"));
    private final Bound select = bound("select", Map.of("fields", List.of("id", "hub", "fuel")));
    private final Bound cut = bound("select", Map.of("cut", true));
    private final Bound reduce = bound(
            "reduce",
            Map.of(
                    "key",
                    "hub",
                    "count",
                    100_000,
                    "fields",
                    Map.of("n", "count", "fuel", "sum(fuel)", "mean", "avg(f0)", "most", "max(f1)")));
    private final MessageHandler merge =
            handler("merge", Map.of("key", "id", "from", List.of("flight", "advert"), "output", "offer"));
    private final Bound ofFlights = merge.bind(flight);
    private final Bound ofAdverts = merge.bind(advert);
    private int turn;

    /** Takes what leaves. */
    private static final class Sink implements Outlet {
        long nowNs;
        long left;

        @Override
        public long nowNs() {
            return nowNs += 100;
        }

        @Override
        public void to(long ports) {}

        @Override
        public void replace(Message record) {
            left += record.record().length();
        }

        @Override
        public Outcome drop(String reason) {
            throw new IllegalStateException(reason);
        }

        @Override
        public void emit(int port, Message made) {
            left += made.record().length();
        }

        @Override
        public void release(long messages, @Nullable String droppedFor) {
            if (droppedFor != null) {
                throw new IllegalStateException(droppedFor);
            }
        }
    }

    private static Format flight(String name, Layout layout) {
        var builder =
                Format.builder(layout).structure(name).field("id", "integer", 8).field("hub", "string");
        for (int i = 0; i < NUMBERS; i++) {
            builder.field("f" + i, "integer", i % 2 == 0 ? 4 : 8);
        }
        return builder.field("fuel", "double").build();
    }

    private static ByteBuffer[] records(Format format, LongFunction<Map<String, Object>> values) {
        ByteBuffer[] records = new ByteBuffer[KEYS];
        for (int i = 0; i < KEYS; i++) {
            byte[] record = new RecordEncoder(format).encode(values.apply(i));
            records[i] = ByteBuffer.allocateDirect(record.length).put(0, record);
        }
        return records;
    }

    private static Packet header() {
        ByteBuffer bytes = ByteBuffer.allocate(256);
        new PacketBuilder().service("org.tamanoir.services.Morph").stream(7).write(bytes, ByteBuffer.allocate(0));
        Packet packet = new Packet();
        packet.parse(bytes.flip(), 0, bytes.limit());
        return packet;
    }

    private MessageHandler handler(String kind, Map<String, Object> settings) {
        return HandlerKinds.make("handlers.it." + kind, kind, settings, names);
    }

    private Bound bound(String kind, Map<String, Object> settings) {
        return handler(kind, settings).bind(flight);
    }

    private Outcome flight(Bound bound) throws Exception {
        ByteBuffer record = flights[turn++ % KEYS];
        return bound.handle(message.wrap(flight, record, 0, record.capacity(), header, sink.nowNs), sink);
    }

    /** Lets a message pass. */
    @Benchmark
    public Outcome nothing() throws Exception {
        return flight(nothing);
    }

    /** Turns a record into the other byte order. */
    @Benchmark
    public Outcome translate() throws Exception {
        return flight(translate);
    }

    /** Takes 3 of 15 fields. */
    @Benchmark
    public Outcome select() throws Exception {
        return flight(select);
    }

    /** Cuts off the string. */
    @Benchmark
    public Outcome cut() throws Exception {
        return flight(cut);
    }

    /** Adds a record to one of 100 groups with four aggregates. */
    @Benchmark
    public Outcome reduce() throws Exception {
        return flight(reduce);
    }

    /** Holds 1,000 flights, then merges them with their adverts: half of the messages each. */
    @Benchmark
    public Outcome merge() throws Exception {
        if (turn / KEYS % 2 == 0) {
            return flight(ofFlights);
        }
        ByteBuffer record = adverts[turn++ % KEYS];
        return ofAdverts.handle(message.wrap(advert, record, 0, record.capacity(), header, sink.nowNs), sink);
    }
}
