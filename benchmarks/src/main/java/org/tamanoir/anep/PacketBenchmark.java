package org.tamanoir.anep;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What one packet costs in memory: 200-byte packets that stand back to back in a direct batch of 64 KiB, as a TCP
 * read leaves them. All scores are nanoseconds per packet.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class PacketBenchmark {
    private static final int PACKET_BYTES = 200;
    private static final int BATCH_BYTES = 64 * 1024;
    private static final int PACKETS = BATCH_BYTES / PACKET_BYTES;
    private static final String SERVICE = "org.tamanoir.services.Monitor";

    private final ByteBuffer plain = ByteBuffer.allocateDirect(BATCH_BYTES);
    private final ByteBuffer checked = ByteBuffer.allocateDirect(BATCH_BYTES);
    private final ByteBuffer target = ByteBuffer.allocateDirect(BATCH_BYTES);
    private final Packet packet = new Packet();
    private final PacketBuilder builder = header();
    private final PacketBuilder checkedBuilder = header().checksum();
    private final ByteBuffer payload = ByteBuffer.allocateDirect(PACKET_BYTES - builder.headerLength());
    private final ByteBuffer checkedPayload = ByteBuffer.allocateDirect(PACKET_BYTES - checkedBuilder.headerLength());

    private static PacketBuilder header() {
        try {
            return new PacketBuilder()
                            .destination(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))
                            .service(SERVICE)
                            .classOfService(1, 0)
                            .stream(7)
                            .hopBudget(16);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 bytes are an address", e);
        }
    }

    /** Fills both batches. */
    @Setup
    public void fill() {
        write(builder, payload, plain);
        write(checkedBuilder, checkedPayload, checked);
    }

    private static int write(PacketBuilder builder, ByteBuffer payload, ByteBuffer batch) {
        batch.clear();
        for (int i = 0; i < PACKETS; i++) {
            builder.write(batch, payload);
        }
        return batch.position();
    }

    /** Framing, receive rules and option walk; reads the key and the destination, as the demultiplexer does. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long parse() {
        return parse(plain);
    }

    /** The same with a checksum to verify in each packet. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long parseWithChecksum() {
        return parse(checked);
    }

    private long parse(ByteBuffer batch) {
        long seen = 0;
        int end = PACKETS * PACKET_BYTES;
        int length;
        for (int at = 0; at < end; at += length) {
            length = Framing.next(batch, at, end);
            if (length <= 0 || packet.parse(batch, at, length) != null) {
                throw new IllegalStateException("the batch holds a broken packet at " + at);
            }
            seen += packet.serviceKey() + packet.destinationLow();
        }
        return seen;
    }

    /** Parses and marks the class of service in place. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int parseAndMark() {
        int marked = 0;
        int end = PACKETS * PACKET_BYTES;
        for (int at = 0; at < end; at += packet.length()) {
            if (packet.parse(plain, at, end - at) == null && packet.setClassOfService(marked)) {
                marked++;
            }
        }
        return marked;
    }

    /** The one's complement sum over one packet. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int checksum() {
        int sum = 0;
        for (int at = 0; at < PACKETS * PACKET_BYTES; at += PACKET_BYTES) {
            sum += Checksum.sum(checked, at, PACKET_BYTES);
        }
        return sum;
    }

    /** Header, sequence number and payload of one packet. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int build() {
        return write(builder, payload, target);
    }

    /** The same with its checksum. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int buildWithChecksum() {
        return write(checkedBuilder, checkedPayload, target);
    }
}
