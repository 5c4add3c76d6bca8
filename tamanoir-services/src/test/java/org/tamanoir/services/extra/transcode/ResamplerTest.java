package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResamplerTest {
    private static int[] tone(double hertz, int rate, int samples, double amplitude) {
        int[] tone = new int[samples];
        for (int i = 0; i < samples; i++) {
            tone[i] = (int) Math.rint(amplitude * Math.sin(2 * Math.PI * hertz * i / rate));
        }
        return tone;
    }

    private static int[] resampled(int[] samples, int from, int to) {
        Resampler.Filter filter = Resampler.Filter.of(from, to);
        int[] target = new int[filter.most(samples.length)];
        return Arrays.copyOf(target, new Resampler(filter).resample(samples, samples.length, target));
    }

    /** Power of what is left of the second half when its best sine of this frequency is taken out, and that of the sine. */
    private static double[] powers(int[] samples, double hertz, int rate) {
        double step = 2 * Math.PI * hertz / rate;
        int from = samples.length / 2;
        int count = (int) (Math.floor((samples.length - from) * hertz / rate) * rate / hertz);
        double sine = 0;
        double cosine = 0;
        for (int i = 0; i < count; i++) {
            sine += samples[from + i] * Math.sin(step * i);
            cosine += samples[from + i] * Math.cos(step * i);
        }
        sine *= 2.0 / count;
        cosine *= 2.0 / count;
        double rest = 0;
        for (int i = 0; i < count; i++) {
            double error = samples[from + i] - sine * Math.sin(step * i) - cosine * Math.cos(step * i);
            rest += error * error / count;
        }
        return new double[] {(sine * sine + cosine * cosine) / 2, rest};
    }

    @ParameterizedTest
    @CsvSource({"8000,16000", "8000,48000", "16000,48000", "16000,8000", "48000,8000", "48000,16000", "24000,16000"})
    void aToneStaysWhatItIs(int from, int to) {
        int[] out = resampled(tone(1000, from, from, 16_000), from, to);
        assertThat(out).hasSize(to);
        double[] powers = powers(out, 1000, to);
        assertThat(10 * Math.log10(powers[0] / (16_000.0 * 16_000 / 2)))
                .as("gain, dB")
                .isBetween(-0.01, 0.01);
        assertThat(10 * Math.log10(powers[0] / powers[1]))
                .as("signal to noise, dB")
                .isGreaterThan(72);
    }

    @ParameterizedTest
    @CsvSource({"8000,16000,3400", "48000,8000,3300", "16000,48000,6700"})
    void speechPassesToItsUpperEnd(int from, int to, int hertz) {
        double[] powers = powers(resampled(tone(hertz, from, from, 16_000), from, to), hertz, to);
        assertThat(10 * Math.log10(powers[0] / (16_000.0 * 16_000 / 2)))
                .as("gain, dB")
                .isBetween(-0.5, 0.5);
    }

    /** What the lower rate cannot have, and would come back as another tone. */
    @ParameterizedTest
    @CsvSource({"16000,8000,4700", "48000,8000,7000", "48000,16000,9000"})
    void aToneAboveHalfTheLowerRateIsGone(int from, int to, int hertz) {
        int[] out = resampled(tone(hertz, from, from, 16_000), from, to);
        double power = Arrays.stream(out)
                .skip(to / 2)
                .mapToDouble(x -> (double) x * x)
                .average()
                .orElseThrow();
        assertThat(10 * Math.log10(power / (16_000.0 * 16_000 / 2))).isLessThan(-60);
    }

    /** The tones that zeros between samples make. */
    @Test
    void aToneComesBackAtNoOtherPlace() {
        int[] out = resampled(tone(3000, 8000, 8000, 16_000), 8000, 48_000);
        double[] powers = powers(out, 3000, 48_000);
        assertThat(10 * Math.log10(powers[0] / powers[1])).isGreaterThan(70);
    }

    @ParameterizedTest
    @CsvSource({"8000,48000", "48000,8000", "24000,16000"})
    void aConstantStaysToTheBit(int from, int to) {
        for (int constant : new int[] {Short.MIN_VALUE, -1, 0, 12_345, Short.MAX_VALUE}) {
            int[] samples = new int[2000];
            Arrays.fill(samples, constant);
            int[] out = resampled(samples, from, to);
            assertThat(Arrays.stream(out).skip(out.length / 2)).containsOnly(constant);
        }
    }

    /** The loudest that there is, in the sign that is worst for each coefficient: nothing wraps around. */
    @ParameterizedTest
    @CsvSource({"8000,48000", "48000,8000", "16000,8000", "8000,40000", "40000,48000"})
    void whatIsTooLoudIsCutAtTheEnds(int from, int to) {
        for (int[] phase : Resampler.Filter.of(from, to).phases()) {
            assertThat(Arrays.stream(phase).sum()).isEqualTo(1 << 14);
            assertThat(Arrays.stream(phase).mapToLong(Math::abs).sum() << 15).isLessThan(1L << 31);
        }
    }

    @Test
    void itMakesNoDifferenceWhereTheInputIsCut() {
        Random random = new Random(3);
        int[] samples = random.ints(5000, Short.MIN_VALUE, Short.MAX_VALUE + 1).toArray();
        for (int[] rates : new int[][] {{8000, 48_000}, {48_000, 8000}, {24_000, 16_000}}) {
            Resampler.Filter filter = Resampler.Filter.of(rates[0], rates[1]);
            Resampler resampler = new Resampler(filter);
            int[] parts = new int[filter.most(samples.length)];
            int made = 0;
            for (int at = 0; at < samples.length; ) {
                int count = Math.min(random.nextInt(50), samples.length - at);
                int[] target = new int[filter.most(count)];
                int out = resampler.resample(Arrays.copyOfRange(samples, at, at + count), count, target);
                System.arraycopy(target, 0, parts, made, out);
                made += out;
                at += count;
            }
            assertThat(Arrays.copyOf(parts, made)).isEqualTo(resampled(samples, rates[0], rates[1]));
        }
    }
}
