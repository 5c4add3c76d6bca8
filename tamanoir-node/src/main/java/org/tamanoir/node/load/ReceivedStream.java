package org.tamanoir.node.load;

import java.io.IOException;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.LoadPattern;
import org.tamanoir.client.SequenceTracker;

/**
 * What came of one stream: one stream id on one TCP connection, or from one UDP peer.
 *
 * <p>Thread contract: one thread; {@link #lastNs} from any; the rest from others when that thread has ended.
 */
public final class ReceivedStream {
    private final int streamId;
    private final String peer;
    private final @Nullable LoadPattern pattern;
    private final @Nullable PacketOutput output;
    private final SequenceTracker tracker = new SequenceTracker();
    private final long firstNs;
    private volatile long lastNs;
    private long packets;
    private long bytes;
    private long payloadBytes;
    private long unnumbered;
    private long corrupt;
    private int loadBytes = -1;
    private @Nullable Histogram latency;

    /**
     * @param pattern to verify generated load, or null
     * @param output where payloads go, or null
     */
    ReceivedStream(
            int streamId, String peer, @Nullable LoadPattern pattern, @Nullable PacketOutput output, long nowNs) {
        this.streamId = streamId;
        this.peer = peer;
        this.pattern = pattern;
        this.output = output;
        this.firstNs = nowNs;
        this.lastNs = nowNs;
    }

    /** @param nowNs when the read that brought it was walked */
    void count(Packet packet, long nowNs) throws IOException {
        packets++;
        bytes += packet.length();
        payloadBytes += packet.payloadLength();
        if (lastNs != nowNs) {
            lastNs = nowNs;
        }
        long sequence = packet.sequence();
        boolean repeated = false;
        if (packet.has(Option.STREAM)) {
            repeated = tracker.track(sequence) == SequenceTracker.Outcome.DUPLICATE;
            // What a service adds at the end of a stream repeats the last number, and has nothing left to carry.
            if (pattern != null && !(repeated && packet.payloadLength() == 0)) {
                verify(packet, pattern);
            }
        } else {
            unnumbered++;
        }
        if (packet.has(Option.TIMESTAMPS)) {
            recordLatency(nowNs - packet.originTimeNs());
        }
        if (output != null) {
            output.write(packet, sequence, repeated);
        }
    }

    /** All packets of generated load have one size: a shorter one lost bytes, however good the rest. */
    private void verify(Packet packet, LoadPattern load) {
        if (loadBytes < 0) {
            loadBytes = packet.payloadLength();
        }
        if (packet.payloadLength() != loadBytes || !load.matches(packet)) {
            corrupt++;
        }
    }

    private void recordLatency(long latencyNs) {
        Histogram histogram = latency;
        if (histogram == null) {
            histogram = LatencySummary.newHistogram();
            latency = histogram;
        }
        // Another host's clock starts elsewhere: such a difference is no latency.
        if (latencyNs >= 0 && latencyNs <= LatencySummary.MAX_NS) {
            histogram.recordValue(latencyNs);
        }
    }

    void flush() throws IOException {
        if (output != null) {
            output.flush();
        }
    }

    void end() throws IOException {
        if (output != null) {
            output.close();
        }
    }

    long lastNs() {
        return lastNs;
    }

    @Nullable
    Histogram latency() {
        return latency;
    }

    /** From the first packet of any stream to the last. */
    static double secondsOf(List<ReceivedStream> streams) {
        if (streams.isEmpty()) {
            return 0;
        }
        long firstNs = Long.MAX_VALUE;
        long lastNs = Long.MIN_VALUE;
        for (ReceivedStream stream : streams) {
            firstNs = Math.min(firstNs, stream.firstNs);
            lastNs = Math.max(lastNs, stream.lastNs);
        }
        return (lastNs - firstNs) / 1e9;
    }

    public StreamReport report() {
        double seconds = (lastNs - firstNs) / 1e9;
        Histogram histogram = latency;
        return new StreamReport(
                streamId,
                peer,
                packets,
                bytes,
                payloadBytes,
                seconds,
                Rates.perSecond(packets, seconds),
                Rates.perSecond(bytes / 1e6, seconds),
                tracker.lost(),
                tracker.reordered(),
                tracker.duplicates(),
                tracker.late(),
                unnumbered,
                corrupt,
                output == null ? 0 : output.leftOut(),
                histogram == null || histogram.getTotalCount() == 0 ? null : LatencySummary.of(histogram));
    }
}
