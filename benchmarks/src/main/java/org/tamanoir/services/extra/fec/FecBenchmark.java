package org.tamanoir.services.extra.fec;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The arithmetic of forward error correction, in bytes of data packets a microsecond, which are MB a second: the repairs
 * of ten packets of 1,400 bytes, and three of them got back; as the classes are, and as a node loads them.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class FecBenchmark {
    private static final int K = 10;
    private static final int M = 3;
    private static final int BYTES = 1400;

    @Param({"plain", "checkpoints"})
    private String loaded = "";

    private IntSupplier three = () -> 0;
    private IntSupplier one = () -> 0;
    private IntSupplier back = () -> 0;

    /** Loads the classes. */
    @Setup
    public void load() throws ReflectiveOperationException {
        boolean plain = loaded.equals("plain");
        three = plain ? new FecWork.Encode(K, M, BYTES) : FecWork.deployed(FecWork.Encode.class, K, M, BYTES);
        one = plain ? new FecWork.Encode(K, 1, BYTES) : FecWork.deployed(FecWork.Encode.class, K, 1, BYTES);
        back = plain ? new FecWork.Solve(K, M, BYTES) : FecWork.deployed(FecWork.Solve.class, K, M, BYTES);
    }

    @Benchmark
    @OperationsPerInvocation(K * BYTES)
    public int threeRepairs() {
        return three.getAsInt();
    }

    @Benchmark
    @OperationsPerInvocation(K * BYTES)
    public int oneRepair() {
        return one.getAsInt();
    }

    @Benchmark
    @OperationsPerInvocation(K * BYTES)
    public int threeGotBack() {
        return back.getAsInt();
    }
}
