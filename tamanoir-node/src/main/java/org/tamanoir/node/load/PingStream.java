package org.tamanoir.node.load;

import java.io.IOException;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.LoadBatch;

/**
 * Sends one packet, waits for its answer, and so on: the round trip through a service that answers, such as Echo.
 *
 * <p>Thread contract: as a {@link SendStream}'s source, on its thread; {@link #histogram} when that has ended.
 */
final class PingStream {
    private final LoadBatch batch;
    private final Duration answerTimeout;
    private final long maxPackets;
    private final long maxNs;
    private final Histogram histogram = LatencySummary.newHistogram();
    private final Packet answer;
    private long unanswered;

    PingStream(LoadBatch batch, Packet view, Duration answerTimeout, long maxPackets, long maxNs) {
        this.batch = batch;
        this.answer = view;
        this.answerTimeout = answerTimeout;
        this.maxPackets = maxPackets;
        this.maxNs = maxNs;
    }

    void send(SendStream stream) throws IOException {
        AnepSender sender = stream.sender();
        long endNs = System.nanoTime() + maxNs;
        for (long left = maxPackets; left > 0 && !stream.isStopped() && System.nanoTime() - endNs < 0; left--) {
            stream.awaitPermit();
            long sequence = batch.nextSequence();
            long sentNs = System.nanoTime();
            sender.send(batch, 1);
            if (awaitAnswer(stream, sequence, sentNs)) {
                histogram.recordValue(Math.min(LatencySummary.MAX_NS, System.nanoTime() - sentNs));
            } else if (sender.ended()) {
                throw new IOException("the far side ended the connection without an answer to packet " + sequence);
            } else {
                unanswered++;
            }
        }
    }

    /** Skips answers to earlier packets, whose time was up. */
    private boolean awaitAnswer(SendStream stream, long sequence, long sentNs) throws IOException {
        while (true) {
            Duration left = answerTimeout.minusNanos(System.nanoTime() - sentNs);
            if (left.isNegative() || !stream.sender().poll(answer, left)) {
                return false;
            }
            stream.countReply();
            if (answer.sequence() == sequence) {
                return true;
            }
        }
    }

    Histogram histogram() {
        return histogram;
    }

    long unanswered() {
        return unanswered;
    }
}
