package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
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
import org.tamanoir.preemption.Checkpoints;
import org.tamanoir.preemption.UnfitClassException;

/**
 * What checkpoints cost a service, by what it does with a payload of 1,400 bytes: the same class file as it is, and as a
 * node loads it. Nobody wants anything meanwhile.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CheckpointBenchmark {
    private static final int BYTES = 1400;

    @Param({"plain", "checkpoints"})
    private String loaded = "";

    private final byte[] array = new byte[BYTES];
    private final ByteBuffer direct = ByteBuffer.allocateDirect(BYTES);
    private final int[] chain = new int[1 << 12];
    private Work work = new Kernels();

    /** What a service may do. */
    public interface Work {
        long upperCase(byte[] octets);

        long upperCase(ByteBuffer octets);

        long xor(byte[] octets);

        long hash(byte[] octets);

        long compress(byte[] octets);

        long follow(int[] chain, int steps);
    }

    /** Does it; the class that is loaded both ways. */
    public static final class Kernels implements Work {
        private final Deflater deflater = new Deflater(6);
        private final byte[] compressed = new byte[2 * BYTES];

        @Override
        public long upperCase(byte[] octets) {
            for (int i = 0; i < octets.length; i++) {
                byte octet = octets[i];
                if (octet >= 'a' && octet <= 'z') {
                    octets[i] = (byte) (octet ^ 32);
                }
            }
            return octets[0];
        }

        @Override
        public long upperCase(ByteBuffer octets) {
            for (int i = octets.position(); i < octets.limit(); i++) {
                byte octet = octets.get(i);
                if (octet >= 'a' && octet <= 'z') {
                    octets.put(i, (byte) (octet ^ 32));
                }
            }
            return octets.get(0);
        }

        @Override
        public long xor(byte[] octets) {
            for (int i = 0; i < octets.length; i++) {
                octets[i] ^= 0x55;
            }
            return octets[0];
        }

        @Override
        public long hash(byte[] octets) {
            int hash = 0x811c9dc5;
            for (byte each : octets) {
                hash = (hash ^ each & 0xff) * 16777619;
            }
            return hash;
        }

        @Override
        public long compress(byte[] octets) {
            deflater.reset();
            deflater.setInput(octets);
            deflater.finish();
            return deflater.deflate(compressed);
        }

        @Override
        public long follow(int[] chain, int steps) {
            int at = 0;
            for (int i = 0; i < steps; i++) {
                at = chain[at];
            }
            return at;
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(CheckpointBenchmark.class.getClassLoader());
        }

        Class<?> define(byte[] file) {
            return defineClass(Kernels.class.getName(), file, 0, file.length);
        }
    }

    /** Loads the class, and makes what it works on. */
    @Setup
    public void load() throws IOException, ReflectiveOperationException, UnfitClassException {
        byte[] file;
        try (InputStream in = Objects.requireNonNull(
                CheckpointBenchmark.class.getResourceAsStream("CheckpointBenchmark$Kernels.class"))) {
            file = in.readAllBytes();
        }
        byte[] wanted = loaded.equals("plain") ? file : Checkpoints.put(file);
        work = (Work) new Loader().define(wanted).getConstructor().newInstance();
        Random random = new Random(1);
        for (int i = 0; i < BYTES; i++) {
            array[i] = (byte) (' ' + random.nextInt(95));
        }
        direct.put(array).flip();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < chain.length; i++) {
            order.add(i);
        }
        Collections.shuffle(order, random);
        for (int i = 0; i < chain.length; i++) {
            chain[order.get(i)] = order.get((i + 1) % chain.length);
        }
    }

    @Benchmark
    public long upperCaseOfArray() {
        return work.upperCase(array);
    }

    @Benchmark
    public long upperCaseOfBuffer() {
        return work.upperCase(direct);
    }

    @Benchmark
    public long xorOfArray() {
        return work.xor(array);
    }

    @Benchmark
    public long hash() {
        return work.hash(array);
    }

    @Benchmark
    public long compress() {
        return work.compress(array);
    }

    @Benchmark
    public long follow() {
        return work.follow(chain, BYTES);
    }
}
