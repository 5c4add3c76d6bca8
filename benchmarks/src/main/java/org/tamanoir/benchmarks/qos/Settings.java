package org.tamanoir.benchmarks.qos;

/**
 * How experiments run.
 *
 * @param seconds of a run that shows throughput against time
 * @param off whether nodes run without quality of service
 */
record Settings(double seconds, boolean off) {
    /** What other lengths are stated for. */
    static final double DEFAULT_SECONDS = 8;

    /** A length that is {@code seconds} unless runs are longer or shorter. */
    double scaled(double seconds) {
        return seconds * this.seconds / DEFAULT_SECONDS;
    }

    /** A number that is {@code count} unless runs are shorter. */
    int scaled(int count, int least) {
        return (int) Math.max(least, Math.round(count * Math.min(1, seconds / DEFAULT_SECONDS)));
    }
}
