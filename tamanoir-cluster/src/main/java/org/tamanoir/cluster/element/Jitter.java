package org.tamanoir.cluster.element;

/**
 * The interarrival jitter of RFC 3550, section 6.4.1 and appendix A.8: J += (|D| - J) / 16, where D is by how much the
 * transit times of two packets differ that arrived one after the other.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class Jitter {
    private double value;
    private long lastTransit;
    private boolean started;

    /** Takes note of a packet by its arrival minus its timestamp, both in the same units, on whatever clocks. */
    public void arrived(long transit) {
        if (started) {
            value += (Math.abs((double) (transit - lastTransit)) - value) / 16;
        }
        lastTransit = transit;
        started = true;
    }

    /** Returns the jitter in these units; 0 before the second packet. */
    public double value() {
        return value;
    }
}
