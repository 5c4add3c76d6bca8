package org.tamanoir.cluster.config;

import java.time.Duration;

/**
 * How weights follow what back-ends can still take.
 *
 * @param dynamic false = every back-end without a weight of its own has {@code fixed}
 * @param fixed the weight then
 * @param perProcessor weight of one idle processor
 * @param interval between two looks at the load
 */
public record WeightPolicy(boolean dynamic, int fixed, int perProcessor, Duration interval) {
    public static final WeightPolicy DEFAULT = new WeightPolicy(false, 100, 100, Duration.ofSeconds(2));
}
