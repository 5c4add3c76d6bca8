package org.tamanoir.cluster.element.ring;

import org.jspecify.annotations.Nullable;

/**
 * A unit's ring at a moment.
 *
 * @param view that holds; null = none
 * @param alone whether the unit sends without a token because no view could be had
 * @param ended whether the unit has left
 * @param roundTripNs of the token, smoothed; 0 = none yet
 * @param turns tokens that came here in their order
 * @param stale tokens that came twice, late, or of another view
 * @param reissued tokens that the master gave out again
 * @param views that were entered here
 */
public record RingStatus(
        @Nullable RingView view,
        boolean alone,
        boolean ended,
        long roundTripNs,
        long turns,
        long stale,
        long reissued,
        long views) {}
