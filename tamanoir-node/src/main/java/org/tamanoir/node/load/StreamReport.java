package org.tamanoir.node.load;

import org.jspecify.annotations.Nullable;

/**
 * What came of one stream.
 *
 * @param bytes of whole packets
 * @param lost numbers below the highest that did not come; what is lost at the very end cannot be known here
 * @param late packets too old to tell lost from repeated ones; among the lost
 * @param unnumbered packets without a stream option, which nothing is known about
 * @param corrupt packets whose payload is not what 'send' generated
 * @param leftOut packets that came too late for their place in the file
 * @param latency from the sender's time stamps; right only when it runs on the same host
 */
record StreamReport(
        int streamId,
        String peer,
        long packets,
        long bytes,
        long payloadBytes,
        double seconds,
        double packetsPerSecond,
        double megabytesPerSecond,
        long lost,
        long reordered,
        long duplicates,
        long late,
        long unnumbered,
        long corrupt,
        long leftOut,
        @Nullable LatencySummary latency) {
    /** Different packets that came. */
    long different() {
        return packets - duplicates - late;
    }
}
