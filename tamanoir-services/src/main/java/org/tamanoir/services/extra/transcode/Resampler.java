package org.tamanoir.services.extra.transcode;

/**
 * Changes the rate of samples by the factor L/M: a polyphase filter, that is the low-pass filter of a signal with L − 1
 * zeros behind each sample of which every M-th output is computed alone.
 *
 * <p>The filter is a sinc in a Kaiser window (β = 8), {@value #TAPS} · max(1, M/L) coefficients for each
 * output, which ends below half the lower rate: it passes up to 0.42 of that, 3.4 kHz at 8 kHz. Coefficients
 * are of 15 bits, which leaves 60 dB of what is to be kept out; those of each phase add up to one, so silence and constants stay what they are. The output
 * is later than the input by half of the coefficients: 4 ms where the lower rate is 8 kHz.
 *
 * <p>Where the input is cut makes no difference. Thread contract: one thread.
 */
final class Resampler {
    /** Coefficients for an output where the rate goes up. */
    static final int TAPS = 64;

    private static final int ONE_BITS = 14;
    private static final double KAISER_BETA = 8;
    /** Where the filter is at half, of the lower rate. */
    private static final double CUT_OFF = 0.46;

    /** The coefficients: shared by all that change the same rates. */
    record Filter(int up, int down, int[][] phases) {
        /** Makes the filter from one rate to another, in samples a second. */
        static Filter of(int fromRate, int toRate) {
            int divisor = gcd(fromRate, toRate);
            int up = toRate / divisor;
            int down = fromRate / divisor;
            int taps = TAPS * Math.max(1, (down + up - 1) / up);
            int[][] phases = new int[up][];
            for (int phase = 0; phase < up; phase++) {
                phases[phase] = phase(phase, up, taps, CUT_OFF / Math.max(up, down));
            }
            return new Filter(up, down, phases);
        }

        int taps() {
            return phases[0].length;
        }

        /** The most samples that come out for so many. */
        int most(int samples) {
            return (int) (((long) samples * up + down - 1) / down);
        }

        /** Coefficients for the input from old to new. @param cutOff of the rate between zeros */
        private static int[] phase(int phase, int up, int taps, double cutOff) {
            double centre = (taps * up - 1) / 2.0;
            double[] exact = new double[taps];
            double sum = 0;
            for (int i = 0; i < taps; i++) {
                double at = (taps - 1 - i) * up + phase - centre;
                double x = 2 * cutOff * at;
                double sinc = x == 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
                double edge = at / centre;
                exact[i] = sinc * bessel(KAISER_BETA * Math.sqrt(Math.max(0, 1 - edge * edge)));
                sum += exact[i];
            }
            int[] rounded = new int[taps];
            int left = 1 << ONE_BITS;
            int largest = 0;
            for (int i = 0; i < taps; i++) {
                rounded[i] = (int) Math.rint(exact[i] / sum * (1 << ONE_BITS));
                left -= rounded[i];
                largest = rounded[i] > rounded[largest] ? i : largest;
            }
            rounded[largest] += left;
            return rounded;
        }

        /** The modified Bessel function of order 0. */
        private static double bessel(double x) {
            double sum = 1;
            double term = 1;
            for (int i = 1; term > 1e-12 * sum; i++) {
                term *= x / (2 * i) * (x / (2 * i));
                sum += term;
            }
            return sum;
        }

        private static int gcd(int a, int b) {
            return b == 0 ? a : gcd(b, a % b);
        }
    }

    private final Filter filter;
    /** The last inputs, and those in hand behind them. */
    private int[] input;
    /** Of the next output, behind the last input: in parts of an input sample, up of them. */
    private int position;

    Resampler(Filter filter) {
        this.filter = filter;
        input = new int[filter.taps() - 1];
    }

    /** Has the next output so far behind the last input. @param parts of an input sample, up of them; 0 to down − 1 */
    void align(int parts) {
        position = parts;
    }

    /** Takes samples from index 0, and writes what comes of them to index 0 of {@code target}. Returns how many. */
    int resample(int[] samples, int count, int[] target) {
        int before = filter.taps() - 1;
        if (input.length < before + count) {
            input = java.util.Arrays.copyOf(input, before + count);
        }
        System.arraycopy(samples, 0, input, before, count);
        int up = filter.up;
        int made = 0;
        int index = position / up;
        while (index < count) {
            target[made++] = output(filter.phases[position - index * up], index);
            position += filter.down;
            index = position / up;
        }
        position -= count * up;
        System.arraycopy(input, count, input, 0, before);
        return made;
    }

    private int output(int[] coefficients, int from) {
        int[] x = input;
        int sum = 1 << ONE_BITS - 1;
        for (int i = 0; i < coefficients.length; i++) {
            sum += coefficients[i] * x[from + i];
        }
        return Math.max(Short.MIN_VALUE, Math.min(Short.MAX_VALUE, sum >> ONE_BITS));
    }
}
