package org.tamanoir.services.extra.transcode;

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

/** Decodes, encodes and resamples 20 ms of sound at 8 kHz, as Transcode does: the time of each sample that came. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(SoundBenchmark.SAMPLES)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class SoundBenchmark {
    static final int SAMPLES = 160;

    private final byte[] codes = new byte[SAMPLES];
    private final int[] samples = new int[SAMPLES];
    private final int[] more = new int[6 * SAMPLES];
    private final Resampler sixfold = new Resampler(Resampler.Filter.of(8000, 48_000));
    private final Resampler twofold = new Resampler(Resampler.Filter.of(8000, 16_000));
    private final Resampler half = new Resampler(Resampler.Filter.of(16_000, 8000));

    /** Has all values come. */
    @Setup
    public void makeSamples() {
        for (int i = 0; i < SAMPLES; i++) {
            codes[i] = (byte) (i * 101);
            samples[i] = (i * 7919 & 0xFFFF) - 32_768;
        }
    }

    @Benchmark
    public int[] decodeUlaw() {
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = G711.fromUlaw(codes[i] & 0xFF);
        }
        return samples;
    }

    @Benchmark
    public byte[] encodeAlaw() {
        for (int i = 0; i < SAMPLES; i++) {
            codes[i] = G711.toAlaw(samples[i]);
        }
        return codes;
    }

    @Benchmark
    public int from8To48kHz() {
        return sixfold.resample(samples, SAMPLES, more);
    }

    @Benchmark
    public int from8To16kHz() {
        return twofold.resample(samples, SAMPLES, more);
    }

    @Benchmark
    public int from16To8kHz() {
        return half.resample(samples, SAMPLES, more);
    }
}
