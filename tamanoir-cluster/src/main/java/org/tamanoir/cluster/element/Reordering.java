package org.tamanoir.cluster.element;

import java.util.Arrays;

/**
 * How far a sequence of numbers is out of order. With x<sub>1</sub> … x<sub>M</sub> in order of arrival, h<sub>j</sub>
 * is how many steps x<sub>m+1</sub> − x<sub>m</sub> equal j. Always hMinus + h1 + hPlus = x<sub>M</sub> − x<sub>1</sub>.
 *
 * <p>Sources: <i>Distributed Active Element for High-Performance Data Distribution</i>, equations 1 and 2; RFC 4737 for
 * the reordered ratio (4.1) and the extent (4.2.1); RFC 5236 for the density.
 *
 * @param hMinus the sum of j·h<sub>j</sub> over j &lt; 0
 * @param nMinus the steps with j &lt; 0
 * @param h0 the steps with j = 0
 * @param h1 the steps with j = 1
 * @param hPlus the sum of j·h<sub>j</sub> over j &gt; 1
 * @param nPlus the steps with j &gt; 1
 * @param min the least j; 0 without a step
 * @param max the largest j; 0 without a step
 * @param doubles arrivals of a number that came before, but not directly before
 * @param lost numbers that never came, by equation 2: it needs the smallest number first and the largest last, and can
 *     turn negative without
 * @param reordered numbers that came after a larger one; repeated arrivals count neither here nor in {@code extent}
 * @param extent the most arrivals between a reordered number and the first larger one before it
 * @param ratio reordered numbers among all that came
 */
public record Reordering(
        long hMinus,
        long nMinus,
        long h0,
        long h1,
        long hPlus,
        long nPlus,
        long min,
        long max,
        long doubles,
        long lost,
        long reordered,
        long extent,
        double ratio) {

    /** Measures numbers in the order of their arrival; each must be below 2<sup>62</sup> in magnitude. */
    public static Reordering of(long... numbers) {
        long hMinus = 0;
        long nMinus = 0;
        long h0 = 0;
        long h1 = 0;
        long hPlus = 0;
        long nPlus = 0;
        long min = numbers.length < 2 ? 0 : Long.MAX_VALUE;
        long max = numbers.length < 2 ? 0 : Long.MIN_VALUE;
        for (int i = 1; i < numbers.length; i++) {
            long step = numbers[i] - numbers[i - 1];
            min = Math.min(min, step);
            max = Math.max(max, step);
            if (step < 0) {
                hMinus += step;
                nMinus++;
            } else if (step == 0) {
                h0++;
            } else if (step == 1) {
                h1++;
            } else {
                hPlus += step;
                nPlus++;
            }
        }
        long[] first = firstArrivals(numbers);
        long doubles = numbers.length - first.length - h0;
        long lost = hMinus + hPlus - nPlus - nMinus + doubles;
        long[] larger = largerBefore(first);
        long reordered = Arrays.stream(larger).filter(each -> each > 0).count();
        long extent = Arrays.stream(larger).max().orElse(0);
        double ratio = first.length == 0 ? 0 : (double) reordered / first.length;
        return new Reordering(hMinus, nMinus, h0, h1, hPlus, nPlus, min, max, doubles, lost, reordered, extent, ratio);
    }

    /**
     * Returns the reorder density: at index {@code threshold + d} the share of numbers that came d places late, or early
     * where d is negative. Places are counted in numbers that came at all. Those further away count nowhere.
     */
    public static double[] density(int threshold, long... numbers) {
        long[] first = firstArrivals(numbers);
        long[] places = first.clone();
        Arrays.sort(places);
        double[] density = new double[2 * threshold + 1];
        for (int i = 0; i < first.length; i++) {
            int displaced = i - Arrays.binarySearch(places, first[i]);
            if (Math.abs(displaced) <= threshold) {
                density[threshold + displaced] += 1.0 / first.length;
            }
        }
        return density;
    }

    /** Returns the numbers without repeated arrivals, in the order of the others. */
    private static long[] firstArrivals(long[] numbers) {
        return Arrays.stream(numbers).distinct().toArray();
    }

    /** Returns for each number how many arrivals before it the first larger one came; 0 = none did. */
    private static long[] largerBefore(long[] numbers) {
        long[] larger = new long[numbers.length];
        long[] highest = new long[numbers.length];
        int[] at = new int[numbers.length];
        int records = 0;
        for (int i = 0; i < numbers.length; i++) {
            if (records == 0 || numbers[i] > highest[records - 1]) {
                highest[records] = numbers[i];
                at[records++] = i;
            } else {
                larger[i] = i - at[-1 - Arrays.binarySearch(highest, 0, records, numbers[i])];
            }
        }
        return larger;
    }
}
