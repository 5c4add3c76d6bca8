package org.tamanoir.benchmarks.emulate;

import java.util.SplittableRandom;

/**
 * Arrivals by a law, without end. A packet takes its bytes and 20 more on the line: preamble and gap of Ethernet.
 *
 * <p>Thread contract: one thread.
 */
final class Model implements Arrivals {
    static final int LINE_BYTES = 20;

    /** The law of the gaps. */
    enum Law {
        /** Back to back at the rate. */
        CONSTANT,
        /** Exponential gaps. */
        POISSON,
        /** {@link OnOff} sources, superposed: self-similar. */
        PARETO
    }

    /** Of packets as 7 : 4 : 1. */
    private static final int[] IMIX = {64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518};

    private static final double IMIX_MEAN = (7 * 64 + 4 * 594 + 1518) / 12.0;

    /** Sources that are superposed by {@link Law#PARETO}. */
    private static final int SOURCES = 16;

    private final Law law;
    private final int fixedBytes;
    private final double bitsPerNs;
    private final double meanGapNs;
    private final Destinations destinations;
    private final SplittableRandom random;
    private final OnOff[] sources;
    private double ns;

    /**
     * @param bytes of each packet; 0 for IMIX
     * @param gbps of the line that packets take on average, 20 bytes for each included
     */
    Model(Law law, int bytes, double gbps, Destinations destinations, long seed) {
        this.law = law;
        this.fixedBytes = bytes;
        this.destinations = destinations;
        this.random = new SplittableRandom(seed);
        bitsPerNs = gbps;
        meanGapNs = ((bytes == 0 ? IMIX_MEAN : bytes) + LINE_BYTES) * 8 / gbps;
        sources = new OnOff[law == Law.PARETO ? SOURCES : 0];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = new OnOff(meanGapNs * SOURCES, random.split());
        }
    }

    @Override
    public boolean next(Arrival into) {
        into.bytes = fixedBytes > 0 ? fixedBytes : IMIX[random.nextInt(IMIX.length)];
        into.ns = (long) ns;
        if (law == Law.PARETO) {
            OnOff first = sources[0];
            for (OnOff each : sources) {
                first = each.ns() < first.ns() ? each : first;
            }
            into.ns = (long) first.ns();
            first.advance();
        } else if (law == Law.POISSON) {
            ns -= meanGapNs * Math.log(1 - random.nextDouble());
        } else {
            ns += (into.bytes + LINE_BYTES) * 8 / bitsPerNs;
        }
        into.to(destinations.next(random));
        into.trafficClass = 0;
        into.service = 0;
        return true;
    }
}
