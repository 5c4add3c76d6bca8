package org.tamanoir.cluster;

import java.time.Duration;
import org.tamanoir.cluster.lvs.RealServer;

/**
 * How weights follow what back-ends can still take.
 *
 * @param dynamic false = every back-end without a weight of its own has {@code fixed}
 * @param fixed the weight then
 * @param perProcessor weight of one idle processor
 * @param interval between two looks at the load
 * @param halfLife in which an old load counts half
 * @param hysteresis a weight is changed only when it would by more than this part of it
 * @param maxStep the largest part by which a weight changes at once
 */
public record WeightPolicy(
        boolean dynamic,
        int fixed,
        int perProcessor,
        Duration interval,
        Duration halfLife,
        double hysteresis,
        double maxStep) {
    public static final WeightPolicy DEFAULT =
            new WeightPolicy(false, 100, 100, Duration.ofSeconds(2), Duration.ofSeconds(10), 0.1, 0.25);

    public WeightPolicy {
        Bounds.check("weights.fixed", fixed, 1, RealServer.MAX_WEIGHT);
        Bounds.check("weights.per-processor", perProcessor, 1, RealServer.MAX_WEIGHT);
        Bounds.check("weights.interval", interval, Duration.ofMillis(50), Duration.ofHours(1));
        Bounds.check("weights.half-life", halfLife, Duration.ofMillis(1), Duration.ofDays(1));
        if (!(hysteresis >= 0 && hysteresis < 1)) {
            throw new IllegalArgumentException("weights.hysteresis " + hysteresis + " must be 0 to less than 1");
        }
        if (!(maxStep > 0 && maxStep <= 1)) {
            throw new IllegalArgumentException("weights.max-step " + maxStep + " must be more than 0, to 1");
        }
    }
}
