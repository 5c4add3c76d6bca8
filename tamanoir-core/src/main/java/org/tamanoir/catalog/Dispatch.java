package org.tamanoir.catalog;

import org.tamanoir.service.ServiceTraits;

/**
 * How the UDP packets of a service come to its instances.
 *
 * @param perPacket whether each goes to whichever of several workers is free; else one thread has them all
 * @param ordered whether one packet of a stream is processed at a time, in the order of their coming; only per packet
 * @param jobs packets of the service that wait or are being processed, at most; only per packet
 */
public record Dispatch(boolean perPacket, boolean ordered, int jobs) {
    public static final int MIN_JOBS = 64;
    public static final int MAX_JOBS = 1 << 18;
    public static final int DEFAULT_JOBS = 1 << 16;
    /** One thread for all of them. */
    public static final Dispatch STREAM = new Dispatch(false, true, DEFAULT_JOBS);

    /** Throws {@link IllegalArgumentException} for jobs out of bounds. */
    public Dispatch {
        if (jobs < MIN_JOBS || jobs > MAX_JOBS) {
            throw new IllegalArgumentException("jobs " + jobs + ": must be from " + MIN_JOBS + " to " + MAX_JOBS);
        }
    }

    /** Returns why a class that says this of itself cannot be run so, in one line; empty when it can. */
    public String whyNot(String className, ServiceTraits traits) {
        return !perPacket || traits.perPacket()
                ? ""
                : "dispatch packet: class " + className
                        + " is not made for several instances at a time: annotate it "
                        + "with @PerPacket, or take dispatch stream";
    }

    /** Returns why packets that are dispatched so cannot be handled at this level, in one line; empty when they can. */
    public String whyNot(Placement.Wanted level) {
        return !perPacket || level.equals(Placement.Wanted.JVM)
                ? ""
                : "dispatch packet with level " + level.label()
                        + ": workers are in the JVM; take level jvm, or dispatch stream";
    }
}
