package org.tamanoir.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * The way of one packet, as far as it was seen.
 *
 * @param dropReason why it ended here; null when it did not
 * @param waits where it is when the time was up, and since when; null when it has left or ended
 * @param bytes of the packet as it was made
 * @param ns from its making to its end, or until the time was up
 * @param steps in their order
 */
public record TraceResult(
        Outcome outcome,
        @Nullable DropReason dropReason,
        @Nullable String waits,
        int bytes,
        long ns,
        List<Step> steps) {
    /** What became of a packet. */
    public enum Outcome {
        /** It was handed to the operating system. */
        SENT,
        /** It ended here. */
        DROPPED,
        /** Its service took its content in. */
        CONSUMED,
        /** It was still in the node when the time was up, and goes on unseen. */
        WAITING
    }

    public TraceResult {
        steps = List.copyOf(steps);
    }
}
