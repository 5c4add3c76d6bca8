package org.tamanoir.benchmarks;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * What a message costs in a service, from the packet to the packet: one record in each, parsed, lent to the service and
 * taken back as a node does. And what a long message costs in one piece of memory, copied there, against the packets
 * that it came in. Scores are nanoseconds a message; {@code -prof gc} shows what is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class MessageBenchmark {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .field("delay", "integer", 4)
            .field("fuel", "float", 8)
            .field("hub", "string")
            .build();
    private static final int DOUBLES = 12_000;
    private static final int SEGMENT = 32_768;

    private final Path forward = new Path(new Each((input, delay) -> Outcome.FORWARD));
    private final Path filter = new Path(
            new Each((message, delay) -> delay.getLong(message.record()) > 15 ? Outcome.FORWARD : Outcome.MERGE));
    private final Path replace = new Path(new Replacing());
    private final Path run = new Path(new Each((input, delay) -> Outcome.FORWARD));
    private final Path copying = new Path(new Service() {
        @Override
        public Verdict process(Packet packet) {
            return packet.payload().get(packet.payload().position()) == 2 ? Verdict.FORWARD : Verdict.DROP;
        }
    });

    private final Format array = Format.builder(Layout.X86_64)
            .structure("array")
            .field("n", "integer")
            .field("values", "float[n]")
            .build();
    private final ByteBuffer[] segments = new ByteBuffer[3];
    private final ByteBuffer together = ByteBuffer.allocate(3 * SEGMENT);
    private int arrayBytes;

    /** Makes the packets. */
    @Setup
    public void fill() throws Exception {
        byte[] record = new RecordEncoder(FLIGHT)
                .encode(Map.of("id", 1L, "delay", 25, "fuel", 0.5, "hub", "Atlanta, by way of a few others"));
        PacketBuilder builder = new PacketBuilder()
                        .source(InetAddress.getByAddress(new byte[] {10, 0, 1, 2}))
                        .destination(InetAddress.getByAddress(new byte[] {10, 0, 2, 7}))
                        .service("flights")
                        .stream(7)
                        .hopBudget(16);
        byte[] item = ByteBuffer.allocate(8 + record.length)
                .putInt(3 << 24)
                .putInt(record.length)
                .put(record)
                .array();
        ByteBuffer items = ByteBuffer.allocate(10 * item.length);
        while (items.hasRemaining()) {
            items.put(item);
        }
        run.use(new PacketBuilder()
                .destination(InetAddress.getByAddress(new byte[] {10, 0, 2, 7}))
                .build(items.flip()));
        Packet packet =
                builder.option(Option.FORMAT.wireType(), FLIGHT.id().toBytes()).build(ByteBuffer.wrap(record));
        forward.use(packet);
        filter.use(packet);
        replace.use(packet);
        copying.use(packet);
        java.util.List<Double> doubles = new java.util.ArrayList<>();
        for (int i = 0; i < DOUBLES; i++) {
            doubles.add(i * 0.25);
        }
        byte[] large = new RecordEncoder(array).encode(Map.of("values", doubles));
        arrayBytes = large.length;
        for (int i = 0; i < segments.length; i++) {
            int bytes = Math.min(SEGMENT, large.length - i * SEGMENT);
            segments[i] = ByteBuffer.allocateDirect(SEGMENT).put(0, large, i * SEGMENT, bytes);
        }
    }

    /** A message that goes on as it came. */
    @Benchmark
    public Verdict forward() throws Exception {
        return forward.next();
    }

    /** The same of ten messages in a run of items. */
    @Benchmark
    public Verdict forwardTenInARun() throws Exception {
        return run.next();
    }

    /** A message of which a field is looked at. */
    @Benchmark
    public Verdict filter() throws Exception {
        return filter.next();
    }

    /** A message in whose place another record goes on, in the packet in hand. */
    @Benchmark
    public Verdict replace() throws Exception {
        return replace.next();
    }

    /** What it costs a service to look at its packet's bytes in memory of its own: no message. */
    @Benchmark
    public Verdict packetInMemoryOfTheServicesOwn() throws Exception {
        return copying.next();
    }

    /** Ten values of a record of 96 KB in one piece, to which it is copied first. */
    @Benchmark
    public double tenValuesTogether() {
        copy();
        return sum(DOUBLES / 10);
    }

    /** All values of it. */
    @Benchmark
    public double allValuesTogether() {
        copy();
        return sum(1);
    }

    private void copy() {
        for (int at = 0, i = 0; at < arrayBytes; at += SEGMENT, i++) {
            together.put(at, segments[i], 0, Math.min(SEGMENT, arrayBytes - at));
        }
    }

    /** Reads as an accessor has to: the place of the array, its bounds, then a value. */
    private double sum(int step) {
        double sum = 0;
        int base = array.headerBytes();
        for (int i = 0; i < DOUBLES; i += step) {
            long place = Long.reverseBytes(together.getLong(base + 8));
            long count = Long.reverseBytes(together.getLong(base)) & 0xFFFFFFFFL;
            if (i >= count || place + 8L * count > arrayBytes - base) {
                throw new IndexOutOfBoundsException();
            }
            sum += Double.longBitsToDouble(Long.reverseBytes(together.getLong(base + (int) place + 8 * i)));
        }
        return sum;
    }

    /** Ten values of the record where its packets lie. */
    @Benchmark
    public double tenValuesDispersed() {
        return sumDispersed(DOUBLES / 10);
    }

    /** All values of it. */
    @Benchmark
    public double allValuesDispersed() {
        return sumDispersed(1);
    }

    /** Does the same where a number may lie in two packets. */
    private double sumDispersed(int step) {
        double sum = 0;
        int base = array.headerBytes();
        for (int i = 0; i < DOUBLES; i += step) {
            long place = longAt(base + 8);
            long count = longAt(base) & 0xFFFFFFFFL;
            if (i >= count || place + 8L * count > arrayBytes - base) {
                throw new IndexOutOfBoundsException();
            }
            sum += Double.longBitsToDouble(longAt(base + (int) place + 8 * i));
        }
        return sum;
    }

    /** Finds the packet by halving, as lengths differ; a number that lies in two is put together byte by byte. */
    private long longAt(int at) {
        int low = 0;
        int high = segments.length - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (at >= middle * SEGMENT) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        int inside = at - low * SEGMENT;
        if (inside + 8 <= SEGMENT) {
            return Long.reverseBytes(segments[low].getLong(inside));
        }
        long value = 0;
        for (int i = 0; i < 8; i++) {
            int place = at + i;
            value |= (segments[place / SEGMENT].get(place % SEGMENT) & 0xFFL) << 8 * i;
        }
        return value;
    }

    /** What a handler of the benchmark does. */
    private interface Does {
        Outcome with(Message message, Accessor delay);
    }

    /** A handler that knows where a field is. */
    private static final class Each extends MessageService {
        private final Does does;

        Each(Does does) {
            this.does = does;
        }

        @Override
        public Bound bind(Format input) {
            Accessor delay = input.accessor("delay");
            return new SameFormat(input, (message, outlet) -> does.with(message, delay));
        }
    }

    /** A handler that sends another record. */
    private static final class Replacing extends MessageService {
        private final Message replacement = new Message();
        private final byte[] record =
                new RecordEncoder(FLIGHT).encode(Map.of("id", 2L, "delay", 5, "fuel", 0.25, "hub", "Boston"));
        private final ByteBuffer memory = ByteBuffer.wrap(record);

        @Override
        public Bound bind(Format input) {
            return new SameFormat(input, (message, outlet) -> {
                outlet.replace(replacement.wrapLike(message, FLIGHT, memory, 0, record.length));
                return Outcome.FORWARD;
            });
        }
    }

    /** A packet in the receive buffer, and a service that it is lent to. */
    private static final class Path implements ServiceHost, PacketSpace {
        private final Service service;
        private final ByteBuffer received = ByteBuffer.allocateDirect(1 << 16);
        private final ByteBuffer space = ByteBuffer.allocateDirect(1 << 17);
        private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, this);
        private final FormatSource formats = FormatSource.of(new FormatRegistry(64, 1 << 20));
        private final Map<String, Counter> counters = new HashMap<>();
        private int bytes;

        Path(Service service) {
            this.service = service;
            formats.known().add(FLIGHT);
            service.attach(this);
        }

        void use(Packet packet) {
            bytes = packet.length();
            packet.copyTo(received, 0);
        }

        Verdict next() throws Exception {
            Packet packet = loan.packet();
            packet.parse(received, 0, bytes);
            loan.lend();
            Verdict verdict = service.process(packet);
            if (loan.takeBack() != null) {
                throw new IllegalStateException("not a packet any more");
            }
            return verdict;
        }

        @Override
        public ByteBuffer reserve(int octets) {
            return space.clear();
        }

        @Override
        public void commit(int octets) {}

        @Override
        public void run(Service service) {}

        @Override
        public StreamInfo stream() {
            return new StreamInfo(StreamInfo.Transport.TCP, null, new InetSocketAddress(0));
        }

        @Override
        public Counter counter(String name, Counter.Kind kind) {
            return counters.computeIfAbsent(name, own -> new Counter(own, kind));
        }

        @Override
        public Counter counter(String name) {
            return counters.computeIfAbsent(name, Counter::new);
        }

        @Override
        public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
            return true;
        }

        @Override
        public void elsewhere(InetSocketAddress destination) {}

        @Override
        public void dropping(String reason) {}

        @Override
        public Offload offload(Flow flow, Policy policy) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOffloaded() {
            return false;
        }

        @Override
        public void droppedBelow(String reason, long packets) {}

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void schedule(Duration delay, Runnable task) {}

        @Override
        public boolean execute(Runnable task) {
            return false;
        }

        @Override
        public FormatSource formats() {
            return formats;
        }

        @Override
        public @Nullable ServiceControl control() {
            return null;
        }
    }
}
