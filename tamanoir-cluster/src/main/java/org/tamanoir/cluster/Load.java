package org.tamanoir.cluster;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;

/**
 * What a node says of its load: answer of {@code GET /v1/load}, JSON. Totals since the start, so that two answers give a
 * mean between them, whoever else asks.
 *
 * @param instance changes when the node is started anew: totals then begin at zero
 * @param uptimeSeconds of the node
 * @param processors that it may use
 * @param processorSeconds used by the node
 * @param hostBusySeconds used by all processes of its host, of all processors together; null = not known
 * @param streams TCP streams open now
 * @param maxStreams that it takes at once
 * @param traffic totals, in = out + dropped + held
 */
public record Load(
        String instance,
        double uptimeSeconds,
        int processors,
        double processorSeconds,
        @Nullable Double hostBusySeconds,
        int streams,
        int maxStreams,
        Traffic traffic) {
    private static final int MOST_PROCESSORS = 1 << 16;

    public Load {
        Objects.requireNonNull(instance, "load without instance");
        Objects.requireNonNull(traffic, "load without traffic");
        Bounds.check("processors", processors, 1, MOST_PROCESSORS);
        Bounds.check("streams", streams, 0, Integer.MAX_VALUE);
        Bounds.check("maxStreams", maxStreams, 1, Integer.MAX_VALUE);
        check("uptimeSeconds", uptimeSeconds);
        check("processorSeconds", processorSeconds);
        if (hostBusySeconds != null) {
            check("hostBusySeconds", hostBusySeconds);
        }
    }

    private static void check(String what, double seconds) {
        if (!(seconds >= 0 && seconds < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + " " + seconds + " must be 0 or more");
        }
    }

    /** Totals of packets and bytes. */
    public record Traffic(
            long packetsIn, long bytesIn, long packetsMade, long packetsOut, long bytesOut, long dropped, long held) {
        public static final Traffic NONE = new Traffic(0, 0, 0, 0, 0, 0, 0);

        public Traffic plus(Traffic other) {
            return new Traffic(
                    packetsIn + other.packetsIn,
                    bytesIn + other.bytesIn,
                    packetsMade + other.packetsMade,
                    packetsOut + other.packetsOut,
                    bytesOut + other.bytesOut,
                    dropped + other.dropped,
                    held + other.held);
        }
    }
}
