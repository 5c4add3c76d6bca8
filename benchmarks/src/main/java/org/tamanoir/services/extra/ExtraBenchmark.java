package org.tamanoir.services.extra;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.extra.aggregate.Aggregate;
import org.tamanoir.services.extra.aggregate.Split;
import org.tamanoir.services.extra.fec.Defec;
import org.tamanoir.services.extra.fec.Fec;

/**
 * Whole services of one UDP flow, a packet at a time, nothing lost: {@code fec} and {@code defec} with 1,400 bytes, 10 + 3
 * (a repair is a packet too), {@code aggregate} with packets of 64 bytes, {@code split} with what becomes of 20. What they
 * send goes nowhere.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ExtraBenchmark {
    private static final int BLOCK_AT = 4;

    @Param({"fec", "defec", "aggregate", "split"})
    private String service = "";

    private LoneHost host = new LoneHost(new Split(), Map.of(), null);
    private List<Packet> packets = List.of();
    private boolean isNumbered;
    private int given;
    private int round;

    /** Makes what the service gets. */
    @Setup
    public void prepare() throws Exception {
        boolean large = service.endsWith("fec");
        PacketBuilder builder = new PacketBuilder()
                        .source(InetAddress.getByName("10.0.1.2"))
                        .destination(InetAddress.getByName("10.0.2.7"))
                        .serviceKey(1)
                        .stream(7);
        ByteBuffer payload = ByteBuffer.allocate(large ? 1400 : 64 - builder.headerLength());
        List<Packet> made = new ArrayList<>();
        for (int i = 0; i < (large ? 10 : 20); i++) {
            made.add(builder.build(payload));
        }
        LoneHost near = large
                ? new LoneHost(new Fec(), Map.of(), null)
                : new LoneHost(new Aggregate(), Map.of("max-payload", "1280"), null);
        switch (service) {
            case "defec" -> {
                packets = near.through(made);
                host = new LoneHost(new Defec(), Map.of(), null);
                isNumbered = true;
            }
            case "split" -> {
                made.add(made.get(0));
                packets = near.through(made);
                host = new LoneHost(new Split(), Map.of(), null);
            }
            default -> {
                packets = made;
                host = near;
            }
        }
    }

    /** Gives the next packet; of Defec's, the blocks count up. */
    @Benchmark
    public Verdict packet() throws Exception {
        Packet packet = packets.get(given);
        ByteBuffer memory = host.use(packet);
        if (isNumbered) {
            memory.putInt(packet.headerLength() + BLOCK_AT, round);
        }
        if (++given == packets.size()) {
            given = 0;
            round++;
        }
        return host.next();
    }
}
