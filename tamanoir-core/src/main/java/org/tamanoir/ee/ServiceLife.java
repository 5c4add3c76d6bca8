package org.tamanoir.ee;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the instances of one service version did and used together: failures, quarantine, processor time and
 * allocation with their limits.
 *
 * <p>Thread contract: any thread.
 */
public final class ServiceLife {
    /** Without limits. */
    public ServiceLife() {
        this(0, 0);
    }

    /**
     * With limits, which the environment holds by making instances pause.
     *
     * @param processors processor seconds per second; 0 = no limit
     * @param allocationOctetsPerSecond heap; 0 = no limit
     */
    public ServiceLife(double processors, long allocationOctetsPerSecond) {}

    /** Exceptions so far. */
    public long failures() {
        return 0;
    }

    /** How often it was put into quarantine. */
    public long quarantines() {
        return 0;
    }

    /** When the quarantine ends; null when it is in none. */
    public @Nullable Instant quarantinedUntil() {
        return null;
    }

    /** Puts the service into quarantine: its packets follow its failure policy unprocessed until the time is over. */
    public void quarantine(Duration time, String why) {}

    /** Ends a quarantine and forgets failures. */
    public void release() {}

    /** Processor time of all its threads, in ns, as of the last measurement. */
    public long processorNs() {
        return 0;
    }

    /** Heap octets that all its threads allocated, as of the last measurement. */
    public long allocatedOctets() {
        return 0;
    }

    /** How often its instances were made to pause because it was over a limit. */
    public long throttles() {
        return 0;
    }

    /** Instances that did not return from its code in time, and were cut loose. */
    public long stuck() {
        return 0;
    }
}
